"""The shop's catalog over the Admin API. Implements CatalogSource; read-only.

Source: SH-01 (a webhook is a hint, the product is read anew), SH-02, apis.md §1.9, §1.12.
"""

from collections.abc import AsyncIterator
from typing import Final

from shared.adapters.shopify.bulk import BulkQueries, BulkStatus, check_complete
from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.operations import Answer, Connection, Operation, PageInfo
from shared.adapters.shopify.products import PRODUCT_FIELDS, VARIANT_FIELDS, ProductNode, VariantNode, to_product
from shared.adapters.shopify.shops import is_number, to_gid
from shared.adapters.shopify.spool import Row, Spool
from shared.domain.catalog import Product
from shared.domain.errors import IntegrationError, SchemaError
from shared.ports.documents import TenantScope
from shared.wire import decode

VARIANTS: Final = 2000
"""Most variants a query of one product may ask for at once. Source: apis.md §1.9."""
MAX_VARIANT_PAGES: Final = 4
"""Pages of variants read of one product; it has at most 2,048 variants. Source: apis.md §1.8; value ours."""


class _FullProduct(ProductNode):
    variants: Connection[VariantNode]


class _ProductAnswer(Answer):
    product: _FullProduct | None = None


class _ProductId(Answer):
    legacy_resource_id: str


class _VariantOfItem(Answer):
    product: _ProductId


class _ItemNode(Answer):
    variants: Connection[_VariantOfItem] | None = None


class _ItemAnswer(Answer):
    inventory_item: _ItemNode | None = None


PRODUCT: Final = Operation(
    "product",
    f"query Product($id: ID!, $after: String) {{ product(id: $id) {{ {PRODUCT_FIELDS}"
    f" variants(first: {VARIANTS}, after: $after) {{ nodes {{ {VARIANT_FIELDS} }}"
    " pageInfo { hasNextPage endCursor } } } }",
    _ProductAnswer,
    cost=300.0,
)
ITEM: Final = Operation(
    "inventoryItem",
    "query Item($id: ID!) { inventoryItem(id: $id) { variants(first: 1) { nodes { product { legacyResourceId } } } } }",
    _ItemAnswer,
    cost=4.0,
)
ALL: Final = (
    f"{{ products {{ edges {{ node {{ {PRODUCT_FIELDS}"
    f" variants {{ edges {{ node {{ {VARIANT_FIELDS} }} }} }} }} }} }} }}"
)
"""The bulk query: two connections, one inside the other. Source: apis.md §1.12 (≤ 5 connections, nesting ≤ 2)."""


class ShopifyCatalog:
    """The catalogs of all tenants' shops."""

    def __init__(self, client: ShopifyClient, bulk: BulkQueries) -> None:
        self._client = client
        self._bulk = bulk

    async def product(self, scope: TenantScope, product_id: str) -> Product | None:
        """Return the product as it is now, or None when the shop has no such product."""
        if not is_number(product_id):
            return None
        variants: list[VariantNode] = []
        page = PageInfo(has_next_page=True)
        found: _FullProduct | None = None
        for _ in range(MAX_VARIANT_PAGES):
            answer = await self._client.query(
                scope, PRODUCT, {"id": to_gid("Product", product_id), "after": page.end_cursor}
            )
            found = answer.product
            if found is None:
                return None
            variants.extend(found.variants.nodes)
            page = found.variants.page_info
            if not page.has_next_page:
                return to_product(found, variants)
        raise IntegrationError(f"product {product_id} has more variants than a product may have")

    async def product_of_item(self, scope: TenantScope, inventory_item_id: str) -> Product | None:
        """Return the product one of whose variants has that inventory item, or None."""
        if not is_number(inventory_item_id):
            return None
        answer = await self._client.query(scope, ITEM, {"id": to_gid("InventoryItem", inventory_item_id)})
        item = answer.inventory_item
        if item is None or item.variants is None or not item.variants.nodes:
            return None
        return await self.product(scope, item.variants.nodes[0].product.legacy_resource_id)

    async def all_products(self, scope: TenantScope) -> AsyncIterator[Product]:
        """Yield every product of the shop once, in any order, from one bulk query.

        What is not whole is not yielded. Raises: Unavailable, Refused or IntegrationError after the last product, when
        some are missing: nobody may conclude from such a run that a product is gone.
        """
        operation = await self._bulk.run(scope, ALL)
        is_partial = operation.status is not BulkStatus.COMPLETED
        unusable = 0
        with Spool() as spool:
            async for lines in self._bulk.lines(operation):
                spool.add(lines)
            for root, children in spool.families():
                product = _read_family(root, children, is_partial=is_partial)
                if product is None:
                    unusable += 1
                else:
                    yield product
            check_complete(operation, spool.lines)
        if unusable:
            raise IntegrationError(f"{unusable} products of the shop cannot be read")


def _read_family(root: Row, children: list[Row], *, is_partial: bool) -> Product | None:
    """Return the product, or None when it cannot be read or its variants did not all come."""
    try:
        node = decode(ProductNode, root)
        product = to_product(node, [decode(VariantNode, child) for child in children])
    except (SchemaError, IntegrationError):
        return None
    return product if not is_partial or node.is_whole(len(children)) else None
