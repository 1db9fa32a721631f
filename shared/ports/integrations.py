"""Ports that write to the outside world. Only the action executor, its activity, container and adapters import this.

Each method takes a VerifiedGrant-bound request: no verified grant, no write. Source: AX-01…03, design §2.
"""

from typing import Protocol

from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.wire_model import Wire


class CrmNote(Wire):
    """A note on the customer's record; text is ours, never the customer's words."""

    action_id: str
    tenant_id: TenantId
    customer_id: CustomerId
    conversation_id: ConversationId
    text: str


class CrmWriter(Protocol):
    """Logs interactions on the customer's record. Idempotent by action id."""

    async def add_note(self, note: CrmNote) -> bool:
        """Write the note; True when it is new, False when this action id was written before."""
        ...
