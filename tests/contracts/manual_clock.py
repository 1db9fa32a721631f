"""A clock that stands still until told; the only clock of tests."""

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Time under the test's hand."""

    def __init__(self, at: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)) -> None:
        self._now = at

    def now(self) -> datetime:
        """Return the moment the test has set."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move on."""
        self._now += timedelta(seconds=seconds)
