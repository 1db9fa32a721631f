"""The customer's rating of a conversation: one document a conversation in the analytics container.

Holds numbers and ids only. Source: AN-01 (CSAT), design §6 row `analytics`.
"""

from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.ledger import ANALYTICS_TTL_S
from shared.container import Services
from shared.domain.errors import AlreadyExists, VersionConflict
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.ticket import Ticket
from shared.domain.wire_model import Wire
from shared.ports.documents import Container, TenantScope

CAS_ATTEMPTS: Final = 8
"""Times a rating is written against fresh state before it is a conflict. Value ours."""


class Feedback(Wire):
    """One conversation's rating."""

    id: str
    """`feedback:{conversation}`"""
    kind: str = "feedback"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    rating: int
    is_resolved: bool | None = None
    at: datetime


async def record_feedback(services: Services, ticket: Ticket, rating: int, is_resolved: bool | None) -> None:
    """Write the rating, over an earlier one; the same rating again writes nothing. Raises: VersionConflict."""
    documents, scope = services.documents, TenantScope(ticket.tenant_id)
    new = Feedback(
        id=f"feedback:{ticket.conversation_id}",
        tenant_id=ticket.tenant_id,
        conversation_id=ticket.conversation_id,
        customer_id=ticket.customer_id,
        rating=rating,
        is_resolved=is_resolved,
        at=services.clock.now(),
    )
    body = to_document(new)
    for _ in range(CAS_ATTEMPTS):
        stored = await documents.read(Container.ANALYTICS, scope, scope.tenant_id, new.id)
        try:
            if stored is None:
                await documents.create(Container.ANALYTICS, scope, scope.tenant_id, body, ttl_s=ANALYTICS_TTL_S)
            elif not _says_the_same(from_stored(Feedback, stored), new):
                await documents.replace(
                    Container.ANALYTICS, scope, scope.tenant_id, body, etag=stored.etag, ttl_s=ANALYTICS_TTL_S
                )
        except (AlreadyExists, VersionConflict):
            continue
        return
    raise VersionConflict(f"feedback of conversation {ticket.conversation_id!r} is changing too fast")


def _says_the_same(old: Feedback, new: Feedback) -> bool:
    return (old.rating, old.is_resolved) == (new.rating, new.is_resolved)
