"""How an action that outlived its turn is told: a notice to the customer, and what becomes of its case at the desk.

A turn that already said so is not repeated; a conversation a person owns is told through its case only. Source:
design §9 "Approvals" (expiry tells the customer and the desk), AX-03.
"""

from orchestrators.activities.authorising import open_approval, reopen_approval
from shared.container import Services
from shared.domain.actions import Action, ActionState
from shared.domain.case import CaseStatus
from shared.domain.errors import NotFound, StalenessError
from shared.domain.ids import approval_case_id
from shared.domain.intents import ActionType
from shared.domain.phrases import done_text, expired_text, rejected_text
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope


async def tell(action: Action, services: Services) -> None:
    """Tell the customer once, then settle the desk's case. Every step may be repeated."""
    scope = TenantScope(action.tenant_id)
    ticket = await services.tickets.ticket(scope, action.conversation_id)
    text = notice_text(action, ticket.language if ticket and ticket.language else "en")
    if ticket is not None and text and not await _was_said(action, services):
        await services.tickets.add_notice(scope, action.conversation_id, MaskedText(text), f"action-{action.action_id}")
    await _settle_case(action, services)


def notice_text(action: Action, language: str) -> str:
    """Return what the customer is told; nothing for what they never asked for, and while the end is unknown."""
    order = getattr(action.proposal, "order_id", None)
    if order is None:
        return ""
    match action.state:
        case ActionState.EXECUTED:
            amount = action.effect.amount if action.effect else None
            return done_text(action.type, language, order=order, amount=amount)
        case ActionState.REFUSED:
            return rejected_text(language, order=order)
        case ActionState.EXPIRED:
            return expired_text(language, order=order)
        case _:
            return ""


async def _was_said(action: Action, services: Services) -> bool:
    """Tell whether the turn that asked for the action has already answered with how it ended."""
    row = await services.tickets.turn(TenantScope(action.tenant_id), action.conversation_id, action.message_id)
    if row is None or row.result is None:
        return False
    ended = {ActionState.EXECUTED: "executed", ActionState.REFUSED: "refused"}.get(action.state, "")
    return any(a.action_id == action.action_id and a.status == ended for a in row.result.actions)


async def _settle_case(action: Action, services: Services) -> None:
    scope, case = TenantScope(action.tenant_id), approval_case_id(action.action_id)
    if action.state is ActionState.UNCLEAR:
        # Nobody knows whether it was done: a person looks, and on-call knows of it.
        policy = await services.tenants.policy(scope)
        await open_approval(action, policy, services)
        await reopen_approval(action, policy, services)
        await services.pager.page(action.tenant_id, case)
        return
    if action.state is ActionState.EXPIRED:
        await services.pager.page(action.tenant_id, case)
    if action.type in (ActionType.CRM_NOTE, ActionType.TICKET_UPDATE):
        return
    try:
        await services.cases.close(scope, case, CaseStatus.RESOLVED)
    except (NotFound, StalenessError):
        return  # decided by the ceilings, so there never was a case; or closed by hand
