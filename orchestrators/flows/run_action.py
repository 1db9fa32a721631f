"""An action that outlives its turn: waits for a person's decision, is done in its account's lane, and is told.

The store is the truth and the event a hint (fault 082); the timer is cancelled when the event wins (fault 077); a long
wait starts over with a new history (fault 080). Source: design §9 "Approvals", AX-02.
"""

from datetime import timedelta
from typing import Final

from orchestrators.context import Flow, FlowContext
from orchestrators.flows.exchange import Exchange
from orchestrators.flows.performing import RETRY_AFTER, ROUNDS_ALONE, perform
from orchestrators.names import ActivityName, EventName
from shared.domain.actions import SETTLED, ActionRef, ActionState
from shared.domain.deltas import ActionStatus
from shared.domain.turns import ActionStanding
from shared.wire import decode, encode

OVER: Final = frozenset({ActionStatus.EXECUTED, ActionStatus.REFUSED})
"""Ends that are told at once; anything else is looked at again."""
LONGEST_WAIT: Final = timedelta(hours=24)
"""Longest timer of one history. Value ours: a pending action is looked at once a day whatever events were lost."""


def run_action_flow(context: FlowContext) -> Flow:
    """See one action through from where it stands; return its last state."""
    ref = decode(ActionRef, context.input())
    standing = decode(ActionStanding, (yield context.call(ActivityName.READ_ACTION, encode(ref))))
    if standing.state is ActionState.PENDING:
        if standing.expires_in_s > 0:
            changed = context.event(EventName.ACTION_CHANGED)
            due = context.timer(min(timedelta(seconds=standing.expires_in_s), LONGEST_WAIT))
            winner = yield context.first(changed, due)
            if winner == changed:
                due.cancel()
        else:
            yield context.call(ActivityName.EXPIRE_ACTION, encode(ref))
        context.continue_as_new(encode(ref))
        return None
    if standing.state in (ActionState.APPROVED, ActionState.EXECUTING):
        exchange = Exchange(context, ref.tenant_id, standing.conversation_id)
        ended = yield from perform(context, exchange, ref, base_version=0, rounds=ROUNDS_ALONE)
        if ended is not None and ended.actions[0].status in OVER:
            yield context.call(ActivityName.SETTLE_ACTION, encode(ref))
            return {"ended": ended.actions[0].status.value}
        if ended is None:
            yield context.timer(RETRY_AFTER)
        context.continue_as_new(encode(ref))
        return None
    if (standing.state in SETTLED or standing.state is ActionState.UNCLEAR) and not standing.is_told:
        yield context.call(ActivityName.SETTLE_ACTION, encode(ref))
    return {"ended": standing.state.value}
