"""Tombstones: who was erased and when, in the customer's own partition; the last thing an erasure leaves there.

Holds no personal data beyond the id the shop itself uses. Source: PV-04, design §9 "Erasure order", fault 060.
"""

from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import AlreadyExists, NotFound, StalenessError, VersionConflict
from shared.domain.ids import CustomerId, TenantId
from shared.domain.wire_model import Wire
from shared.ports.documents import Container, CustomerScope, Documents, Stored, customer_partition

CAS_ATTEMPTS: Final = 8
"""Times a change is tried against others of the same tombstone. Value ours."""
_ID: Final = "tombstone"


class _Tombstone(Wire):
    """One customer's erasure."""

    id: str = _ID
    kind: str = _ID
    tenant_id: TenantId
    customer_id: CustomerId
    erased_at: datetime
    returned_at: datetime | None = None
    """When they wrote again; an erasure after it counts anew."""


class TombstoneRecords:
    """Implements Tombstones, and what writes them."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def is_erased(self, scope: CustomerScope) -> bool:
        """Tell whether the customer was erased and has not come back since."""
        stored = await self._read(scope)
        return stored is not None and not _has_returned(from_stored(_Tombstone, stored))

    async def bury(self, scope: CustomerScope, at: datetime) -> None:
        """Record the erasure; an earlier moment than the recorded one changes nothing. Raises: StalenessError."""
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope)
            stone = from_stored(_Tombstone, stored) if stored else None
            if stone is not None and stone.erased_at >= at:
                return
            buried = _Tombstone(
                tenant_id=scope.tenant_id,
                customer_id=scope.customer_id,
                erased_at=at,
                returned_at=stone.returned_at if stone else None,
            )
            if await self._put(scope, stored, buried):
                return
        raise StalenessError("a tombstone is changing too fast")

    async def welcome(self, scope: CustomerScope, at: datetime) -> None:
        """Record that the customer wrote again after the erasure; nothing happens to who was never erased.

        Raises: StalenessError.
        """
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope)
            if stored is None:
                return
            stone = from_stored(_Tombstone, stored)
            if at <= stone.erased_at or (stone.returned_at is not None and at <= stone.returned_at):
                return
            if await self._put(scope, stored, stone.model_copy(update={"returned_at": at})):
                return
        raise StalenessError("a tombstone is changing too fast")

    async def _read(self, scope: CustomerScope) -> Stored | None:
        return await self._documents.read(Container.PROFILES, scope, customer_partition(scope), _ID)

    async def _put(self, scope: CustomerScope, stored: Stored | None, stone: _Tombstone) -> bool:
        partition, document = customer_partition(scope), to_document(stone)
        try:
            if stored is None:
                await self._documents.create(Container.PROFILES, scope, partition, document)
            else:
                await self._documents.replace(Container.PROFILES, scope, partition, document, etag=stored.etag)
        except (AlreadyExists, VersionConflict, NotFound):
            return False
        return True


def _has_returned(stone: _Tombstone) -> bool:
    return stone.returned_at is not None and stone.returned_at > stone.erased_at
