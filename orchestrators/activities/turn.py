"""The steps of a turn that touch the ticket: open, deliver, hand over. Wiring and conditional writes, no judgement.

Source: design §3 steps 1, 5, 6; faults 001, 004, 005, 009, 012.
"""

import asyncio
from typing import Final

from agents.supervisor import approval_scope
from orchestrators.activities.proofs import prove_fixed_text, prove_turn
from orchestrators.activities.replies import (
    approved_result,
    canned_result,
    handoff_result,
    lost_handoff_result,
    shown_sources,
)
from orchestrators.activities.telling import says_end
from shared.adapters.records.tickets import Settled
from shared.authority.verify import verify_approval
from shared.container import Services
from shared.domain.case import opened_case
from shared.domain.deltas import Channel, Context, Metadata, Snapshot, TurnState
from shared.domain.drafts import ApprovedReply, Draft
from shared.domain.errors import SchemaError
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import TraceId, case_id, turn_instance_id
from shared.domain.sampling import is_sampled
from shared.domain.sources import HistoryLine
from shared.domain.text import MaskedText
from shared.domain.thread import to_lines
from shared.domain.ticket import HandoffRow, ProofRow, ThreadRow, TurnResult, TurnRow
from shared.domain.turns import DeliverInput, HandOverInput, OpenedTurn, Settlement, TurnInput
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.vault import ConversationScope

WINDOW_TURNS: Final = 6
"""Earlier messages kept verbatim in the snapshot (ME-05 "last N turns"). Value ours."""
MAX_PENDING: Final = 4
"""Unanswered messages a window makes room for beside its turns: superseding stops after three. Source: design §3."""
WINDOW_LINE_CHARS: Final = 600
"""Most characters of one line of the window, so that a turn costs the same at turn 5 and 200. Source: design §10."""
MESSAGE_CHARS: Final = 8_000
"""Most characters of all unanswered messages together, newest kept. Value ours."""


async def open_turn(turn: TurnInput, services: Services) -> OpenedTurn:
    """Return a snapshot of the ticket, or none when the turn is settled: answered, superseded, or a person's.

    Raises: NotFound when the row is gone (erased).
    """
    scope = TenantScope(turn.tenant_id)
    opened = await services.tickets.open(scope, turn.conversation_id, turn.message_id)
    if opened is None:
        announce(turn, services)
        return OpenedTurn()
    ticket, row = opened
    pending, recent, policy = await asyncio.gather(
        services.tickets.unanswered(scope, ticket, row.seq),
        services.tickets.latest(scope, turn.conversation_id, WINDOW_TURNS + MAX_PENDING),
        services.tenants.policy(scope),
    )
    text = "\n".join(p.masked_text.value for p in pending) or row.masked_text.value
    snapshot = Snapshot(
        conversation_id=turn.conversation_id,
        tenant_id=turn.tenant_id,
        message=MaskedText(text[-MESSAGE_CHARS:]),
        context=Context(history=_window(recent, {p.seq for p in pending} | {row.seq})),
        metadata=Metadata(
            language=row.language or ticket.language, timestamp=row.accepted_at, channel=Channel(row.channel)
        ),
        message_id=turn.message_id,
        instance_id=row.instance_id,
        trace_id=TraceId(row.trace_id),
        seq=row.seq,
        version=ticket.version,
        customer_id=ticket.customer_id,
        is_first_reply=not ticket.has_greeted,
        has_clarified=ticket.has_clarified,
        issue=ticket.issue,
        contacts_on_issue=ticket.contacts_on_issue,
        rules=policy.routing,
        policy_version=policy.version,
        is_shadowed=is_sampled(row.instance_id, "shadow", policy.governance.shadowed_share),
        is_audited=is_sampled(row.instance_id, "audit", policy.governance.audited_share),
    )
    return OpenedTurn(snapshot=snapshot)


async def deliver_reply(request: DeliverInput, services: Services) -> Settlement:
    """Send the approved reply or the fixed text, if the turn may still answer and its sources still stand.

    Fails closed: a reply whose approval does not verify for exactly this turn raises AuthorityError and nothing is
    written. Stale sources change nothing and ask for a fresh snapshot (KB-10).
    """
    turn, state = request.turn, request.state
    scope = TenantScope(turn.tenant_id)
    if request.approved is not None:
        expected = approval_scope(turn.tenant_id, turn.conversation_id, state.snapshot.seq)
        verify_approval(request.approved, scope=expected, keys=services.seal_keys)
        stale = await services.articles.stale_refs(scope, request.approved.draft.refs)
        if stale:
            return Settlement(settled=Settled.STALE.value, stale_refs=tuple(stale))
        result = approved_result(state, request.approved)
    elif request.canned is not None:
        result = canned_result(state, request.canned, await services.tenants.policy(scope))
    else:
        raise SchemaError("nothing to deliver: neither an approved reply nor a fixed text")
    proof = await _prove(state, result, services, approved=request.approved)
    settled = await services.tickets.deliver(
        scope, turn.conversation_id, turn.message_id, state.snapshot.version, result, proof=proof
    )
    if settled in (Settled.DONE, Settled.SUPERSEDED, Settled.PERSON_OWNS):
        announce(turn, services)
    if settled is Settled.PERSON_OWNS and request.approved is not None:
        await _attach_draft(turn, request.approved.draft, services)
    if settled is Settled.DONE:
        await _mark_told(state, result, services)
    return Settlement(settled=settled.value)


async def hand_over(request: HandOverInput, services: Services) -> Settlement:
    """Give the conversation to a person: state and notification first, then the case, then tell the customer.

    Every step is idempotent, so a repeat after a crash ends with one case and one message (faults 001, 009).
    """
    turn, state = request.turn, request.state
    scope = TenantScope(turn.tenant_id)
    found = state.classification
    severity = found.severity if found else Severity.NORMAL
    case = case_id(turn.tenant_id, turn.conversation_id, turn.message_id)
    draft = request.draft or state.draft
    triggers = tuple(t.value for t in request.route.triggers)
    settled = await services.tickets.begin_handoff(
        scope,
        turn.conversation_id,
        turn.message_id,
        request.base_version,
        case=case,
        triggers=triggers,
        severity=severity.value,
    )
    if settled is Settled.STALE or settled is Settled.BUSY:
        return Settlement(settled=settled.value)
    if settled is not Settled.DONE:
        if await services.tickets.open(scope, turn.conversation_id, turn.message_id) is not None:
            # What stood in the way is gone again (a release, a run of supersessions): the turn has still to end.
            return Settlement(settled=Settled.STALE.value)
        announce(turn, services)
        if settled is Settled.PERSON_OWNS and draft is not None:
            await _attach_draft(turn, draft, services)
        return Settlement(settled=settled.value)
    policy = await services.tenants.policy(scope)
    waiting = await services.cases.waiting_count(scope, policy.queue_cap)
    now = services.clock.now()
    opened = opened_case(
        case,
        tenant_id=turn.tenant_id,
        conversation_id=turn.conversation_id,
        customer_id=state.snapshot.customer_id,
        message_id=turn.message_id,
        severity=severity,
        triggers=triggers,
        reason=request.route.reason,
        sla_minutes=policy.sla_of(severity),
        at=now,
    )
    needed = {
        "intent": found.customer_intent.value if found else None,
        "draft": draft.text if draft else None,
        "sources": shown_sources(state.knowledge.articles if state.knowledge else ()),
        "passages": request.passages,
        "proposed": state.outcomes,
    }
    await services.cases.open(scope, opened.model_copy(update=needed))
    is_busy = waiting >= policy.queue_cap
    result = handoff_result(state, request.route, case, policy, severity=severity, now=now, is_busy=is_busy)
    proof = await _prove(state, result, services)
    await services.tickets.finish_handoff(scope, turn.conversation_id, turn.message_id, result, proof=proof)
    await _mark_told(state, result, services)
    announce(turn, services)
    return Settlement(settled=Settled.DONE.value)


async def finish_lost_handoff(handoff: HandoffRow, services: Services) -> None:
    """Finish a handoff whose flow died half-way: a bare case, then the customer is told (sweeper, fault 009)."""
    scope = TenantScope(handoff.tenant_id)
    ticket = await services.tickets.ticket(scope, handoff.conversation_id)
    if ticket is None:
        return
    severity = Severity(handoff.severity)
    policy = await services.tenants.policy(scope)
    await services.cases.open(
        scope,
        opened_case(
            handoff.case_id,
            tenant_id=handoff.tenant_id,
            conversation_id=handoff.conversation_id,
            customer_id=handoff.customer_id,
            message_id=handoff.message_id,
            severity=severity,
            triggers=handoff.triggers,
            reason="the turn's flow ended before its handoff did",
            sla_minutes=policy.sla_of(severity),
            at=handoff.at,
        ),
    )
    told = lost_handoff_result(ticket, handoff, policy)
    proof = None
    if told.reply is not None:
        proof = await prove_fixed_text(
            ConversationScope(handoff.tenant_id, handoff.conversation_id, ticket.customer_id),
            handoff.message_id,
            told.reply,
            language=told.language,
            policy_version=policy.version,
            sealer=services.proofs,
        )
    await services.tickets.finish_handoff(scope, handoff.conversation_id, handoff.message_id, told, proof=proof)


async def hand_over_lost_turn(row: TurnRow, services: Services) -> None:
    """Give a turn whose flow keeps dying to a person (RK-03); a turn that may no longer act is only ended."""
    scope = TenantScope(row.tenant_id)
    opened = await services.tickets.open(scope, row.conversation_id, row.message_id)
    if opened is None:
        return
    case = case_id(row.tenant_id, row.conversation_id, row.message_id)
    triggers = (HumanTrigger.POISON.value,)
    severity = Severity.NORMAL
    settled = await services.tickets.begin_handoff(
        scope,
        row.conversation_id,
        row.message_id,
        opened[0].version,
        case=case,
        triggers=triggers,
        severity=severity.value,
    )
    if settled is not Settled.DONE:
        return
    handoff = HandoffRow(
        id=f"handoff:{case}",
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        customer_id=row.customer_id,
        case_id=case,
        message_id=row.message_id,
        seq=row.seq,
        triggers=triggers,
        severity=severity.value,
        at=services.clock.now(),
    )
    await finish_lost_handoff(handoff, services)


def announce(turn: TurnInput, services: Services) -> None:
    """Wake whoever waits for this turn in this process; a hint only."""
    services.signals.announce(turn_instance_id(turn.tenant_id, turn.conversation_id, turn.message_id))


async def _prove(
    state: TurnState, result: TurnResult, services: Services, *, approved: ApprovedReply | None = None
) -> ProofRow:
    """Return the sealed proof of what the customer is about to be told."""
    return await prove_turn(
        state,
        approved=approved,
        told=None if approved is not None else result.reply,
        language=result.language,
        articles=services.articles,
        actions=services.actions,
        sealer=services.proofs,
    )


async def _mark_told(state: TurnState, result: TurnResult, services: Services) -> None:
    """Note of each action whose end this turn's answer says that it is told; the rest is told by itself."""
    snapshot = state.snapshot
    if snapshot.customer_id is None:
        return
    scope = CustomerScope(snapshot.tenant_id, snapshot.customer_id)
    for action in state.outcomes:
        if action.action_id and says_end(result, action):
            await services.actions.mark_told(scope, action.action_id, only=snapshot.conversation_id)


async def _attach_draft(turn: TurnInput, draft: Draft, services: Services) -> None:
    """Give a late draft to the person who owns the conversation instead of sending it (fault 004)."""
    scope = TenantScope(turn.tenant_id)
    ticket = await services.tickets.ticket(scope, turn.conversation_id)
    if ticket is not None and ticket.case_id is not None:
        await services.cases.attach_draft(scope, ticket.case_id, draft.text)


def _window(rows: tuple[ThreadRow, ...], pending: set[int]) -> tuple[HistoryLine, ...]:
    """Return the last messages verbatim, oldest first, without the ones still to be answered."""
    lines = [line for row in rows if row.seq not in pending for line in to_lines(row)]
    return tuple(line.model_copy(update={"text": _cut(line.text)}) for line in lines[-2 * WINDOW_TURNS :])


def _cut(text: MaskedText) -> MaskedText:
    return MaskedText(text.value[:WINDOW_LINE_CHARS])
