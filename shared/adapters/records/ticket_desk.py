"""The built-in desk's side of a ticket: tags and notes of ours, kept in the conversation they are about.

Implements TicketDesk. Source: AX-01 ("ticket updates"), HD-01.
"""

from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.actions import Effect, TicketUpdateProposal
from shared.domain.errors import AlreadyExists, Unavailable
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.verified import VerifiedGrant
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    CustomerScope,
    Documents,
    Query,
    TenantScope,
    Where,
    conversation_partition,
)
from shared.ports.integrations import Declined

MAX_NOTES: Final = 100
"""Most notes of one conversation shown. Value ours."""


class DeskNote(Wire):
    """Tags and a note of ours on one conversation."""

    id: str
    """`desk_note:{action_id}`"""
    kind: str = "desk_note"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId
    tags: tuple[str, ...]
    note: str
    at: datetime


class TicketDeskRecords:
    """Notes of every conversation, in its own partition."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def update(
        self, verified: VerifiedGrant, proposal: TicketUpdateProposal, *, conversation: ConversationId
    ) -> Effect:
        """Add the tags and the note; the same action id adds them once.

        Raises: Declined when the conversation is not the grant's account's; AuthorityError when the grant is for
        another update; Unavailable, RateLimited.
        """
        grant = verified.covering(proposal)
        scope = CustomerScope(grant.tenant_id, grant.account_id)
        partition = conversation_partition(scope, conversation)
        if await self._documents.read(Container.TICKETS, scope, partition, "ticket") is None:
            raise Declined("there is no such conversation of this customer")
        row = DeskNote(
            id=f"desk_note:{grant.action_id}",
            tenant_id=grant.tenant_id,
            conversation_id=conversation,
            customer_id=grant.account_id,
            tags=proposal.tags,
            note=proposal.note,
            at=self._clock.now(),
        )
        try:
            await self._documents.create(Container.TICKETS, scope, partition, to_document(row))
        except AlreadyExists:
            stored = await self._documents.read(Container.TICKETS, scope, partition, row.id)
            if stored is None:
                raise Unavailable(f"note {row.id!r} is being removed") from None
            row = from_stored(DeskNote, stored)
        return Effect(reference=row.id, at=row.at)

    async def notes(self, scope: TenantScope, conversation: ConversationId) -> tuple[DeskNote, ...]:
        """Return what the desk sees beside the thread, oldest first, at most MAX_NOTES."""
        query = Query(
            conversation_partition(scope, conversation),
            where=(Where("kind", "=", "desk_note"),),
            order_by="at",
            limit=MAX_NOTES,
        )
        page = await self._documents.query(Container.TICKETS, scope, query)
        return tuple(from_stored(DeskNote, stored) for stored in page.items)
