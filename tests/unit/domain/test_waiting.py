"""What a customer is told of the wait for a person. Source: faults 014, 110, ES-02, RK-01."""

from datetime import UTC, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.supervisor.promises import find_promises
from shared.domain.desk_hours import DeskHours, Shift
from shared.domain.phrases import LANGUAGES, waiting_text
from shared.domain.phrases.waiting_texts import ON_DATE, TODAY, UNITS, WAITING_TEXTS, WHEN
from shared.domain.typed_values.extraction import extract_values
from shared.domain.typed_values.model import ValueKind

OFFICE = DeskHours(
    timezone="Europe/Berlin", shifts=tuple(Shift(weekday=d, opens=time(9), closes=time(18)) for d in range(5))
)
"""Monday to Friday, nine to six in Berlin."""
ALWAYS = DeskHours()
FRIDAY = datetime(2026, 3, 6, 17, 5, tzinfo=UTC)
"""Friday 18:05 in Berlin."""
_MOMENTS = st.integers(0, 2 * 365 * 24 * 60).map(lambda n: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=n))
"""Any minute of two years."""


def wait(now: datetime, sla_minutes: int, hours: DeskHours, language: str = "en") -> str:
    """Return what is said while the queue is not above its cap."""
    return waiting_text(language, sla_minutes=sla_minutes, now=now, hours=hours, is_busy=False)


@pytest.mark.req("ES-02", "PR-04")
def test_fault_014_on_friday_evening_the_customer_is_told_when_the_desk_opens_again() -> None:
    """18:05 on Friday, nobody there until Monday: four hours would be a lie."""
    assert wait(FRIDAY, 240, OFFICE) == (
        "Our team is away right now and is back on Monday at 09:00 (CET). After that we aim to reply within 4 hours."
    )


CASES = {
    "somebody is always there": (FRIDAY, 240, ALWAYS, "We aim to reply within 4 hours."),
    "within the shift": (FRIDAY - timedelta(hours=8), 60, OFFICE, "We aim to reply within 1 hour."),
    "the shift ends before": (FRIDAY - timedelta(minutes=30), 240, OFFICE, "We aim to reply by Monday at 12:45 (CET)."),
    "longer than a day at the desk": (
        FRIDAY,
        1440,
        OFFICE,
        "Our team is away right now and is back on Monday at 09:00 (CET). We aim to reply by Wednesday at 15:00 (CET).",
    ),
    "before today's opening": (
        FRIDAY - timedelta(hours=12),
        15,
        OFFICE,
        "Our team is away right now and is back today at 09:00 (CET). After that we aim to reply within 15 minutes.",
    ),
    "later than a week, over the change of clocks": (
        FRIDAY,
        15_000,
        OFFICE,
        "Our team is away right now and is back on Monday at 09:00 (CET). "
        "We aim to reply by April 15, 2026 at 16:00 (CEST).",
    ),
    "a zone without a name": (
        FRIDAY,
        60,
        DeskHours(timezone="America/Sao_Paulo", shifts=(Shift(weekday=5, opens=time(10), closes=time(12)),)),
        "Our team is away right now and is back on Saturday at 10:00 (UTC-03). "
        "After that we aim to reply within 1 hour.",
    ),
    "rounded up, never down": (FRIDAY, 61, ALWAYS, "We aim to reply within 2 hours."),
    "days, from two of them on": (FRIDAY, 49 * 60, ALWAYS, "We aim to reply within 3 days."),
}


@pytest.mark.req("ES-02")
@pytest.mark.parametrize(("now", "sla_minutes", "hours", "said"), CASES.values(), ids=CASES.keys())
def test_the_wait_is_told_as_it_can_be_kept(now: datetime, sla_minutes: int, hours: DeskHours, said: str) -> None:
    """Minutes of the SLA count while somebody is at the desk."""
    assert wait(now, sla_minutes, hours) == said


@pytest.mark.req("RK-01", "RK-02")
@pytest.mark.parametrize("language", LANGUAGES)
def test_fault_014_above_the_cap_no_time_is_named(language: str) -> None:
    """A queue nobody can keep up with promises nothing."""
    text = waiting_text(language, sla_minutes=60, now=FRIDAY, hours=OFFICE, is_busy=True)

    assert find_promises(text) == frozenset()
    assert extract_values(text, language=language, default_currency="EUR") == ()


@pytest.mark.req("ES-02")
@pytest.mark.parametrize("language", LANGUAGES)
def test_fault_110_the_opening_time_can_be_read_in_every_language(language: str) -> None:
    """It goes into the handoff itself: one outgoing message a turn, no out-of-hours note beside it."""
    values = {
        v.canonical
        for v in extract_values(wait(FRIDAY, 240, OFFICE, language), language=language, default_currency="EUR")
    }

    assert {"date:wd:1", "time:09:00", "duration:14400 s"} <= values


@pytest.mark.req("CO-05")
def test_every_wording_of_the_wait_exists_in_every_product_language() -> None:
    """Languages whose grammar needs no frame are left out of the frames only."""
    for table in (*WAITING_TEXTS.values(), *UNITS.values(), WHEN, TODAY, ON_DATE):
        assert set(table) == set(LANGUAGES)


@pytest.mark.req("ES-02")
@given(
    now=_MOMENTS,
    sla_minutes=st.integers(1, 5_000),
    language=st.sampled_from(LANGUAGES),
    hours=st.sampled_from([OFFICE, ALWAYS]),
)
def test_what_is_told_of_the_wait_names_a_time_and_promises_nothing(
    now: datetime, sla_minutes: int, language: str, hours: DeskHours
) -> None:
    """An aim is no promise; a text without a time would help nobody."""
    text = wait(now, sla_minutes, hours, language)

    kinds = {value.kind for value in extract_values(text, language=language, default_currency="EUR")}
    assert kinds & {ValueKind.DURATION, ValueKind.TIME}
    assert find_promises(text) == frozenset()


@pytest.mark.req("ES-02")
@given(
    now=_MOMENTS,
    minutes=st.integers(0, 10_000),
    more=st.integers(1, 600),
)
def test_desk_time_never_runs_backwards_nor_faster_than_the_clock(now: datetime, minutes: int, more: int) -> None:
    """More minutes are later, never sooner than the clock allows, and reached while the desk is open."""
    reached, later = OFFICE.after(now, minutes), OFFICE.after(now, minutes + more)

    assert now + timedelta(minutes=minutes) <= reached < later
    assert later - reached >= timedelta(minutes=more)
    assert reached.weekday() < 5 or minutes == 0
    assert OFFICE.opens_at(later - timedelta(seconds=30)) == later - timedelta(seconds=30)


@pytest.mark.req("ES-02")
def test_shifts_that_overlap_count_once() -> None:
    """Two people at the desk do not make the hour longer."""
    hours = DeskHours(
        shifts=(Shift(weekday=0, opens=time(9), closes=time(12)), Shift(weekday=0, opens=time(10), closes=time(13)))
    )
    monday = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    assert hours.after(monday, 240) == datetime(2026, 3, 2, 13, 0, tzinfo=UTC)
    assert hours.after(monday, 241) == datetime(2026, 3, 9, 9, 1, tzinfo=UTC)
