"""Dead letters: items a feed could not process, by id and error kind, kept until a person resolves them.

Source: design §6 row dead_letters, fault 085.
"""

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import StalenessError
from shared.domain.ids import TenantId, digest
from shared.domain.wire_model import Wire
from shared.ports.documents import Container, Documents, TenantScope


class DeadLetter(Wire):
    """One failed item; holds ids only, the item itself stays where it is."""

    id: str
    kind: str = "dead_letter"
    tenant_id: TenantId
    feed: str
    item_id: str
    error: str
    attempts: int = 1


class DeadLetterRecords:
    """Failed items of every tenant."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def put(self, scope: TenantScope, feed: str, item_id: str, error: str) -> None:
        """Record one more failed attempt of the item."""
        letter = DeadLetter(
            id=digest(feed, item_id)[:40], tenant_id=scope.tenant_id, feed=feed, item_id=item_id, error=error
        )
        stored = await self._documents.read(Container.DEAD_LETTERS, scope, scope.tenant_id, letter.id)
        try:
            if stored is None:
                await self._documents.create(Container.DEAD_LETTERS, scope, scope.tenant_id, to_document(letter))
                return
            again = from_stored(DeadLetter, stored)
            again = again.model_copy(update={"attempts": again.attempts + 1, "error": error})
            await self._documents.replace(
                Container.DEAD_LETTERS, scope, scope.tenant_id, to_document(again), etag=stored.etag
            )
        except StalenessError:
            return  # somebody recorded the same item at the same moment: it is on record either way
