"""Orders as the shop answers them, and as the product tells of them. Pure.

Amounts are those the customer saw. What the app may not see is absent, never guessed; an order whose customer cannot be
seen belongs to nobody here. Source: AC-01, fault 069, apis.md §1.9, §1.15.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from shared.adapters.shopify.amounts import MoneyBagNode, to_seen_money
from shared.adapters.shopify.operations import Answer, Connection
from shared.adapters.shopify.shops import from_gid
from shared.domain.ids import CustomerId, OrderId
from shared.domain.sources import BillingEvent, Order, OrderLine, Shipment

MAX_LINES: Final = 50
"""Lines read of one order. Source: apis.md §1.9 (sketch); value ours."""
MAX_PARCELS: Final = 10
"""Parcels read of one order. Source: apis.md §1.9 (sketch); value ours."""
MAX_TRANSACTIONS: Final = 30
"""Transactions read of one order. Value ours."""
MONEY_FIELDS: Final = "{ presentmentMoney { amount currencyCode } }"
ORDER_FIELDS: Final = (
    "id name createdAt updatedAt cancelledAt displayFinancialStatus displayFulfillmentStatus returnStatus"
    " paymentGatewayNames customer { legacyResourceId }"
    f" totalPriceSet {MONEY_FIELDS} totalRefundedSet {MONEY_FIELDS}"
    f" lineItems(first: {MAX_LINES}) {{ nodes {{ id title sku quantity refundableQuantity variantTitle"
    f" discountedUnitPriceSet {MONEY_FIELDS} }} }}"
    f" fulfillments(first: {MAX_PARCELS}) {{ status displayStatus estimatedDeliveryAt deliveredAt inTransitAt"
    " trackingInfo(first: 1) { company number url }"
    " events(first: 1, sortKey: HAPPENED_AT, reverse: true) { nodes { status happenedAt } } }"
)
"""Fields of an order."""
TRANSACTION_FIELDS: Final = (
    "name customer { legacyResourceId }"
    f" transactions(first: {MAX_TRANSACTIONS}) {{ id kind status createdAt processedAt amountSet {MONEY_FIELDS} }}"
)
"""Fields of an order's money."""

_CHARGES: Final = frozenset({"SALE", "CAPTURE"})
_ON_ITS_WAY: Final = {
    "ATTEMPTED_DELIVERY": "out_for_delivery",
    "DELAYED": "delayed",
    "FAILURE": "not_delivered",
    "NOT_DELIVERED": "not_delivered",
    "OUT_FOR_DELIVERY": "out_for_delivery",
    "READY_FOR_PICKUP": "ready_for_pickup",
}
"""What a parcel's state makes of its order's, where it is more than "shipped"."""
_NOT_SENT: Final = frozenset({"LABEL_PRINTED", "LABEL_PURCHASED", "SUBMITTED", "CONFIRMED"})
"""States of a parcel that is still with the shop. Source: shopify.dev FulfillmentDisplayStatus, 2026-10."""
_ARRIVED: Final = frozenset({"DELIVERED", "PICKED_UP"})
_OPEN: Final = frozenset({"UNFULFILLED", "OPEN", "SCHEDULED"})
_GATEWAYS: Final = {
    "shopify_payments": "card",
    "paypal": "PayPal",
    "gift_card": "gift card",
    "manual": "manual payment",
}
"""What customers call a gateway; others are named as the shop names them."""


class _Owner(Answer):
    legacy_resource_id: str


class _Owned(Answer):
    name: str
    customer: _Owner | None = None

    def is_owned_by(self, customer: CustomerId) -> bool:
        """Tell whether the shop says that it is this customer's."""
        return self.customer is not None and self.customer.legacy_resource_id == customer


class _LineNode(Answer):
    id: str
    title: str
    sku: str | None = None
    quantity: int
    refundable_quantity: int | None = None
    variant_title: str | None = None
    discounted_unit_price_set: MoneyBagNode


class _TrackingNode(Answer):
    company: str | None = None
    number: str | None = None
    url: str | None = None


class _EventNode(Answer):
    status: str
    happened_at: datetime


class _ParcelNode(Answer):
    status: str
    display_status: str | None = None
    estimated_delivery_at: datetime | None = None
    delivered_at: datetime | None = None
    in_transit_at: datetime | None = None
    tracking_info: tuple[_TrackingNode, ...] = ()
    events: Connection[_EventNode] | None = None


class OrderNode(_Owned):
    """An order."""

    id: str
    created_at: datetime
    updated_at: datetime
    cancelled_at: datetime | None = None
    display_financial_status: str | None = None
    display_fulfillment_status: str = ""
    return_status: str = ""
    payment_gateway_names: tuple[str, ...] = ()
    total_price_set: MoneyBagNode
    total_refunded_set: MoneyBagNode
    line_items: Connection[_LineNode]
    fulfillments: tuple[_ParcelNode, ...] = ()


class _TransactionNode(Answer):
    id: str
    kind: str
    status: str
    created_at: datetime
    processed_at: datetime | None = None
    amount_set: MoneyBagNode


class PaymentsNode(_Owned):
    """An order's transactions."""

    transactions: tuple[_TransactionNode, ...] = ()


def to_order_id(name: str) -> OrderId:
    """Return an order's name as customers write it."""
    return OrderId(name.strip().lstrip("#").strip())


def to_order(node: OrderNode, customer: CustomerId) -> Order:
    """Return the order. Raises: IntegrationError for an amount that is none."""
    refunded = to_seen_money(node.total_refunded_set)
    return Order(
        order_id=to_order_id(node.name),
        customer_id=customer,
        status=_status(node),
        placed_at=node.created_at,
        lines=tuple(_to_line(line) for line in node.line_items.nodes if line.quantity > 0),
        total=to_seen_money(node.total_price_set),
        refunded=refunded if refunded.amount_minor else None,
        shipments=tuple(_to_shipment(parcel) for parcel in _sent(node)),
        payment=", ".join(_GATEWAYS.get(name, name.replace("_", " ")) for name in node.payment_gateway_names),
        as_of=node.updated_at,
    )


def to_billing_events(node: PaymentsNode, since: datetime) -> Iterable[BillingEvent]:
    """Yield the order's charges and refunds since the moment: money that moved. Raises: IntegrationError."""
    for transaction in node.transactions:
        at = transaction.processed_at or transaction.created_at
        kind = "charge" if transaction.kind in _CHARGES else "refund" if transaction.kind == "REFUND" else ""
        if kind and transaction.status == "SUCCESS" and at >= since:
            yield BillingEvent(
                event_id=from_gid(transaction.id),
                kind=kind,
                amount=to_seen_money(transaction.amount_set),
                order_id=to_order_id(node.name),
                at=at,
            )


def _sent(node: OrderNode) -> list[_ParcelNode]:
    return [parcel for parcel in node.fulfillments if parcel.status not in ("CANCELLED", "ERROR", "FAILURE")]


def _status(node: OrderNode) -> str:
    """Return the state in our words: how it ended first, then where its parcels are, then what the shop is doing."""
    if node.cancelled_at is not None:
        return "cancelled"
    if node.display_financial_status == "REFUNDED":
        return "refunded"
    match node.return_status:
        case "RETURN_REQUESTED" | "IN_PROGRESS":
            return "return_requested"
        case "RETURNED" | "INSPECTION_COMPLETE":
            return "returned"
    return _delivery_status(node, [_parcel_status(parcel) for parcel in _sent(node)])


def _delivery_status(node: OrderNode, parcels: list[str]) -> str:
    is_all = node.display_fulfillment_status == "FULFILLED"
    on_its_way = [status for status in parcels if status not in ("delivered", "label_created")]
    if is_all and parcels and all(status == "delivered" for status in parcels):
        return "delivered"
    if on_its_way:
        return max(on_its_way, key=_telling) if is_all else "partially_shipped"
    if "delivered" in parcels:
        return "partially_delivered"
    match node.display_fulfillment_status:
        case "ON_HOLD":
            return "on_hold"
        case "RESTOCKED":
            return "returned"
    if node.display_financial_status == "PENDING" and node.display_fulfillment_status in _OPEN:
        return "awaiting_payment"
    if is_all and not parcels:
        return "shipped"
    return "open" if node.display_fulfillment_status in _OPEN and not parcels else "processing"


def _telling(status: str) -> int:
    """Order the states of several parcels by how much the customer needs to know of them."""
    return ("shipped", "out_for_delivery", "ready_for_pickup", "delayed", "not_delivered").index(status)


def _parcel_status(parcel: _ParcelNode) -> str:
    display = parcel.display_status or ""
    if parcel.delivered_at is not None or display in _ARRIVED:
        return "delivered"
    if display in _NOT_SENT:
        return "label_created"
    return _ON_ITS_WAY.get(display, "shipped")


def _to_line(node: _LineNode) -> OrderLine:
    return OrderLine(
        line_id=from_gid(node.id),
        title=node.title,
        sku=node.sku or "",
        quantity=node.quantity,
        unit_price=to_seen_money(node.discounted_unit_price_set),
        variant=node.variant_title or "",
        refundable_quantity=node.refundable_quantity,
    )


def _to_shipment(parcel: _ParcelNode) -> Shipment:
    tracking = parcel.tracking_info[0] if parcel.tracking_info else _TrackingNode()
    event = parcel.events.nodes[0] if parcel.events and parcel.events.nodes else None
    return Shipment(
        carrier=tracking.company or "",
        tracking_number=tracking.number or "",
        tracking_url=tracking.url or "",
        status=(parcel.display_status or (event.status if event else "")).lower(),
        last_scan_at=event.happened_at if event else parcel.delivered_at or parcel.in_transit_at,
        expected_on=parcel.estimated_delivery_at,
        delivered_at=parcel.delivered_at,
    )
