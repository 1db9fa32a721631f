"""Escalation detector: weighs words, account and history for reasons to bring a person in; beside the pipeline. Source: ES-01."""

from shared.domain.deltas import EscalationDelta, Snapshot
from shared.domain.human_triggers import HumanTrigger, ranked
from shared.domain.policy import TenantPolicy
from shared.domain.sources import Profile
from shared.ports.models import EscalationModel, EscalationRequest, SafetyScreen


async def detect_escalation(
    snapshot: Snapshot,
    *,
    base_version: int,
    model: EscalationModel,
    screen: SafetyScreen,
    policy: TenantPolicy,
    profile: Profile | None,
    open_order_total_minor: int | None = None,
) -> EscalationDelta:
    """Return the triggers."""
    found = await model.assess(EscalationRequest(message=snapshot.message))
    verdict = await screen.screen((snapshot.message,))
    triggers = set(found.triggers)
    if verdict.is_blocked:
        triggers.add(HumanTrigger.SAFETY)
    if profile is not None and profile.is_vip:
        triggers.add(HumanTrigger.VIP)
    if profile is not None and profile.is_churn_risk:
        triggers.add(HumanTrigger.CHURN_RISK)
    return EscalationDelta(
        base_version=base_version,
        confidence=1.0,
        escalation=found.model_copy(update={"triggers": ranked(frozenset(triggers))}),
    )
