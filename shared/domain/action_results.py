"""How a stored action reads as one of a turn's results; pure. Source: design §7 (Turn.actions), decision 0011."""

from typing import Final

from shared.domain.actions import Action, ActionState
from shared.domain.deltas import ActionResult, ActionStatus
from shared.domain.ids import approval_case_id

STATUS: Final = {
    ActionState.PENDING: ActionStatus.PENDING_APPROVAL,
    ActionState.APPROVED: ActionStatus.IN_PROGRESS,
    ActionState.EXECUTING: ActionStatus.IN_PROGRESS,
    ActionState.UNCLEAR: ActionStatus.IN_PROGRESS,
    ActionState.EXECUTED: ActionStatus.EXECUTED,
    ActionState.REFUSED: ActionStatus.REFUSED,
    ActionState.EXPIRED: ActionStatus.REFUSED,
}
"""Total over ActionState."""


def to_result(action: Action) -> ActionResult:
    """Return the action as it stands."""
    amount = action.effect.amount if action.effect is not None and action.effect.amount else action.amount
    return ActionResult(
        type=action.type.value,
        status=STATUS[action.state],
        action_id=action.action_id,
        order_id=getattr(action.proposal, "order_id", None),
        amount_minor=amount.amount_minor if amount else None,
        currency=amount.currency if amount else None,
        reason=action.reason,
        case_id=approval_case_id(action.action_id) if action.state is ActionState.PENDING else None,
        reference=action.effect.reference if action.effect else "",
    )
