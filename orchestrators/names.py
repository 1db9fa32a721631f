"""Names of flows, activities and events: constants, so that no call goes by a bare string.

A function's Python name is its registered name; tests hold these against the registered functions.
Source: conventions "Names", functions.md §8.4.
"""

from enum import StrEnum
from typing import Final


class FlowName(StrEnum):
    """Orchestrations."""

    ANSWER_MESSAGE = "answer_message"
    HUMAN_HANDOFF = "human_handoff"
    RUN_ACTION = "run_action"


class ActivityName(StrEnum):
    """Activities: one a step."""

    OPEN_TURN = "open_turn"
    CLASSIFY = "run_intake_classifier"
    DETECT_ESCALATION = "run_escalation_detector"
    RETRIEVE = "run_knowledge_retriever"
    READ_ACCOUNT = "run_account_context"
    COMPOSE = "run_response_composer"
    REVIEW = "run_supervisor_review"
    SHADOW_REVIEW = "run_shadow_review"
    AUTHORISE = "run_supervisor_authorise"
    TAKE_LANE = "take_lane"
    GRANT = "run_supervisor_grant"
    EXECUTE = "run_action_executor"
    DELIVER = "deliver_reply"
    HAND_OVER = "hand_over"
    RECORD = "run_analytics_recorder"
    READ_CASE = "read_case"
    PAGE = "page_on_call"
    READ_ACTION = "read_action"
    EXPIRE_ACTION = "expire_action"
    SETTLE_ACTION = "settle_action"


class EventName(StrEnum):
    """External events; hints only, the store is the truth (fault 082)."""

    CASE_CHANGED = "case_changed"
    ACTION_CHANGED = "action_changed"


METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
"""Methods every HTTP function takes, so that a wrong one gets our 405 and not the host's 404. Source: design §7."""
