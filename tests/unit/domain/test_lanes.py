"""The lane of an account: first come first served, nobody dead blocks, and an old right is worth nothing."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.ids import CustomerId, TenantId
from shared.domain.lanes import (
    CALL_DEADLINE_S,
    CALL_MARGIN_S,
    LEASE_S,
    MAX_WAITERS,
    WAITER_GONE_S,
    Lane,
    LaneStanding,
    free,
    may_start,
    take,
)

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
FREE = Lane(tenant_id=TenantId("t1"), customer_id=CustomerId("ana"))


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def ask(lane: Lane, action: str, at: float = 0, holder: str = "i") -> tuple[Lane, LaneStanding]:
    return take(lane, action, f"{holder}-{action}", after(at))


@pytest.mark.req("AX-04")
def test_a_free_lane_is_given_at_once_with_a_higher_fence() -> None:
    lane, first = ask(FREE, "a")
    again, second = ask(free(lane, "a", 1), "b")

    assert (first.fence, second.fence) == (1, 2)
    assert (again.action_id, again.waiting) == ("b", ())


@pytest.mark.req("AX-04")
def test_who_came_first_is_served_first_whatever_their_names_and_clocks_say() -> None:
    """The second waiter's process runs two seconds behind: that gives it no earlier place."""
    lane, _ = ask(FREE, "holder")
    lane, _ = ask(lane, "z", at=5)
    lane, _ = ask(lane, "a", at=3)
    lane = free(lane, "holder", 1)

    lane, early = ask(lane, "a", at=6)
    lane, first = ask(lane, "z", at=6)

    assert early.fence is None
    assert first.fence == 2


@pytest.mark.req("AX-04")
def test_a_waiter_that_died_is_passed_over_and_queues_anew_when_it_comes_back() -> None:
    lane, _ = ask(FREE, "holder")
    lane, _ = ask(lane, "dead", at=1)
    lane, _ = ask(lane, "alive", at=2)
    lane = free(lane, "holder", 1)

    lane, soon = ask(lane, "alive", at=WAITER_GONE_S)
    lane, later = ask(lane, "alive", at=WAITER_GONE_S + 1)
    lane, back = ask(lane, "dead", at=WAITER_GONE_S + 2)

    assert (soon.fence, later.fence, back.fence) == (None, 2, None)
    assert [w.action_id for w in lane.waiting] == ["dead"]


@pytest.mark.req("AX-04")
def test_a_holder_that_died_loses_the_lane_and_its_successor_is_told_whom_to_reconcile() -> None:
    lane, _ = ask(FREE, "dead")
    lane, waits = ask(lane, "next", at=LEASE_S - 1)
    lane, takes = ask(lane, "next", at=LEASE_S)

    assert waits.fence is None
    assert (takes.fence, takes.predecessor) == (2, "dead")
    assert not may_start(lane, "dead", 1, after(LEASE_S))
    assert may_start(lane, "next", 2, after(LEASE_S))


@pytest.mark.req("AX-04")
def test_asking_again_voids_what_the_same_holder_was_given_before() -> None:
    lane, _ = ask(FREE, "a")
    lane, again = ask(lane, "a", at=1)

    assert again.fence == 2
    assert not may_start(lane, "a", 1, after(1))
    assert free(lane, "a", 1) == lane


@pytest.mark.req("AX-04")
def test_a_second_instance_of_the_same_action_waits_like_any_other() -> None:
    lane, _ = ask(FREE, "a")
    lane, twin = ask(lane, "a", at=1, holder="twin")

    assert twin.fence is None
    assert may_start(lane, "a", 1, after(1))


@pytest.mark.req("AX-04")
def test_nothing_starts_that_the_lease_would_not_outlast() -> None:
    """The call and what the far side may still do of it are over before the lease is. Source: design §9 "Lane"."""
    lane, _ = ask(FREE, "a")
    last = LEASE_S - CALL_DEADLINE_S - CALL_MARGIN_S

    assert may_start(lane, "a", 1, after(last - 1))
    assert not may_start(lane, "a", 1, after(last))


@pytest.mark.req("AX-04", "RK-01")
def test_the_queue_is_bounded_and_a_full_one_costs_nobody_their_place() -> None:
    lane, _ = ask(FREE, "holder")
    for i in range(MAX_WAITERS):
        lane, _ = ask(lane, f"w{i}", at=1)

    lane, over = ask(lane, "over", at=-60)

    assert over.fence is None
    assert [w.action_id for w in lane.waiting] == [f"w{i}" for i in range(MAX_WAITERS)]
