"""The supervisor's review as an activity: the checks, the seal when all passed, and the shadow's second judgement.

A conflict of sources blocks whatever the checks say (SU-05). The shadow never approves: only whether it agrees is kept
(SU-06). Source: SU-01…06.
"""

from agents.supervisor import approval_scope, approve_reply, conflicting_passages, review_draft
from orchestrators.activities.hop import Said, answer, received_read, state_of
from shared.container import Services
from shared.domain.agents import AgentName
from shared.domain.deltas import ActionStatus, TurnState
from shared.domain.envelope import ReadEnvelope
from shared.domain.human_triggers import Severity
from shared.domain.turns import Reviewed
from shared.ports.documents import TenantScope
from shared.ports.models import ReviewModel
from shared.wire import Json


async def run_review(payload: Json, services: Services) -> str:
    """Run the supervisor's checks; the value holds the delta and, only when all passed, the sealed approval."""
    request = received_read(payload, AgentName.SUPERVISOR)
    return await _review(request, services, services.reviewer, is_shadow=False)


async def run_shadow_review(payload: Json, services: Services) -> str:
    """Run the same checks with the second validator; it seals nothing."""
    request = received_read(payload, AgentName.SUPERVISOR)
    return await _review(request, services, services.shadow_reviewer, is_shadow=True)


async def _review(request: ReadEnvelope, services: Services, model: ReviewModel, *, is_shadow: bool) -> str:
    state = state_of(request)

    async def call(*, is_reduced: bool) -> Said:
        snapshot = state.snapshot
        policy = await services.tenants.policy(TenantScope(snapshot.tenant_id))
        # A shadow never takes the slot of a review somebody waits for.
        async with services.review_lanes.slot(Severity.LOW if is_shadow else _severity(state)):
            delta = await review_draft(
                state,
                base_version=state.version,
                model=model,
                screen=services.screen,
                policy=policy,
                allowed_promises=promises_kept(state),
            )
        conflicts = conflicting_passages(state, default_currency=policy.currency)
        approved = None
        if state.draft is not None and delta.review.is_approved and not conflicts and not is_shadow:
            scope = approval_scope(snapshot.tenant_id, snapshot.conversation_id, snapshot.seq)
            approved = approve_reply(state.draft, delta.review, scope=scope, mint=services.mint())
        reviewed = Reviewed(delta=delta, approved=approved, conflicts=conflicts)
        return Said(reviewed, delta, is_escalation=bool(conflicts))

    return await answer(request, AgentName.SUPERVISOR, call, clock=services.clock)


def promises_kept(state: TurnState) -> frozenset[str]:
    """Return the actions this turn has really done: only these may be said to be done (design §5)."""
    return frozenset(action.type for action in state.actions if action.status is ActionStatus.EXECUTED)


def _severity(state: TurnState) -> Severity:
    return state.classification.severity if state.classification else Severity.NORMAL
