"""Why a person is brought in: the closed list, and how the triggers rank.

Source: GO-03, RT-01, RT-05, RT-06, ES-01, design §4 "Precedence".
"""

from enum import StrEnum
from typing import Final


class HumanTrigger(StrEnum):
    """One reason to hand a conversation to a person."""

    SAFETY = "safety"
    CRITICAL_SEVERITY = "critical_severity"
    VIP = "vip"
    CHURN_RISK = "churn_risk"
    EXPLICIT_WISH = "explicit_wish"
    LEGAL = "legal"
    DISTRESS = "distress"
    THIRD_CONTACT = "third_contact"
    CONFLICTING_SOURCES = "conflicting_sources"
    TENANT_RULE = "tenant_rule"
    ACTION_NEEDS_PERSON = "action_needs_person"
    AMBIGUOUS = "ambiguous"
    LOW_RETRIEVAL = "low_retrieval_confidence"
    LOW_COMPOSER = "low_composer_confidence"
    GROUNDING_FAILURE = "grounding_failure"
    REVIEW_FAILURE = "review_failure"
    AGENT_FAILURE = "agent_failure"
    LOOP = "loop"
    POISON = "poison"
    """Working on the message kept ending without an end: in quarantine until a person releases it (RK-03)."""
    RULE_FAULT = "rule_fault"
    CEILING = "ceiling"
    """A billing write above the ceiling: opens an approval, the bot keeps the conversation (GO-03, design §9)."""


class Severity(StrEnum):
    """Severity tier of a message (CL-03)."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    CRITICAL = "critical"


NO_AUTOMATION: Final = (HumanTrigger.SAFETY, HumanTrigger.CRITICAL_SEVERITY, HumanTrigger.VIP, HumanTrigger.CHURN_RISK)
"""Triggers that skip every automated step. Source: RT-01, design §4."""

PRECEDENCE: Final = tuple(HumanTrigger)
"""Declaration order is precedence: the first trigger present names the case. Source: design §4."""

SLA_MINUTES: Final = {Severity.CRITICAL: 15, Severity.HIGH: 60, Severity.NORMAL: 240, Severity.LOW: 1440}
"""Minutes a case may wait unclaimed before on-call is paged, by severity. Source: PR-04; values ours."""


def ranked(triggers: frozenset[HumanTrigger]) -> tuple[HumanTrigger, ...]:
    """Return the triggers in order of precedence."""
    return tuple(t for t in PRECEDENCE if t in triggers)
