"""Who the agents are and what each may read, write and emit, with its deadline and floor. The one table.

The README's matrix is made from it; what an agent is handed is cut to `reads`, what it returns is held to `writes`,
`emits` and `rights`. Source: S2 §1 "Agent Role Definition", PR-01, PR-03, GO-01 (floors, watchdog), AX-05, design §5.
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


class MessageIntent(StrEnum):
    """S2's four kinds of message."""

    REQUEST = "request"
    RESULT = "result"
    ERROR = "error"
    ESCALATION = "escalation"


class Right(StrEnum):
    """What may be done to the world beyond a turn's own state."""

    APPROVE_REPLIES = "approve replies"
    GRANT_ACTIONS = "grant actions"
    ACT_UNDER_GRANT = "act under a grant"
    RECORD = "record"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """One agent's rights and limits."""

    name: AgentName
    timeout_s: float
    """Deadline of one attempt inside its activity (GO-01 timeout watchdog)."""
    confidence_floor: float
    """Below it the agent's result is treated as absent (GO-01)."""
    reads: frozenset[str]
    """Fields of TurnState it is handed; the others are empty when they reach it (PR-03)."""
    writes: frozenset[str]
    """Fields of TurnState its delta may set (PR-03); disjoint over the agents."""
    emits: frozenset[MessageIntent] = frozenset({MessageIntent.RESULT, MessageIntent.ERROR})
    """Kinds of message it may answer with (PR-01)."""
    rights: frozenset[Right] = frozenset()
    """What it may do beyond the turn's state; deciding and acting are never both there (AX-05)."""


CLARIFY_BELOW: Final = 0.6
"""Classifier confidence under which a message is ambiguous. Source: S2 §3, RT-05."""
RETRIEVAL_FLOOR: Final = 0.5
"""Retrieval confidence under which no draft is made. Source: S2 §3, RT-06."""
COMPOSER_FLOOR: Final = 0.5
"""Composer confidence under which a draft is flagged and a person is asked. Unit: 0–1. Source: GO-03; value ours."""

_N = AgentName
_SEEN = frozenset({"snapshot", "classification"})
_ALL = frozenset(
    {"snapshot", "classification", "escalation", "knowledge", "account", "draft", "review", "decisions", "actions"}
)
_DRAFTING = _ALL - {"escalation", "decisions"}
_RESULT, _ERROR = MessageIntent.RESULT, MessageIntent.ERROR
_REQUEST, _ESCALATION = MessageIntent.REQUEST, MessageIntent.ESCALATION
# fmt: off
SPECS: Final[dict[AgentName, AgentSpec]] = {
    s.name: s
    for s in (
        AgentSpec(_N.INTAKE_CLASSIFIER, 8.0, CLARIFY_BELOW, frozenset({"snapshot"}), frozenset({"classification"})),
        AgentSpec(_N.ESCALATION_DETECTOR, 8.0, 0.0, frozenset({"snapshot"}), frozenset({"escalation"}),
                  frozenset({_RESULT, _ERROR, _ESCALATION})),
        AgentSpec(_N.KNOWLEDGE_RETRIEVER, 6.0, RETRIEVAL_FLOOR, _SEEN, frozenset({"knowledge"})),
        AgentSpec(_N.ACCOUNT_CONTEXT, 8.0, 0.0, _SEEN, frozenset({"account"})),
        AgentSpec(_N.RESPONSE_COMPOSER, 25.0, COMPOSER_FLOOR, _DRAFTING, frozenset({"draft"})),
        AgentSpec(_N.SUPERVISOR, 15.0, 0.0, _ALL, frozenset({"review", "decisions"}),
                  frozenset({_REQUEST, _RESULT, _ERROR, _ESCALATION}),
                  frozenset({Right.APPROVE_REPLIES, Right.GRANT_ACTIONS})),
        AgentSpec(_N.ACTION_EXECUTOR, 20.0, 0.0, frozenset(), frozenset({"actions"}),
                  rights=frozenset({Right.ACT_UNDER_GRANT})),
        AgentSpec(_N.ANALYTICS_RECORDER, 8.0, 0.0, frozenset(), frozenset(), rights=frozenset({Right.RECORD})),
    )
}
# fmt: on
"""Deadlines are ours: under the 230 s an HTTP answer may take, and long enough for the models of S1."""
