"""Seal keys that change by themselves: each period has its own, derived from the master secret and never stored.

The period before still verifies, so that what was sealed just before a change counts; so does the next one, because
another instance's clock may be ahead. Never keeps the master secret: it is given a way to derive. Source: AX-02, SU-03.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from shared.authority.seal import KeyRing, SealKey
from shared.ports.clock import Clock

SEAL_PERIOD: Final = timedelta(days=30)
"""How long one key seals. Value ours: far longer than a grant (5 min) or an approved reply lives."""
_EPOCH_S: Final = SEAL_PERIOD.total_seconds()


class RotatingSeals:
    """The key ring of the moment."""

    def __init__(self, derive: Callable[[str], bytes], clock: Clock) -> None:
        """`derive` gives a purpose's secret, the same on every instance."""
        self._derive = derive
        self._clock = clock
        self._of: tuple[int, KeyRing] | None = None

    def ring(self) -> KeyRing:
        """Return the keys accepted now; this period's signs."""
        period = int(self._clock.now().timestamp() // _EPOCH_S)
        known = self._of
        if known is not None and known[0] == period:
            return known[1]
        ring = KeyRing(tuple(SealKey(f"s{n}", self._derive(f"seal:{n}")) for n in (period, period - 1, period + 1)))
        self._of = (period, ring)
        return ring
