"""The built-in CRM: notes on a customer, kept beside the embedded shop's records. Source: AX-01, S2 §1."""

from shared.adapters.records.codec import to_document, to_moment
from shared.domain.errors import AlreadyExists
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import Container, CustomerScope, Documents, customer_partition
from shared.ports.integrations import CrmNote


class _NoteRow(Wire):
    """One note."""

    id: str
    kind: str = "note"
    tenant_id: TenantId
    customer_id: CustomerId
    conversation_id: ConversationId
    text: str
    at: str


class CrmRecords:
    """Implements CrmWriter."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def add_note(self, note: CrmNote) -> bool:
        """Write the note; True when it is new, False when this action id was written before."""
        scope = CustomerScope(note.tenant_id, note.customer_id)
        row = _NoteRow(
            id=f"note:{note.action_id}",
            tenant_id=note.tenant_id,
            customer_id=note.customer_id,
            conversation_id=note.conversation_id,
            text=note.text,
            at=to_moment(self._clock.now()),
        )
        try:
            await self._documents.create(Container.SHOP, scope, customer_partition(scope), to_document(row))
        except AlreadyExists:
            return False
        return True
