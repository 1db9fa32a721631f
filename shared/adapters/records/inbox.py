"""The inbox: each webhook event once, together with what follows from it, in one batch of the tenant's partition.

An event is known by (topic, resource, event id) and by its delivery id, because the platform's own pages disagree on
which of them repeats. No payload is stored: of an event its ids, of a privacy request its ciphertext.
Source: SH-01, apis.md §1.5, design §6 row inbox, faults 061, 062.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from shared.adapters.records.catalog_queue import INBOX_KEPT_S, CatalogQueue
from shared.adapters.records.codec import to_document
from shared.adapters.records.secret_box import SecretBox
from shared.domain.catalog_work import Hint, Subject
from shared.domain.compliance import COMPLIANCE_TERM, ComplianceRequest
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import CustomerId, TenantId, digest
from shared.domain.shop_events import Concern, ShopEvent, Topic, concern_of
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import Container, Create, Documents, Operation, TenantScope

CAS_ATTEMPTS: Final = 32
"""Times an event is put in against other events of the same product. Value ours."""
ID_CHARS: Final = 40
"""Hex characters of a row's digest. Source: design §3 (as for instances)."""


class _Seen(Wire):
    """That an event, or a delivery, has been here."""

    id: str
    kind: str = "shop_event"
    tenant_id: TenantId
    topic: Topic
    resource_id: str
    customer_id: CustomerId | None = None
    received_at: datetime


class InboxRecords:
    """Webhook events of every tenant."""

    def __init__(self, documents: Documents, *, queue: CatalogQueue, secrets: SecretBox, clock: Clock) -> None:
        self._documents = documents
        self._queue = queue
        self._secrets = secrets
        self._clock = clock

    async def accept(self, scope: TenantScope, shop_domain: str, event: ShopEvent, body: bytes) -> bool:
        """Take an event in, with what follows from it; False when it was here before.

        Raises: VersionConflict after CAS_ATTEMPTS; Unavailable, RateLimited.
        """
        seen = self._seen(scope, shop_domain, event)
        for _ in range(CAS_ATTEMPTS):
            follow_up = await self._follow_up(scope, shop_domain, event, body)
            operations = (*(Create(to_document(row), INBOX_KEPT_S) for row in seen), *follow_up)
            try:
                await self._documents.batch(Container.INBOX, scope, scope.tenant_id, operations)
            except (AlreadyExists, VersionConflict, NotFound):
                if not await self._is_known(scope, seen):
                    continue
                await self._announce(scope, event)
                return False
            await self._announce(scope, event)
            return True
        raise VersionConflict(f"{event.topic.value} of {event.resource_id!r} meets too many others")

    async def open_request(self, scope: TenantScope, request: ComplianceRequest) -> str:
        """Return the signed body of a privacy request. Raises: AuthorityError once the tenant's key is destroyed."""
        return await self._secrets.open(scope, request.sealed_body, place=request.id)

    async def _announce(self, scope: TenantScope, event: ShopEvent) -> None:
        """Say that something waits; for a repeated event too, whose first delivery may have ended right here."""
        if _hint(event) is not None:
            await self._queue.announce(scope)

    async def _follow_up(
        self, scope: TenantScope, shop_domain: str, event: ShopEvent, body: bytes
    ) -> tuple[Operation, ...]:
        hint = _hint(event)
        if hint is not None:
            operation = await self._queue.to_operation(scope, hint)
            return () if operation is None else (operation,)
        if concern_of(event.topic) is Concern.COMPLIANCE:
            return (Create(to_document(await self._request(scope, shop_domain, event, body))),)
        return ()

    async def _request(self, scope: TenantScope, shop_domain: str, event: ShopEvent, body: bytes) -> ComplianceRequest:
        id = "compliance-" + digest(shop_domain, event.topic.value, event.resource_id, event.event_id)[:ID_CHARS]
        now = self._clock.now()
        return ComplianceRequest(
            id=id,
            tenant_id=scope.tenant_id,
            topic=event.topic,
            shop_domain=shop_domain,
            customer_id=event.customer_id,
            sealed_body=await self._secrets.seal(scope, body.decode(), place=id),
            received_at=now,
            due_at=now + COMPLIANCE_TERM,
        )

    def _seen(self, scope: TenantScope, shop_domain: str, event: ShopEvent) -> tuple[_Seen, ...]:
        ids = ["event-" + digest(shop_domain, event.topic.value, event.resource_id, event.event_id)[:ID_CHARS]]
        if event.webhook_id:
            ids.append("delivery-" + digest(shop_domain, event.webhook_id)[:ID_CHARS])
        now = self._clock.now()
        return tuple(
            _Seen(
                id=id,
                tenant_id=scope.tenant_id,
                topic=event.topic,
                resource_id=event.resource_id,
                customer_id=event.customer_id,
                received_at=now,
            )
            for id in ids
        )

    async def _is_known(self, scope: TenantScope, seen: Sequence[_Seen]) -> bool:
        for row in seen:
            if await self._documents.read(Container.INBOX, scope, scope.tenant_id, row.id) is not None:
                return True
        return False


def _hint(event: ShopEvent) -> Hint | None:
    """Return which product the event asks us to look at; None for events that are about none."""
    match concern_of(event.topic):
        case Concern.PRODUCT:
            is_deletion = event.topic is Topic.PRODUCTS_DELETE
            return Hint(Subject.PRODUCT, event.resource_id, event.changed_at, event.event_id, is_deletion)
        case Concern.STOCK:
            item = event.resource_id.partition("-")[0]
            return Hint(Subject.ITEM, item, event.changed_at, event.event_id)
        case _:
            return None
