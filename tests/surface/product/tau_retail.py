"""A tenant made of the public tau retail data: articles from products and policy, account data from users and orders.

Reads the folder `VOUCH_DATA` names (../shared/data); a test that finds no such folder says "not run". Nothing of the
data is quoted here. Source: issue "Real input"; data README.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from shared.domain.article import ArticleInput
from shared.domain.ids import ArticleId, CustomerId, OrderId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.money import Money, from_decimal
from shared.domain.policy import TenantPolicy
from shared.domain.sources import BillingEvent, Order, OrderLine, Profile, Shipment
from shared.domain.text import PublishedText

CURRENCY: Final = "USD"
PLACED: Final = datetime(2026, 1, 5, 15, 0, tzinfo=UTC)
"""When the orders were placed: the data does not say, and a date of our own can be checked."""


@dataclass(frozen=True, slots=True)
class Shopper:
    """A user of the data, with what must never be shown to anybody else."""

    id: CustomerId
    name: str
    email: str
    street: str
    orders: tuple[OrderId, ...]


@dataclass(frozen=True, slots=True)
class RealShop:
    """The whole tenant as values, and the texts customers send."""

    tenant_id: TenantId
    policy: TenantPolicy
    articles: tuple[ArticleInput, ...]
    shoppers: dict[CustomerId, Shopper]
    orders: dict[OrderId, Order]

    def profiles(self) -> Iterator[Profile]:
        """Yield every shopper's profile."""
        for shopper in self.shoppers.values():
            yield Profile(customer_id=shopper.id, name=shopper.name, language="en")

    def billing_events(self) -> Iterator[tuple[CustomerId, BillingEvent]]:
        """Yield charges and refunds of the orders."""
        for order in self.orders.values():
            at = order.placed_at or PLACED
            for kind, amount in (("charge", order.total), ("refund", order.refunded)):
                if amount is not None:
                    event = f"{kind}-{order.order_id}"
                    yield (
                        order.customer_id,
                        BillingEvent(event_id=event, kind=kind, amount=amount, order_id=order.order_id, at=at),
                    )


def data_dir() -> Path:
    """Return the folder of the public data, or skip the test: what did not run proves nothing."""
    path = Path(os.environ.get("VOUCH_DATA", Path(__file__).parents[4] / "shared" / "data"))
    if not (path / "tau_retail" / "orders.json").exists():
        pytest.skip(f"not run: the public data is not at {path} (VOUCH_DATA); its requirement ids stay unproven")
    return path


def load(path: Path) -> RealShop:
    """Return the tenant."""
    folder = path / "tau_retail"
    users = json.loads((folder / "users.json").read_text(encoding="utf-8"))
    raw_orders = json.loads((folder / "orders.json").read_text(encoding="utf-8"))
    products = json.loads((folder / "products.json").read_text(encoding="utf-8"))
    orders = {order.order_id: order for order in map(_order, raw_orders.values())}
    shoppers = {CustomerId(user["user_id"]): _shopper(user) for user in users.values()}
    return RealShop(
        tenant_id=TenantId("real-shop"),
        policy=TenantPolicy(
            shop_name="Real Shop",
            currency=CURRENCY,
            phone_regions=("US", "IN"),
            rate_per_minute=100_000,
            conversation_rate_per_minute=10_000,
        ),
        articles=(*map(_product, products.values()), *_policies((folder / "policy.md").read_text(encoding="utf-8"))),
        shoppers=shoppers,
        orders=orders,
    )


def texts(path: Path, name: str) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    return [json.loads(line) for line in (path / name).read_text(encoding="utf-8").splitlines() if line]


def _shopper(user: dict[str, Any]) -> Shopper:
    return Shopper(
        id=CustomerId(user["user_id"]),
        name=f"{user['name']['first_name']} {user['name']['last_name']}",
        email=user["email"],
        street=user["address"]["address1"],
        orders=tuple(OrderId(id.lstrip("#")) for id in user["orders"]),
    )


def _order(raw: dict[str, Any]) -> Order:
    paid = next(p for p in raw["payment_history"] if p["transaction_type"] == "payment")
    refunds = [p["amount"] for p in raw["payment_history"] if p["transaction_type"] == "refund"]
    number = int(re.sub(r"\D", "", raw["order_id"]))
    return Order(
        order_id=OrderId(raw["order_id"].lstrip("#")),
        customer_id=CustomerId(raw["user_id"]),
        status=raw["status"],
        placed_at=PLACED + timedelta(days=number % 40),
        lines=tuple(
            OrderLine(
                title=item["name"],
                sku=item["item_id"],
                quantity=1,
                unit_price=_money(item["price"]),
                variant=", ".join(item["options"].values()),
            )
            for item in raw["items"]
        ),
        total=_money(paid["amount"]),
        refunded=_money(sum(refunds)) if refunds else None,
        shipments=tuple(
            Shipment(
                tracking_number=tracking,
                status="delivered" if raw["status"] == "delivered" else "in_transit",
                delivered_at=PLACED + timedelta(days=number % 40 + 5) if raw["status"] == "delivered" else None,
            )
            for parcel in raw["fulfillments"]
            for tracking in parcel["tracking_id"]
        ),
        payment=re.sub(r"_\d+$", "", paid["payment_method_id"]).replace("_", " "),
    )


def _product(raw: dict[str, Any]) -> ArticleInput:
    variants = raw["variants"].values()
    names = sorted({name for variant in variants for name in variant["options"]})
    options = "; ".join(
        f"{name}: {', '.join(sorted({v['options'][name] for v in variants if name in v['options']}))}" for name in names
    )
    lines = [
        f"Item {v['item_id']} ({', '.join(v['options'].values())}) costs ${v['price']:.2f} and is "
        f"{'available' if v['available'] else 'not available'}."
        for v in variants
    ]
    return ArticleInput(
        article_id=ArticleId(raw["product_id"]),
        type=ArticleType.PRODUCT,
        title=PublishedText(raw["name"]),
        content=PublishedText(f"{raw['name']} comes in {len(lines)} variants. {options}. " + " ".join(lines)),
        attributes={"currency": CURRENCY, "product_id": raw["product_id"]},
        language="en",
    )


def _policies(markdown: str) -> Iterator[ArticleInput]:
    """Yield one policy article a heading; a heading without text of its own gives none."""
    parts = re.split(r"^#+ +(.+)$", markdown, flags=re.MULTILINE)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        text = re.sub(r"\*\*|^- ", "", body, flags=re.MULTILINE).strip()
        if text:
            yield ArticleInput(
                article_id=ArticleId("policy-" + re.sub(r"[^a-z]+", "-", title.lower()).strip("-")),
                type=ArticleType.POLICY,
                title=PublishedText(title),
                content=PublishedText(text),
                language="en",
            )


def _money(amount: float) -> Money:
    return from_decimal(f"{amount:.2f}", CURRENCY)
