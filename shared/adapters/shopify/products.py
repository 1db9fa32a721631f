"""Products as the shop answers them, and as our catalog names them. Pure.

The same fields are asked of one product and of all of them, so that both give the same product.
Source: KB-01, SH-01, SH-02, apis.md §1.8, §1.9.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from shared.adapters.shopify.amounts import MoneyNode, to_money
from shared.adapters.shopify.operations import Answer
from shared.domain.catalog import Product, ProductStatus, Variant

DEFAULT_TITLE: Final = "Default Title"
"""What the shop calls the only variant of a product without options. Source: apis.md §1.8; community knowledge."""
PRODUCT_FIELDS: Final = (
    "id legacyResourceId title descriptionHtml vendor productType handle status tags updatedAt variantsCount { count }"
    " priceRangeV2 { minVariantPrice { amount currencyCode } }"
)
"""Fields of a product; the price range is asked for the shop's currency, which a variant's price does not name."""
VARIANT_FIELDS: Final = (
    "id legacyResourceId title sku barcode price compareAtPrice inventoryQuantity"
    " inventoryItem { legacyResourceId tracked }"
)
"""Fields of a variant."""
_STATUS: Final = {
    "ACTIVE": ProductStatus.ACTIVE,
    "ARCHIVED": ProductStatus.ARCHIVED,
}


class _PriceRange(Answer):
    min_variant_price: MoneyNode


class _Count(Answer):
    count: int


class _Item(Answer):
    legacy_resource_id: str
    tracked: bool = False


class VariantNode(Answer):
    """A variant."""

    legacy_resource_id: str
    title: str = ""
    sku: str | None = None
    barcode: str | None = None
    price: str
    compare_at_price: str | None = None
    inventory_quantity: int | None = None
    inventory_item: _Item | None = None


class ProductNode(Answer):
    """A product without its variants."""

    legacy_resource_id: str
    title: str
    description_html: str = ""
    vendor: str = ""
    product_type: str = ""
    handle: str = ""
    status: str
    tags: tuple[str, ...] = ()
    updated_at: datetime
    variants_count: _Count | None = None
    price_range_v2: _PriceRange

    def is_whole(self, variants: int) -> bool:
        """Tell whether that many variants are all it has, as far as the shop says how many there are."""
        return self.variants_count is None or self.variants_count.count == variants


def to_product(node: ProductNode, variants: Iterable[VariantNode]) -> Product:
    """Return the product. A state we do not know is no state customers are told of. Raises: IntegrationError."""
    currency = node.price_range_v2.min_variant_price.currency_code
    return Product(
        product_id=node.legacy_resource_id,
        title=node.title,
        body_html=node.description_html,
        vendor=node.vendor,
        product_type=node.product_type,
        handle=node.handle,
        status=_STATUS.get(node.status, ProductStatus.DRAFT),
        tags=node.tags,
        variants=tuple(_to_variant(variant, currency) for variant in variants),
        updated_at=node.updated_at,
    )


def _to_variant(node: VariantNode, currency: str) -> Variant:
    item = node.inventory_item
    is_tracked = item is not None and item.tracked
    return Variant(
        variant_id=node.legacy_resource_id,
        title="" if node.title == DEFAULT_TITLE else node.title,
        sku=node.sku or "",
        barcode=node.barcode or "",
        price=to_money(node.price, currency),
        compare_at=None if node.compare_at_price is None else to_money(node.compare_at_price, currency),
        inventory_item_id=item.legacy_resource_id if item else "",
        available=node.inventory_quantity if is_tracked else None,
    )
