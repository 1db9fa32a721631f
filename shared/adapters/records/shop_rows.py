"""Rows of the embedded shop: a customer's profile, orders, billing events and what was done to an order for us.

Owns where they lie in the partition `tenant|customer`; decides nothing. Source: AC-01, AX-03.
"""

from datetime import datetime
from typing import Final

from shared.domain.actions import Address, LineRef
from shared.domain.errors import SchemaError
from shared.domain.ids import CustomerId, OrderId, TenantId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import BillingEvent, Order, Profile
from shared.domain.wire_model import Wire
from shared.ports.documents import CustomerScope

MAX_ORDER_CHARS: Final = 64
"""Longest order number looked up. Source: design §7 (ids)."""


class ProfileRow(Wire):
    """A customer's profile."""

    id: str = "profile"
    kind: str = "profile"
    tenant_id: TenantId
    customer_id: CustomerId
    profile: Profile


class OrderRow(Wire):
    """An order."""

    id: str
    """`order:{number}`, the number as `to_order_key` writes it"""
    kind: str = "order"
    tenant_id: TenantId
    customer_id: CustomerId
    placed_at: datetime | None
    order: Order


class BillingRow(Wire):
    """A charge, refund or credit."""

    id: str
    """`billing:{event_id}`"""
    kind: str = "billing"
    tenant_id: TenantId
    customer_id: CustomerId
    at: datetime
    event: BillingEvent


class EffectRow(Wire):
    """What the shop did for one idempotency key; its existence is that it was done."""

    id: str
    """`effect:{action_id}`"""
    kind: str = "effect"
    tenant_id: TenantId
    customer_id: CustomerId
    action_id: str
    order_key: str
    order_id: OrderId
    type: ActionType
    reference: str
    amount: Money | None = None
    lines: tuple[LineRef, ...] = ()
    """Lines it used up; empty where only money moved."""
    address: Address | None = None
    at: datetime


def order_row(scope: CustomerScope, order: Order) -> OrderRow:
    """Return the order's row. Raises: SchemaError without a number a customer can name."""
    key = to_order_key(order.order_id)
    if key is None:
        raise SchemaError("an order needs a number a customer can name")
    return OrderRow(
        id=f"order:{key}",
        tenant_id=scope.tenant_id,
        customer_id=scope.customer_id,
        placed_at=order.placed_at,
        order=order,
    )


def billing_row(scope: CustomerScope, event: BillingEvent) -> BillingRow:
    """Return the event's row."""
    return BillingRow(
        id=f"billing:{event.event_id}",
        tenant_id=scope.tenant_id,
        customer_id=scope.customer_id,
        at=event.at,
        event=event,
    )


def to_order_key(order: str) -> str | None:
    """Return how an order number is filed: without `#`, blanks and case; None for what no order is called."""
    key = order.strip().lstrip("#").strip().casefold()
    is_nameable = 0 < len(key) <= MAX_ORDER_CHARS and key.isprintable() and not set(key) & set("/\\?#")
    return key if is_nameable else None
