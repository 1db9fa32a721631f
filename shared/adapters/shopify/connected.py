"""Which system holds a tenant's customers: its Shopify shop once one was connected, the embedded shop until then.

A tenant that had a shop and lost it gets errors, not emptiness: "no such order" would be untrue.
Source: AC-01, design §8 (each switch alone).
"""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.installations import InstallationRecords
from shared.domain.ids import OrderId, TenantId
from shared.domain.sources import BillingEvent, Order, Profile
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.readers import AccountReader

REMEMBERED_S: Final = 60
"""Seconds until a tenant that connects its first shop is read from it. Value ours."""
REMEMBERED_TENANTS: Final = 2048
"""Most tenants remembered. Value ours: three times the design load of 680 tenants (SC-01)."""


class ConnectedAccounts:
    """Implements AccountReader by asking the one that has the tenant's customers."""

    def __init__(
        self, installations: InstallationRecords, *, shopify: AccountReader, embedded: AccountReader, clock: Clock
    ) -> None:
        self._installations = installations
        self._shopify = shopify
        self._embedded = embedded
        self._clock = clock
        self._unconnected: OrderedDict[TenantId, datetime] = OrderedDict()
        self._connected: set[TenantId] = set()

    async def profile(self, scope: CustomerScope) -> Profile | None:
        """Return the customer's L1 profile, or None when the shop does not know them."""
        return await (await self._reader(scope)).profile(scope)

    async def order(self, scope: CustomerScope, order: OrderId) -> Order | None:
        """Return the order if it is this customer's; None for foreign and absent orders alike."""
        return await (await self._reader(scope)).order(scope, order)

    async def recent_orders(self, scope: CustomerScope, limit: int) -> tuple[Order, ...]:
        """Return the newest orders first."""
        return await (await self._reader(scope)).recent_orders(scope, limit)

    async def billing_events(self, scope: CustomerScope, since: datetime) -> tuple[BillingEvent, ...]:
        """Return charges, refunds and credits since the moment, newest first."""
        return await (await self._reader(scope)).billing_events(scope, since)

    async def _reader(self, scope: CustomerScope) -> AccountReader:
        tenant, now = scope.tenant_id, self._clock.now()
        if tenant in self._connected:
            return self._shopify
        if tenant in self._unconnected and now < self._unconnected[tenant]:
            return self._embedded
        # A shop once connected stays the tenant's system for good, so only its absence may change.
        if await self._installations.get(TenantScope(tenant)) is not None:
            self._connected.add(tenant)
            return self._shopify
        self._unconnected[tenant] = now + timedelta(seconds=REMEMBERED_S)
        self._unconnected.move_to_end(tenant)
        if len(self._unconnected) > REMEMBERED_TENANTS:
            self._unconnected.popitem(last=False)
        return self._embedded
