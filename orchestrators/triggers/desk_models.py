"""Requests and responses of the built-in desk. Source: HD-01, design §7 desk rows."""

from datetime import datetime

from pydantic import Field

from orchestrators.triggers.models import (
    MAX_CONTINUATION_CHARS,
    MAX_PAGE,
    Id,
    QueryModel,
    Request,
    Shown,
    Text,
    Thread,
    TurnAction,
    TurnSource,
)
from shared.domain.case import CaseStatus


class QueueQuery(QueryModel):
    """Which cases; without a status, those that still need somebody."""

    status: CaseStatus | None = None
    limit: int = Field(default=100, ge=1, le=MAX_PAGE)
    continuation: str | None = Field(default=None, max_length=MAX_CONTINUATION_CHARS)


class ReplyIn(Request):
    """A person's reply to the customer."""

    text: Text
    reply_id: Id | None = None
    """Makes the reply idempotent; one is made and returned when absent."""


class CaseSummary(Shown):
    """A case as the queue lists it: no customer text."""

    case_id: str
    conversation_id: str
    customer_id: str | None
    status: str
    severity: str
    triggers: tuple[str, ...]
    reason: str
    intent: str | None
    opened_at: datetime
    due_at: datetime
    claimed_by: str | None
    claimed_at: datetime | None
    closed_at: datetime | None


class CaseQueue(Shown):
    """A page of the queue: most severe first, oldest first within a severity."""

    cases: tuple[CaseSummary, ...]
    continuation: str | None


class CaseShown(CaseSummary):
    """A case with everything a person needs."""

    message_id: str
    draft: str | None
    """The unsent draft, values restored."""
    sources: tuple[TurnSource, ...]
    proposed: tuple[TurnAction, ...]
    thread: Thread


class ReplyShown(Shown):
    """The reply as it was appended."""

    case_id: str
    reply_id: str
    seq: int
    at: datetime
