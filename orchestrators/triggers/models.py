"""Requests and responses of the HTTP surface: one frozen model each, from which validation and OpenAPI both come.

Owns shapes and limits only. Text fields are trimmed and refuse control characters here, before anything is stored.
Source: design §7, GW-06, GW-07.
"""

import unicodedata
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from shared.domain.deltas import Channel
from shared.domain.human_triggers import Severity
from shared.domain.ids import ID_PATTERN
from shared.domain.ticket import Outcome, Owner, TicketStatus, TurnStatus

MAX_TEXT_CHARS: Final = 8_000
"""Longest message after trimming. Unit: characters. Source: GW-06; value ours (KB-03's cut)."""
MAX_SEQ: Final = 2**53 - 1
"""Largest sequence a JSON reader holds exactly. Source: RFC 8259 §6."""
MAX_PAGE: Final = 200
"""Most items of one page. Value ours."""
MAX_CONTINUATION_CHARS: Final = 4_096
"""Longest continuation token. Value ours."""
LANGUAGE_PATTERN: Final = r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$"
"""A BCP 47 tag as far as we use one. Source: RFC 5646."""


def clean_text(text: str) -> str:
    """Return the text trimmed, with one kind of line end.

    Raises: ValueError for an empty text, one above MAX_TEXT_CHARS, or one with control characters.
    """
    text = clean_line_ends(text).strip()
    if not text or len(text) > MAX_TEXT_CHARS:
        raise ValueError(f"must have 1 to {MAX_TEXT_CHARS} characters after trimming")
    return text


def clean_line_ends(text: str) -> str:
    """Return the text with `\\n` line ends. Raises: ValueError for a control character other than newline and tab."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(unicodedata.category(c) == "Cc" and c not in "\n\t" for c in text):
        raise ValueError("must hold no control character but newline and tab")
    return text


def one_line(text: str) -> str:
    """Return the text trimmed. Raises: ValueError for any control character."""
    if any(unicodedata.category(c) == "Cc" for c in text):
        raise ValueError("must hold no control character")
    return text.strip()


Text = Annotated[
    str, AfterValidator(clean_text), Field(json_schema_extra={"minLength": 1, "maxLength": MAX_TEXT_CHARS})
]
Line = Annotated[str, AfterValidator(one_line)]
Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
Language = Annotated[str, StringConstraints(pattern=LANGUAGE_PATTERN, max_length=35)]
Seq = Annotated[int, Field(ge=0, le=MAX_SEQ)]


class Request(BaseModel):
    """A body: closed and strict, so that nothing is guessed and nothing is ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class QueryModel(BaseModel):
    """A query: closed; its values arrive as text and are read leniently."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Shown(BaseModel):
    """A response."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _is_none(value: object) -> bool:
    return value is None


class Nothing(Request):
    """A body that says nothing: empty, or `{}`."""


class NoQuery(QueryModel):
    """A call without query parameters."""


class AnyQuery(QueryModel):
    """A call that ignores its query: probes and caches like to add one."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PageQuery(QueryModel):
    """One page of a list."""

    limit: int = Field(default=100, ge=1, le=MAX_PAGE)
    continuation: str | None = Field(default=None, max_length=MAX_CONTINUATION_CHARS)


# ---- conversations --------------------------------------------------------------------------------------------------


class MessageIn(Request):
    """A customer's message."""

    text: Text
    message_id: Id | None = None
    """Makes the send idempotent; one is made and returned when absent."""
    channel: Channel | None = None
    """web with a publishable key, api with a secret one; admin only with an admin key."""
    language: Language | None = None


class TurnSource(Shown):
    """A source that vouches for the reply."""

    ref: str
    title: str
    relevance: float


class TurnEscalation(Shown):
    """The case a person has, and why."""

    case_id: str
    triggers: tuple[str, ...]


class TurnAction(Shown):
    """An action of the turn."""

    type: str
    amount_minor: int | None = Field(default=None, exclude_if=_is_none)
    currency: str | None = Field(default=None, exclude_if=_is_none)
    status: str


class Turn(Shown):
    """What became of a message."""

    conversation_id: str
    message_id: str
    outcome: Outcome
    reply: str | None
    language: str
    intent: str | None
    severity: Severity | None
    confidence: float
    sources: tuple[TurnSource, ...]
    escalation: TurnEscalation | None
    actions: tuple[TurnAction, ...]
    memory_used: tuple[str, ...]
    superseded_by: str | None = Field(default=None, exclude_if=_is_none)
    trace_id: str
    took_ms: int


class TurnPending(Shown):
    """A turn that is still running; ask again at `status_url`."""

    conversation_id: str
    message_id: str
    status: TurnStatus
    status_url: str
    trace_id: str


class ThreadQuery(QueryModel):
    """Which part of a thread."""

    after_seq: Seq = 0


class ThreadLine(Shown):
    """One message of a thread."""

    seq: int
    role: Literal["customer", "assistant", "person"]
    text: str
    at: datetime
    message_id: str | None = Field(default=None, exclude_if=_is_none)
    outcome: Outcome | None = Field(default=None, exclude_if=_is_none)


class Thread(Shown):
    """A conversation's messages after a sequence, oldest first."""

    conversation_id: str
    status: TicketStatus
    owner: Owner
    last_seq: int
    """Pass as `after_seq` to read on."""
    has_more: bool
    messages: tuple[ThreadLine, ...]


class Opened(Shown):
    """A conversation about to begin."""

    conversation_id: str
    is_known: bool
    last_seq: int


class FeedbackIn(Request):
    """A customer's rating of the conversation."""

    rating: int = Field(ge=1, le=5)
    resolved: bool | None = None


class FeedbackShown(Shown):
    """The rating in force."""

    conversation_id: str
    rating: int
    resolved: bool | None


class ConversationShown(Shown):
    """Where a conversation stands."""

    conversation_id: str
    status: TicketStatus
    owner: Owner


# ---- operations -----------------------------------------------------------------------------------------------------


class LiveShown(Shown):
    """The process answers."""

    status: str


class Dependency(Shown):
    """One thing we need, and its state: up, down, or a word of its own such as uncalibrated."""

    name: str
    state: str
    detail: str = ""


class ReadyShown(Shown):
    """Whether requests can be served, and on what that rests."""

    status: str
    environment: str
    dependencies: tuple[Dependency, ...]


class ProblemShown(Shown):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    trace_id: str
    errors: tuple["FieldProblem", ...] | None = None


class FieldProblem(Shown):
    """One wrong field."""

    field: str
    message: str
