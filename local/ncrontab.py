"""NCRONTAB: six fields — second, minute, hour, day, month, weekday — in UTC.

Parses a schedule and finds its next moment. Pure. Source: functions.md §10.6; NCrontab's rule that a
day must satisfy both day-of-month and day-of-week.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

_MONTHS: Final = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_DAYS: Final = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_FIELDS: Final[tuple[tuple[str, int, int, dict[str, int]], ...]] = (
    ("second", 0, 59, {}),
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _DAYS),
)
_HORIZON: Final = timedelta(days=366 * 8 + 2)
"""A schedule that names no day within two leap years names none at all."""


class BadSchedule(ValueError):
    """A text that is no NCRONTAB schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The allowed values of each field; weekday 0 is Sunday."""

    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    def after(self, moment: datetime) -> datetime:
        """Return the first moment of the schedule strictly after the given one.

        Raises: BadSchedule when there is none, as on 30 February.
        """
        at = moment.replace(microsecond=0) + timedelta(seconds=1)
        end = at + _HORIZON
        while at < end:
            if at.month not in self.months or at.day not in self.days or at.isoweekday() % 7 not in self.weekdays:
                at = at.replace(hour=0, minute=0, second=0) + timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0, second=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at = at.replace(second=0) + timedelta(minutes=1)
            elif at.second not in self.seconds:
                at += timedelta(seconds=1)
            else:
                return at
        raise BadSchedule("the schedule names a day that never comes")

    def is_frequent(self, moment: datetime) -> bool:
        """Return whether the schedule repeats within a minute: the monitor leaves such timers alone."""
        first = self.after(moment)
        return self.after(first) - first < timedelta(minutes=1)


def parse_schedule(text: str) -> Schedule:
    """Parse six fields, or five with the seconds left out. Raises: BadSchedule naming the field."""
    parts = text.split()
    if len(parts) == 5:
        parts = ["0", *parts]
    if len(parts) != 6:
        raise BadSchedule(f"{text!r} has {len(parts)} fields, NCRONTAB has six")
    fields = [
        _field(part, name, low, high, names) for part, (name, low, high, names) in zip(parts, _FIELDS, strict=True)
    ]
    fields[5] = frozenset(day % 7 for day in fields[5])
    return Schedule(*fields)


def _field(text: str, name: str, low: int, high: int, names: dict[str, int]) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, _, step_text = part.partition("/")
        try:
            step = int(step_text) if "/" in part else 1
            if span == "*":
                first, last = low, high
            else:
                head, _, tail = span.partition("-")
                first = _value(head, names)
                last = _value(tail, names) if tail else high if "/" in part else first
        except ValueError:
            raise BadSchedule(f"{name} {part!r} is not a value, range or step") from None
        if not (low <= first <= last <= high) or step < 1:
            raise BadSchedule(f"{name} {part!r} is outside {low}-{high}")
        values.update(range(first, last + 1, step))
    return frozenset(values)


def _value(text: str, names: dict[str, int]) -> int:
    key = text.lower()
    return names[key[:3]] if key[:3] in names and key.isalpha() else int(text)
