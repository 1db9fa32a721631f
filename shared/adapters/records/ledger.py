"""Ledger and analytics records: append-only chain per conversation, and one record a turn.

The chain's head moves in the same batch as its entry, so it never forks. Source: ME-06, PR-03, AN-01.
"""

from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import ConversationId, TenantId
from shared.domain.ledger import GENESIS, LedgerEntry, TurnRecord
from shared.domain.wire_model import Wire
from shared.ports.documents import (
    Container,
    Create,
    Documents,
    Operation,
    Query,
    Replace,
    TenantScope,
    Where,
    conversation_partition,
)

ANALYTICS_TTL_S: Final = 400 * 24 * 3600
"""Seconds a turn record is kept (400 days). Source: design §6."""
APPEND_ATTEMPTS: Final = 8
"""Times an append is tried against a moving head. Value ours."""


class _Head(Wire):
    """The end of a conversation's chain."""

    id: str = "head"
    kind: str = "head"
    tenant_id: TenantId
    conversation_id: ConversationId
    position: int
    entry_hash: str


class LedgerRecords:
    """Implements LedgerWriter."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def append(self, scope: TenantScope, entry: LedgerEntry) -> bool:
        """Append the entry to its conversation's chain; False when an entry of this turn is there already."""
        partition = conversation_partition(scope, entry.conversation_id)
        for _ in range(APPEND_ATTEMPTS):
            stored = await self._documents.read(Container.LEDGER, scope, partition, "head")
            head = from_stored(_Head, stored) if stored else None
            linked = entry.with_hash((head.position if head else 0) + 1, head.entry_hash if head else GENESIS)
            new_head = _Head(
                tenant_id=scope.tenant_id,
                conversation_id=entry.conversation_id,
                position=linked.position,
                entry_hash=linked.entry_hash,
            )
            move: Operation = Replace(to_document(new_head), stored.etag) if stored else Create(to_document(new_head))
            try:
                await self._documents.batch(Container.LEDGER, scope, partition, (Create(to_document(linked)), move))
            except (AlreadyExists, VersionConflict, NotFound):
                if await self._documents.read(Container.LEDGER, scope, partition, entry.id) is not None:
                    return False
                continue
            return True
        raise VersionConflict(f"ledger of conversation {entry.conversation_id!r} is changing too fast")

    async def chain(self, scope: TenantScope, conversation: ConversationId) -> tuple[LedgerEntry, ...]:
        """Return the chain in order."""
        query = Query(
            partition=conversation_partition(scope, conversation),
            where=(Where("kind", "=", "entry"),),
            order_by="position",
            limit=1000,
        )
        page = await self._documents.query(Container.LEDGER, scope, query)
        return tuple(from_stored(LedgerEntry, s) for s in page.items)


def is_intact(chain: tuple[LedgerEntry, ...]) -> bool:
    """Tell whether every entry follows from its predecessor and hashes to what it says."""
    previous = GENESIS
    for position, entry in enumerate(chain, start=1):
        if entry.with_hash(position, previous) != entry:
            return False
        previous = entry.entry_hash
    return True


class AnalyticsRecords:
    """Implements AnalyticsWriter."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def record(self, scope: TenantScope, record: TurnRecord) -> bool:
        """Write the record; False when this turn was recorded before."""
        try:
            await self._documents.create(
                Container.ANALYTICS, scope, scope.tenant_id, to_document(record), ttl_s=ANALYTICS_TTL_S
            )
        except AlreadyExists:
            return False
        return True

    async def recent(self, scope: TenantScope, limit: int) -> tuple[TurnRecord, ...]:
        """Return the tenant's newest turn records first."""
        query = Query(scope.tenant_id, (Where("kind", "=", "turn"),), order_by="at", is_descending=True, limit=limit)
        page = await self._documents.query(Container.ANALYTICS, scope, query)
        return tuple(from_stored(TurnRecord, stored) for stored in page.items)

    async def audited(
        self, scope: TenantScope, limit: int, continuation: str | None = None
    ) -> tuple[tuple[TurnRecord, ...], str | None]:
        """Return a page of the turns drawn for a person to look at, newest first, and the token of the next."""
        query = Query(
            scope.tenant_id,
            (Where("kind", "=", "turn"), Where("is_audited", "=", True)),
            order_by="at",
            is_descending=True,
            limit=limit,
            continuation=continuation,
        )
        page = await self._documents.query(Container.ANALYTICS, scope, query)
        return tuple(from_stored(TurnRecord, stored) for stored in page.items), page.continuation
