"""Requests and responses of watching the machine: governance in force and its figures, turns drawn for an audit.

Source: SC-02, SU-06, fault 110.
"""

from datetime import datetime
from typing import Final

from pydantic import Field

from orchestrators.triggers.models import MAX_CONTINUATION_CHARS, QueryModel, Shown
from shared.domain.governance import Phase
from shared.domain.human_triggers import Severity
from shared.domain.intents import ActionType
from shared.domain.tiers import Tier

MAX_AUDITS: Final = 50
"""Most turns of one page: each is read with its words. Value ours."""


class AuditQuery(QueryModel):
    """One page of the turns to look at."""

    limit: int = Field(default=20, ge=1, le=MAX_AUDITS)
    continuation: str | None = Field(default=None, max_length=MAX_CONTINUATION_CHARS)


class CeilingShown(Shown):
    """What may be done without a person, in minor units of the tenant's currency."""

    single_minor: int
    rolling_minor: int
    rolling_days: int
    currency: str


class ShadowShown(Shown):
    """How often a second validator came to another verdict."""

    share: float
    """Share of reviews it repeats, as configured."""
    checked: int
    differed: int
    drift_rate: float | None
    """None before it checked anything."""


class AuditedShown(Shown):
    """How much is put before a person afterwards."""

    share: float
    """As configured."""
    drawn: int
    drawn_share: float | None


class FirstContactShown(Shown):
    """How often the first turn of a conversation ended in an error of ours."""

    turns: int
    errors: int
    error_rate: float | None


class GovernanceShown(Shown):
    """The governance in force, and how the last turns went under it."""

    tier: Tier
    phase: Phase
    ceilings: CeilingShown
    always_approve: tuple[ActionType, ...]
    open_approvals: int
    turns: int
    """Newest turns the figures are counted over."""
    shadow: ShadowShown
    audit: AuditedShown
    first_contact: FirstContactShown


class AuditShown(Shown):
    """A turn drawn for a person to look at."""

    conversation_id: str
    message_id: str
    at: datetime
    outcome: str
    intent: str | None
    severity: str | None
    confidence: float
    triggers: tuple[str, ...]
    revisions: int
    message: str | None
    """What the customer wrote; none once it is no longer kept."""
    reply: str | None


class AuditList(Shown):
    """A page of turns, newest first."""

    turns: tuple[AuditShown, ...]
    continuation: str | None


class SearchShown(Shown):
    """Search in the answering process, since it began; names no tenant."""

    searches: int
    by_path: dict[str, int]
    """Searches by the rung that served: hybrid, vector_only, keyword_only, empty."""
    hit_rates: dict[str, float]
    """Share of searches each cache served, 0–1; `miss` is the rest."""
    indexes: int
    index_bytes: int
    evicted: int
    built: int
    restored: int
    """Indexes loaded from a snapshot."""
    longest_catch_up_ms: float
    vector_lag_s: float
    """How long the article embedded last waited for its vector."""
    longest_vector_lag_s: float
    spared: tuple[str, ...]
    """Steps whose breaker is open."""


class ReviewLaneShown(Shown):
    """One severity's lane of reviews in the answering process, since it began."""

    waiting: int
    served: int
    refused: int
    longest_ms: int
    deepest: int


class FiguresShown(Shown):
    """What one process counts about itself."""

    search: SearchShown
    review_lanes: dict[Severity, ReviewLaneShown]
