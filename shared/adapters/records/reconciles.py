"""One row a tenant: when its articles are next held against the shop, and what came of it last time.

Taken like a queue's row: the due time moves to the end of a lease, so that a dead run comes back by itself.
Source: SH-02, fault 068.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.catalog_work import to_due
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import TenantId
from shared.domain.reconciling import CatalogReport
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import Container, Documents, PlatformScope, Query, TenantScope, Where

_ID: Final = "~reconcile"
_KIND: Final = "reconcile"
_LOOK: Final = PlatformScope("the nightly comparison looks for tenants that are due")


class Reconcile(Wire):
    """A tenant's row."""

    id: str = _ID
    kind: str = _KIND
    tenant_id: TenantId
    seq: int
    """Microseconds since the epoch at which it is next due."""
    since: datetime
    """The installation it is for: a newer one is compared at once."""
    last: CatalogReport | None = None
    last_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ReconcileTurn:
    """The right to compare one tenant for a while."""

    row: Reconcile
    etag: str

    @property
    def scope(self) -> TenantScope:
        """Return the tenant."""
        return TenantScope(self.row.tenant_id)


class ReconcileRecords:
    """When each tenant is compared."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def enrol(self, scope: TenantScope, since: datetime) -> None:
        """Have a tenant compared at once that never was, or not since that installation; others stay as they are."""
        row = Reconcile(tenant_id=scope.tenant_id, seq=to_due(self._clock.now()), since=since)
        stored = await self._documents.read(Container.INBOX, scope, scope.tenant_id, _ID)
        if stored is not None:
            if from_stored(Reconcile, stored).since < since:
                await self._replace(scope, row, stored.etag)
            return
        try:
            await self._documents.create(Container.INBOX, scope, scope.tenant_id, to_document(row))
        except AlreadyExists:
            return

    async def get(self, scope: TenantScope) -> Reconcile | None:
        """Return the tenant's row, or None."""
        stored = await self._documents.read(Container.INBOX, scope, scope.tenant_id, _ID)
        return from_stored(Reconcile, stored) if stored else None

    async def enrolled(self) -> dict[TenantId, datetime]:
        """Return every tenant that is enrolled, with the installation it is enrolled for."""
        found: dict[TenantId, datetime] = {}
        continuation: str | None = None
        while True:
            page = await self._documents.query(
                Container.INBOX, _LOOK, Query(None, (Where("kind", "=", _KIND),), continuation=continuation)
            )
            rows = (from_stored(Reconcile, item) for item in page.items)
            found.update((row.tenant_id, row.since) for row in rows)
            continuation = page.continuation
            if continuation is None:
                return found

    async def next_turns(self, limit: int, until: datetime) -> tuple[ReconcileTurn, ...]:
        """Take the tenants that are due, the longest waiting first; they are this run's until the moment."""
        where = (Where("kind", "=", _KIND), Where("seq", "<=", to_due(self._clock.now())))
        page = await self._documents.query(Container.INBOX, _LOOK, Query(None, where, order_by="seq", limit=limit))
        turns = []
        for item in page.items:
            row = from_stored(Reconcile, item).model_copy(update={"seq": to_due(until)})
            etag = await self._replace(TenantScope(row.tenant_id), row, item.etag)
            if etag is not None:
                turns.append(ReconcileTurn(row, etag))
        return tuple(turns)

    async def finish(self, turn: ReconcileTurn, report: CatalogReport | None, due: datetime) -> None:
        """Record what came of it, if anything, and when the next one is due; nothing when the turn was lost."""
        said = {} if report is None else {"last": report, "last_at": self._clock.now()}
        row = turn.row.model_copy(update={"seq": to_due(due), **said})
        await self._replace(turn.scope, row, turn.etag)

    async def _replace(self, scope: TenantScope, row: Reconcile, etag: str) -> str | None:
        try:
            stored = await self._documents.replace(Container.INBOX, scope, scope.tenant_id, to_document(row), etag=etag)
        except (VersionConflict, NotFound):
            return None
        return stored.etag
