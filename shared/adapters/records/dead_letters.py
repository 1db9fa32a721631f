"""Dead letters: items a feed could not process, by id and error kind, kept until they are resolved.

Source: design §6 row dead_letters, fault 085.
"""

from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import StalenessError
from shared.domain.ids import TenantId, digest
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import Container, Documents, Query, TenantScope, Where

RESOLVED_KEPT_S: Final = 30 * 86_400
"""Time a resolved letter is kept. Unit: seconds. Source: design §6 (30 days after resolution)."""

_KIND: Final = "dead_letter"


class DeadLetter(Wire):
    """One failed item; holds ids only, the item itself stays where it is."""

    id: str
    kind: str = _KIND
    tenant_id: TenantId
    feed: str
    item_id: str
    error: str
    attempts: int = 1
    resolved_at: datetime | None = None


class DeadLetterRecords:
    """Failed items of every tenant."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def put(self, scope: TenantScope, feed: str, item_id: str, error: str, *, attempts: int = 1) -> None:
        """Record that the item failed as many times more."""
        letter = DeadLetter(
            id=_id(feed, item_id),
            tenant_id=scope.tenant_id,
            feed=feed,
            item_id=item_id,
            error=error,
            attempts=attempts,
        )
        stored = await self._documents.read(Container.DEAD_LETTERS, scope, scope.tenant_id, letter.id)
        try:
            if stored is None:
                await self._documents.create(Container.DEAD_LETTERS, scope, scope.tenant_id, to_document(letter))
                return
            before = from_stored(DeadLetter, stored)
            again = letter.model_copy(update={"attempts": before.attempts + attempts})
            await self._documents.replace(
                Container.DEAD_LETTERS, scope, scope.tenant_id, to_document(again), etag=stored.etag
            )
        except StalenessError:
            return  # somebody recorded the same item at the same moment: it is on record either way

    async def unresolved(self, scope: TenantScope, feed: str, *, limit: int) -> tuple[DeadLetter, ...]:
        """Return the feed's items that wait for somebody."""
        where = (Where("kind", "=", _KIND), Where("feed", "=", feed), Where("resolved_at", "is_null"))
        page = await self._documents.query(
            Container.DEAD_LETTERS, scope, Query(scope.tenant_id, where, order_by="id", limit=limit)
        )
        return tuple(from_stored(DeadLetter, item) for item in page.items)

    async def resolve(self, scope: TenantScope, feed: str, item_id: str) -> None:
        """Note that the item is done; without a letter there is nothing to note."""
        stored = await self._documents.read(Container.DEAD_LETTERS, scope, scope.tenant_id, _id(feed, item_id))
        if stored is None:
            return
        done = from_stored(DeadLetter, stored).model_copy(update={"resolved_at": self._clock.now()})
        try:
            await self._documents.replace(
                Container.DEAD_LETTERS,
                scope,
                scope.tenant_id,
                to_document(done),
                etag=stored.etag,
                ttl_s=RESOLVED_KEPT_S,
            )
        except StalenessError:
            return  # it failed again at the same moment: the letter stays


def _id(feed: str, item_id: str) -> str:
    return digest(feed, item_id)[:40]
