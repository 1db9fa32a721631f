"""The reasons for a person: each predicate, its text, its precedence, and what a broken rule does."""

from dataclasses import replace

import pytest

from shared.domain.deltas import WaitingRule
from shared.domain.drafts import Check
from shared.domain.governance import ActionFacts, Governance, Phase, Verdict, decide
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.policy import RoutingRules
from shared.domain.routing_facts import RoutingFacts
from shared.domain.tiers import Tier
from shared.domain.trigger_rules import TRIGGER_RULES, TriggerRule, fired

QUIET = RoutingFacts(is_classified=True, is_watched=True, intent=CustomerIntent.ORDER_STATUS, confidence=0.9)
RULES = RoutingRules()
T = HumanTrigger

PROVOKED: list[tuple[HumanTrigger, dict[str, object]]] = [
    (T.VIP, {"triggers": (T.VIP,)}),
    (T.CHURN_RISK, {"triggers": (T.CHURN_RISK,)}),
    (T.LEGAL, {"triggers": (T.LEGAL,)}),
    (T.DISTRESS, {"triggers": (T.DISTRESS,)}),
    (T.SAFETY, {"triggers": (T.SAFETY,)}),
    (T.CRITICAL_SEVERITY, {"severity": Severity.CRITICAL}),
    (T.EXPLICIT_WISH, {"intent": CustomerIntent.HUMAN_AGENT}),
    (T.THIRD_CONTACT, {"issue": "abc", "is_same_issue": True, "contacts_on_issue": 2}),
    (T.CONFLICTING_SOURCES, {"has_conflict": True}),
    (T.LOW_COMPOSER, {"draft_confidence": 0.49}),
    (T.GROUNDING_FAILURE, {"failed_checks": (Check.GROUNDING,), "revisions": 3}),
    (T.TENANT_RULE, {"waiting_rules": (WaitingRule(name="r", intents=(CustomerIntent.ORDER_STATUS,)),)}),
]


def test_a_quiet_turn_brings_nobody_in() -> None:
    """No trigger, no person."""
    assert fired(QUIET, RULES) == ((), "")


@pytest.mark.req("GO-03", "RT-01")
@pytest.mark.parametrize(("trigger", "facts"), PROVOKED, ids=[t.value for t, _ in PROVOKED])
def test_each_reason_brings_a_person_and_says_why(trigger: HumanTrigger, facts: dict[str, object]) -> None:
    """GO-03: the reasons, each with the text the desk reads."""
    triggers, reason = fired(QUIET.model_copy(update=facts), RULES)

    assert triggers == (trigger,)
    assert reason


@pytest.mark.req("GO-03")
def test_the_ceiling_is_the_seventh_reason_and_asks_for_an_approval() -> None:
    """GO-03 "refund or credit above the ceiling": a person decides about the action, not about the chat."""
    facts = ActionFacts(
        type=ActionType.REFUND,
        amount=Money(amount_minor=9_999, currency="USD"),
        is_possible=True,
        is_owner=True,
        is_unusual=False,
        is_screened=True,
    )

    decision = decide(facts, Governance(phase=Phase.CONSOLIDATION), Tier.STARTER, "USD")

    assert (decision.verdict, decision.reason) == (Verdict.ASK, "the amount is above the ceiling")


@pytest.mark.req("GO-03")
@pytest.mark.parametrize(
    "facts",
    [
        {"issue": "abc", "is_same_issue": False, "contacts_on_issue": 5},
        {"issue": "", "is_same_issue": False, "contacts_on_issue": 5},
        {"issue": "abc", "is_same_issue": True, "contacts_on_issue": 1},
        {"failed_checks": (Check.GROUNDING,), "revisions": 2},
        {"draft_confidence": 0.5},
    ],
    ids=["another issue", "no issue", "second contact", "a revision left", "just sure enough"],
)
def test_the_edge_of_a_reason_is_no_reason(facts: dict[str, object]) -> None:
    """Counters are per issue, and each threshold is what the requirement says."""
    assert fired(QUIET.model_copy(update=facts), RULES) == ((), "")


@pytest.mark.req("GO-03")
def test_fault_073_a_rule_that_breaks_brings_a_person_and_approves_nothing() -> None:
    """Fault 073: the expression that words the reason raises."""

    def breaks(facts: RoutingFacts, rules: RoutingRules) -> bool:
        return f"{facts.confidence:{'high' if facts.confidence else 'low'}}" == "never"

    broken = (*TRIGGER_RULES[:4], TriggerRule(T.LEGAL, breaks, "legal"), *TRIGGER_RULES[5:])

    triggers, reason = fired(QUIET, RULES, broken)

    assert triggers == (T.RULE_FAULT,)
    assert "legal" in reason


@pytest.mark.req("GO-03")
def test_the_first_reason_by_precedence_names_the_case() -> None:
    """Design §4: safety before everything else."""
    facts = QUIET.model_copy(update={"triggers": (T.DISTRESS, T.SAFETY, T.VIP)})

    triggers, reason = fired(facts, RULES)

    assert triggers == (T.SAFETY, T.VIP, T.DISTRESS)
    assert reason == next(r.reason for r in TRIGGER_RULES if r.trigger is T.SAFETY)


def test_every_row_stands_in_order_of_precedence() -> None:
    """The table reads as design §4 does."""
    order = list(HumanTrigger)

    assert [order.index(r.trigger) for r in TRIGGER_RULES] == sorted(order.index(r.trigger) for r in TRIGGER_RULES)
    assert all(replace(r).reason for r in TRIGGER_RULES)
