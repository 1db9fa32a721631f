"""A customer's orders, payments and profile over the Admin API. Implements AccountReader; read-only.

Whose an order is, is asked twice: in the search, and of each order that comes back. Somebody else's order, an order
that does not exist and an order whose owner cannot be seen all read as absent.
Source: AC-01, AC-02, faults 046, 069, apis.md §1.9, §1.15.
"""

import asyncio
import re
from datetime import UTC, datetime
from typing import Final

from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.operations import PAGE, Answer, Connection, Operation, Variables
from shared.adapters.shopify.orders import (
    ORDER_FIELDS,
    TRANSACTION_FIELDS,
    OrderNode,
    PaymentsNode,
    to_billing_events,
    to_order,
    to_order_id,
)
from shared.adapters.shopify.shops import is_number, to_gid
from shared.adapters.shopify.store_credit import CREDITS, to_credit_events
from shared.domain.errors import Refused
from shared.domain.ids import CustomerId, OrderId
from shared.domain.sources import BillingEvent, Order, Profile
from shared.ports.documents import CustomerScope, TenantScope

BILLING_PAGE: Final = 200
"""Most billing events returned. Value ours: ninety days of one customer."""
NAMESAKES: Final = 5
"""Orders looked at for one name: prefixes and suffixes can make the shop find more than the one meant. Value ours."""
MAX_RECENT: Final = 10
"""Most recent orders asked for at once. Value ours."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,62}")
"""What an order's name may look like in a search. Source: design §7 (ids); nothing of it has a meaning there."""
_VIP_TAGS: Final = frozenset({"vip"})
_CHURN_TAGS: Final = frozenset({"churn-risk", "churn risk", "at-risk"})


class _OrdersAnswer(Answer):
    orders: Connection[OrderNode]


class _PaymentsAnswer(Answer):
    orders: Connection[PaymentsNode]


class _CustomerNode(Answer):
    legacy_resource_id: str
    first_name: str | None = None
    last_name: str | None = None
    locale: str | None = None
    tags: tuple[str, ...] = ()


class _CustomerAnswer(Answer):
    customer: _CustomerNode | None = None


ORDERS: Final = Operation(
    "orders",
    "query Orders($query: String!, $first: Int!) {"
    " orders(first: $first, query: $query, sortKey: CREATED_AT, reverse: true)"
    f" {{ nodes {{ {ORDER_FIELDS} }} }} }}",
    _OrdersAnswer,
    cost=150.0,
)
PAYMENTS: Final = Operation(
    "payments",
    "query Payments($query: String!, $after: String) {"
    f" orders(first: {PAGE}, after: $after, query: $query, sortKey: UPDATED_AT, reverse: true)"
    f" {{ nodes {{ {TRANSACTION_FIELDS} }} pageInfo {{ hasNextPage endCursor }} }} }}",
    _PaymentsAnswer,
    cost=250.0,
)
CUSTOMER: Final = Operation(
    "customer",
    "query Customer($id: ID!) { customer(id: $id) { legacyResourceId firstName lastName locale tags } }",
    _CustomerAnswer,
    cost=1.0,
)


class ShopifyAccounts:
    """The customers of all tenants' shops. A customer id is a numeric legacyResourceId; any other has no records."""

    def __init__(self, client: ShopifyClient) -> None:
        self._client = client

    async def profile(self, scope: CustomerScope) -> Profile | None:
        """Return the customer's L1 profile, or None when the shop does not know them.

        The name is made of the given names only: the shop's display name may be an e-mail address.
        """
        if not is_number(scope.customer_id):
            return None
        answer = await self._client.query(
            TenantScope(scope.tenant_id), CUSTOMER, {"id": to_gid("Customer", scope.customer_id)}
        )
        found = answer.customer
        if found is None or found.legacy_resource_id != scope.customer_id:
            return None
        tags = {tag.strip().casefold() for tag in found.tags}
        return Profile(
            customer_id=scope.customer_id,
            name=" ".join(filter(None, (found.first_name, found.last_name))),
            language=(found.locale or "").partition("-")[0].lower(),
            is_vip=bool(tags & _VIP_TAGS),
            is_churn_risk=bool(tags & _CHURN_TAGS),
        )

    async def order(self, scope: CustomerScope, order: OrderId) -> Order | None:
        """Return the order if it is this customer's; None for foreign, absent and malformed names alike."""
        node = await self.owned_order(scope, order)
        return None if node is None else to_order(node, scope.customer_id)

    async def owned_order(self, scope: CustomerScope, order: OrderId) -> OrderNode | None:
        """Return the order as the shop names it, if it is this customer's: what a write to it starts from."""
        name = to_order_id(order)
        if not is_number(scope.customer_id) or _NAME.fullmatch(name) is None:
            return None
        search = f'{_of(scope.customer_id)} AND (name:"{name}" OR name:"#{name}")'
        nodes = await self._orders(scope, search, NAMESAKES)
        return next((node for node in nodes if to_order_id(node.name).casefold() == name.casefold()), None)

    async def recent_orders(self, scope: CustomerScope, limit: int) -> tuple[Order, ...]:
        """Return the newest orders first."""
        if not is_number(scope.customer_id) or limit < 1:
            return ()
        nodes = await self._orders(scope, _of(scope.customer_id), min(limit, MAX_RECENT))
        return tuple(to_order(node, scope.customer_id) for node in nodes)

    async def billing_events(self, scope: CustomerScope, since: datetime) -> tuple[BillingEvent, ...]:
        """Return charges, refunds and store credits since the moment, newest first, at most BILLING_PAGE."""
        if not is_number(scope.customer_id):
            return ()
        payments, credits = await asyncio.gather(self._payments(scope, since), self._credits(scope, since))
        events = sorted((*payments, *credits), key=lambda event: event.at, reverse=True)
        return tuple(events[:BILLING_PAGE])

    async def _payments(self, scope: CustomerScope, since: datetime) -> list[BillingEvent]:
        moment = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        variables: Variables = {"query": f'{_of(scope.customer_id)} AND updated_at:>="{moment}"'}
        events: list[BillingEvent] = []
        async for node in self._client.walk(TenantScope(scope.tenant_id), PAYMENTS, variables, lambda a: a.orders):
            if node.is_owned_by(scope.customer_id):
                events.extend(to_billing_events(node, since))
            if len(events) >= BILLING_PAGE:
                break
        return events

    async def _credits(self, scope: CustomerScope, since: datetime) -> list[BillingEvent]:
        try:
            answer = await self._client.query(
                TenantScope(scope.tenant_id), CREDITS, {"id": to_gid("Customer", scope.customer_id)}
            )
        except Refused:
            # Store credit has scopes of its own, which not every shop grants.
            return []
        return list(to_credit_events(answer, since))

    async def _orders(self, scope: CustomerScope, search: str, first: int) -> tuple[OrderNode, ...]:
        answer = await self._client.query(TenantScope(scope.tenant_id), ORDERS, {"query": search, "first": first})
        return tuple(node for node in answer.orders.nodes if node.is_owned_by(scope.customer_id))


def _of(customer: CustomerId) -> str:
    return f"customer_id:{customer}"
