"""The demo shops as values: two invented merchants with their articles, customers, orders and policy.

Owns reading the JSON Lines beside this module and turning "days ago" into moments; must never write anything.
Source: design §8 "a demo shop"; the texts are ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Final

from pydantic import Field

from shared.domain.article import ArticleInput
from shared.domain.ids import ArticleId, CustomerId, OrderId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.money import Money, from_decimal
from shared.domain.policy import TenantPolicy
from shared.domain.sources import BillingEvent, Order, OrderLine, Profile, Shipment
from shared.domain.wire_model import Wire

DATA_DIR: Final = Path(__file__).parent
"""Folder with one folder a shop."""
NOON: Final = time(12, tzinfo=UTC)
"""Time of day of expected deliveries. Source: value ours; a shop promises days, not hours."""

_FILES: Final = {
    "products.jsonl": ArticleType.PRODUCT,
    "faqs.jsonl": ArticleType.FAQ,
    "policies.jsonl": ArticleType.POLICY,
}


class DemoCustomer(Wire):
    """A shopper of the demo, with the contacts a shop's own system holds."""

    id: CustomerId
    name: str
    email: str
    phone: str
    address: str
    plan: str = ""
    language: str = "en"
    is_vip: bool = False
    is_churn_risk: bool = False

    def to_profile(self) -> Profile:
        """Return the L1 profile: everything but the contacts."""
        return Profile(
            customer_id=self.id,
            name=self.name,
            plan=self.plan,
            language=self.language,
            is_vip=self.is_vip,
            is_churn_risk=self.is_churn_risk,
        )


class _Line(Wire):
    product: ArticleId
    quantity: int = 1
    variant: str = ""
    unit_price: Decimal | None = None


class _Parcel(Wire):
    carrier: str
    tracking_number: str = ""
    tracking_url: str = ""
    status: str
    expected_in_days: int | None = None
    delivered_days_ago: int | None = None


class _DemoOrder(Wire):
    id: OrderId
    customer: CustomerId
    status: str
    placed_days_ago: int
    lines: tuple[_Line, ...] = Field(min_length=1)
    shipping: Decimal
    payment: str
    refunded: Decimal | None = None
    refunded_days_ago: int | None = None
    shipments: tuple[_Parcel, ...] = ()


@dataclass(frozen=True, slots=True)
class DemoShop:
    """One merchant: everything a tenant is seeded from."""

    tenant_id: TenantId
    name: str
    policy: TenantPolicy
    articles: tuple[ArticleInput, ...]
    customers: tuple[DemoCustomer, ...]
    _orders: tuple[_DemoOrder, ...]

    def orders(self, now: datetime) -> tuple[Order, ...]:
        """Return the orders as the shop's own system would report them at that moment."""
        return tuple(self._order(order, now) for order in self._orders)

    def billing_events(self, now: datetime) -> tuple[tuple[CustomerId, BillingEvent], ...]:
        """Return each customer's charges and refunds; what was never charged has none."""
        return tuple(_billing(self.orders(now), self._orders, now))

    def _order(self, order: _DemoOrder, now: datetime) -> Order:
        currency = self.policy.currency
        products = {article.article_id: article for article in self.articles}
        lines = tuple(
            OrderLine(
                line_id=f"{order.id}-{n}",
                title=products[line.product].title.value,
                sku=products[line.product].attributes["sku"],
                quantity=line.quantity,
                unit_price=from_decimal(line.unit_price or products[line.product].attributes["price"], currency),
                variant=line.variant,
            )
            for n, line in enumerate(order.lines, start=1)
        )
        goods = sum(line.unit_price.amount_minor * line.quantity for line in lines)
        shipping = from_decimal(order.shipping, currency)
        return Order(
            order_id=order.id,
            customer_id=order.customer,
            status=order.status,
            placed_at=now - timedelta(days=order.placed_days_ago, hours=3),
            lines=lines,
            total=Money(amount_minor=goods + shipping.amount_minor, currency=currency),
            refunded=from_decimal(order.refunded, currency) if order.refunded is not None else None,
            shipments=tuple(_shipment(parcel, now) for parcel in order.shipments),
            payment=order.payment,
            as_of=now,
        )


def load_shops() -> tuple[DemoShop, ...]:
    """Return the demo merchants; the first is the one the README talks to."""
    return (
        _load(
            "hollin_rye",
            TenantId("hollin-rye"),
            TenantPolicy(
                shop_name="Hollin & Rye",
                languages=("en", "es"),
                greeting="Hello from Hollin & Rye.",
                sign_off="Warmly, the Hollin & Rye team",
                banned_phrases=("no problem", "unfortunately"),
                phone_regions=("US", "CA", "GB"),
                allowed_url_hosts=("www.ups.com",),
                currency="USD",
                origins=("http://127.0.0.1:7071", "http://localhost:7071"),
                published_contacts=("help@hollinandrye.example", "privacy@hollinandrye.example", "+1 207 555 0142"),
            ),
        ),
        _load(
            "tidewater_paper",
            TenantId("tidewater-paper"),
            TenantPolicy(
                shop_name="Tidewater Paper",
                languages=("en", "de"),
                greeting="Moin from Tidewater Paper.",
                phone_regions=("DE", "US"),
                currency="EUR",
                origins=("http://127.0.0.1:7071", "http://localhost:7071"),
            ),
        ),
    )


def _load(folder: str, tenant: TenantId, policy: TenantPolicy) -> DemoShop:
    return DemoShop(
        tenant_id=tenant,
        name=policy.shop_name,
        policy=policy,
        articles=tuple(_article(row, kind) for name, kind in _FILES.items() for row in _rows(folder, name)),
        customers=tuple(DemoCustomer.model_validate(row) for row in _rows(folder, "customers.jsonl")),
        _orders=tuple(_DemoOrder.model_validate(row) for row in _rows(folder, "orders.jsonl")),
    )


def _article(row: Mapping[str, object], kind: ArticleType) -> ArticleInput:
    fields = {**row, "article_id": row["id"], "type": kind, "language": "en"}
    del fields["id"]
    return ArticleInput.model_validate(fields)


def _rows(folder: str, name: str) -> Iterator[dict[str, object]]:
    for line in (DATA_DIR / folder / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _shipment(parcel: _Parcel, now: datetime) -> Shipment:
    expected, delivered = parcel.expected_in_days, parcel.delivered_days_ago
    return Shipment(
        carrier=parcel.carrier,
        tracking_number=parcel.tracking_number,
        tracking_url=parcel.tracking_url,
        status=parcel.status,
        expected_on=datetime.combine(now.date() + timedelta(days=expected), NOON) if expected is not None else None,
        delivered_at=now - timedelta(days=delivered, hours=1) if delivered is not None else None,
    )


def _billing(
    orders: tuple[Order, ...], rows: tuple[_DemoOrder, ...], now: datetime
) -> Iterator[tuple[CustomerId, BillingEvent]]:
    for order, row in zip(orders, rows, strict=True):
        if order.status in _NEVER_CHARGED:
            continue
        charged_at = order.placed_at or now
        yield order.customer_id, _event(order, "charge", order.total, charged_at)
        if order.refunded is not None and row.refunded_days_ago is not None:
            refunded_at = max(charged_at, now - timedelta(days=row.refunded_days_ago, hours=1))
            yield order.customer_id, _event(order, "refund", order.refunded, refunded_at)


def _event(order: Order, kind: str, amount: Money, at: datetime) -> BillingEvent:
    return BillingEvent(event_id=f"{kind}-{order.order_id}", kind=kind, amount=amount, order_id=order.order_id, at=at)


_NEVER_CHARGED: Final = frozenset({"processing", "awaiting_payment", "on_hold", "delayed"})
"""Order states before the shop charges: it charges when a parcel leaves (see its payment article)."""
