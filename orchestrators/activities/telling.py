"""How an action that outlived its turn is told: a notice to the customer, and what becomes of its case at the desk.

Every conversation that asked hears of it once; a turn that already said so is not repeated. One that a person owns is
theirs to speak in: their case shows what happened, and the customer is told here when it is the bot's again, never
taken for told before. Source: design §9 "Approvals" (expiry tells the customer and the desk), AX-03.
"""

from contextlib import suppress
from typing import assert_never

from orchestrators.activities.authorising import open_approval, reopen_approval
from shared.container import Services
from shared.domain.action_results import to_result
from shared.domain.actions import Action, ActionState, Asker
from shared.domain.case import CaseStatus
from shared.domain.deltas import ActionResult, ActionStatus
from shared.domain.errors import NotFound, StalenessError
from shared.domain.ids import approval_case_id
from shared.domain.intents import ActionType
from shared.domain.phrases import done_sentence, done_text, expired_text, rejected_text
from shared.domain.text import MaskedText
from shared.domain.ticket import TurnResult
from shared.ports.documents import TenantScope


async def tell(action: Action, services: Services) -> bool:
    """Tell everybody who asked once, then settle the desk's case; False while somebody cannot be told yet.

    Every step may be repeated.
    """
    is_heard = [await _hears(action, asker, services) for asker in action.askers]
    if action.held_until is None:  # else the desk's part was done when it was held
        await _settle_case(action, services)
    return all(is_heard)


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


def says_end(result: TurnResult, action: ActionResult) -> bool:
    """Tell whether a turn's answer says how the action ended: in our words, or by an approved sentence that cites it.

    What the turn refused and a person took over for is that person's to explain: their case lists it, nothing was done.
    """
    match action.status:
        case ActionStatus.EXECUTED:
            sentence = done_sentence(action, result.language)
            is_said = result.reply is not None and sentence in result.reply.value
            return is_said or any(source.ref == action.ref for source in result.sources)
        case ActionStatus.REFUSED:
            shown = (a.action_id == action.action_id and a.status == action.status.value for a in result.actions)
            return result.case_id is not None and any(shown)
        case ActionStatus.PENDING_APPROVAL | ActionStatus.IN_PROGRESS:
            return False
        case _:
            assert_never(action.status)


async def _hears(action: Action, asker: Asker, services: Services) -> bool:
    """Tell one conversation; True when it knows, now or before, or is gone. False when a person owns it."""
    scope = TenantScope(action.tenant_id)
    ticket = await services.tickets.ticket(scope, asker.conversation_id)
    text = notice_text(action, ticket.language if ticket and ticket.language else "en")
    if ticket is None or not text:
        return True
    row = await services.tickets.turn(scope, asker.conversation_id, asker.message_id)
    if row is not None and row.result is not None and says_end(row.result, to_result(action)):
        return True
    if await services.tickets.add_notice(scope, asker.conversation_id, MaskedText(text), f"action-{action.action_id}"):
        return True
    if ticket.case_id is not None:
        with suppress(NotFound):  # the case went with what was erased
            await services.cases.attach_outcome(scope, ticket.case_id, to_result(action))
    return False


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
