"""The built-in CRM: notes on a customer, kept beside the embedded shop's records. Source: AX-01, S2 §1."""

from datetime import datetime

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.actions import CrmNoteProposal, Effect
from shared.domain.errors import AlreadyExists, Unavailable
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.verified import VerifiedGrant
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import Container, CustomerScope, Documents, customer_partition


class _NoteRow(Wire):
    """One note."""

    id: str
    """`note:{action_id}`"""
    kind: str = "note"
    tenant_id: TenantId
    customer_id: CustomerId
    conversation_id: ConversationId
    text: str
    at: datetime


class CrmRecords:
    """Implements CrmWriter."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def add_note(
        self, verified: VerifiedGrant, proposal: CrmNoteProposal, *, conversation: ConversationId
    ) -> Effect:
        """Write the note on the grant's account; the same action id writes it once.

        Raises: AuthorityError when the grant is for another note; Unavailable, RateLimited.
        """
        grant = verified.covering(proposal)
        scope = CustomerScope(grant.tenant_id, grant.account_id)
        row = _NoteRow(
            id=f"note:{grant.action_id}",
            tenant_id=grant.tenant_id,
            customer_id=grant.account_id,
            conversation_id=conversation,
            text=proposal.text,
            at=self._clock.now(),
        )
        partition = customer_partition(scope)
        try:
            await self._documents.create(Container.SHOP, scope, partition, to_document(row))
        except AlreadyExists:
            stored = await self._documents.read(Container.SHOP, scope, partition, row.id)
            if stored is None:
                raise Unavailable(f"note {row.id!r} is being removed") from None
            row = from_stored(_NoteRow, stored)
        return Effect(reference=row.id, at=row.at)
