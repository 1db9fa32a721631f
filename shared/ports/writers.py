"""Ports that write to our own stores; of the agents only the executor and the recorder hold one. Source: design §2."""

from typing import Protocol

from shared.domain.ids import ConversationId, CustomerId
from shared.domain.ledger import LedgerEntry, TurnRecord
from shared.ports.documents import TenantScope


class LedgerWriter(Protocol):
    """The append-only interaction ledger (ME-06)."""

    async def append(self, scope: TenantScope, entry: LedgerEntry) -> bool:
        """Append the entry to its conversation's chain; False when an entry of this turn is there already."""
        ...


class AnalyticsWriter(Protocol):
    """Turn records behind the KPIs (AN-01)."""

    async def record(self, scope: TenantScope, record: TurnRecord) -> bool:
        """Write the record; False when this turn was recorded before."""
        ...


class ActionClaims(Protocol):
    """Idempotency of actions: one effect for one action id (AX-03)."""

    async def claim(
        self, scope: TenantScope, account: CustomerId, action_id: str, grant_id: str, conversation: ConversationId
    ) -> bool:
        """Consume the grant and store the action before its call; False when the action was claimed before."""
        ...

    async def is_done(self, scope: TenantScope, account: CustomerId, action_id: str) -> bool:
        """Tell whether the action's effect has been confirmed."""
        ...

    async def confirm(self, scope: TenantScope, account: CustomerId, action_id: str) -> None:
        """Record that the effect happened."""
        ...
