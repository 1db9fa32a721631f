"""The built-in desk: a person sees the queue, claims a case, answers, gives it back or ends it.

Only the claimer answers; what they write is masked before it is stored. The store is changed first, the waiting flow
is then given a hint. Source: HD-01, PR-04, design §7 desk rows, faults 005, 082.
"""

from typing import Final

from orchestrators.triggers.contract import Call
from orchestrators.triggers.desk_models import CaseQueue, CaseShown, CaseSummary, QueueQuery, ReplyIn, ReplyShown
from orchestrators.triggers.models import TurnAction, TurnSource
from orchestrators.triggers.outside_text import exempt_contacts
from orchestrators.triggers.problems import Problem, ProblemKind, not_found
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.starting import hint_case
from orchestrators.triggers.turns import conversation_scope, restore_all, show_thread
from shared.domain.case import Case, CaseStatus
from shared.domain.errors import NotFound
from shared.domain.ids import CaseId
from shared.domain.ticket import Owner, Ticket
from shared.domain.transitions import TicketOp
from shared.privacy.normalise import clean_input

THREAD_TAIL: Final = 200
"""Newest sequences of the thread a case shows. Value ours."""
WAITING: Final = (CaseStatus.OPEN, CaseStatus.CLAIMED)
"""Statuses the queue shows unless asked otherwise: cases that still need somebody."""


async def list_cases(call: Call) -> Answer:
    """Return one page of the tenant's queue."""
    asked = call.query_as(QueueQuery)
    statuses = (asked.status,) if asked.status else WAITING
    cases, continuation = await call.services.cases.queue(call.tenant, statuses, asked.limit, asked.continuation)
    return json_answer(CaseQueue(cases=tuple(_summary(case) for case in cases), continuation=continuation))


async def get_case(call: Call) -> Answer:
    """Return the case with thread, draft and sources, values restored for the person."""
    return json_answer(await _shown(call, await _case(call)))


async def claim_case(call: Call) -> Answer:
    """Take the case; taking one's own again changes nothing, another's is a conflict."""
    case = await call.services.cases.claim(call.tenant, _case_id(call), _person(call))
    await _hint(call, case)
    return json_answer(await _shown(call, case))


async def reply_to_customer(call: Call) -> Answer:
    """Append the claimer's reply to the conversation; the same reply_id appends once."""
    given = call.body_as(ReplyIn)
    case = await _mine(call)
    ticket = await _ticket(call, case)
    masked = await call.services.vault.mask_message(
        conversation_scope(ticket),
        clean_input(given.text),
        regions=call.policy.phone_regions,
        exempt=exempt_contacts(call),
    )
    reply_id = given.reply_id or call.services.ids.new_id()
    row = await call.services.tickets.add_person_reply(
        call.tenant, case.conversation_id, masked.text, author=_person(call), reply_id=reply_id
    )
    if row.text != masked.text:
        raise Problem(ProblemKind.CONFLICT, "The reply_id was used with another text.")
    return json_answer(ReplyShown(case_id=case.id, reply_id=reply_id, seq=row.seq, at=row.at))


async def release_case(call: Call) -> Answer:
    """Give the conversation back to the bot."""
    return await _end(call, CaseStatus.RELEASED, TicketOp.RELEASE)


async def resolve_case(call: Call) -> Answer:
    """End the case and the issue."""
    return await _end(call, CaseStatus.RESOLVED, TicketOp.RESOLVE)


async def _end(call: Call, status: CaseStatus, op: TicketOp) -> Answer:
    """Close the case, then move the ticket it owns; repeating after a crash in between finishes the job."""
    await _not_anothers(call, await _case(call))
    case = await call.services.cases.close(call.tenant, _case_id(call), status)
    ticket = await _ticket(call, case)
    if ticket.owner is Owner.PERSON and ticket.case_id == case.id:
        await call.services.tickets.move(call.tenant, case.conversation_id, op)
    await _hint(call, case)
    return json_answer(await _shown(call, case))


async def _mine(call: Call) -> Case:
    """Return the case the caller has claimed. Raises: Problem (403 another's, 409 nobody's)."""
    case = await _not_anothers(call, await _case(call))
    if case.status is not CaseStatus.CLAIMED:
        raise Problem(ProblemKind.CONFLICT, f"The case is {case.status.value}; claim it first.")
    return case


async def _not_anothers(call: Call, case: Case) -> Case:
    if case.claimed_by is not None and case.claimed_by != _person(call):
        raise Problem(ProblemKind.SCOPE, "Another person has claimed this case.")
    return case


async def _case(call: Call) -> Case:
    case = await call.services.cases.get(call.tenant, _case_id(call))
    if case is None:
        raise not_found()
    return case


async def _ticket(call: Call, case: Case) -> Ticket:
    ticket = await call.services.tickets.ticket(call.tenant, case.conversation_id)
    if ticket is None:
        raise NotFound(f"conversation {case.conversation_id!r} of case {case.id!r} is gone")
    return ticket


def _case_id(call: Call) -> CaseId:
    return CaseId(call.ids["case"])


def _person(call: Call) -> str:
    """Return who holds the key: its owner, who keeps a claim over a rotated key."""
    return call.by.owner or call.by.key_id


async def _hint(call: Call, case: Case) -> None:
    if call.starter is not None:
        await hint_case(call.starter, case.id)


async def _shown(call: Call, case: Case) -> CaseShown:
    ticket = await _ticket(call, case)
    draft = None
    if case.draft is not None:
        draft = (await restore_all(call.services, conversation_scope(ticket), [case.draft], ticket.language or "en"))[0]
    return CaseShown(
        **_summary(case).model_dump(),
        message_id=case.message_id,
        draft=draft,
        sources=tuple(TurnSource(ref=s.ref, title=s.title, relevance=s.relevance) for s in case.sources),
        proposed=tuple(
            TurnAction(type=a.type, amount_minor=a.amount_minor, currency=a.currency, status=a.status.value)
            for a in case.proposed
        ),
        thread=await show_thread(call.services, ticket, max(0, ticket.last_seq - THREAD_TAIL)),
    )


def _summary(case: Case) -> CaseSummary:
    return CaseSummary(
        case_id=case.id,
        conversation_id=case.conversation_id,
        customer_id=case.customer_id,
        status=case.status.value,
        severity=case.severity.value,
        triggers=case.triggers,
        reason=case.reason,
        intent=case.intent,
        opened_at=case.opened_at,
        due_at=case.due_at,
        claimed_by=case.claimed_by,
        claimed_at=case.claimed_at,
        closed_at=case.closed_at,
    )
