"""Reading the shop's catalog, one product or all of them. Holding it gives no way to change the shop.

Source: SH-01 (re-fetch, webhooks are hints), SH-02 (first sync and repair by bulk query).
"""

from collections.abc import AsyncIterator
from typing import Protocol

from shared.domain.catalog import Product
from shared.ports.documents import TenantScope


class CatalogSource(Protocol):
    """The shop's own system. Raises (every method): Unavailable, RateLimited, IntegrationError."""

    async def product(self, scope: TenantScope, product_id: str) -> Product | None:
        """Return the product as it is now, or None when the shop has no such product."""
        ...

    async def product_of_item(self, scope: TenantScope, inventory_item_id: str) -> Product | None:
        """Return the product one of whose variants has that inventory item, or None."""
        ...

    def all_products(self, scope: TenantScope) -> AsyncIterator[Product]:
        """Yield every product of the shop once, in any order, from one bulk query."""
        ...
