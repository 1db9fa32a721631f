"""One body an agent activity: decode, pick ports, call one agent, encode. The ladder and the deadline wrap it.

Source: conventions "Activities", design §5; PR-01 (confidence, source_refs).
"""

import asyncio
from typing import Final

from agents.account_context import read_account
from agents.action_executor import execute_action
from agents.analytics_recorder import record_turn
from agents.escalation_detector import detect_escalation
from agents.intake_classifier import classify_message
from agents.knowledge_retriever import retrieve_articles
from agents.response_composer import compose_reply
from agents.supervisor import approval_scope, approve_reply, grant_action, review_draft
from orchestrators.activities.ladder import climb
from orchestrators.activities.persistence import persist
from shared.container import Services
from shared.domain.agents import AgentName
from shared.domain.deltas import Account, Snapshot, TurnState
from shared.domain.errors import SchemaError, Unavailable
from shared.domain.grants import SignedGrant
from shared.domain.ids import CustomerId, digest
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.outcome import Outcome
from shared.domain.phrases import canonical_status
from shared.domain.sources import Profile
from shared.domain.turns import Reviewed, StepTimes, TurnInput
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.models import RevisionReason
from shared.wire import Json, decode, pack, unpack

REDUCED_TOP_K: Final = 3
"""Results of a retrieval on the reduced-scope rung. Source: GO-02 (narrower query); value ours."""
DEFAULT_TOP_K: Final = 5
"""Results of a retrieval. Source: KB-07."""

ORDERS_AT_STAKE: Final = 5
"""Newest orders whose value counts as at stake. Value ours."""
SETTLED_STATES: Final = frozenset({"delivered", "cancelled", "refunded"})
"""States of an order that is over. Source: shared.domain.phrases.orders."""

NOTE_TEXT: Final = "Customer asked for {action} on an order; waiting for a person's decision."
"""What the CRM note says: our words only."""


async def run_classifier(payload: Json, services: Services) -> Outcome:
    """Run the intake classifier on the snapshot."""
    state = _state(payload)

    async def attempt(*, is_reduced: bool) -> str:
        return pack(await classify_message(state.snapshot, base_version=state.version, model=services.classifier))

    return await climb(AgentName.INTAKE_CLASSIFIER, attempt, sleep=asyncio.sleep)


async def run_escalation(payload: Json, services: Services) -> Outcome:
    """Run the escalation detector beside the pipeline (ES-01)."""
    state = _state(payload)

    async def attempt(*, is_reduced: bool) -> str:
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
        return pack(delta)

    return await climb(AgentName.ESCALATION_DETECTOR, attempt, sleep=asyncio.sleep)


async def run_retriever(payload: Json, services: Services) -> Outcome:
    """Run the knowledge retriever; `intent` and `is_widened` come with a second look."""
    state = _state(payload)
    intent = _intent(payload)
    is_widened = payload.get("is_widened") is True

    async def attempt(*, is_reduced: bool) -> str:
        delta = await retrieve_articles(
            state.snapshot,
            base_version=state.version,
            intent=intent,
            is_widened=is_widened,
            search=services.search,
            top_k=REDUCED_TOP_K if is_reduced else DEFAULT_TOP_K,
        )
        return pack(delta)

    return await climb(AgentName.KNOWLEDGE_RETRIEVER, attempt, sleep=asyncio.sleep)


async def run_account(payload: Json, services: Services) -> Outcome:
    """Run the account context agent for the proven customer."""
    state = _state(payload)
    intent = _intent(payload)

    async def attempt(*, is_reduced: bool) -> str:
        delta = await read_account(
            state.snapshot,
            base_version=state.version,
            intent=intent,
            accounts=services.accounts,
            history=services.history,
            clock=services.clock,
        )
        return pack(delta)

    return await climb(AgentName.ACCOUNT_CONTEXT, attempt, sleep=asyncio.sleep)


async def run_composer(payload: Json, services: Services) -> Outcome:
    """Run the response composer, with the reasons of a rejection when it revises."""
    state = _state(payload)
    raw = payload.get("revision")
    revision = decode(RevisionReason, raw) if raw else None

    async def attempt(*, is_reduced: bool) -> str:
        policy = await services.tenants.policy(TenantScope(state.snapshot.tenant_id))
        delta = await compose_reply(
            state, base_version=state.version, model=services.composer, policy=policy, revision=revision
        )
        return pack(delta)

    return await climb(AgentName.RESPONSE_COMPOSER, attempt, sleep=asyncio.sleep)


async def run_review(payload: Json, services: Services) -> Outcome:
    """Run the supervisor's checks; the value holds the delta and, only when all passed, the sealed approval."""
    state = _state(payload)

    async def attempt(*, is_reduced: bool) -> str:
        snapshot = state.snapshot
        policy = await services.tenants.policy(TenantScope(snapshot.tenant_id))
        delta = await review_draft(
            state,
            base_version=state.version,
            model=services.reviewer,
            screen=services.screen,
            policy=policy,
            allowed_promises=frozenset(),
        )
        approved = None
        if state.draft is not None and delta.review.is_approved:
            scope = approval_scope(snapshot.tenant_id, snapshot.conversation_id, snapshot.seq)
            approved = approve_reply(state.draft, delta.review, scope=scope, mint=services.mint())
        return pack(Reviewed(delta=delta, approved=approved))

    return await climb(AgentName.SUPERVISOR, attempt, sleep=asyncio.sleep)


async def run_authorise(payload: Json, services: Services) -> Outcome:
    """Commit the turn, then let the supervisor mint the grant for the note; the value is the signed grant."""
    state = _state(payload)

    async def attempt(*, is_reduced: bool) -> str:
        snapshot = state.snapshot
        scope = TenantScope(snapshot.tenant_id)
        settled = await services.tickets.commit(scope, snapshot.conversation_id, snapshot.seq, snapshot.version)
        if settled.value != "done":
            raise Unavailable(f"turn {snapshot.message_id!r} cannot commit: {settled.value}")
        policy = await services.tenants.policy(scope)
        signed = grant_action(
            tenant_id=snapshot.tenant_id,
            account_id=_customer(state),
            action_type=ActionType.CRM_NOTE,
            action_id=note_action_id(state),
            policy=policy,
            mint=services.mint(),
        )
        return pack(signed)

    return await climb(AgentName.SUPERVISOR, attempt, sleep=asyncio.sleep)


async def run_executor(payload: Json, services: Services) -> Outcome:
    """Let the executor write the note its grant allows."""
    state = _state(payload)
    signed = unpack(SignedGrant, payload["grant"])

    async def attempt(*, is_reduced: bool) -> str:
        found = state.classification
        delta = await execute_action(
            signed,
            NOTE_TEXT.format(action=found.customer_intent.value if found else "a change"),
            base_version=state.version,
            tenant=state.snapshot.tenant_id,
            account=_customer(state),
            conversation=state.snapshot.conversation_id,
            action_id=note_action_id(state),
            keys=services.seal_keys,
            clock=services.clock,
            claims=services.actions,
            crm=services.crm,
        )
        return pack(delta)

    return await climb(AgentName.ACTION_EXECUTOR, attempt, sleep=asyncio.sleep)


async def run_recorder(payload: Json, services: Services) -> Outcome:
    """Record the finished turn once; nothing comes after it, so it outlasts a short trouble of the store itself."""
    turn = decode(TurnInput, payload["turn"])
    times = decode(StepTimes, payload["times"])

    async def record() -> str:
        scope = TenantScope(turn.tenant_id)
        row = await services.tickets.turn(scope, turn.conversation_id, turn.message_id)
        is_new = row is not None and await record_turn(
            row, times, at=services.clock.now(), ledger=services.ledger, analytics=services.analytics
        )
        return "new" if is_new else "known"

    async def attempt(*, is_reduced: bool) -> str:
        return await persist(record)

    return await climb(AgentName.ANALYTICS_RECORDER, attempt, sleep=asyncio.sleep)


def note_action_id(state: TurnState) -> str:
    """Return the note's action id: tenant, account, orders, type, message; the same on every repeat of the turn."""
    snapshot, found = state.snapshot, state.classification
    orders = ",".join(sorted(o.order_id for o in (state.account or Account()).orders))
    intent = found.customer_intent.value if found else ""
    parts = (snapshot.tenant_id, _customer(state), orders, "crm_note", intent, snapshot.conversation_id)
    return digest(*parts, snapshot.message_id)[:40]


def _state(payload: Json) -> TurnState:
    return unpack(TurnState, payload["state"])


def _intent(payload: Json) -> CustomerIntent | None:
    raw = payload.get("intent")
    return CustomerIntent(raw) if raw else None


def _customer(state: TurnState) -> CustomerId:
    if state.snapshot.customer_id is None:
        raise SchemaError("an action needs a proven customer")
    return state.snapshot.customer_id


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
