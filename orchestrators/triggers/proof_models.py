"""What the proof of a turn shows. Masked text stays masked in it: a proof never gives values back.

Source: design §7 "GET …/turns/{mid}/proof", PR-01, KB-10, ME-06.
"""

from datetime import datetime
from typing import Literal

from orchestrators.triggers.models import Shown

Evidence = Literal["readable", "none", "erased", "broken"]
"""none: nothing was sealed, since the turn told the customer nothing; erased: the key was destroyed, and sentences and
reasons with it; broken: what is stored is not what was sealed for this turn."""


class SpanShown(Shown):
    """Characters of a text, `end` not included."""

    start: int
    end: int


class CitedShown(Shown):
    """A source of a sentence, as it was when the reply was sent."""

    ref: str
    title: str
    version: int | None
    """The article's version; null for a record of the customer's own."""
    span: SpanShown | None
    """The characters of that version's content that say the sentence; null where no single passage does."""
    text_hash: str
    """SHA-256 of the span, else of the whole content, else of the record as it was read; length-prefixed text."""
    quote: str | None
    """The span's text from the stored version, if it still has that hash."""
    still_current: bool | None
    """Whether that version is the published one now; null for a record, which has no versions."""


class SentenceShown(Shown):
    """A sentence the customer was sent, masked."""

    text: str
    kind: str
    sources: tuple[CitedShown, ...]


class VerdictShown(Shown):
    """One check's verdict."""

    check: str
    passed: bool
    reason: str
    evidence: tuple[str, ...]


class ProvenActionShown(Shown):
    """One action of the turn: how it stood when the reply was sent, and how it stands now."""

    action_id: str
    type: str
    decided: str | None
    """What the supervisor decided in this turn."""
    status: str
    standing: str | None
    """Its state now; null once the action's own record is gone."""
    amount_minor: int | None
    currency: str | None
    reason: str
    approved_by: str
    """Person, or `policy:{version}`; empty while nobody has approved it."""
    approved_at: datetime | None
    grant_hash: str
    """SHA-256 of the id of the grant it ran under; empty while it has not run."""
    case_id: str | None


class MessageShown(Shown):
    """One envelope between supervisor and agent; its payload's hash stands for it, records are pseudonyms."""

    msg_id: str
    parent_msg_id: str | None
    sender_agent: str
    recipient_agent: str
    intent: str
    confidence: float
    source_refs: tuple[str, ...]
    is_write: bool
    attempt_count: int
    timestamp: datetime
    text_hash: str


class ChainShown(Shown):
    """Where the turn's entry stands in the conversation's chain."""

    position: int
    previous_hash: str
    entry_hash: str
    intact: bool
    """Whether the conversation's whole chain is, read now."""


class ProofShown(Shown):
    """Everything that vouches for one turn."""

    conversation_id: str
    message_id: str
    outcome: str
    intent: str | None
    triggers: tuple[str, ...]
    evidence: Evidence
    is_approved: bool
    """The reply is the draft the verdicts are of; false for a fixed text of ours."""
    language: str | None
    policy_version: int | None
    sentences: tuple[SentenceShown, ...]
    verdicts: tuple[VerdictShown, ...]
    actions: tuple[ProvenActionShown, ...]
    messages: tuple[MessageShown, ...]
    ledger: ChainShown
    trace_id: str
    recorded_at: datetime
