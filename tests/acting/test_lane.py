"""The lane of an account: one at a time, in the order they came, never the dead. Source: AX-04, design §9 "Lane"."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.records.actions import ActionRecords
from shared.domain.actions import ActionOp
from shared.domain.ids import CustomerId, TenantId
from shared.domain.intents import ActionType
from shared.domain.lanes import LEASE_S, MAX_WAITERS, POLL_S, SEEN_GRAIN_S, WAITER_GONE_S, Lane, free, is_held, take
from tests.acting.stage import ANA, BEN, PROPOSALS, Stage
from tests.acting.yielding import YieldingDocuments
from tests.conftest import FixedClock

REFUND = PROPOSALS[ActionType.REFUND]


async def fence(stage: Stage, action_id: str, holder: str = "one") -> int | None:
    """Ask once."""
    return (await stage.actions.take_lane(ANA, action_id, holder)).fence


@pytest.mark.req("AX-04", "RT-07")
async def test_actions_have_the_lane_in_the_order_they_came(stage: Stage, clock: FixedClock) -> None:
    first = await fence(stage, "a")
    for waiter in ("b", "c", "d"):
        clock.forward(seconds=0.1)
        assert await fence(stage, waiter) is None

    order = []
    holder, held = "a", first
    for _ in range(3):
        await stage.actions.free_lane(ANA, holder, held or 0)
        asked = {waiter: await fence(stage, waiter) for waiter in ("d", "c", "b") if waiter not in order}
        ((holder, held),) = [(waiter, got) for waiter, got in asked.items() if got is not None]
        order.append(holder)

    assert order == ["b", "c", "d"]


@pytest.mark.req("AX-04")
async def test_one_has_the_lane_whoever_asks_at_once_and_the_others_follow_in_order(
    stage: Stage, clock: FixedClock
) -> None:
    """Sixteen at once over a store that interleaves them: each is served once, first come first served."""
    racing = ActionRecords(YieldingDocuments(stage.documents), stage.clock)  # type: ignore[arg-type]
    names = [f"a{n:02}" for n in range(16)]
    served: list[str] = []

    while len(served) < len(names):
        left = [name for name in names if name not in served]
        standings = await asyncio.gather(*(racing.take_lane(ANA, name, "one") for name in left))
        got = [(name, s.fence) for name, s in zip(left, standings, strict=True) if s.fence is not None]
        assert len(got) <= 1
        for name, held in got:
            served.append(name)
            await racing.free_lane(ANA, name, held or 0)
        clock.forward(seconds=POLL_S)

    assert sorted(served) == names
    assert served[1:] == sorted(served[1:])  # all came at the same moment: after who won the race, by name


@pytest.mark.req("AX-04")
async def test_lanes_of_two_accounts_do_not_meet(stage: Stage) -> None:
    assert await fence(stage, "a") == 1

    assert (await stage.actions.take_lane(BEN, "b", "one")).fence == 1


@pytest.mark.req("AX-04")
async def test_a_lease_that_ran_out_goes_to_the_next_who_is_told_of_the_predecessor(
    stage: Stage, clock: FixedClock
) -> None:
    await fence(stage, "a")
    clock.forward(seconds=LEASE_S - 1)
    assert await fence(stage, "b") is None
    clock.forward(seconds=1)

    standing = await stage.actions.take_lane(ANA, "b", "one")

    assert (standing.fence, standing.predecessor) == (2, "a")


@pytest.mark.req("AX-04")
async def test_the_fence_rises_also_for_the_holder_that_asks_again(stage: Stage) -> None:
    """Whatever it started before can no longer consume anything."""
    assert [await fence(stage, "a"), await fence(stage, "a")] == [1, 2]


@pytest.mark.req("AX-04")
async def test_a_second_instance_of_the_same_action_waits_like_any_other(stage: Stage) -> None:
    await fence(stage, "a", "turn")

    assert await fence(stage, "a", "run_action") is None


@pytest.mark.req("AX-04")
async def test_the_lane_is_given_back_by_its_fence_only(stage: Stage, clock: FixedClock) -> None:
    """A holder taken for dead does not free its successor's lane."""
    await fence(stage, "a")
    clock.forward(seconds=LEASE_S)
    assert await fence(stage, "b") == 2

    await stage.actions.free_lane(ANA, "a", 1)
    await stage.actions.free_lane(ANA, "b", 1)

    assert await fence(stage, "c") is None


@pytest.mark.req("AX-04")
async def test_a_waiter_that_stopped_asking_is_passed_over_and_queues_anew(stage: Stage, clock: FixedClock) -> None:
    held = await fence(stage, "a")
    await fence(stage, "dead")
    clock.forward(seconds=1)
    await fence(stage, "b")
    for _ in range(int(WAITER_GONE_S)):
        clock.forward(seconds=1)
        await fence(stage, "b")
    await stage.actions.free_lane(ANA, "a", held or 0)

    assert await fence(stage, "dead") is None
    assert await fence(stage, "b") is not None


@pytest.mark.req("AX-04")
async def test_an_action_that_is_over_leaves_the_queue_it_also_waits_in(stage: Stage, clock: FixedClock) -> None:
    """A second instance that will never ask again must not hold up the account for half a minute."""
    action = await stage.approved(ANA, REFUND)
    assert await stage.take(action, "turn") == 1
    assert await stage.take(action, "run_action") is None
    clock.forward(seconds=1)
    assert await fence(stage, "next") is None

    await stage.perform(action, "turn")

    assert await fence(stage, "next") is not None


@pytest.mark.req("AX-04")
async def test_an_undone_start_keeps_its_turn(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    started = await stage.claimed(await stage.granted(action), action)

    await stage.actions.finish(ANA, action.action_id, ActionOp.UNDO_START, grant_id=started.grant_id)

    assert await fence(stage, "next") is None
    assert await stage.take(action) == 2


@pytest.mark.req("AX-04")
async def test_waiting_does_not_write_the_lane_at_every_poll(stage: Stage, clock: FixedClock) -> None:
    """Else a queue of waiters would make every start lose its race for the lane's document."""
    await fence(stage, "a")
    await fence(stage, "b")
    counting = CountingDocuments(stage.documents)
    asking = replace(stage, actions=ActionRecords(counting, stage.clock))  # type: ignore[arg-type]

    for _ in range(int(SEEN_GRAIN_S) - 1):
        clock.forward(seconds=1)
        await fence(asking, "b")
    few = counting.writes
    clock.forward(seconds=1)
    await fence(asking, "b")

    assert (few, counting.writes) == (0, 1)


class CountingDocuments(YieldingDocuments):
    """Counts batches."""

    writes = 0

    async def batch(self, *arguments, **named):  # type: ignore[no-untyped-def]
        """Count it."""
        self.writes += 1
        return await super().batch(*arguments, **named)


STEPS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["x", "y"]), st.floats(0, 40), st.booleans()), max_size=60
)


@pytest.mark.req("AX-04")
@given(steps=STEPS)
def test_whatever_is_asked_the_fence_only_rises_and_one_at_most_may_start(
    steps: list[tuple[str, str, float, bool]],
) -> None:
    """A fence that was given out is never given out again, and the queue stays bounded."""
    clock = FixedClock()
    lane = Lane(tenant_id=TenantId("t1"), customer_id=CustomerId("ana"))
    given_out: list[int] = []
    held: dict[str, int] = {}
    for action, holder, wait_s, does_free in steps:
        clock.forward(seconds=wait_s)
        was_held = is_held(lane, clock.now())
        before = (lane.action_id, lane.holder)
        lane, standing = take(lane, action, holder, clock.now())
        if standing.fence is not None:
            assert not was_held or before == (action, holder)
            given_out.append(standing.fence)
            held[action] = standing.fence
        if does_free:
            lane = free(lane, action, held.get(action, 0))
        assert len(lane.waiting) <= MAX_WAITERS

    assert given_out == sorted(set(given_out))
