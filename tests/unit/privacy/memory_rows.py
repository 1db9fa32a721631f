"""Rows in memory, for tests of the vault alone; the document store's adapters have their own contract tests."""

from shared.ports.documents import TenantScope
from shared.ports.vault import ConversationScope, KeyRow, MaskRow


class MemoryMaskRows:
    """Mask rows by partition, create-if-absent, never expiring on its own: a store may be late to delete."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, MaskRow]] = {}

    async def list(self, scope: ConversationScope) -> tuple[MaskRow, ...]:
        """Return the conversation's rows."""
        return tuple(self._of(scope).values())

    async def create(self, scope: ConversationScope, row: MaskRow) -> MaskRow:
        """Return the row that is stored now."""
        return self._of(scope).setdefault(row.id, row)

    async def delete_all(self, scope: ConversationScope) -> int:
        """Delete the conversation's rows."""
        return len(self.rows.pop((scope.tenant_id, scope.conversation_id), {}))

    def _of(self, scope: ConversationScope) -> dict[str, MaskRow]:
        return self.rows.setdefault((scope.tenant_id, scope.conversation_id), {})


class MemoryKeyRows:
    """Key rows by tenant and id."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], KeyRow] = {}

    async def read(self, scope: TenantScope, id: str) -> KeyRow | None:
        """Return the row or None."""
        return self.rows.get((scope.tenant_id, id))

    async def find(self, scope: TenantScope, key_id: str) -> KeyRow | None:
        """Return the row of the key with that id or None."""
        return next((r for (t, _), r in self.rows.items() if t == scope.tenant_id and r.key_id == key_id), None)

    async def create(self, scope: TenantScope, row: KeyRow) -> KeyRow:
        """Return the row that is stored now."""
        return self.rows.setdefault((scope.tenant_id, row.id), row)

    async def delete(self, scope: TenantScope, id: str) -> bool:
        """Delete the row."""
        return self.rows.pop((scope.tenant_id, id), None) is not None
