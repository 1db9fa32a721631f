"""The supervisor: the last gate before the customer, and the only code that mints approvals and grants.

Checks a draft (grounding · policy · safety · tone · language), reviews, authorises; never composes, retrieves or writes
to an integration. Source: SU-01…05, S1 step 6.
"""

from agents.supervisor.authorise import BY_POLICY, approval_scope, approve_reply, grant_action, weigh_action
from agents.supervisor.conflicts import Conflict, conflicting_passages, find_conflicts
from agents.supervisor.grounding import check_grounding
from agents.supervisor.promises import HANDOFF_PROMISE
from agents.supervisor.review import review_draft

__all__ = [
    "BY_POLICY",
    "HANDOFF_PROMISE",
    "Conflict",
    "approval_scope",
    "approve_reply",
    "check_grounding",
    "conflicting_passages",
    "find_conflicts",
    "grant_action",
    "review_draft",
    "weigh_action",
]
