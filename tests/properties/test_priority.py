"""Laws of the one ordering for people's queue and for queued automated work. Source: RT-07, S2 §5."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.human_triggers import Severity
from shared.domain.priority import NEAR_SLA_SHARE, TIER, priority

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Work:
    """Anything that waits."""

    is_human: bool
    severity: Severity
    queued_at: datetime
    due_at: datetime
    queue_id: str


def _work(is_human: bool, severity: Severity, age_min: int, sla_min: int, queue_id: str) -> Work:
    queued = NOW - timedelta(minutes=age_min)
    return Work(is_human, severity, queued, queued + timedelta(minutes=sla_min), queue_id)


WORK = st.builds(
    _work,
    is_human=st.booleans(),
    severity=st.sampled_from(Severity),
    age_min=st.integers(0, 3_000),
    sla_min=st.sampled_from([15, 60, 240, 1440]),
    queue_id=st.sampled_from([f"c{i}" for i in range(1_000)]),
)
QUEUE = st.lists(WORK, unique_by=lambda work: work.queue_id, min_size=1, max_size=12)


@pytest.mark.req("RT-07")
@given(queue=QUEUE, seed=st.randoms(use_true_random=False))
def test_who_is_next_does_not_depend_on_how_the_queue_was_read(queue: list[Work], seed: Random) -> None:
    """A total order: no two stand on one place."""
    shuffled = list(queue)
    seed.shuffle(shuffled)

    assert sorted(queue, key=lambda w: priority(w, NOW)) == sorted(shuffled, key=lambda w: priority(w, NOW))
    assert len({priority(w, NOW) for w in queue}) == len(queue)


@pytest.mark.req("RT-07")
@given(human=WORK, automated=WORK)
def test_what_a_person_waits_for_comes_before_everything_automated(human: Work, automated: Work) -> None:
    human, automated = replace(human, is_human=True), replace(automated, is_human=False)

    assert priority(human, NOW) < priority(automated, NOW)


@pytest.mark.req("RT-07", "SU-06")
@given(critical=WORK, other=WORK)
def test_critical_outranks_any_age_and_any_deadline(critical: Work, other: Work) -> None:
    critical = replace(critical, severity=Severity.CRITICAL)
    other = replace(other, is_human=critical.is_human)

    assert other.severity is Severity.CRITICAL or priority(critical, NOW) < priority(other, NOW)


@pytest.mark.req("RT-07")
@given(work=WORK, minutes=st.integers(0, 3_000))
def test_waiting_never_costs_a_place(work: Work, minutes: int) -> None:
    """Near its deadline work is promoted by one tier at most, and stays promoted."""
    before, after = priority(work, NOW), priority(work, NOW + timedelta(minutes=minutes))

    assert after <= before
    assert TIER[work.severity] - 1 <= after.tier <= before.tier <= TIER[work.severity]


@pytest.mark.req("RT-07")
@given(work=WORK, other=WORK, later=st.integers(1, 600))
def test_of_equal_work_the_older_is_first_always(work: Work, other: Work, later: int) -> None:
    """Same severity and SLA: promotion never lets the younger overtake."""
    younger = replace(
        work,
        queue_id=other.queue_id,
        queued_at=work.queued_at + timedelta(minutes=later),
        due_at=work.due_at + timedelta(minutes=later),
    )

    assert priority(work, NOW) < priority(younger, NOW)


@pytest.mark.req("RT-07")
@pytest.mark.parametrize(
    ("severity", "far", "near"),
    [
        (Severity.CRITICAL, 0, 0),
        (Severity.HIGH, 1, 1),
        (Severity.NORMAL, 2, 1),
        (Severity.LOW, 3, 2),
    ],
)
def test_work_near_its_deadline_is_promoted_one_tier_but_never_into_the_critical_one(
    severity: Severity, far: int, near: int
) -> None:
    sla = timedelta(hours=4)
    edge = sla * (1 - NEAR_SLA_SHARE)
    fresh, old = (
        Work(True, severity, queued, queued + sla, "c1") for queued in (NOW - edge + timedelta(seconds=1), NOW - edge)
    )

    assert (priority(fresh, NOW).tier, priority(old, NOW).tier) == (far, near)


@pytest.mark.req("RT-07", "GO-02")
def test_a_retry_keeps_its_place() -> None:
    """What failed and comes back queues with the moment it first queued at, before what came meanwhile."""
    first = _work(False, Severity.NORMAL, age_min=30, sla_min=240, queue_id="t-z")
    meanwhile = _work(False, Severity.NORMAL, age_min=10, sla_min=240, queue_id="t-a")
    retried = replace(first)

    assert priority(retried, NOW + timedelta(minutes=5)) < priority(meanwhile, NOW + timedelta(minutes=5))
