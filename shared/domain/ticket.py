"""The ticket: our state for one conversation, with the version every change must present.

Owns the fields and the pure changes; which change is legal is the table in `transitions`. Source: S2 §2, PR-03.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import Field

from shared.domain.ids import CaseId, ConversationId, CustomerId, InstanceId, MessageId, TenantId
from shared.domain.proof_body import SealedProof
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.text import MaskedText
from shared.domain.wire_model import Wire

REOPEN_WITHIN_H: Final = 24
"""Hours after close in which a message reopens the ticket with its working set. Source: ME-05, S2 §4."""
SUPERSEDE_AT_MOST: Final = 3
"""Supersessions in a row after which a turn answers what it has. Source: design §3."""
SUPERSEDE_WITHIN_S: Final = 20
"""Seconds since the first unanswered message after which a turn answers what it has. Source: design §3."""
COMMIT_HOLD_S: Final = 20
"""Seconds a committed turn keeps later ones waiting before it is taken for dead. Value ours."""
REPEAT_CONTACT_DAYS: Final = 7
"""Days within which a new contact loads the earlier thread. Source: AC-02."""


class Owner(StrEnum):
    """Who answers this conversation."""

    BOT = "bot"
    PERSON = "person"


class TicketStatus(StrEnum):
    """Where the ticket stands."""

    OPEN = "open"
    NEEDS_REVIEW = "needs_review"
    """Held for a person (PR-04)."""
    RESOLVED = "resolved"
    CLOSED = "closed"


class Ticket(Wire):
    """One conversation's state document."""

    id: str = "ticket"
    kind: str = "ticket"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    secret_hash: str = ""
    """Hash of the anonymous visitor's conversation secret; empty when identified from the start."""
    channel: str = "web"
    language: str = ""
    status: TicketStatus = TicketStatus.OPEN
    owner: Owner = Owner.BOT
    version: int = 0
    """Rises with every change but a customer's message, whose own counter is last_customer_seq."""
    last_seq: int = 0
    """Sequence of the newest message of anyone."""
    last_customer_seq: int = 0
    committed_seq: int = 0
    """Customer sequence a turn has committed to answer; set before any effect."""
    committed_at: datetime | None = None
    answered_seq: int = 0
    """Customer sequence up to which everything has been answered, or is a person's to answer."""
    superseded_run: int = 0
    """Turns superseded since the last answer."""
    first_unanswered_at: datetime | None = None
    case_id: CaseId | None = None
    has_greeted: bool = False
    """The AI notice has been given (CO-05)."""
    has_clarified: bool = False
    """The one clarification of the current issue is spent (RT-05)."""
    issue: str = ""
    """Key of the issue the customer came with last: intent and order."""
    contacts_on_issue: int = 0
    opened_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None


class TurnStatus(StrEnum):
    """Where one message's turn stands."""

    ACCEPTED = "accepted"
    STARTED = "started"
    DONE = "done"


class TurnRow(Wire):
    """One customer message and, once done, what became of it; lives in the conversation's partition."""

    id: str
    """`turn:{message_id}`"""
    kind: str = "turn"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    message_id: MessageId
    seq: int
    instance_id: InstanceId
    masked_text: MaskedText
    body_hmac: str
    """Keyed hash of the raw body: the same id with another body is refused (GW-04)."""
    channel: str
    language: str = ""
    trace_id: str = ""
    status: TurnStatus = TurnStatus.ACCEPTED
    starts: int = 0
    """How often its flow was started; a turn that keeps dying goes to a person (RK-03)."""
    accepted_at: datetime
    done_at: datetime | None = None
    reply_seq: int | None = None
    result: "TurnResult | None" = None


class Outcome(StrEnum):
    """How a turn ended, as the Turn shows it (design §7)."""

    ANSWERED = "answered"
    CLARIFICATION = "clarification"
    ESCALATED = "escalated"
    ACKNOWLEDGED = "acknowledged"
    SUPERSEDED = "superseded"
    HUMAN_OWNED = "human_owned"


class SourceShown(Wire):
    """A source as the Turn lists it."""

    ref: str
    title: str
    relevance: float = 0.0


class ActionShown(Wire):
    """An action as the Turn lists it."""

    type: str
    status: str
    amount_minor: int | None = None
    currency: str | None = None
    action_id: str = ""


class TurnResult(Wire):
    """What became of a turn; everything of the public Turn but ids and times."""

    outcome: Outcome
    reply: MaskedText | None = None
    language: str = "en"
    intent: str | None = None
    severity: str | None = None
    confidence: float = 0.0
    sources: tuple[SourceShown, ...] = ()
    case_id: CaseId | None = None
    triggers: tuple[str, ...] = ()
    actions: tuple[ActionShown, ...] = ()
    memory_used: tuple[str, ...] = ()
    superseded_by: MessageId | None = None
    path: str = ""
    """Retrieval path that served (KB-09)."""
    issue: str = ""
    """Key of the issue this turn was about; empty when it was none."""
    verdicts: ReadOnlyMap[str, bool] = Field(default_factory=FrozenMap)
    """Each check's verdict on the reply (SU-01); empty for fixed texts."""


class ProofRow(Wire):
    """What vouches for a turn's reply, sealed; written with the reply, copied into the ledger from here."""

    id: str
    """`proof:{message_id}`"""
    kind: str = "proof"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    """Whose key sealed it; None for the conversation's own."""
    message_id: MessageId
    sealed: SealedProof


class OutboxRow(Wire):
    """One outgoing message; at most one a turn, whatever its source (fault 110)."""

    id: str
    """`out:{seq}`, seq of the customer message answered, `out:p{seq}` of a person's reply, `out:n{seq}` of a notice"""
    kind: str = "outbox"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    seq: int
    text: MaskedText
    at: datetime
    is_acknowledged: bool = False


class PersonRow(Wire):
    """A person's reply in the conversation."""

    id: str
    """`person:{seq}`"""
    kind: str = "person"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    seq: int
    text: MaskedText
    author: str
    at: datetime


class NoticeRow(Wire):
    """A message of ours that answers no message: how an approved, rejected or expired action ended."""

    id: str
    """`notice:{notice_id}`: the same event is told once"""
    kind: str = "notice"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    seq: int
    text: MaskedText
    at: datetime


ThreadRow = TurnRow | PersonRow | NoticeRow
"""What a thread is made of, in order of `seq`."""


class HandoffRow(Wire):
    """The intent to hand a conversation over, committed with the state change; the case is projected from it.

    Source: fault 009 (the notification row commits with the state change, retried until acknowledged).
    """

    id: str
    """`handoff:{case_id}`"""
    kind: str = "handoff"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    case_id: CaseId
    message_id: MessageId
    seq: int
    triggers: tuple[str, ...]
    severity: str
    at: datetime
    is_projected: bool = False


TurnRow.model_rebuild()
