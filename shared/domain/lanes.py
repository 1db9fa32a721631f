"""The lane of an account: who may act for it now, who waits, in which order. Pure; the store keeps it.

A lease, so that a crash does not block the account; first come first served; and a fence that rises with every grant of
the lane, so that a holder that was taken for dead can no longer consume anything. Source: AX-04, design §9 "Lane".
"""

from datetime import datetime, timedelta
from typing import Final

from pydantic import Field

from shared.domain.ids import CustomerId, TenantId
from shared.domain.wire_model import Wire

CALL_DEADLINE_S: Final = 15.0
"""Longest call to a billing system. Unit: seconds. Source: below the executor's 20 s; value ours."""
CALL_MARGIN_S: Final = 5.0
"""Seconds after a call's deadline in which the far side may still be finishing it. Value ours."""
LEASE_S: Final = 60.0
"""Seconds a holder has the lane. Source: longer than mint, call and record together (design §9); value ours."""
POLL_S: Final = 1.0
"""Seconds a waiter waits before it asks again. Value ours."""
WAITER_GONE_S: Final = 30.0
"""Seconds without asking after which a waiter is passed over; it queues anew. Value ours."""
SEEN_GRAIN_S: Final = 10.0
"""Seconds within which a waiter's asking again changes nothing: a queue must not write the lane at every poll. Value
ours: a third of WAITER_GONE_S."""
MAX_WAITERS: Final = 100
"""Longest queue of one account. Value ours: a person looks long before."""


class Waiter(Wire):
    """One action that waits."""

    action_id: str
    since: datetime
    seen_at: datetime


class Lane(Wire):
    """The lane of one account."""

    id: str = "lane"
    kind: str = "lane"
    tenant_id: TenantId
    customer_id: CustomerId
    fence: int = 0
    action_id: str = ""
    """Who has it; empty when it is free."""
    holder: str = ""
    """The instance that took it for the action: a second instance of the same action waits like any other."""
    expires_at: datetime | None = None
    waiting: tuple[Waiter, ...] = Field(default=(), max_length=MAX_WAITERS)


class LaneStanding(Wire):
    """What asking for the lane came to."""

    fence: int | None = None
    """The right to act, as long as no higher one was given; None: wait."""
    wait_s: float = 0.0
    predecessor: str = ""
    """The action whose lease ran out, to be reconciled first."""


def is_held(lane: Lane, now: datetime) -> bool:
    """Tell whether somebody has the lane now."""
    return bool(lane.action_id) and lane.expires_at is not None and now < lane.expires_at


def take(lane: Lane, action_id: str, holder: str, now: datetime) -> tuple[Lane, LaneStanding]:
    """Return the lane with the action in it or in its queue, and what that means for the action.

    The holder asking again gets a new fence: whatever it started before can no longer consume.
    """
    waiting = _present(lane, action_id, now)
    is_own = is_held(lane, now) and (lane.action_id, lane.holder) == (action_id, holder)
    is_next = not is_held(lane, now) and waiting[0].action_id == action_id
    if not is_own and not is_next:
        return lane.model_copy(update={"waiting": waiting[:MAX_WAITERS]}), LaneStanding(wait_s=POLL_S)
    predecessor = lane.action_id if lane.action_id not in ("", action_id) else ""
    taken = lane.model_copy(
        update={
            "fence": lane.fence + 1,
            "action_id": action_id,
            "holder": holder,
            "expires_at": now + timedelta(seconds=LEASE_S),
            "waiting": tuple(w for w in waiting if w.action_id != action_id),
        }
    )
    return taken, LaneStanding(fence=taken.fence, predecessor=predecessor)


def free(lane: Lane, action_id: str, fence: int) -> Lane:
    """Return the lane given back; unchanged when somebody else has it by now."""
    if (lane.action_id, lane.fence) != (action_id, fence):
        return lane
    return lane.model_copy(update={"action_id": "", "holder": "", "expires_at": None})


def leave(lane: Lane, action_id: str) -> Lane:
    """Return the lane without an action that is over: neither has it the lane nor does it wait for it any more."""
    freed = free(lane, action_id, lane.fence)
    return freed.model_copy(update={"waiting": tuple(w for w in freed.waiting if w.action_id != action_id)})


def may_start(lane: Lane, action_id: str, fence: int, now: datetime) -> bool:
    """Tell whether the action may consume its grant: its fence is the newest, and its lease outlasts the call."""
    if (lane.action_id, lane.fence) != (action_id, fence) or lane.expires_at is None:
        return False
    return now + timedelta(seconds=CALL_DEADLINE_S + CALL_MARGIN_S) < lane.expires_at


def may_be_under_way(started_at: datetime | None, now: datetime) -> bool:
    """Tell whether a call that began at the moment may still change something on the far side."""
    return started_at is not None and now < started_at + timedelta(seconds=CALL_DEADLINE_S + CALL_MARGIN_S)


def _present(lane: Lane, action_id: str, now: datetime) -> tuple[Waiter, ...]:
    """Return the queue without those that stopped asking, with this action in its old place or at the end.

    The stored order is the order they came in: two clocks that differ must not let one overtake another.
    """
    gone, fresh = now - timedelta(seconds=WAITER_GONE_S), now - timedelta(seconds=SEEN_GRAIN_S)
    asking = [w for w in lane.waiting if w.seen_at > gone]
    if not any(w.action_id == action_id for w in asking):
        asking.append(Waiter(action_id=action_id, since=now, seen_at=now))
    return tuple(
        w.model_copy(update={"seen_at": now}) if w.action_id == action_id and w.seen_at <= fresh else w for w in asking
    )
