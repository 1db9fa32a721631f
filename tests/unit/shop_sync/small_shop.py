"""A shop as far as its catalog goes, and what it sends when something changes: hints that may be lost or late."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from shared.domain.catalog import Product, ProductStatus, Variant
from shared.domain.money import Money
from shared.domain.shop_events import Topic
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock

DOMAIN = "hollin.myshopify.com"


async def _nothing(_: str) -> None:
    """Do nothing."""


@dataclass
class SmallShop:
    """CatalogSource over products in memory; every answer takes `latency_s` of the test's time."""

    clock: FixedClock
    latency_s: float = 0.0
    products: dict[str, Product] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Every product or item somebody asked for."""
    listings: int = 0
    trouble: Callable[[str], Exception | None] = lambda _: None
    """What happens instead of an answer, by id."""
    on_ask: Callable[[str], Awaitable[None]] = _nothing
    """Runs when an answer has been made up and is on its way."""
    missing_topics: tuple[Topic, ...] = ()
    """Subscriptions somebody deleted; mending brings them back."""
    is_listing_cut: bool = False
    """The bulk listing leaves half of the products out."""

    async def product(self, scope: TenantScope, product_id: str) -> Product | None:
        """Answer as the shop is now."""
        return await self._answer(product_id, self.products.get(product_id))

    async def product_of_item(self, scope: TenantScope, inventory_item_id: str) -> Product | None:
        """Answer as the shop is now."""
        owners = (
            p for p in self.products.values() if any(v.inventory_item_id == inventory_item_id for v in p.variants)
        )
        return await self._answer(inventory_item_id, next(owners, None))

    async def all_products(self, scope: TenantScope) -> AsyncIterator[Product]:
        """List the shop as it is when the listing begins."""
        self.listings += 1
        listed = list(self.products.values())
        for product in listed[: len(listed) // 2] if self.is_listing_cut else listed:
            if (trouble := self.trouble(f"list:{product.product_id}")) is not None:
                raise trouble
            yield product

    async def mend(self, scope: TenantScope) -> tuple[Topic, ...]:
        """Subscribe anew."""
        found, self.missing_topics = self.missing_topics, ()
        return found

    def put(self, number: int, title: str = "", *, price: int = 1_000, stock: int | None = 5, **more: Any) -> Product:
        """Have the shop sell a product as given from now on, and return it."""
        id = str(number)
        variant = Variant(
            variant_id=f"{id}01",
            sku=f"SKU-{id}",
            price=Money(amount_minor=price, currency="USD"),
            inventory_item_id=f"{id}02",
            available=stock,
        )
        made = Product(
            product_id=id,
            title=title or f"Product {id}",
            body_html=f"<p>What product {id} is.</p>",
            variants=(variant,),
            updated_at=self.clock.now(),
            **{"status": ProductStatus.ACTIVE, **more},
        )
        self.products[id] = made
        return made

    async def _answer(self, id: str, found: Product | None) -> Product | None:
        self.asked.append(id)
        self.clock.at += timedelta(seconds=self.latency_s)
        if (trouble := self.trouble(id)) is not None:
            raise trouble
        await self.on_ask(id)
        return found


def product_payload(product: Product) -> dict[str, Any]:
    """Return what a product webhook says, as far as anybody here reads it; its texts and prices must not matter."""
    return {
        "id": int(product.product_id),
        "admin_graphql_api_id": f"gid://shopify/Product/{product.product_id}",
        "title": "PAYLOAD TITLE NOBODY MAY PUBLISH",
        "body_html": "<p>payload</p>",
        "status": product.status.value,
        "tags": "a, b",
        "updated_at": product.updated_at.isoformat(),
        "variants": [{"id": 1, "price": "9999.99", "inventory_quantity": -5}],
    }


def stock_payload(product: Product, at: datetime) -> dict[str, Any]:
    """Return what a stock webhook says: an item and a location, no product."""
    item = product.variants[0].inventory_item_id
    return {
        "inventory_item_id": int(item),
        "location_id": 655441491,
        "available": 3,
        "updated_at": at.isoformat(),
        "admin_graphql_api_id": f"gid://shopify/InventoryLevel/655441491?inventory_item_id={item}",
    }
