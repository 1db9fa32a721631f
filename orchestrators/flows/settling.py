"""How a turn ends: an approved reply or a fixed text is delivered, or a person takes over.

Source: design §3 steps 5 and 6.
"""

from datetime import timedelta
from typing import Final

from orchestrators.context import Flow
from orchestrators.flows.work import Work
from orchestrators.names import ActivityName
from shared.domain.deltas import TurnState
from shared.domain.drafts import ApprovedReply
from shared.domain.human_triggers import HumanTrigger
from shared.domain.turns import CannedKind, DeliverInput, HandOverInput, Route, RouteKind, Settlement
from shared.wire import decode, pack

BUSY_WAIT: Final = timedelta(milliseconds=300)
"""Pause before asking again while an earlier turn of the conversation delivers. Value ours."""
MAX_BUSY_WAITS: Final = 100
"""Pauses before the earlier turn is taken for dead and a person is asked (30 s). Value ours."""


def deliver(work: Work, *, approved: ApprovedReply | None = None, canned: CannedKind | None = None) -> Flow:
    """Write the reply if the turn may still answer, waiting while an earlier turn delivers."""
    payload = pack(
        DeliverInput(
            turn=work.turn,
            state=_without_draft(work.state),
            base_version=work.state.snapshot.version,
            approved=approved,
            canned=canned,
        )
    )
    for _ in range(MAX_BUSY_WAITS):
        settlement = decode(Settlement, (yield work.context.call(ActivityName.DELIVER, {"request": payload})))
        if settlement.settled != "busy":
            return settlement
        yield work.context.timer(BUSY_WAIT)
    return (yield from give_up(work, HumanTrigger.LOOP, "an earlier turn never delivered"))


def to_person(work: Work, decision: Route, *, is_last: bool = False) -> Flow:
    """Open the case, then tell the customer; both in one activity that may be repeated (fault 001).

    `is_last` hands over whatever the ticket's version: there will be no fresh snapshot (fault 007).
    """
    payload = pack(
        HandOverInput(
            turn=work.turn,
            state=work.state,
            base_version=None if is_last else work.state.snapshot.version,
            route=decision,
            draft=work.state.draft,
            passages=work.conflicts,
        )
    )
    for _ in range(MAX_BUSY_WAITS):
        settlement = decode(Settlement, (yield work.context.call(ActivityName.HAND_OVER, {"request": payload})))
        if settlement.settled != "busy":
            return settlement
        yield work.context.timer(BUSY_WAIT)
    return Settlement(settled="busy")


def give_up(work: Work, trigger: HumanTrigger, reason: str, *, is_last: bool = False) -> Flow:
    """Hand the turn to a person with whatever was drafted."""
    decision = Route(kind=RouteKind.PERSON, triggers=(trigger,), reason=reason)
    return (yield from to_person(work, decision, is_last=is_last))


def _without_draft(state: TurnState) -> TurnState:
    """Return the state without what an approval carries anyway."""
    return state.model_copy(update={"draft": None, "review": None})
