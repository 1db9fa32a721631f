"""The built-in desk: a person sees the queue, claims a case, answers, gives it back or ends it.

Only the claimer answers; what they write is masked before it is stored. The store is changed first, the waiting flow
is then given a hint. Source: HD-01, PR-04, design §7 desk rows, faults 005, 082.
"""

from typing import Final

from orchestrators.triggers.approvals import check_approver, leave_undecided, may_be_closed
from orchestrators.triggers.contract import Call
from orchestrators.triggers.desk_models import CaseQueue, QueueQuery, ReplyIn, ReplyShown
from orchestrators.triggers.desk_view import (
    action_of,
    case_of,
    person_of,
    refuse_anothers,
    show_case,
    summary,
    ticket_of,
)
from orchestrators.triggers.outside_text import exempt_contacts
from orchestrators.triggers.problems import Problem, ProblemKind
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.starting import hint_case, wake_action
from orchestrators.triggers.turns import conversation_scope
from shared.domain.actions import ActionRef
from shared.domain.case import Case, CaseStatus
from shared.domain.deltas import ActionStatus
from shared.domain.ticket import Owner
from shared.domain.transitions import TicketOp
from shared.privacy.normalise import clean_input

WAITING: Final = (CaseStatus.OPEN, CaseStatus.CLAIMED)
"""Statuses the queue shows unless asked otherwise: cases that still need somebody."""


async def list_cases(call: Call) -> Answer:
    """Return one page of the tenant's queue, or of the part of it that one trigger names."""
    asked = call.query_as(QueueQuery)
    statuses = (asked.status,) if asked.status else WAITING
    cases, continuation = await call.services.cases.queue(
        call.tenant, statuses, asked.limit, asked.continuation, trigger=asked.trigger
    )
    return json_answer(CaseQueue(cases=tuple(summary(case) for case in cases), continuation=continuation))


async def get_case(call: Call) -> Answer:
    """Return the case with thread, draft and sources, values restored for the person."""
    return json_answer(await show_case(call, await case_of(call)))


async def claim_case(call: Call) -> Answer:
    """Take the case; taking one's own again changes nothing, another's is a conflict.

    One in which an action is decided is an approver's to take.
    """
    wanted = await case_of(call)
    if wanted.action_id is not None:
        check_approver(call)
    case = await call.services.cases.claim(call.tenant, wanted.id, person_of(call))
    await _hint(call, case)
    return json_answer(await show_case(call, case))


async def reply_to_customer(call: Call) -> Answer:
    """Append the claimer's reply to the conversation; the same reply_id appends once."""
    given = call.body_as(ReplyIn)
    case = await _mine(call)
    ticket = await ticket_of(call, case)
    masked = await call.services.vault.mask_message(
        conversation_scope(ticket),
        clean_input(given.text),
        regions=call.policy.phone_regions,
        exempt=exempt_contacts(call),
    )
    reply_id = given.reply_id or call.services.ids.new_id()
    row = await call.services.tickets.add_person_reply(
        call.tenant, case.conversation_id, masked.text, author=person_of(call), reply_id=reply_id
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
    """Close the case, then move the ticket it owns; repeating after a crash in between finishes the job.

    A case in which an action is decided owns no ticket: the bot has the conversation (design §9 "Approvals").
    """
    found = await case_of(call)
    refuse_anothers(call, found)
    if found.action_id is not None and not may_be_closed(await action_of(call, found)):
        return json_answer(await show_case(call, await leave_undecided(call, found, status)))
    case = await call.services.cases.close(call.tenant, found.id, status)
    ticket = await ticket_of(call, case)
    if case.action_id is None and ticket.owner is Owner.PERSON and ticket.case_id == case.id:
        await call.services.tickets.move(call.tenant, case.conversation_id, op)
        await _wake_told_now(call, case)
    await _hint(call, case)
    return json_answer(await show_case(call, case))


async def _wake_told_now(call: Call, case: Case) -> None:
    """Let actions that ended while a person had the conversation tell the customer now; the sweeper does it later."""
    if call.starter is None or case.customer_id is None:
        return
    for action in case.proposed:
        if action.action_id and action.status in (ActionStatus.EXECUTED, ActionStatus.REFUSED):
            ref = ActionRef(tenant_id=case.tenant_id, account_id=case.customer_id, action_id=action.action_id)
            await wake_action(call.starter, ref)


async def _mine(call: Call) -> Case:
    """Return the case the caller has claimed. Raises: Problem (403 another's, 409 nobody's)."""
    case = await case_of(call)
    refuse_anothers(call, case)
    if case.status is not CaseStatus.CLAIMED:
        raise Problem(ProblemKind.CONFLICT, f"The case is {case.status.value}; claim it first.")
    return case


async def _hint(call: Call, case: Case) -> None:
    if call.starter is not None:
        await hint_case(call.starter, case.id)
