"""A case as the person at the desk sees it, and who that person is.

Values are put back for the tokens here, in memory, for a reader the desk's key entitles. Source: HD-01, design §3, §9.
"""

import asyncio
from typing import Final

from orchestrators.triggers.contract import Call
from orchestrators.triggers.desk_models import ApprovalShown, CaseShown, CaseSummary
from orchestrators.triggers.models import TurnAction, TurnSource
from orchestrators.triggers.problems import Problem, ProblemKind, not_found
from orchestrators.triggers.turns import conversation_scope, restore_all, show_thread
from shared.domain.actions import Action, ChangeAddressProposal, CrmNoteProposal, TicketUpdateProposal
from shared.domain.case import Case
from shared.domain.errors import NotFound
from shared.domain.ids import CaseId
from shared.domain.text import MaskedText
from shared.domain.ticket import Ticket
from shared.ports.documents import CustomerScope

THREAD_TAIL: Final = 200
"""Newest sequences of the thread a case shows. Value ours."""


def person_of(call: Call) -> str:
    """Return who holds the key: its owner, who keeps a claim over a rotated key."""
    return call.by.owner or call.by.key_id


async def case_of(call: Call) -> Case:
    """Return the case of the path. Raises: Problem (404)."""
    case = await call.services.cases.get(call.tenant, CaseId(call.ids["case"]))
    if case is None:
        raise not_found()
    return case


def refuse_anothers(call: Call, case: Case) -> None:
    """Refuse a case somebody else has claimed. Raises: Problem (403)."""
    if case.claimed_by is not None and case.claimed_by != person_of(call):
        raise Problem(ProblemKind.SCOPE, "Another person has claimed this case.")


async def ticket_of(call: Call, case: Case) -> Ticket:
    """Return the ticket of the case's conversation. Raises: NotFound when it was erased."""
    ticket = await call.services.tickets.ticket(call.tenant, case.conversation_id)
    if ticket is None:
        raise NotFound(f"conversation {case.conversation_id!r} of case {case.id!r} is gone")
    return ticket


async def action_of(call: Call, case: Case) -> Action | None:
    """Return the action the case is about; None when it is about none, or the action is no longer kept."""
    if case.action_id is None or case.customer_id is None:
        return None
    return await call.services.actions.get(CustomerScope(case.tenant_id, case.customer_id), case.action_id)


async def written_since(call: Call, action: Action) -> int | None:
    """Return the sequence of the newest message the customer wrote after asking for the action, or None.

    It may take the request back, in whatever words and language: who approves has to have read it.
    """
    asked, newest = await asyncio.gather(
        call.services.tickets.turn(call.tenant, action.conversation_id, action.message_id),
        call.services.tickets.latest(call.tenant, action.conversation_id, 1),
    )
    last = max((row.seq for row in newest), default=0)
    return last if last > (asked.seq if asked is not None else 0) else None


async def show_case(call: Call, case: Case) -> CaseShown:
    """Return the case with thread, draft, sources, and the action it is about."""
    ticket, action = await ticket_of(call, case), await action_of(call, case)
    masked = [case.draft or MaskedText(""), MaskedText(action.reason if action else "")]
    draft, reason = await restore_all(call.services, conversation_scope(ticket), masked, ticket.language or "en")
    return CaseShown(
        **summary(case).model_dump(),
        message_id=case.message_id,
        draft=draft if case.draft is not None else None,
        sources=tuple(TurnSource(ref=s.ref, title=s.title, relevance=s.relevance) for s in case.sources),
        proposed=tuple(
            TurnAction(type=a.type, amount_minor=a.amount_minor, currency=a.currency, status=a.status.value)
            for a in case.proposed
        ),
        action=None if action is None else _approval(action, reason, await written_since(call, action)),
        thread=await show_thread(call.services, ticket, max(0, ticket.last_seq - THREAD_TAIL)),
    )


def summary(case: Case) -> CaseSummary:
    """Return the case as the queue lists it."""
    return CaseSummary(
        case_id=case.id,
        conversation_id=case.conversation_id,
        customer_id=case.customer_id,
        status=case.status.value,
        severity=case.severity.value,
        triggers=case.triggers,
        reason=case.reason,
        intent=case.intent,
        action_id=case.action_id,
        opened_at=case.opened_at,
        due_at=case.due_at,
        claimed_by=case.claimed_by,
        claimed_at=case.claimed_at,
        closed_at=case.closed_at,
    )


def _approval(action: Action, reason: str, since: int | None) -> ApprovalShown:
    proposal, note = action.proposal, ""
    if isinstance(proposal, CrmNoteProposal):
        note = proposal.text
    elif isinstance(proposal, TicketUpdateProposal):
        note = " ".join((*proposal.tags, proposal.note)).strip()
    return ApprovalShown(
        action_id=action.action_id,
        type=action.type.value,
        state=action.state.value,
        order_id=getattr(proposal, "order_id", None),
        lines=getattr(proposal, "lines", ()),
        amount_minor=action.amount.amount_minor if action.amount else None,
        currency=action.amount.currency if action.amount else None,
        address=proposal.address if isinstance(proposal, ChangeAddressProposal) else None,
        note=note,
        reason=reason,
        written_since=since,
        policy_version=action.policy_version,
        approved_by=action.approved_by,
        approved_at=action.approved_at,
        requested_at=action.requested_at,
        expires_at=action.expires_at,
    )
