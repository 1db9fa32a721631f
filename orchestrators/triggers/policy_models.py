"""Requests and responses of a tenant's policy: saving, rehearsing, going back, and its change log.

Source: SC-02, ES-03, faults 038, 110.
"""

from datetime import datetime
from typing import Final

from pydantic import Field, JsonValue

from orchestrators.triggers.models import QueryModel, Request, Shown
from shared.domain.desk_hours import MAX_SHIFTS
from shared.domain.policy import MAX_QUEUE_CAP, MAX_RULE_PHRASES, MAX_RULES, TenantPolicy
from shared.domain.policy_check import MAX_SETTING_CHARS, MAX_SETTING_ITEMS

REHEARSED_TURNS: Final = 200
"""Turns a dry run decides again unless asked otherwise. Value ours."""
MAX_REHEARSED_TURNS: Final = 1_000
"""Most turns a dry run decides again. Value ours."""


class PolicyQuery(QueryModel):
    """Whether to rehearse only, and over how many of the last turns."""

    dry_run: bool = False
    turns: int = Field(default=REHEARSED_TURNS, ge=0, le=MAX_REHEARSED_TURNS)


class RollbackIn(Request):
    """Which version's content to bring back."""

    version: int = Field(ge=1)


class PolicyWarning(Shown):
    """A setting that has no effect, or stands in another's way."""

    setting: str
    message: str


class PolicyLimits(Shown):
    """The most a policy may hold, told before it is met (fault 110)."""

    escalation_rules: int = MAX_RULES
    phrases_of_a_rule: int = MAX_RULE_PHRASES
    items_of_a_list: int = MAX_SETTING_ITEMS
    characters_of_a_text: int = MAX_SETTING_CHARS
    desk_shifts: int = MAX_SHIFTS
    queue_cap: int = MAX_QUEUE_CAP


class DecisionChange(Shown):
    """One stored decision that would be another under the new policy."""

    conversation_id: str
    message_id: str
    at: datetime
    about: str
    """route or action"""
    before: str
    after: str
    reason: str


class RehearsalShown(Shown):
    """The last turns decided again under the new policy."""

    turns: int
    """Turns decided again: those of the last that hold what was known of them."""
    actions: int
    routes_changed: int
    actions_changed: int
    not_rehearsed: tuple[str, ...]
    """Settings that change and whose effect stored facts cannot show."""
    changes: tuple[DecisionChange, ...]
    """Newest turn first."""


class PolicySaved(Shown):
    """The policy in force, or with `dry_run` the one that would be; what differs, and what to know about it."""

    policy: TenantPolicy
    is_dry_run: bool
    changed: tuple[str, ...]
    warnings: tuple[PolicyWarning, ...]
    limits: PolicyLimits = PolicyLimits()
    rehearsal: RehearsalShown | None = None
    """With `dry_run` only."""


class SettingDiff(Shown):
    """One setting by its dotted path, before and after."""

    setting: str
    before: JsonValue
    after: JsonValue


class PolicyChange(Shown):
    """One line of the change log: who, when, what."""

    version: int
    author: str
    saved_at: datetime
    changed: tuple[str, ...]
    diff: tuple[SettingDiff, ...]
    restores: int | None
    """The earlier version it brings back, if it was a rollback."""
    policy: TenantPolicy


class PolicyLog(Shown):
    """Saved versions, newest first."""

    changes: tuple[PolicyChange, ...]
