"""Ledger and analytics records: append-only chain per conversation, and one record a turn.

The chain's head moves in the same batch as its entry, so it never forks. Source: ME-06, PR-03, AN-01.
"""

from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import AlreadyExists, NotFound, SchemaError, VersionConflict
from shared.domain.ids import ConversationId
from shared.domain.ledger import GENESIS, Chain, ChainHead, LedgerEntry, TurnRecord
from shared.ports.documents import (
    Container,
    Create,
    Documents,
    Operation,
    Query,
    Replace,
    Stored,
    TenantScope,
    Where,
    conversation_partition,
)

ANALYTICS_TTL_S: Final = 400 * 24 * 3600
"""Seconds a turn record is kept (400 days). Source: design §6."""
CHAIN_PAGE: Final = 100
"""Entries read at once. Value ours: some 10 KB each."""
APPEND_ATTEMPTS: Final = 8
"""Times an append is tried against a moving head. Value ours."""
READ_ATTEMPTS: Final = 8
"""Times a chain is read while turns go on being appended to it. Value ours."""


class LedgerRecords:
    """Implements LedgerWriter and LedgerReader."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def append(self, scope: TenantScope, entry: LedgerEntry) -> bool:
        """Append the entry to its conversation's chain; False when an entry of this turn is there already."""
        partition = conversation_partition(scope, entry.conversation_id)
        for _ in range(APPEND_ATTEMPTS):
            stored = await self._documents.read(Container.LEDGER, scope, partition, "head")
            head = from_stored(ChainHead, stored) if stored else None
            linked = entry.with_hash((head.position if head else 0) + 1, head.entry_hash if head else GENESIS)
            new_head = ChainHead(
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

    async def chain(self, scope: TenantScope, conversation: ConversationId) -> Chain:
        """Return the conversation's chain as it is stored, whether or not it is intact.

        An entry that cannot be read any more is left out, which breaks the chain like any other change of one.
        Raises: VersionConflict when it grows faster than it can be read.
        """
        partition = conversation_partition(scope, conversation)
        for _ in range(READ_ATTEMPTS):
            before = await self._documents.read(Container.LEDGER, scope, partition, "head")
            entries = await self._entries(scope, partition)
            after = await self._documents.read(Container.LEDGER, scope, partition, "head")
            if (before and before.etag) == (after and after.etag):
                return Chain(entries, from_stored(ChainHead, after) if after is not None else None)
        raise VersionConflict(f"ledger of conversation {conversation!r} is changing too fast")

    async def _entries(self, scope: TenantScope, partition: str) -> tuple[LedgerEntry, ...]:
        entries: list[LedgerEntry] = []
        continuation: str | None = None
        while True:
            page = await self._documents.query(
                Container.LEDGER,
                scope,
                Query(
                    partition=partition,
                    where=(Where("kind", "=", "entry"),),
                    order_by="position",
                    limit=CHAIN_PAGE,
                    continuation=continuation,
                ),
            )
            entries += [entry for item in page.items if (entry := _readable(item)) is not None]
            continuation = page.continuation
            if continuation is None:
                return tuple(entries)


def _readable(stored: Stored) -> LedgerEntry | None:
    try:
        return from_stored(LedgerEntry, stored)
    except SchemaError:
        return None


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
