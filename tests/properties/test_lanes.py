"""Laws of an account's lane, whatever instances ask, crash, return and give back in whatever order. Source: AX-04."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shared.domain.ids import CustomerId, TenantId
from shared.domain.lanes import (
    LEASE_S,
    MAX_WAITERS,
    SEEN_GRAIN_S,
    WAITER_GONE_S,
    Lane,
    free,
    is_held,
    leave,
    may_start,
    take,
)

ACTIONS = st.sampled_from([f"a{i}" for i in range(5)])
HOLDERS = st.sampled_from(["first", "second"])
SECONDS = st.floats(min_value=0, max_value=2 * LEASE_S)


class LaneMachine(RuleBasedStateMachine):
    """A store that keeps one lane, and everybody who ever held a right to it."""

    @initialize()
    def begin(self) -> None:
        """Start with a free lane."""
        self.lane = Lane(tenant_id=TenantId("t1"), customer_id=CustomerId("ana"))
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
        self.rights: list[tuple[str, int]] = []
        self.queue: list[str] = []
        """Who waits, first come first: the model the lane is held against."""
        self.asked: dict[str, datetime] = {}
        """When each was last seen to ask, as exactly as the lane notes it."""

    def _living(self) -> list[str]:
        gone = timedelta(seconds=WAITER_GONE_S)
        return [a for a in self.queue if self.now - self.asked[a] < gone]

    @rule(action=ACTIONS, holder=HOLDERS)
    def ask(self, action: str, holder: str) -> None:
        """An instance asks: it gets the lane exactly when it has it, or when it is free and nobody living is before."""
        was_held, was_own = is_held(self.lane, self.now), (self.lane.action_id, self.lane.holder) == (action, holder)
        fence_before, had = self.lane.fence, self.lane.action_id
        self.queue = self._living()
        ahead = self.queue[: self.queue.index(action)] if action in self.queue else self.queue
        self.lane, standing = take(self.lane, action, holder, self.now)
        is_due = was_own if was_held else not ahead
        assert (standing.fence is not None) is is_due
        if standing.fence is None:
            assert standing.wait_s > 0
            if action not in self.queue:
                self.queue.append(action)
                self.asked[action] = self.now
            elif self.asked[action] <= self.now - timedelta(seconds=SEEN_GRAIN_S):
                self.asked[action] = self.now
            return
        assert standing.fence == fence_before + 1
        assert standing.predecessor == (had if had not in ("", action) else "")
        self.rights.append((action, standing.fence))
        self.queue = [a for a in self.queue if a != action]

    @precondition(lambda self: self.rights)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        """Anybody who ever held it gives it back: only the newest right frees it."""
        action, fence = data.draw(st.sampled_from(self.rights))
        before = self.lane
        self.lane = free(before, action, fence)
        if (before.action_id, before.fence) != (action, fence):
            assert self.lane == before
        assert self.lane.fence == before.fence

    @rule(action=ACTIONS)
    def be_over(self, action: str) -> None:
        """An action ends: it neither holds nor waits, and no fence falls."""
        before = self.lane
        self.lane = leave(before, action)
        self.queue = [a for a in self.queue if a != action]
        assert self.lane.fence == before.fence
        assert self.lane.action_id == ("" if before.action_id == action else before.action_id)

    @rule(seconds=SECONDS)
    def wait(self, seconds: float) -> None:
        """Time passes; whoever does not ask meanwhile may be dead."""
        self.now += timedelta(seconds=seconds)

    @invariant()
    def at_most_one_right_may_start(self) -> None:
        """Of every right that was ever given, at most the newest is good."""
        good = [r for r in self.rights if may_start(self.lane, *r, self.now)]
        assert len(good) <= 1
        assert not good or good[0][1] == self.lane.fence == max(fence for _, fence in self.rights)
        assert not good or is_held(self.lane, self.now)

    @invariant()
    def the_queue_is_bounded_and_names_nobody_twice(self) -> None:
        """However many ask."""
        waiting = [w.action_id for w in self.lane.waiting]
        assert len(waiting) == len(set(waiting)) <= MAX_WAITERS


LaneMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_a_lane_keeps_its_laws = pytest.mark.req("AX-04")(LaneMachine.TestCase)
