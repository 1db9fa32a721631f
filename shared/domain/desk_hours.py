"""When people are at the desk, so that a customer is told a waiting time that can be kept. Pure.

Source: fault 014 (a handoff on Friday evening), ES-02, design §3.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Final, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from shared.domain.wire_model import Wire

DAYS_AHEAD: Final = 60
"""Days looked ahead for desk time: the longest SLA, at a desk that is open for half of the working week. Value ours."""
MAX_SHIFTS: Final = 50
"""Most shifts of a week. Value ours."""


class Shift(Wire):
    """One stretch of a weekday in which people are at the desk."""

    weekday: int = Field(ge=0, le=6)
    """0 is Monday."""
    opens: time
    closes: time
    """Both in the desk's own zone, without an offset."""

    @model_validator(mode="after")
    def _closes_after_it_opens(self) -> Self:
        if self.opens.tzinfo is not None or self.closes.tzinfo is not None:
            raise ValueError("a shift's times are local to the desk's timezone and carry no offset")
        if self.closes <= self.opens:
            raise ValueError("a shift closes after it opens")
        return self


class DeskHours(Wire):
    """The week of a desk; without shifts it is always open."""

    timezone: str = "UTC"
    shifts: tuple[Shift, ...] = Field(default=(), max_length=MAX_SHIFTS)

    @field_validator("timezone")
    @classmethod
    def _is_a_timezone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ValueError, OSError, LookupError):
            raise ValueError("timezone must be an IANA name such as Europe/Berlin") from None
        return value

    def opens_at(self, now: datetime) -> datetime:
        """Return `now` when somebody is there, else the next moment somebody is, in the desk's own zone."""
        opens = next((opens for opens, _ in self._open_from(now)), now)
        return now if opens <= now else opens.astimezone(ZoneInfo(self.timezone))

    def after(self, now: datetime, minutes: int) -> datetime:
        """Return the moment at which so many minutes with somebody at the desk have passed, in the desk's own zone.

        Past DAYS_AHEAD the end of the last shift within them stands for it.
        """
        left, reached = timedelta(minutes=minutes), now + timedelta(minutes=minutes)
        for opens, closes in self._open_from(now):
            reached = min(opens + left, closes)
            left -= reached - opens
            if left <= timedelta(0):
                break
        return reached.astimezone(ZoneInfo(self.timezone))

    def _open_from(self, now: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Yield the stretches of desk time not yet over, in order, cut off at `now` and at each other; in UTC.

        In UTC because two moments of one zone are subtracted as their clocks show them, whatever happened in between.
        """
        zone, begin = ZoneInfo(self.timezone), now.astimezone(UTC)
        today = now.astimezone(zone).date()
        for ahead in range(DAYS_AHEAD if self.shifts else 0):
            day = today + timedelta(days=ahead)
            for shift in sorted((s for s in self.shifts if s.weekday == day.weekday()), key=lambda s: s.opens):
                opens = datetime.combine(day, shift.opens, zone).astimezone(UTC)
                closes = datetime.combine(day, shift.closes, zone).astimezone(UTC)
                # A change of clocks can swallow a shift whole: then it closes before it opens.
                if closes > max(opens, begin):
                    yield max(opens, begin), closes
                    begin = closes
