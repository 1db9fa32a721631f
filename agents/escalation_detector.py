"""Escalation detector: decides from words, mood, account and history whether a person must come in.

Runs beside the pipeline and writes one field. It can only add reasons: nothing here approves, answers or hands over.
Whatever model reads the words, phrases that name law, danger, despair or a wish outright are found by code as well.
Source: ES-01, ES-03, GO-03, design §4 "Precedence", §9 "sees a window of turns".
"""

from typing import Final

from shared.domain.alarms import find_alarms
from shared.domain.deltas import Escalation, EscalationDelta, Snapshot, WaitingRule
from shared.domain.entities import extract_entities
from shared.domain.errors import VouchError
from shared.domain.escalation_rules import is_rule_met
from shared.domain.human_triggers import HumanTrigger, ranked
from shared.domain.policy import TenantPolicy
from shared.domain.sources import Profile
from shared.domain.tenant import ALWAYS_ON
from shared.domain.text import MaskedText
from shared.ports.models import EscalationModel, EscalationRequest, SafetyScreen

WINDOW_LINES: Final = 3
"""Earlier customer lines screened and weighed together with the message. Value ours."""
UPSET: Final = -0.5
"""Sentiment from which the rest of the situation is weighed too. Unit: −1…1. Value ours."""
STRAIN_LIMIT: Final = 1.2
"""Strain at which an upset customer gets a person. Value ours: upset alone (≤ 1) never reaches it."""
STRAIN_SHARE: Final = 0.3
"""What a repeated contact, a complex matter and much money at stake each add to the strain. Value ours."""
COMPLEX_ORDERS: Final = 2
"""Orders named in one message from which a matter is complex. Value ours."""
MUCH_MONEY_MINOR: Final = 50_000
"""Open order value that weighs in the strain. Unit: minor units of the tenant's currency. Value ours."""
RULE_FAULTS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, VouchError)
"""What evaluating a broken rule can raise. Source: fault 073."""


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
    """Return every reason for a person, by precedence, and the names of what fired.

    A screen or model that fails raises: no verdict is not a clean verdict. Raises: Unavailable, RateLimited.
    """
    recent = _recent_customer_lines(snapshot)
    found = await model.assess(EscalationRequest(message=snapshot.message, recent=recent))
    verdict = await screen.screen((*recent, snapshot.message))
    alarms = find_alarms(snapshot.message.value)
    triggers = {*found.triggers, *(alarm.trigger for alarm in alarms)}
    names = [*found.rule_names, *(alarm.name for alarm in alarms)]
    if verdict.is_blocked:
        triggers.add(HumanTrigger.SAFETY)
        names += [f"screen:{category}" for category in verdict.categories]
    triggers |= _from_account(profile or snapshot.context.customer_profile)
    if _is_strained(snapshot, found.sentiment, open_order_total_minor):
        triggers.add(HumanTrigger.DISTRESS)
        names.append("strain")
    by_rule, rule_names, waiting = _from_rules(policy, snapshot, open_order_total_minor)
    kept = (triggers | by_rule) - (frozenset(policy.disabled_triggers) - frozenset(ALWAYS_ON))
    return EscalationDelta(
        base_version=base_version,
        confidence=1.0,
        escalation=Escalation(
            triggers=ranked(frozenset(kept)),
            sentiment=found.sentiment,
            rule_names=tuple(dict.fromkeys((*names, *rule_names))),
            waiting_rules=waiting,
        ),
    )


def _recent_customer_lines(snapshot: Snapshot) -> tuple[MaskedText, ...]:
    lines = [line.text for line in snapshot.context.history if line.role == "customer"]
    return tuple(lines[-WINDOW_LINES:])


def _from_account(profile: Profile | None) -> set[HumanTrigger]:
    if profile is None:
        return set()
    flags = {HumanTrigger.VIP: profile.is_vip, HumanTrigger.CHURN_RISK: profile.is_churn_risk}
    return {trigger for trigger, is_set in flags.items() if is_set}


def _is_strained(snapshot: Snapshot, sentiment: float, open_order_total_minor: int | None) -> bool:
    """Weigh mood with complexity, account value and history: each alone is bearable, together they are not (ES-01)."""
    if sentiment > UPSET:
        return False
    burdens = (
        snapshot.contacts_on_issue > 1,
        len(extract_entities(snapshot.message).order_refs) >= COMPLEX_ORDERS,
        (open_order_total_minor or 0) >= MUCH_MONEY_MINOR,
    )
    return -sentiment + STRAIN_SHARE * sum(burdens) >= STRAIN_LIMIT


def _from_rules(
    policy: TenantPolicy, snapshot: Snapshot, open_order_total_minor: int | None
) -> tuple[set[HumanTrigger], list[str], tuple[WaitingRule, ...]]:
    """Evaluate the tenant's rules; one that cannot be evaluated is itself a reason for a person (fault 073).

    Detection runs beside classification, so a rule that names intents and holds for one of them waits for routing.
    """
    triggers: set[HumanTrigger] = set()
    names: list[str] = []
    waiting: list[WaitingRule] = []
    if HumanTrigger.TENANT_RULE in policy.disabled_triggers:
        return triggers, names, ()
    for rule in policy.escalation_rules:
        try:
            is_met = is_rule_met(
                rule,
                words=snapshot.message.value,
                intent=rule.intents[0] if rule.intents else None,
                open_order_total_minor=open_order_total_minor,
            )
        except RULE_FAULTS:
            triggers.add(HumanTrigger.RULE_FAULT)
            names.append(f"rule_fault:{rule.name}")
            continue
        if is_met and rule.intents:
            waiting.append(WaitingRule(name=rule.name, intents=rule.intents))
        elif is_met:
            triggers.add(HumanTrigger.TENANT_RULE)
            names.append(rule.name)
    return triggers, names, tuple(waiting)
