"""The reasons for a person, as predicates over what routing knows: one row each, with the text the desk reads.

Pure; a predicate that cannot be evaluated is itself a reason, never an approval (fault 073). The ceiling is not here:
it opens an approval and the bot keeps the conversation (design §4, §9). Source: GO-03, RT-01, RT-05.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared.domain.human_triggers import HumanTrigger, Severity, ranked
from shared.domain.intents import CustomerIntent
from shared.domain.policy import RoutingRules
from shared.domain.routing_facts import RoutingFacts, is_grounding_lost

FAULTS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a broken predicate can raise. Source: fault 073."""


@dataclass(frozen=True, slots=True)
class TriggerRule:
    """One reason."""

    trigger: HumanTrigger
    holds: Callable[[RoutingFacts, RoutingRules], bool]
    reason: str


def _detected(trigger: HumanTrigger) -> Callable[[RoutingFacts, RoutingRules], bool]:
    return lambda facts, rules: trigger in facts.triggers


def _is_wish(facts: RoutingFacts, rules: RoutingRules) -> bool:
    is_clear = facts.intent is CustomerIntent.HUMAN_AGENT and facts.confidence >= rules.clarify_below
    return is_clear or HumanTrigger.EXPLICIT_WISH in facts.triggers


def _is_third_contact(facts: RoutingFacts, rules: RoutingRules) -> bool:
    return bool(facts.issue) and facts.is_same_issue and facts.contacts_on_issue >= rules.contacts_before_person


def _is_unsure(facts: RoutingFacts, rules: RoutingRules) -> bool:
    return facts.draft_confidence is not None and facts.draft_confidence < rules.composer_floor


def _is_tenant_rule(facts: RoutingFacts, rules: RoutingRules) -> bool:
    is_waiting_met = any(facts.intent in rule.intents for rule in facts.waiting_rules)
    return is_waiting_met or HumanTrigger.TENANT_RULE in facts.triggers


_T = HumanTrigger
TRIGGER_RULES: Final[tuple[TriggerRule, ...]] = (
    TriggerRule(_T.SAFETY, _detected(_T.SAFETY), "safety"),
    TriggerRule(_T.CRITICAL_SEVERITY, lambda f, r: f.severity is Severity.CRITICAL, "critical severity"),
    TriggerRule(_T.VIP, _detected(_T.VIP), "a VIP customer"),
    TriggerRule(_T.CHURN_RISK, _detected(_T.CHURN_RISK), "a customer at risk of leaving"),
    TriggerRule(_T.EXPLICIT_WISH, _is_wish, "the customer asked for a person"),
    TriggerRule(_T.LEGAL, _detected(_T.LEGAL), "legal or regulatory words"),
    TriggerRule(_T.DISTRESS, _detected(_T.DISTRESS), "distress"),
    TriggerRule(_T.THIRD_CONTACT, _is_third_contact, "the third contact about the same unresolved issue"),
    TriggerRule(_T.CONFLICTING_SOURCES, lambda f, r: f.has_conflict, "two sources contradict each other"),
    TriggerRule(_T.TENANT_RULE, _is_tenant_rule, "a rule of the shop"),
    TriggerRule(_T.LOW_COMPOSER, _is_unsure, "the composer is unsure of its draft"),
    TriggerRule(_T.GROUNDING_FAILURE, lambda f, r: is_grounding_lost(f), "the draft claims what no source says"),
    TriggerRule(_T.RULE_FAULT, _detected(_T.RULE_FAULT), "a rule could not be evaluated"),
)
"""By precedence (shared.domain.human_triggers.PRECEDENCE)."""


def fired(
    facts: RoutingFacts, rules: RoutingRules, table: tuple[TriggerRule, ...] = TRIGGER_RULES
) -> tuple[tuple[HumanTrigger, ...], str]:
    """Return every reason for a person by precedence, and the text of the first; nothing and "" when there is none."""
    # Whatever the detector found counts, whether or not a row below words it.
    reasons = {trigger: trigger.value.replace("_", " ") for trigger in facts.triggers}
    for rule in table:
        try:
            if rule.holds(facts, rules):
                reasons[rule.trigger] = rule.reason
        except FAULTS:
            reasons[HumanTrigger.RULE_FAULT] = f"the rule about {rule.trigger.value} could not be evaluated"
    triggers = ranked(frozenset(reasons))
    return triggers, reasons[triggers[0]] if triggers else ""
