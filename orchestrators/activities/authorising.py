"""The supervisor's decisions about actions as activities: commit the turn and decide; grant in the lane.

Facts are read by the supervisor, the decision is written here, nothing is executed. Source: AX-02, SU-04, GO-03,
design §3 step 5, §9 "Approvals".
"""

import asyncio
from datetime import timedelta
from typing import Final

from agents.supervisor import BY_POLICY, grant_action, weigh_action
from orchestrators.activities.hop import Said, answer, received_read, state_of
from shared.adapters.records.tickets import Settled
from shared.container import Services
from shared.domain.action_results import to_result
from shared.domain.actions import (
    Action,
    ActionOp,
    ActionRef,
    ActionState,
    CrmNoteProposal,
    Proposal,
    TicketUpdateProposal,
)
from shared.domain.agents import AgentName
from shared.domain.case import opened_case
from shared.domain.deltas import ActionResult, ActionStatus, DecisionDelta, TurnState
from shared.domain.errors import NotFound, SchemaError, StalenessError
from shared.domain.governance import ActionFacts, Decision, Verdict, decide
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import approval_case_id
from shared.domain.policy import TenantPolicy
from shared.domain.tiers import Tier
from shared.domain.turns import Authorised, Granted
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.writers import ActionRequest
from shared.wire import Json

BLOCKING: Final = frozenset({HumanTrigger.SAFETY})
"""Findings of the shield that refuse every write of the turn (fault 035)."""


async def run_authorise(payload: Json, services: Services) -> str:
    """Commit the turn, then decide each proposal; a turn that may not act decides nothing."""
    request = received_read(payload, AgentName.SUPERVISOR)
    state = state_of(request)

    async def call(*, is_reduced: bool) -> Said:
        snapshot = state.snapshot
        settled = await services.tickets.commit(
            TenantScope(snapshot.tenant_id), snapshot.conversation_id, snapshot.seq, snapshot.version
        )
        if settled is not Settled.DONE:
            return Said(Authorised(settled=settled.value))
        results: list[ActionResult] = []
        facts: list[ActionFacts] = []
        for place, proposal in enumerate(request.payload.proposals):
            result, weighed = await _decide(state, proposal, str(place), services)
            results.append(result)
            facts += [weighed] if weighed is not None else []
        delta = DecisionDelta(base_version=state.version, confidence=1.0, decisions=tuple(results))
        return Said(Authorised(settled=settled.value, delta=delta, facts=tuple(facts)), delta)

    return await answer(request, AgentName.SUPERVISOR, call, clock=services.clock)


async def run_grant(payload: Json, services: Services) -> str:
    """Mint the grant of a decided action within its lane, or write why there is none."""
    request = received_read(payload, AgentName.SUPERVISOR)
    ref, fence = request.payload.action, request.payload.fence

    async def call(*, is_reduced: bool) -> Said:
        if ref is None:
            raise SchemaError("a grant is asked for an action")
        scope = CustomerScope(ref.tenant_id, ref.account_id)
        action = await services.actions.get(scope, ref.action_id)
        if action is None:
            raise NotFound(f"action {ref.action_id!r} does not exist")
        policy, tier = await _rules(TenantScope(ref.tenant_id), services)
        minted = await grant_action(
            action,
            fence=fence,
            policy=policy,
            tier=tier,
            clock=services.clock,
            billing=services.billing_records,
            actions=services.actions,
            tombstones=services.tombstones,
            mint=services.mint(),
        )
        if minted.grant is not None:
            return Said(Granted(grant=minted.grant))
        if minted.effect is not None:
            # An earlier start has done it after all; confirming it leaves the lane.
            action = await services.actions.finish(
                scope, action.action_id, ActionOp.CONFIRM, grant_id=action.grant_id, effect=minted.effect
            )
            return Said(Granted(standing=to_result(action)))
        await services.actions.free_lane(scope, action.action_id, fence)
        if action.state is ActionState.APPROVED:
            action = await _take_back(scope, action, minted.decision, policy, services)
        return Said(Granted(standing=to_result(action)))

    return await answer(request, AgentName.SUPERVISOR, call, clock=services.clock)


async def open_approval(action: Action, policy: TenantPolicy, services: Services) -> None:
    """Open the case in which a person decides about the action; there is one, however often this is done."""
    severity = Severity(action.severity)
    case = opened_case(
        approval_case_id(action.action_id),
        tenant_id=action.tenant_id,
        conversation_id=action.conversation_id,
        customer_id=action.customer_id,
        message_id=action.message_id,
        severity=severity,
        triggers=(HumanTrigger.CEILING.value,),
        reason=action.reason,
        sla_minutes=policy.sla_of(severity),
        at=services.clock.now(),
    )
    about = {
        "action_id": action.action_id,
        "intent": action.intent.value if action.intent else None,
        "proposed": (to_result(action),),
    }
    await services.cases.open(TenantScope(action.tenant_id), case.model_copy(update=about))
    await services.actions.mark_cased(CustomerScope(action.tenant_id, action.customer_id), action.action_id, case.id)


async def reopen_approval(action: Action, policy: TenantPolicy, services: Services) -> None:
    """Put the action's case back before whoever is free, with why; one that is over stays over."""
    due_at = services.clock.now() + timedelta(minutes=policy.sla_of(Severity(action.severity)))
    case = approval_case_id(action.action_id)
    try:
        await services.cases.reopen(TenantScope(action.tenant_id), case, action.reason, due_at=due_at)
    except StalenessError:
        return


async def _decide(
    state: TurnState, proposal: Proposal, place: str, services: Services
) -> tuple[ActionResult, ActionFacts | None]:
    """Return what becomes of one proposal: approved, waiting for a person, or refused; the same on every repeat."""
    snapshot = state.snapshot
    if snapshot.customer_id is None:
        raise SchemaError("an action needs a proven customer")
    scope = CustomerScope(snapshot.tenant_id, snapshot.customer_id)
    policy, tier = await _rules(TenantScope(snapshot.tenant_id), services)
    known = await services.actions.requested(scope, snapshot.conversation_id, snapshot.message_id, place)
    if known is not None and known.state is not ActionState.PENDING:
        return to_result(known), None
    facts = await weigh_action(
        scope,
        proposal,
        action_id=known.action_id if known else "",
        intent=state.classification.customer_intent if state.classification else None,
        is_screened=state.escalation is not None and not BLOCKING & set(state.escalation.triggers),
        policy=policy,
        clock=services.clock,
        billing=services.billing_records,
        actions=services.actions,
    )
    decision = decide(facts, policy.governance, tier, policy.currency)
    if decision.verdict is Verdict.REFUSE:
        return _refused(proposal, decision), facts
    action = await services.actions.request(
        scope,
        ActionRequest(
            proposal=proposal,
            intent=facts.intent,
            conversation_id=snapshot.conversation_id,
            message_id=snapshot.message_id,
            severity=(state.classification.severity if state.classification else Severity.NORMAL).value,
            amount=facts.amount,
            reason=decision.reason,
            policy_version=policy.version,
            expires_at=services.clock.now() + timedelta(hours=policy.approval_hours),
        ),
        place,
    )
    is_own = (action.conversation_id, action.message_id) == (snapshot.conversation_id, snapshot.message_id)
    if action.state is ActionState.PENDING and is_own and decision.verdict is Verdict.ALLOW:
        action = await services.actions.decide(
            scope,
            action.action_id,
            ActionOp.APPROVE,
            reason=decision.reason,
            amount=facts.amount,
            by=f"{BY_POLICY}{policy.version}",
            policy_version=policy.version,
        )
    elif action.state is ActionState.PENDING:
        await open_approval(action, policy, services)
    return to_result(action), facts


async def _take_back(
    scope: CustomerScope, action: Action, decision: Decision, policy: TenantPolicy, services: Services
) -> Action:
    """Write that an approved action may not be done as it was approved: to the desk again, or not at all."""
    if decision.verdict is Verdict.REFUSE:
        return await services.actions.decide(
            scope, action.action_id, ActionOp.REFUSE, reason=decision.reason, starts=action.starts
        )
    quote = None
    if not isinstance(action.proposal, TicketUpdateProposal | CrmNoteProposal):
        quote = await services.billing_records.quote(scope, action.proposal)
    returned = await services.actions.decide(
        scope,
        action.action_id,
        ActionOp.RETURN_TO_DESK,
        reason=decision.reason,
        amount=quote.amount if quote is not None else None,
        starts=action.starts,
    )
    await open_approval(returned, policy, services)
    await reopen_approval(returned, policy, services)
    return returned


def _refused(proposal: Proposal, decision: Decision) -> ActionResult:
    return ActionResult(
        type=proposal.type.value,
        status=ActionStatus.REFUSED,
        order_id=getattr(proposal, "order_id", None),
        reason=decision.reason,
    )


async def _rules(scope: TenantScope, services: Services) -> tuple[TenantPolicy, Tier]:
    policy, tenant = await asyncio.gather(services.tenants.policy(scope), services.tenants.get(scope))
    if tenant is None:
        raise NotFound(f"tenant {scope.tenant_id!r} does not exist")
    return policy, tenant.tier


def ref_of(action: Action) -> ActionRef:
    """Return the reference a flow carries."""
    return ActionRef(tenant_id=action.tenant_id, account_id=action.customer_id, action_id=action.action_id)
