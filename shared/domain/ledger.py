"""What is kept of a turn for audit and for figures: ids, verdicts, keyed hashes, ciphertext; nobody's name or words.

Owns the entry, how entries are linked into a conversation's chain, and what a chain must be to be intact. The hash
covers the ciphertext, so destroying a customer's key makes the sealed part unreadable and breaks no link.
Source: ME-06, PR-01, PR-02, AN-01, design §6 rows ledger and analytics.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from pydantic import Field, field_validator

from shared.domain.envelope import EnvelopeHeader
from shared.domain.governance import ActionFacts
from shared.domain.ids import ConversationId, InstanceId, MessageId, SourceRef, TenantId, digest
from shared.domain.proof_body import SealedProof
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.routing_facts import RoutingFacts
from shared.domain.wire_model import Wire

GENESIS: Final = "0" * 64
"""Previous hash of a conversation's first entry."""
OPEN_KINDS: Final = frozenset({"article", "policy"})
"""Kinds of reference that say nothing about a customer: which version of an article was used can be told without a
key."""


class LedgerEntry(Wire):
    """One turn in the conversation's chain."""

    id: str
    """`turn:{message_id}`"""
    kind: str = "entry"
    tenant_id: TenantId
    conversation_id: ConversationId
    message_id: MessageId
    instance_id: InstanceId
    customer_hash: str = ""
    """Keyed hash of the customer's id under their own data key: the same in all their entries, nobody's once the key is
    destroyed. Empty for an unknown visitor."""
    seq: int
    outcome: str
    intent: str | None = None
    refs: tuple[SourceRef, ...] = ()
    """What the reply cites, a customer's records under pseudonyms."""
    verdicts: ReadOnlyMap[str, bool] = Field(default_factory=FrozenMap)
    reply_hash: str = ""
    """Keyed hash of the masked reply."""
    triggers: tuple[str, ...] = ()
    trace_id: str = ""
    messages: tuple[EnvelopeHeader, ...] = ()
    """The exchange of envelopes between supervisor and agents, in order, records and texts under pseudonyms."""
    sealed: SealedProof | None = None
    """The proof's body; None for a turn that told the customer nothing."""
    at: datetime
    position: int = 0
    """Place in the chain, from 1."""
    previous_hash: str = GENESIS
    entry_hash: str = ""

    @field_validator("at")
    @classmethod
    def _in_utc(cls, value: datetime) -> datetime:
        """Keep the moment as the store writes it, so that what is read hashes as what was written."""
        if value.tzinfo is None:
            raise ValueError("a moment of the ledger needs a time zone")
        return value.astimezone(UTC)

    def with_hash(self, position: int, previous_hash: str) -> "LedgerEntry":
        """Return the entry linked to its predecessor."""
        linked = self.model_copy(update={"position": position, "previous_hash": previous_hash})
        return linked.model_copy(update={"entry_hash": linked.computed_hash()})

    def computed_hash(self) -> str:
        """Return the hash of everything but itself: SHA-256 of canonical JSON, keys sorted, defaults left out.

        A field that is added with a default changes no hash of an entry written before it.
        """
        body = self.model_dump(mode="json", exclude={"entry_hash"}, exclude_defaults=True)
        return digest(json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


class ChainHead(Wire):
    """Where a conversation's chain ends; moves in the same batch as each entry."""

    id: str = "head"
    kind: str = "head"
    tenant_id: TenantId
    conversation_id: ConversationId
    position: int
    entry_hash: str


@dataclass(frozen=True, slots=True)
class Chain:
    """A conversation's entries in the order of their positions, and where the chain is said to end."""

    entries: tuple[LedgerEntry, ...] = ()
    head: ChainHead | None = None

    def entry(self, message: MessageId) -> LedgerEntry | None:
        """Return the entry of a message's turn."""
        return next((entry for entry in self.entries if entry.message_id == message), None)


def is_intact(chain: Chain) -> bool:
    """Tell whether each entry follows from its predecessor, hashes to what it says, and the last is the head's.

    Any entry dropped, added, moved, changed or cut off the end makes it False. Whoever may write the whole store can
    still write a chain anew from some entry on, head included; an entry hash that a proof showed before tells.
    """
    previous, position = GENESIS, 0
    for position, entry in enumerate(chain.entries, start=1):
        is_linked = entry.position == position and entry.previous_hash == previous
        if not is_linked or entry.entry_hash != entry.computed_hash():
            return False
        previous = entry.entry_hash
    head = chain.head
    if head is None:
        return not chain.entries
    return (head.position, head.entry_hash) == (position, previous)


class Pseudonym(Protocol):
    """Names a value by its keyed hash: equal for equal values under one key, telling nothing without it."""

    def __call__(self, kind: str, value: str, /) -> str:
        """Return the hash, hex."""
        ...


def without_name(ref: SourceRef, pseudonym: Pseudonym) -> SourceRef:
    """Return the reference, a customer's record named by its keyed hash: `order:1001` as `order:~3fa9…`."""
    kind, _, name = ref.partition(":")
    return ref if kind in OPEN_KINDS else SourceRef(f"{kind}:~{pseudonym(kind, name)}")


def without_names(refs: Iterable[SourceRef], pseudonym: Pseudonym) -> tuple[SourceRef, ...]:
    """Return the references without a customer's names, in order."""
    return tuple(without_name(ref, pseudonym) for ref in refs)


def kept_header(header: EnvelopeHeader, pseudonym: Pseudonym) -> EnvelopeHeader:
    """Return what the ledger keeps of a message: records under pseudonyms, and the hash of its text keyed.

    A plain hash of a short text can be guessed by whoever tries all short texts.
    """
    return header.model_copy(
        update={
            "source_refs": without_names(header.source_refs, pseudonym),
            "text_hash": pseudonym("message", header.text_hash),
        }
    )


class TurnRecord(Wire):
    """One turn's figures (AN-01)."""

    id: str
    """`turn:{conversation}:{message}`"""
    kind: str = "turn"
    tenant_id: TenantId
    conversation_id: ConversationId
    message_id: MessageId
    outcome: str
    intent: str | None = None
    severity: str | None = None
    confidence: float = 0.0
    path: str = ""
    triggers: tuple[str, ...] = ()
    revisions: int = 0
    took_ms: int = 0
    agent_ms: ReadOnlyMap[str, int] = Field(default_factory=FrozenMap)
    """Milliseconds an agent's activity took, all attempts."""
    rungs: ReadOnlyMap[str, int] = Field(default_factory=FrozenMap)
    """Retries by agent."""
    facts: RoutingFacts | None = None
    """What the last routing decision rested on; no customer text (dry run, SC-02)."""
    action_facts: tuple[ActionFacts, ...] = ()
    """What each decision about an action rested on."""
    has_widened: bool = False
    """Retrieval had been repeated with a wider net by then (KB-12)."""
    is_first: bool = False
    """The conversation's first turn (fault 110: first-contact errors are counted apart)."""
    shadow: str = ""
    """Whether a second validator agreed: agree, differ, or empty when it was not asked (SU-06)."""
    is_audited: bool = False
    """Drawn for a person to look at afterwards (SC-02)."""
    at: datetime
