"""The wait of a case for a person: page on-call when nobody claims it in time, end when somebody does.

The case in the store is the truth; the event only shortens the wait (fault 082). The timer is cancelled when the
event wins, so that the instance completes (fault 077). Source: PR-04, ES-02.
"""

from datetime import timedelta

from orchestrators.context import Flow, FlowContext
from orchestrators.names import ActivityName, EventName
from shared.domain.turns import CaseInput, CaseStanding
from shared.wire import decode, encode


def human_handoff_flow(context: FlowContext) -> Flow:
    """Wait until the case is claimed or closed, paging once when it is overdue; return how it ended."""
    case = decode(CaseInput, context.input())
    standing = decode(CaseStanding, (yield context.call(ActivityName.READ_CASE, encode(case))))
    if not standing.is_waiting:
        return {"ended": standing.status}
    if standing.due_in_s <= 0:
        yield context.call(ActivityName.PAGE, encode(case))
        return {"ended": "paged"}
    changed = context.event(EventName.CASE_CHANGED)
    due = context.timer(timedelta(seconds=standing.due_in_s))
    winner = yield context.first(changed, due)
    if winner == changed:
        due.cancel()
    context.continue_as_new(encode(case))
    return None
