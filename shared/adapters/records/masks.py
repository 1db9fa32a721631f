"""Mask and data-key records: the rows behind the vault, ciphertext only. Implements MaskRows and KeyRows.

Mask rows expire with the store's own TTL; nothing here reads or prolongs them. Source: PV-02, design §6 rows `masks`
and `vault_keys`, shared/ports/vault.py.
"""

from typing import TypeVar

from pydantic import JsonValue

from shared.adapters.records.codec import to_document
from shared.domain.errors import AlreadyExists, NotFound, StalenessError
from shared.domain.ids import TenantId
from shared.domain.wire_model import Wire
from shared.ports.documents import (
    Container,
    Documents,
    Query,
    Stored,
    TenantScope,
    Where,
    conversation_partition,
)
from shared.ports.vault import ConversationScope, KeyRow, MaskRow
from shared.wire import decode

M = TypeVar("M", bound=Wire)


class MaskRecords:
    """Mask rows, one partition a conversation."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def list(self, scope: ConversationScope) -> tuple[MaskRow, ...]:
        """Return every row of the conversation that has not expired, in no particular order."""
        return tuple(_from_owned(MaskRow, stored) for stored in await self._all(scope))

    async def create(self, scope: ConversationScope, row: MaskRow) -> MaskRow:
        """Store the row if its id is absent; return the row that is stored now, which may be another's.

        Raises: StalenessError when that other row vanished in between; the message is masked again then.
        """
        tenant, partition = _place(scope)
        ttl_s = int((row.expires_at - row.created_at).total_seconds())
        try:
            await self._documents.create(
                Container.MASKS, tenant, partition, _to_owned(row, scope.tenant_id), ttl_s=ttl_s
            )
        except AlreadyExists:
            stored = await self._documents.read(Container.MASKS, tenant, partition, row.id)
            if stored is None:
                raise StalenessError("a mapping expired or was erased while it was being reused") from None
            return _from_owned(MaskRow, stored)
        return row

    async def delete_all(self, scope: ConversationScope) -> int:
        """Delete every row of the conversation, for erasure; return how many there were."""
        tenant, partition = _place(scope)
        deleted = 0
        for stored in await self._all(scope):
            try:
                await self._documents.delete(Container.MASKS, tenant, partition, str(stored.body["id"]))
            except NotFound:
                continue
            deleted += 1
        return deleted

    async def _all(self, scope: ConversationScope) -> tuple[Stored, ...]:
        tenant, partition = _place(scope)
        items: list[Stored] = []
        continuation: str | None = None
        while True:
            page = await self._documents.query(Container.MASKS, tenant, Query(partition, continuation=continuation))
            items.extend(page.items)
            continuation = page.continuation
            if continuation is None:
                return tuple(items)


class DataKeyRecords:
    """Wrapped data keys, one partition a tenant."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def read(self, scope: TenantScope, id: str) -> KeyRow | None:
        """Return the key row, or None."""
        stored = await self._documents.read(Container.VAULT_KEYS, scope, scope.tenant_id, id)
        return None if stored is None else _from_owned(KeyRow, stored)

    async def find(self, scope: TenantScope, key_id: str) -> KeyRow | None:
        """Return the row of the key with that id, whosever it is, or None."""
        query = Query(scope.tenant_id, where=(Where("key_id", "=", key_id),), limit=1)
        found = (await self._documents.query(Container.VAULT_KEYS, scope, query)).items
        return _from_owned(KeyRow, found[0]) if found else None

    async def create(self, scope: TenantScope, row: KeyRow) -> KeyRow:
        """Store the row if its id is absent; return the row that is stored now.

        Raises: StalenessError when the row there was is destroyed in between.
        """
        try:
            await self._documents.create(Container.VAULT_KEYS, scope, scope.tenant_id, _to_owned(row, scope.tenant_id))
        except AlreadyExists:
            stored = await self.read(scope, row.id)
            if stored is None:
                raise StalenessError(f"data key {row.id!r} was destroyed while it was being used") from None
            return stored
        return row

    async def delete(self, scope: TenantScope, id: str) -> bool:
        """Delete the row for good; tell whether there was one."""
        try:
            await self._documents.delete(Container.VAULT_KEYS, scope, scope.tenant_id, id)
        except NotFound:
            return False
        return True


def _place(scope: ConversationScope) -> tuple[TenantScope, str]:
    """Return scope and partition of the conversation: rows from before its customer was known belong to it too."""
    tenant = TenantScope(scope.tenant_id)
    return tenant, conversation_partition(tenant, scope.conversation_id)


def _to_owned(row: Wire, tenant: TenantId) -> dict[str, JsonValue]:
    return {**to_document(row), "tenant_id": tenant}


def _from_owned(kind: type[M], stored: Stored) -> M:
    return decode(kind, {name: value for name, value in stored.body.items() if name != "tenant_id"})
