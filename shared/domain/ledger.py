"""What is kept of a turn for audit and for figures: ids, verdicts, hashes; no customer text.

Source: ME-06, AN-01, design §6 rows ledger and analytics.
"""

from datetime import datetime

from pydantic import Field

from shared.domain.governance import ActionFacts
from shared.domain.ids import ConversationId, InstanceId, MessageId, SourceRef, TenantId, digest
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.routing_facts import RoutingFacts
from shared.domain.wire_model import Wire

GENESIS = "0" * 64
"""Previous hash of a conversation's first entry."""


class LedgerEntry(Wire):
    """One turn in the conversation's chain."""

    id: str
    """`turn:{message_id}`"""
    kind: str = "entry"
    tenant_id: TenantId
    conversation_id: ConversationId
    message_id: MessageId
    instance_id: InstanceId
    seq: int
    outcome: str
    intent: str | None = None
    refs: tuple[SourceRef, ...] = ()
    verdicts: ReadOnlyMap[str, bool] = Field(default_factory=FrozenMap)
    reply_hash: str = ""
    triggers: tuple[str, ...] = ()
    trace_id: str = ""
    at: datetime
    position: int = 0
    """Place in the chain, from 1."""
    previous_hash: str = GENESIS
    entry_hash: str = ""

    def with_hash(self, position: int, previous_hash: str) -> "LedgerEntry":
        """Return the entry linked to its predecessor; the hash covers everything but itself."""
        linked = self.model_copy(update={"position": position, "previous_hash": previous_hash, "entry_hash": ""})
        return linked.model_copy(update={"entry_hash": digest(linked.model_dump_json())})


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
