"""When people are at the desk: a customer is told a time that can be kept. Source: fault 014."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.desk_hours import DeskHours, Shift

BERLIN = ZoneInfo("Europe/Berlin")
OFFICE = DeskHours(
    timezone="Europe/Berlin",
    shifts=tuple(Shift(weekday=day, opens=time(9), closes=time(17)) for day in range(5)),
)


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.mark.req("HD-01")
def test_a_desk_without_shifts_is_always_open() -> None:
    now = datetime(2026, 12, 25, 3, 0, tzinfo=UTC)

    assert DeskHours().opens_at(now) == now


@pytest.mark.req("HD-01")
@pytest.mark.parametrize(
    ("now", "opens"),
    [
        pytest.param("2026-03-06 18:05", "2026-03-09 09:00", id="friday evening: monday"),
        pytest.param("2026-03-06 08:59:59", "2026-03-06 09:00", id="before opening"),
        pytest.param("2026-03-06 09:00", "2026-03-06 09:00", id="at opening"),
        pytest.param("2026-03-06 16:59:59", "2026-03-06 16:59:59", id="just before closing"),
        pytest.param("2026-03-05 17:00", "2026-03-06 09:00", id="at closing: tomorrow"),
        pytest.param("2026-03-27 20:00", "2026-03-30 09:00", id="over the change to summer time"),
        pytest.param("2026-10-23 20:00", "2026-10-26 09:00", id="over the change to winter time"),
    ],
)
def test_fault_014_the_next_opening_is_found(now: str, opens: str) -> None:
    assert OFFICE.opens_at(at(now).astimezone(UTC)) == at(opens)


@pytest.mark.req("HD-01")
def test_the_day_is_the_desks_own_not_that_of_greenwich() -> None:
    """Sunday 23:30 in UTC is Monday morning in Auckland."""
    desk = DeskHours(timezone="Pacific/Auckland", shifts=(Shift(weekday=0, opens=time(9), closes=time(17)),))
    now = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)

    assert desk.opens_at(now) == now


@pytest.mark.req("HD-01")
def test_an_opening_in_the_hour_that_comes_twice_is_never_in_the_past() -> None:
    """Berlin, 25 October 2026: 02:45 comes at 00:45 and at 01:45 UTC. At the second the shift has long begun."""
    desk = DeskHours(timezone="Europe/Berlin", shifts=(Shift(weekday=6, opens=time(2, 50), closes=time(3, 30)),))
    first, second = (datetime(2026, 10, 25, hour, 45, tzinfo=UTC) for hour in (0, 1))

    assert desk.opens_at(first).astimezone(UTC) == datetime(2026, 10, 25, 0, 50, tzinfo=UTC)
    assert desk.opens_at(second) == second


@pytest.mark.req("HD-01")
def test_a_shift_that_a_change_of_clocks_swallows_is_looked_for_a_week_later() -> None:
    """Berlin, 29 March 2026: 02:00 to 03:00 does not exist."""
    desk = DeskHours(timezone="Europe/Berlin", shifts=(Shift(weekday=6, opens=time(2, 15), closes=time(3)),))

    assert desk.opens_at(at("2026-03-22 03:00")) == at("2026-04-05 02:15")


@pytest.mark.req("HD-01")
@pytest.mark.parametrize(
    "shift",
    [
        {"weekday": 7, "opens": "09:00", "closes": "17:00"},
        {"weekday": 0, "opens": "17:00", "closes": "09:00"},
        {"weekday": 0, "opens": "09:00", "closes": "09:00"},
        {"weekday": 0, "opens": "09:00+02:00", "closes": "17:00"},
        {"weekday": 0, "opens": "09:00+02:00", "closes": "17:00+02:00"},
    ],
    ids=["no such day", "backwards", "no time at all", "one offset", "two offsets"],
)
def test_hours_that_mean_nothing_are_refused_when_saved(shift: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        DeskHours.model_validate({"shifts": [shift]})


@pytest.mark.req("HD-01")
@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../etc/passwd", "", "x\0y", "UTC+1"])
def test_a_zone_nobody_knows_is_refused_when_saved(zone: str) -> None:
    with pytest.raises(ValueError, match="IANA"):
        DeskHours(timezone=zone)


SHIFTS = st.builds(
    lambda weekday, first, second: Shift(weekday=weekday, opens=min(first, second), closes=max(first, second)),
    weekday=st.integers(0, 6),
    first=st.times().map(lambda t: t.replace(microsecond=0, second=0)),
    second=st.times().map(lambda t: t.replace(microsecond=0, second=59)),
)


@pytest.mark.req("HD-01")
@given(
    shifts=st.lists(SHIFTS, min_size=1, max_size=6),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]),
    now=st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - Hypothesis wants naive bounds
)
def test_the_next_opening_is_never_past_and_somebody_is_there_then(
    shifts: list[Shift], zone: str, now: datetime
) -> None:
    desk = DeskHours(timezone=zone, shifts=tuple(shifts))

    opens = desk.opens_at(now)

    assert now <= opens <= now + timedelta(days=8)
    assert desk.opens_at(opens) == opens
