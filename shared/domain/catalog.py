"""The shop's catalog as its own system reports it: products with their variants, before any article is made of them.

Owns the shape only; what a customer may be told of it is decided by the mapping to articles. Everything in it is
untrusted text. Source: KB-01, SH-01, SH-02, apis.md §1.8, §1.9.
"""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from shared.domain.ids import ArticleId
from shared.domain.money import Money
from shared.domain.wire_model import Wire


class ProductStatus(StrEnum):
    """Whether the shop sells the product."""

    ACTIVE = "active"
    DRAFT = "draft"
    ARCHIVED = "archived"


class Variant(Wire):
    """One thing that can be bought."""

    variant_id: str
    """Numeric legacyResourceId."""
    title: str = ""
    """Options in one line ("Blue / M"); empty for a product without options."""
    sku: str = ""
    barcode: str = ""
    price: Money
    compare_at: Money | None = None
    """The price it is marked down from."""
    inventory_item_id: str = ""
    """What `inventory_levels/update` names instead of the variant."""
    available: int | None = None
    """Units for sale over all locations; None when the shop does not track them."""


class Product(Wire):
    """One product with all its variants, at the moment the shop last changed it."""

    product_id: str
    """Numeric legacyResourceId."""
    title: str
    body_html: str = ""
    vendor: str = ""
    product_type: str = ""
    handle: str = ""
    status: ProductStatus = ProductStatus.ACTIVE
    tags: tuple[str, ...] = ()
    option_names: tuple[str, ...] = ()
    """What the parts of a variant's title are ("Colour", "Size"), in their order; empty when nobody said."""
    variants: tuple[Variant, ...] = Field(default=())
    updated_at: datetime
    """By the shop's clock; decides which of two reports is newer (fault 065)."""


def product_article_id(product_id: str) -> ArticleId:
    """Return the one article id of a product, so that create and update in a race make one article (fault 064)."""
    return ArticleId(f"product-{product_id}")
