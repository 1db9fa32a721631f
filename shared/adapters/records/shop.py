"""The embedded shop: customers, orders and billing events of a demo shop or a test. Implements AccountReader.

Everything of a customer lies in that customer's partition, so a look-up can only ever meet their own: somebody else's
order and no order read the same (faults 046, 069). Not deployed; on Azure the shop's own system answers.
Source: AC-01, AC-02, design §9 "not yours" and "no such order" read the same.
"""

from datetime import datetime
from typing import Final

from pydantic import JsonValue

from shared.adapters.records.codec import from_stored, to_document, to_moment
from shared.adapters.records.shop_rows import BillingRow, OrderRow, ProfileRow, billing_row, order_row, to_order_key
from shared.domain.errors import AlreadyExists, ScopeError, StalenessError, VersionConflict
from shared.domain.ids import CustomerId, OrderId
from shared.domain.sources import BillingEvent, Order, Profile
from shared.ports.documents import Container, CustomerScope, Documents, Query, Where, customer_partition

BILLING_PAGE: Final = 200
"""Most billing events returned. Value ours: ninety days of one customer."""
CAS_ATTEMPTS: Final = 5
"""Times a write is tried against others of the same document. Value ours."""


class ShopRecords:
    """One shop's customers, one partition each."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    async def profile(self, scope: CustomerScope) -> Profile | None:
        """Return the customer's L1 profile, or None when the shop does not know them."""
        stored = await self._documents.read(Container.SHOP, scope, customer_partition(scope), "profile")
        return from_stored(ProfileRow, stored).profile if stored else None

    async def order(self, scope: CustomerScope, order: OrderId) -> Order | None:
        """Return the order if it is this customer's; None for foreign, absent and malformed numbers alike."""
        key = to_order_key(order)
        if key is None:
            return None
        stored = await self._documents.read(Container.SHOP, scope, customer_partition(scope), f"order:{key}")
        return from_stored(OrderRow, stored).order if stored else None

    async def recent_orders(self, scope: CustomerScope, limit: int) -> tuple[Order, ...]:
        """Return the newest orders first; those without a date last."""
        query = Query(
            customer_partition(scope),
            where=(Where("kind", "=", "order"),),
            order_by="placed_at",
            is_descending=True,
            limit=limit,
        )
        page = await self._documents.query(Container.SHOP, scope, query)
        return tuple(from_stored(OrderRow, stored).order for stored in page.items)

    async def billing_events(self, scope: CustomerScope, since: datetime) -> tuple[BillingEvent, ...]:
        """Return charges, refunds and credits since the moment, newest first, at most BILLING_PAGE."""
        query = Query(
            customer_partition(scope),
            where=(Where("kind", "=", "billing"), Where("at", ">=", to_moment(since))),
            order_by="at",
            is_descending=True,
            limit=BILLING_PAGE,
        )
        page = await self._documents.query(Container.SHOP, scope, query)
        return tuple(from_stored(BillingRow, stored).event for stored in page.items)

    async def put_customer(self, scope: CustomerScope, profile: Profile) -> None:
        """Write the customer's profile over the one there was. Raises: ScopeError for another customer's."""
        _check_owner(scope, profile.customer_id)
        await self._put(scope, ProfileRow(tenant_id=scope.tenant_id, customer_id=scope.customer_id, profile=profile))

    async def put_order(self, scope: CustomerScope, order: Order) -> None:
        """Write the order over the one there was. Raises: ScopeError for another customer's, SchemaError unnumbered."""
        _check_owner(scope, order.customer_id)
        await self._put(scope, order_row(scope, order))

    async def put_billing_event(self, scope: CustomerScope, event: BillingEvent) -> None:
        """Write the event over the one of its id."""
        await self._put(scope, billing_row(scope, event))

    async def _put(self, scope: CustomerScope, row: ProfileRow | OrderRow | BillingRow) -> None:
        document: dict[str, JsonValue] = to_document(row)
        partition = customer_partition(scope)
        for _ in range(CAS_ATTEMPTS):
            stored = await self._documents.read(Container.SHOP, scope, partition, row.id)
            try:
                if stored is None:
                    await self._documents.create(Container.SHOP, scope, partition, document)
                else:
                    await self._documents.replace(Container.SHOP, scope, partition, document, etag=stored.etag)
            except (AlreadyExists, VersionConflict):
                continue
            return
        raise StalenessError(f"{row.id!r} changed {CAS_ATTEMPTS} times meanwhile")


def _check_owner(scope: CustomerScope, customer: CustomerId) -> None:
    if customer != scope.customer_id:
        raise ScopeError("the record belongs to another customer")
