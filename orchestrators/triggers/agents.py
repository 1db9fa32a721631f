"""One agent alone, without side effects: the pipeline message in, the agent's delta out.

The agents that only read run as their activity runs them. The executor meets no grant and the recorder a turn that has
not ended: both answer what their own code answers then, which is to do nothing. Source: PR-05, design §7.
"""

import json
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, NoReturn

from agents.action_executor import execute_action
from agents.analytics_recorder import record_turn
from orchestrators.activities import agents as activities
from orchestrators.activities.reviewing import run_review
from orchestrators.triggers.contract import Call
from orchestrators.triggers.knowledge_models import AgentIn, AgentShown
from orchestrators.triggers.outside_text import mask_outside
from orchestrators.triggers.problems import Problem, ProblemKind, not_found
from orchestrators.triggers.responses import Answer, json_answer
from shared.container import Services
from shared.domain.actions import ActionRef
from shared.domain.agents import AgentName, MessageIntent
from shared.domain.deltas import (
    Account,
    ActionDelta,
    Classification,
    Context,
    Knowledge,
    ReviewDelta,
    Snapshot,
    TurnState,
    view,
)
from shared.domain.drafts import Check, CheckVerdict, Draft, Review
from shared.domain.envelope import AnswerEnvelope, ReadEnvelope, ReadRequest, check_answer
from shared.domain.errors import AuthorityError, ErrorClass, NotFound
from shared.domain.grants import Grant, SignedGrant
from shared.domain.ids import CustomerId, digest
from shared.domain.intents import ActionType
from shared.domain.ledger import LedgerEntry, TurnRecord
from shared.domain.outcome import Outcome
from shared.domain.sources import HistoryLine
from shared.domain.ticket import TurnRow
from shared.domain.turns import Reviewed, StepTimes
from shared.ports.documents import TenantScope
from shared.wire import Json, encode, pack, unpack

ALONE: Final = "alone"
"""Id of the action and grant an executor called alone is shown: nothing ever mints it."""
NO_DRAFT: Final = "there is no draft to review"
"""Why each check of a supervisor called without a draft fails."""
NOBODY: Final = CustomerId("-")
"""Account of an executor called alone for an anonymous visitor."""

_STATUS: Final = {
    ErrorClass.SCHEMA: ProblemKind.INVALID_REQUEST,
    ErrorClass.AUTHORITY: ProblemKind.SCOPE,
    ErrorClass.TIMEOUT: ProblemKind.UNAVAILABLE,
    ErrorClass.INTEGRATION: ProblemKind.UNAVAILABLE,
    ErrorClass.GROUNDING: ProblemKind.INTERNAL,
    ErrorClass.STALENESS: ProblemKind.CONFLICT,
}
"""What a failed agent answers, by the class of its failure."""

Runner = Callable[[TurnState, Services], Awaitable[Json]]


async def run_one_agent(call: Call) -> Answer:
    """Run the named agent on the snapshot and return its delta.

    Raises: Problem (404 no such agent, 403 a snapshot of another tenant).
    """
    given = call.body_as(AgentIn)
    name = next((agent for agent in AgentName if agent.value == call.ids["agent"]), None)
    if name is None:
        raise not_found("There is no agent of that name.")
    if given.snapshot.tenant_id != call.tenant.tenant_id:
        raise Problem(ProblemKind.SCOPE, "The snapshot is of another tenant.")
    state = to_state(masked_snapshot(call, given.snapshot), given.draft)
    started = time.perf_counter()
    delta = await RUNNERS[name](state, call.services)
    took_ms = round((time.perf_counter() - started) * 1000)
    return json_answer(AgentShown(agent=name.value, delta=dict(delta), took_ms=took_ms))


def masked_snapshot(call: Call, snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with message and history masked: a caller's raw text is not a model's text."""
    history = tuple(
        HistoryLine(seq=line.seq, role=line.role, text=mask_outside(call, line.text.value))
        for line in snapshot.context.history
    )
    context: Context = snapshot.context.model_copy(update={"history": history})
    return snapshot.model_copy(update={"message": mask_outside(call, snapshot.message.value), "context": context})


def to_state(snapshot: Snapshot, draft: Draft | None) -> TurnState:
    """Return a turn's state that knows what the pipeline message says: intent, profile and knowledge."""
    context = snapshot.context
    articles = context.retrieved_knowledge
    confidence = max((a.relevance for a in articles), default=0.0)
    return TurnState(
        snapshot=snapshot,
        version=snapshot.version,
        classification=Classification(
            customer_intent=snapshot.intent, confidence=1.0, language=snapshot.metadata.language
        )
        if snapshot.intent
        else None,
        knowledge=Knowledge(articles=articles, for_intent=snapshot.intent, confidence=confidence),
        account=Account(profile=context.customer_profile),
        draft=draft,
    )


def _of_activity(agent: AgentName, run: Callable[[Json, Services], Awaitable[str]]) -> Runner:
    """Return a runner that asks the agent's activity in an envelope, as a turn's flow does."""

    async def runner(state: TurnState, services: Services) -> Json:
        delta: Json = json.loads(await _asked(agent, run, state, services))
        return delta

    return runner


async def _asked(
    agent: AgentName, run: Callable[[Json, Services], Awaitable[str]], state: TurnState, services: Services
) -> str:
    """Return what the agent's answer carries. Raises: Problem by the class of its failure."""
    snapshot = state.snapshot
    request = ReadEnvelope(
        msg_id=services.ids.new_id(),
        trace_id=snapshot.trace_id,
        sender_agent=AgentName.SUPERVISOR,
        recipient_agent=agent,
        intent=MessageIntent.REQUEST,
        payload=ReadRequest(state=pack(view(state, agent)), intent=snapshot.intent),
        timestamp=services.clock.now(),
        conversation_id=snapshot.conversation_id,
        tenant_id=snapshot.tenant_id,
    )
    heard = unpack(AnswerEnvelope, await run({"envelope": pack(request)}, services))
    check_answer(request, heard)
    return _value(heard.payload.outcome)


async def _review(state: TurnState, services: Services) -> Json:
    """Run the checks; the seal of an approval stays here, for nobody but a turn may use one.

    Without a draft every check fails closed (SU-03).
    """
    if state.draft is None:
        verdicts = tuple(CheckVerdict(check=check, is_passed=False, reason=NO_DRAFT) for check in Check)
        return encode(ReviewDelta(base_version=state.version, review=Review(draft_hash="", verdicts=verdicts)))
    reviewed = unpack(Reviewed, await _asked(AgentName.SUPERVISOR, run_review, state, services))
    return encode(reviewed.delta)


async def _execute(state: TurnState, services: Services) -> Json:
    """Show the executor a grant nobody sealed, for an action nobody decided: it refuses, and nothing happens."""
    snapshot, now = state.snapshot, services.clock.now()
    account = snapshot.customer_id or NOBODY
    try:
        await execute_action(
            SignedGrant(grant=_unsealed(snapshot, account, now), seal=""),
            ActionRef(tenant_id=snapshot.tenant_id, account_id=account, action_id=ALONE),
            keys=services.seal_keys,
            clock=services.clock,
            actions=services.actions,
            claims=services.actions,
            records=services.billing_records,
            billing=services.billing,
            crm=services.crm,
            desk=services.desk,
        )
    except (AuthorityError, NotFound):
        return encode(ActionDelta(base_version=state.version, actions=()))
    raise Problem(ProblemKind.INTERNAL, "The executor acted on a grant nobody sealed.")


async def _record(state: TurnState, services: Services) -> Json:
    """Show the recorder a turn that has not ended: there is nothing to record."""
    snapshot = state.snapshot
    row = TurnRow(
        id=f"turn:{snapshot.message_id}",
        tenant_id=snapshot.tenant_id,
        conversation_id=snapshot.conversation_id,
        message_id=snapshot.message_id,
        seq=snapshot.seq,
        instance_id=snapshot.instance_id,
        masked_text=snapshot.message,
        body_hmac="",
        channel=snapshot.metadata.channel.value,
        accepted_at=snapshot.metadata.timestamp,
    )
    silent = _WritesNothing()
    is_new = await record_turn(
        row, StepTimes(), (), None, at=services.clock.now(), pseudonyms=services.proofs, ledger=silent, analytics=silent
    )
    return {"is_new": is_new}


class _WritesNothing:
    """Ledger and analytics of a call without side effects: reaching them is a defect."""

    async def append(self, scope: TenantScope, entry: LedgerEntry) -> NoReturn:
        """Refuse."""
        raise AuthorityError("an agent called alone writes nothing")

    async def record(self, scope: TenantScope, record: TurnRecord) -> NoReturn:
        """Refuse."""
        raise AuthorityError("an agent called alone writes nothing")


def _unsealed(snapshot: Snapshot, account: CustomerId, now: datetime) -> Grant:
    return Grant(
        grant_id=ALONE,
        tenant_id=snapshot.tenant_id,
        account_id=account,
        action_type=ActionType.CRM_NOTE,
        action_id=ALONE,
        payload_hash=digest(ALONE),
        policy_version=1,
        issued_at=now,
        expires_at=now + timedelta(seconds=1),
    )


def _value(outcome: Outcome) -> str:
    """Return the agent's value. Raises: Problem by the class of its failure."""
    if outcome.ok and outcome.value is not None:
        return outcome.value
    error_class = outcome.error.error_class if outcome.error else ErrorClass.INTEGRATION
    raise Problem(_STATUS[error_class], f"The agent failed: {error_class.value}.")


RUNNERS: Final[dict[AgentName, Runner]] = {
    AgentName.INTAKE_CLASSIFIER: _of_activity(AgentName.INTAKE_CLASSIFIER, activities.run_classifier),
    AgentName.ESCALATION_DETECTOR: _of_activity(AgentName.ESCALATION_DETECTOR, activities.run_escalation),
    AgentName.KNOWLEDGE_RETRIEVER: _of_activity(AgentName.KNOWLEDGE_RETRIEVER, activities.run_retriever),
    AgentName.ACCOUNT_CONTEXT: _of_activity(AgentName.ACCOUNT_CONTEXT, activities.run_account),
    AgentName.RESPONSE_COMPOSER: _of_activity(AgentName.RESPONSE_COMPOSER, activities.run_composer),
    AgentName.SUPERVISOR: _review,
    AgentName.ACTION_EXECUTOR: _execute,
    AgentName.ANALYTICS_RECORDER: _record,
}
"""How each agent runs alone; total over AgentName."""
