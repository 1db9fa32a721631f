"""One body an agent activity: check the envelope, pick ports, call one agent, answer in an envelope.

The ladder and the deadline wrap it. Source: conventions "Activities", design §5; PR-01 (confidence, source_refs).
"""

import asyncio
from typing import Final

from agents.account_context import read_account
from agents.analytics_recorder import record_turn
from agents.escalation_detector import detect_escalation
from agents.intake_classifier import classify_message
from agents.knowledge_retriever import retrieve_articles
from agents.response_composer import compose_reply
from orchestrators.activities.hop import Said, answer, received_read, received_record, state_of
from orchestrators.activities.persistence import persist
from shared.container import Services
from shared.domain.agents import AgentName
from shared.domain.deltas import Snapshot
from shared.domain.envelope import RecordRequest
from shared.domain.phrases import canonical_status
from shared.domain.sources import Profile
from shared.domain.turns import Recorded, StepTimes, TurnInput
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.models import RevisionReason
from shared.wire import Json

REDUCED_TOP_K: Final = 3
"""Results of a retrieval on the reduced-scope rung. Source: GO-02 (narrower query); value ours."""
DEFAULT_TOP_K: Final = 5
"""Results of a retrieval. Source: KB-07."""

ORDERS_AT_STAKE: Final = 5
"""Newest orders whose value counts as at stake. Value ours."""
SETTLED_STATES: Final = frozenset({"delivered", "cancelled", "refunded"})
"""States of an order that is over. Source: shared.domain.phrases.orders."""


async def run_classifier(payload: Json, services: Services) -> str:
    """Run the intake classifier on the snapshot."""
    request = received_read(payload, AgentName.INTAKE_CLASSIFIER)
    state = state_of(request)

    async def call(*, is_reduced: bool) -> Said:
        delta = await classify_message(state.snapshot, base_version=state.version, model=services.classifier)
        return Said(delta, delta)

    return await answer(request, AgentName.INTAKE_CLASSIFIER, call, clock=services.clock)


async def run_escalation(payload: Json, services: Services) -> str:
    """Run the escalation detector beside the pipeline (ES-01)."""
    request = received_read(payload, AgentName.ESCALATION_DETECTOR)
    state = state_of(request)

    async def call(*, is_reduced: bool) -> Said:
        snapshot = state.snapshot
        policy, (profile, at_stake) = await asyncio.gather(
            services.tenants.policy(TenantScope(snapshot.tenant_id)), _standing(snapshot, services)
        )
        delta = await detect_escalation(
            snapshot,
            base_version=state.version,
            model=services.escalation_model,
            screen=services.screen,
            policy=policy,
            profile=profile,
            open_order_total_minor=at_stake,
        )
        return Said(delta, delta, is_escalation=bool(delta.escalation.triggers))

    return await answer(request, AgentName.ESCALATION_DETECTOR, call, clock=services.clock)


async def run_retriever(payload: Json, services: Services) -> str:
    """Run the knowledge retriever; `intent` and `is_widened` come with a second look."""
    request = received_read(payload, AgentName.KNOWLEDGE_RETRIEVER)
    state, asked = state_of(request), request.payload

    async def call(*, is_reduced: bool) -> Said:
        delta = await retrieve_articles(
            state.snapshot,
            base_version=state.version,
            intent=asked.intent,
            is_widened=asked.is_widened,
            search=services.search,
            top_k=REDUCED_TOP_K if is_reduced else DEFAULT_TOP_K,
        )
        return Said(delta, delta)

    return await answer(request, AgentName.KNOWLEDGE_RETRIEVER, call, clock=services.clock)


async def run_account(payload: Json, services: Services) -> str:
    """Run the account context agent for the proven customer."""
    request = received_read(payload, AgentName.ACCOUNT_CONTEXT)
    state, asked = state_of(request), request.payload

    async def call(*, is_reduced: bool) -> Said:
        delta = await read_account(
            state.snapshot,
            base_version=state.version,
            intent=asked.intent,
            accounts=services.accounts,
            history=services.history,
            clock=services.clock,
        )
        return Said(delta, delta)

    return await answer(request, AgentName.ACCOUNT_CONTEXT, call, clock=services.clock)


async def run_composer(payload: Json, services: Services) -> str:
    """Run the response composer, with the reasons of a rejection when it revises."""
    request = received_read(payload, AgentName.RESPONSE_COMPOSER)
    state, asked = state_of(request), request.payload
    revision = RevisionReason(verdicts=asked.verdicts, attempt=asked.attempt) if asked.attempt else None

    async def call(*, is_reduced: bool) -> Said:
        policy = await services.tenants.policy(TenantScope(state.snapshot.tenant_id))
        delta = await compose_reply(
            state, base_version=state.version, model=services.composer, policy=policy, revision=revision
        )
        return Said(delta, delta)

    return await answer(request, AgentName.RESPONSE_COMPOSER, call, clock=services.clock)


async def run_recorder(payload: Json, services: Services) -> str:
    """Record the finished turn once; nothing comes after it, so it outlasts a short trouble of the store itself."""
    request = received_record(payload, AgentName.ANALYTICS_RECORDER)

    async def call(*, is_reduced: bool) -> Said:
        return Said(Recorded(is_new=await persist(lambda: _record(request.payload, services))))

    return await answer(request, AgentName.ANALYTICS_RECORDER, call, clock=services.clock)


async def record_without_flow(turn: TurnInput, services: Services) -> None:
    """Record a turn whose flow is gone: how it ended, without times and without messages."""
    await _record(RecordRequest(turn=turn, times=StepTimes()), services)


async def _record(request: RecordRequest, services: Services) -> bool:
    turn, scope = request.turn, TenantScope(request.turn.tenant_id)
    row, proof = await asyncio.gather(
        services.tickets.turn(scope, turn.conversation_id, turn.message_id),
        services.tickets.proof(scope, turn.conversation_id, turn.message_id),
    )
    return row is not None and await record_turn(
        row,
        request.times,
        request.trail,
        proof,
        at=services.clock.now(),
        pseudonyms=services.proofs,
        ledger=services.ledger,
        analytics=services.analytics,
    )


async def _standing(snapshot: Snapshot, services: Services) -> tuple[Profile | None, int | None]:
    """Return who the proven customer is and what their open orders are worth; nothing for an anonymous visitor."""
    if snapshot.customer_id is None:
        return None, None
    scope = CustomerScope(snapshot.tenant_id, snapshot.customer_id)
    profile, orders = await asyncio.gather(
        services.accounts.profile(scope), services.accounts.recent_orders(scope, ORDERS_AT_STAKE)
    )
    is_open = [o for o in orders if canonical_status(o.status) not in SETTLED_STATES]
    return profile, sum(o.total.amount_minor for o in is_open)
