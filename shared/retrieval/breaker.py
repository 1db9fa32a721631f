"""A circuit breaker: after repeated failures a dependency is left alone for a while, then tried once.

Source: RK-01.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.ports.clock import Clock

FAILURES_TO_OPEN: Final = 5
"""Failures in a row after which calls stop. Source: value ours."""
OPEN_S: Final = 15.0
"""Seconds without calls before one is tried. Source: value ours (a deployment's restart takes longer, a blip less)."""


class Breaker:
    """Whether a dependency should be called now."""

    def __init__(self, clock: Clock, *, failures_to_open: int = FAILURES_TO_OPEN, open_s: float = OPEN_S) -> None:
        self._clock = clock
        self._limit = failures_to_open
        self._open_for = timedelta(seconds=open_s)
        self._failures = 0
        self._closed_again_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether calls are being spared; the first look after the pause lets one trial through."""
        if self.is_sparing:
            return True
        if self._closed_again_at is not None:
            self._closed_again_at = self._clock.now() + self._open_for
        return False

    @property
    def is_sparing(self) -> bool:
        """Tell whether calls are being spared, without taking the trial that the pause's end allows."""
        return self._closed_again_at is not None and self._clock.now() < self._closed_again_at

    def succeed(self) -> None:
        """Note that the dependency answered."""
        self._failures = 0
        self._closed_again_at = None

    def fail(self) -> None:
        """Note that it did not."""
        self._failures += 1
        if self._failures >= self._limit:
            self._closed_again_at = self._clock.now() + self._open_for
