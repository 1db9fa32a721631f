"""Who the agents are and what each is given: deadline, confidence floor, retries. The one table.

Source: S2 §1 "Agent Role Definition", GO-01 (floors, watchdog), design §5.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class AgentName(StrEnum):
    """The eight agents of S2 §1 (and S1's escalation detection)."""

    INTAKE_CLASSIFIER = "intake_classifier"
    ESCALATION_DETECTOR = "escalation_detector"
    KNOWLEDGE_RETRIEVER = "knowledge_retriever"
    ACCOUNT_CONTEXT = "account_context"
    RESPONSE_COMPOSER = "response_composer"
    SUPERVISOR = "supervisor"
    ACTION_EXECUTOR = "action_executor"
    ANALYTICS_RECORDER = "analytics_recorder"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent's limits."""

    name: AgentName
    timeout_s: float
    """Deadline of one attempt inside its activity (GO-01 timeout watchdog)."""
    confidence_floor: float
    """Below it the agent's result is treated as absent (GO-01)."""
    writes: frozenset[str]
    """Fields of TurnState its delta may set (PR-03); disjoint over the agents."""


CLARIFY_BELOW: Final = 0.6
"""Classifier confidence under which a message is ambiguous. Source: S2 §3, RT-05."""
RETRIEVAL_FLOOR: Final = 0.5
"""Retrieval confidence under which no draft is made. Source: S2 §3, RT-06."""
COMPOSER_FLOOR: Final = 0.5
"""Composer confidence under which a draft is flagged and a person is asked. Unit: 0–1. Source: GO-03; value ours."""

_N = AgentName
SPECS: Final[dict[AgentName, AgentSpec]] = {
    s.name: s
    for s in (
        AgentSpec(_N.INTAKE_CLASSIFIER, 8.0, CLARIFY_BELOW, frozenset({"classification"})),
        AgentSpec(_N.ESCALATION_DETECTOR, 8.0, 0.0, frozenset({"escalation"})),
        AgentSpec(_N.KNOWLEDGE_RETRIEVER, 6.0, RETRIEVAL_FLOOR, frozenset({"knowledge"})),
        AgentSpec(_N.ACCOUNT_CONTEXT, 8.0, 0.0, frozenset({"account"})),
        AgentSpec(_N.RESPONSE_COMPOSER, 25.0, COMPOSER_FLOOR, frozenset({"draft"})),
        AgentSpec(_N.SUPERVISOR, 15.0, 0.0, frozenset({"review"})),
        AgentSpec(_N.ACTION_EXECUTOR, 20.0, 0.0, frozenset({"actions"})),
        AgentSpec(_N.ANALYTICS_RECORDER, 8.0, 0.0, frozenset()),
    )
}
"""Deadlines are ours: under the 230 s an HTTP answer may take, and long enough for the models of S1."""
