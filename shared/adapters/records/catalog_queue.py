"""The queue of products to look at: one row a product, one marker a tenant, both in the tenant's inbox partition.

A row is taken by moving its due time to the end of a lease, so that what a dead worker held comes back by itself. The
marker says that a tenant has something waiting; tenants are served by the age of their marker, one slice at a time,
whatever the length of their queue. Source: SH-01, design §6 row inbox, faults 061, 067, 086.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.catalog_work import (
    CatalogWork,
    Hint,
    Subject,
    WorkStatus,
    failed,
    hinted,
    looked_at,
    put_back,
    taken,
    to_due,
    work_id,
)
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import TenantId
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    Create,
    Documents,
    Operation,
    PlatformScope,
    Query,
    Replace,
    Stored,
    TenantScope,
    Where,
)

INBOX_KEPT_S: Final = 7 * 24 * 3600
"""Seconds a row of the inbox is kept after its last write. Source: design §6 row inbox (7 d)."""
CAS_ATTEMPTS: Final = 16
"""Times a change is tried against others' changes of the same row. Value ours."""
TURN: Final = timedelta(seconds=90)
"""Time a tenant's marker belongs to the worker that serves it. Value ours: a slice and its last product take less."""
QUIET: Final = timedelta(seconds=10)
"""Longest a marker sleeps when everything behind it is due later: new events do not wait for old ones. Value ours."""

_MARKER: Final = "~catalog"
_MARKER_KIND: Final = "catalog_tenant"
_WORK_KIND: Final = "catalog_work"


class _Marker(Wire):
    """That a tenant has products waiting."""

    id: str = _MARKER
    kind: str = _MARKER_KIND
    tenant_id: TenantId
    seq: int
    """Microseconds since the epoch at which it is its turn."""


@dataclass(frozen=True, slots=True)
class TenantTurn:
    """The right to serve one tenant's queue for a while."""

    scope: TenantScope
    etag: str


class CatalogQueue:
    """Products to look at, of every tenant."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    # -- putting in --------------------------------------------------------------------------------------------------

    async def to_operation(self, scope: TenantScope, hint: Hint) -> Operation | None:
        """Return the write that puts the hint in, for the batch that also remembers its event; None when it is old."""
        stored = await self._read(scope, work_id(hint.subject, hint.subject_id))
        current = from_stored(CatalogWork, stored) if stored else None
        work = hinted(current, scope.tenant_id, hint, self._clock.now())
        if work is None:
            return None
        document = to_document(work)
        return Replace(document, stored.etag, INBOX_KEPT_S) if stored else Create(document, INBOX_KEPT_S)

    async def hint(self, scope: TenantScope, hint: Hint) -> None:
        """Put a hint in by itself, and say so. Raises: VersionConflict after CAS_ATTEMPTS."""
        for _ in range(CAS_ATTEMPTS):
            operation = await self.to_operation(scope, hint)
            try:
                await self._documents.batch(Container.INBOX, scope, scope.tenant_id, (operation,) if operation else ())
            except (AlreadyExists, VersionConflict, NotFound):
                continue
            await self.announce(scope)
            return
        raise VersionConflict(f"{hint.subject_id!r} is being hinted at too fast")

    async def announce(self, scope: TenantScope) -> None:
        """Say that the tenant has something waiting; call it after the row is written, again for a repeated event."""
        marker = _Marker(tenant_id=scope.tenant_id, seq=to_due(self._clock.now()))
        try:
            await self._documents.create(Container.INBOX, scope, scope.tenant_id, to_document(marker))
        except AlreadyExists:
            return

    # -- taking out --------------------------------------------------------------------------------------------------

    async def next_turns(self, limit: int) -> tuple[TenantTurn, ...]:
        """Take the turns of the tenants that have waited longest; nobody else serves them until TURN is over."""
        now = self._clock.now()
        page = await self._documents.query(
            Container.INBOX,
            PlatformScope("the catalog worker looks for tenants with something waiting"),
            Query(
                None,
                (Where("kind", "=", _MARKER_KIND), Where("seq", "<=", to_due(now))),
                order_by="seq",
                limit=limit,
            ),
        )
        turns = []
        for stored in page.items:
            marker = from_stored(_Marker, stored)
            scope = TenantScope(marker.tenant_id)
            etag = await self._move_marker(scope, stored.etag, to_due(now + TURN))
            if etag is not None:
                turns.append(TenantTurn(scope, etag))
        return tuple(turns)

    async def end_turn(self, turn: TenantTurn, *, not_before: datetime) -> None:
        """Give the turn back: behind the others while something waits, for good when nothing does."""
        due = await self._first_due(turn.scope)
        if due is None:
            try:
                await self._documents.delete(Container.INBOX, turn.scope, turn.scope.tenant_id, _MARKER, etag=turn.etag)
            except (NotFound, VersionConflict):
                return
            # What was put in before the marker went found it there and said nothing.
            if await self._first_due(turn.scope) is not None:
                await self.announce(turn.scope)
            return
        soon = min(due, to_due(self._clock.now() + QUIET))
        await self._move_marker(turn.scope, turn.etag, max(to_due(not_before), soon))

    async def drop_turn(self, turn: TenantTurn) -> None:
        """Stop serving a tenant; its rows expire."""
        try:
            await self._documents.delete(Container.INBOX, turn.scope, turn.scope.tenant_id, _MARKER, etag=turn.etag)
        except (NotFound, VersionConflict):
            return

    async def take(self, scope: TenantScope, limit: int) -> tuple[CatalogWork, ...]:
        """Take the products that are due, the longest waiting first; each is this worker's for LEASE."""
        now = self._clock.now()
        page = await self._documents.query(
            Container.INBOX,
            scope,
            Query(
                scope.tenant_id,
                (Where("kind", "=", _WORK_KIND), Where("seq", ">", 0), Where("seq", "<=", to_due(now))),
                order_by="seq",
                limit=limit,
            ),
        )
        works = []
        for stored in page.items:
            work = await self._replace(scope, stored, taken(from_stored(CatalogWork, stored), now))
            if work is not None:
                works.append(work)
        return tuple(works)

    async def claim(self, scope: TenantScope, product_id: str, updated_at: datetime | None) -> CatalogWork | None:
        """Take a product nobody asked for; None while it waits anyway, or when something newer is known of it."""
        now = self._clock.now()
        stored = await self._read(scope, work_id(Subject.PRODUCT, product_id))
        current = from_stored(CatalogWork, stored) if stored else None
        if current is not None and current.status is WorkStatus.WAITING:
            return None
        hint = Hint(Subject.PRODUCT, product_id, updated_at, "")
        work = hinted(current, scope.tenant_id, hint, now)
        if work is None:
            return None
        mine = taken(work, now)
        if stored is not None:
            return await self._replace(scope, stored, mine)
        try:
            await self._documents.create(Container.INBOX, scope, scope.tenant_id, to_document(mine), ttl_s=INBOX_KEPT_S)
        except AlreadyExists:
            return None
        return mine

    # -- giving back -------------------------------------------------------------------------------------------------

    async def finish(self, scope: TenantScope, mine: CatalogWork, known_at: datetime | None) -> None:
        """Record that the shop was asked and its answer applied. Raises: VersionConflict after CAS_ATTEMPTS."""
        await self._change(scope, mine, lambda current, now: looked_at(current, mine, known_at, now))

    async def fail(self, scope: TenantScope, mine: CatalogWork, *, is_of_shop: bool) -> bool:
        """Have the product tried again later; True when it was tried often enough and is given up.

        `is_of_shop`: the shop did not answer, which says nothing of the product.
        """
        after = await self._change(scope, mine, lambda current, now: failed(current, now, is_of_shop=is_of_shop))
        return after is not None and after.status is WorkStatus.DONE

    async def put_back(self, scope: TenantScope, mine: CatalogWork) -> None:
        """Return what was taken and not looked at."""
        await self._change(scope, mine, lambda current, now: put_back(current, now))

    # -- helpers -----------------------------------------------------------------------------------------------------

    async def _read(self, scope: TenantScope, id: str) -> Stored | None:
        return await self._documents.read(Container.INBOX, scope, scope.tenant_id, id)

    async def _replace(self, scope: TenantScope, stored: Stored, work: CatalogWork) -> CatalogWork | None:
        try:
            await self._documents.replace(
                Container.INBOX, scope, scope.tenant_id, to_document(work), etag=stored.etag, ttl_s=INBOX_KEPT_S
            )
        except (VersionConflict, NotFound):
            return None
        return work

    async def _change(
        self, scope: TenantScope, mine: CatalogWork, change: Callable[[CatalogWork, datetime], CatalogWork]
    ) -> CatalogWork | None:
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope, mine.id)
            if stored is None:
                return None
            after = change(from_stored(CatalogWork, stored), self._clock.now())
            if await self._replace(scope, stored, after) is not None:
                return after
        raise VersionConflict(f"{mine.id!r} is being hinted at too fast")

    async def _first_due(self, scope: TenantScope) -> int | None:
        page = await self._documents.query(
            Container.INBOX,
            scope,
            Query(
                scope.tenant_id,
                (Where("kind", "=", _WORK_KIND), Where("seq", ">", 0)),
                order_by="seq",
                limit=1,
                fields=("seq",),
            ),
        )
        seq = page.items[0].body["seq"] if page.items else None
        return seq if isinstance(seq, int) else None

    async def _move_marker(self, scope: TenantScope, etag: str, due: int) -> str | None:
        document = to_document(_Marker(tenant_id=scope.tenant_id, seq=due))
        try:
            stored = await self._documents.replace(Container.INBOX, scope, scope.tenant_id, document, etag=etag)
        except (VersionConflict, NotFound):
            return None
        return stored.etag
