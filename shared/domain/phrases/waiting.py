"""How long a person may take to answer, told so that it can be kept: desk hours and the SLA of the case. Pure.

SLA minutes are counted while somebody is at the desk; what comes out is an aim in the desk's own time, rounded up.
Above the queue's cap no time is named at all. Source: faults 014, 110, ES-02, RK-01.
"""

from datetime import datetime, timedelta
from typing import Final

from shared.domain.desk_hours import DeskHours
from shared.domain.phrases.catalog import phrase_language
from shared.domain.phrases.rendering import render_date
from shared.domain.phrases.waiting_texts import BARE_AFTER_BY, ON_DATE, ON_WEEKDAY, TODAY, UNITS, WAITING_TEXTS, WHEN
from shared.domain.typed_values.calendar import WEEKDAYS

MAX_HOURS_TOLD: Final = 48
"""Hours up to which a duration is told in hours, then in days. Value ours."""
DEADLINE_STEP_MINUTES: Final = 15
"""A deadline is told rounded up to this many minutes. Value ours."""
WEEKDAYS_AHEAD: Final = 6
"""Days ahead up to which a weekday's name says which day is meant. Value ours."""


def waiting_text(language: str, *, sla_minutes: int, now: datetime, hours: DeskHours, is_busy: bool) -> str:
    """Return when a person is expected to answer, as what we aim at; with the opening time while the desk is closed.

    With `is_busy`, for a queue above its cap, only that no time can be named.
    """
    base = phrase_language(language)
    if is_busy:
        return WAITING_TEXTS["busy"][base]
    opens, answered = hours.opens_at(now), hours.after(now, sla_minutes)
    is_open = opens == now
    if answered - opens <= timedelta(minutes=sla_minutes):
        aim = WAITING_TEXTS["within" if is_open else "then_within"][base].format(duration=_duration(sla_minutes, base))
    else:
        deadline = _rounded_up(answered)
        aim = WAITING_TEXTS["by"][base].format(when=_when(deadline, now, language, is_deadline=True))
    if is_open:
        return aim
    return f"{WAITING_TEXTS['away'][base].format(when=_when(opens, now, language))} {aim}"


def _duration(minutes: int, base: str) -> str:
    """Return the minutes in the unit people say, rounded up."""
    unit, count = "minute", minutes
    if minutes >= 60:
        unit, count = "hour", -(-minutes // 60)
    if count > MAX_HOURS_TOLD and unit == "hour":
        unit, count = "day", -(-count // 24)
    one, several = UNITS[unit][base]
    return f"{count} {one if count == 1 else several}"


def _when(moment: datetime, now: datetime, language: str, *, is_deadline: bool = False) -> str:
    """Return the moment by day, clock and zone, in the zone it carries."""
    base = phrase_language(language)
    ahead = (moment.date() - now.astimezone(moment.tzinfo).date()).days
    is_bare = is_deadline and base in BARE_AFTER_BY
    if ahead == 0:
        day = TODAY[base]
    elif ahead <= WEEKDAYS_AHEAD:
        name = WEEKDAYS[base].split()[moment.weekday()]
        name = name.capitalize() if base in ("en", "de") else name
        day = name if is_bare else ON_WEEKDAY.get(base, "{day}").format(day=name)
    else:
        date = render_date(moment, language)
        day = date if is_bare else ON_DATE[base].format(day=date)
    return WHEN[base].format(day=day, time=f"{moment:%H:%M}", zone=_zone(moment))


def _zone(moment: datetime) -> str:
    """Return the zone's short name; one that only has an offset is named by it."""
    name = moment.tzname() or "UTC"
    return f"UTC{name}" if name[:1] in "+-" else name


def _rounded_up(moment: datetime) -> datetime:
    step = timedelta(minutes=DEADLINE_STEP_MINUTES)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + -(-(moment - midnight) // step) * step
