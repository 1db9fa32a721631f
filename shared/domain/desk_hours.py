"""When people are at the desk, so that a customer is told a waiting time that can be kept. Pure.

Source: fault 014 (a handoff on Friday evening), ES-02, design §3.
"""

from datetime import datetime, time, timedelta
from typing import Final, Self
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator, model_validator

from shared.domain.wire_model import Wire

DAYS_AHEAD: Final = 8
"""Days looked ahead for the next opening: a desk that opens once a week is found. Value ours."""


class Shift(Wire):
    """One stretch of a weekday in which people are at the desk."""

    weekday: int = Field(ge=0, le=6)
    """0 is Monday."""
    opens: time
    closes: time

    @model_validator(mode="after")
    def _closes_after_it_opens(self) -> Self:
        if self.closes <= self.opens:
            raise ValueError("a shift closes after it opens")
        return self


class DeskHours(Wire):
    """The week of a desk; without shifts it is always open."""

    timezone: str = "UTC"
    shifts: tuple[Shift, ...] = Field(default=(), max_length=50)

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
        if not self.shifts:
            return now
        zone = ZoneInfo(self.timezone)
        here = now.astimezone(zone)
        for ahead in range(DAYS_AHEAD):
            day = (here + timedelta(days=ahead)).date()
            for shift in sorted((s for s in self.shifts if s.weekday == day.weekday()), key=lambda s: s.opens):
                opens = datetime.combine(day, shift.opens, zone)
                closes = datetime.combine(day, shift.closes, zone)
                if opens <= here < closes:
                    return now
                if opens > here:
                    return opens
        return now
