"""A Shopify product export as catalog products: rows of one handle are one product, each row a variant or an image.

Owns the columns of both generations of the export (`Handle`, `Body (HTML)`, … and `URL handle`, `Description`, …).
Source: KB-01, Shopify "Using CSV files to import and export products".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from shared.domain.catalog import Product, ProductStatus, Variant, product_article_id
from shared.domain.errors import SchemaError
from shared.domain.ids import ArticleId, digest, is_id
from shared.domain.money import Money, from_decimal
from shared.retrieval.html_text import plain_line
from shared.retrieval.import_records import Record, Table
from shared.retrieval.product_article import ProductArticle, to_article

_COLUMNS: Final = {
    "handle": ("handle", "url handle"),
    "title": ("title",),
    "body": ("body (html)", "body html", "body", "description"),
    "vendor": ("vendor",),
    "type": ("type",),
    "tags": ("tags",),
    "published": ("published", "published on online store"),
    "status": ("status",),
    "sku": ("variant sku", "sku"),
    "barcode": ("variant barcode", "barcode"),
    "price": ("variant price", "price"),
    "compare_at": ("variant compare at price", "compare-at price"),
    "tracker": ("variant inventory tracker", "inventory tracker"),
    "quantity": ("variant inventory qty", "inventory quantity"),
    "when_gone": ("variant inventory policy", "continue selling when out of stock"),
    "option1_name": ("option1 name",),
    "option1": ("option1 value",),
    "option2_name": ("option2 name",),
    "option2": ("option2 value",),
    "option3_name": ("option3 name",),
    "option3": ("option3 value",),
}
"""What we read of a row → the names of its column."""
_NEEDED: Final = frozenset({"handle", "title", "price"})
_AMOUNT: Final = re.compile(r"\d{1,12}(?:\.\d{1,4})?")
_QUANTITY: Final = re.compile(r"-?\d{1,9}")
_KEPT_DIGEST: Final = 32
"""Hex characters of the id made of a handle that is none. Value ours."""
_NO_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""An export does not say when a product changed."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A product that is not for sale: nothing of it may answer."""

    line: int
    article_id: ArticleId
    status: str


def is_shopify(header: Sequence[str]) -> bool:
    """Tell whether the header is that of a product export."""
    return set(_positions(header)) >= _NEEDED and "option1" in _positions(header)


def read_products(table: Table, currency: str) -> Iterator[tuple[int, ProductArticle] | Withdrawn | Record]:
    """Yield each product's article with its first line; a Record is one that cannot be read, with its error."""
    positions = _positions(table.header.cells)
    for rows in product_rows(table):
        if rows[0].error:
            yield rows[0]
        else:
            yield from _from_rows([_Row(record, positions) for record in rows], currency)


def product_rows(table: Table) -> Iterator[list[Record]]:
    """Yield the rows of each product together; a row that cannot be read comes alone, before the product around it."""
    at = _positions(table.header.cells)["handle"]
    rows: list[Record] = []
    for record in table.rows:
        if record.error:
            yield [record]
            continue
        if rows and record.cells[at].strip() != rows[0].cells[at].strip():
            yield rows
            rows = []
        rows.append(record)
    if rows:
        yield rows


def _positions(header: Sequence[str]) -> dict[str, int]:
    names = [plain_line(cell).lower() for cell in header]
    return {ours: names.index(name) for ours, known in _COLUMNS.items() for name in known[::-1] if name in names}


@dataclass(frozen=True, slots=True)
class _Row:
    record: Record
    positions: dict[str, int] = field(repr=False)

    def cell(self, name: str) -> str:
        return self.record.cells[self.positions[name]].strip() if name in self.positions else ""

    @property
    def is_variant(self) -> bool:
        """Tell a variant from a row that only brings another image."""
        return bool(self.cell("price") or self.cell("option1") or self.cell("sku"))


def _from_rows(rows: list[_Row], currency: str) -> Iterator[tuple[int, ProductArticle] | Withdrawn | Record]:
    first, handle = rows[0], rows[0].cell("handle")
    if not handle or not first.cell("title"):
        reason = "has no handle" if not handle else "has no title: the rows of one product must stand together"
        yield _wrong(first.record, reason)
        return
    variants: list[Variant] = []
    for row in rows:
        if not row.is_variant:
            continue
        try:
            variants.append(_variant(row, currency))
        except (SchemaError, ValueError):
            yield _wrong(row.record, "the variant's price or quantity is no number we can read")
    names = [first.cell(f"option{n}_name") for n in (1, 2, 3)]
    product = Product(
        product_id=handle if is_id(product_article_id(handle)) else digest(handle)[:_KEPT_DIGEST],
        title=first.cell("title"),
        body_html=first.cell("body"),
        vendor=first.cell("vendor"),
        product_type=first.cell("type"),
        handle=handle,
        status=_status(first),
        tags=tuple(first.cell("tags").split(",")),
        option_names=tuple(name for name in names if name),
        variants=tuple(variants),
        updated_at=_NO_TIME,
    )
    made = to_article(product)
    if made is None:
        yield Withdrawn(first.record.line, product_article_id(product.product_id), product.status.value)
    else:
        yield first.record.line, made


def _wrong(record: Record, reason: str) -> Record:
    return Record(record.line, record.text, error=reason)


def _status(row: _Row) -> ProductStatus:
    """Return the status; what is not published to the shop's own pages is a draft to us."""
    said = row.cell("status").lower()
    if said in (ProductStatus.DRAFT, ProductStatus.ARCHIVED):
        return ProductStatus(said)
    if said not in ("", ProductStatus.ACTIVE) or row.cell("published").lower() == "false":
        return ProductStatus.DRAFT
    return ProductStatus.ACTIVE


def _variant(row: _Row, currency: str) -> Variant:
    return Variant(
        variant_id=str(row.record.line),
        title=" / ".join(value for n in (1, 2, 3) if (value := row.cell(f"option{n}"))),
        sku=row.cell("sku").lstrip("'"),
        barcode=row.cell("barcode").lstrip("'"),
        price=_money(row.cell("price"), currency),
        compare_at=_money(before, currency) if (before := row.cell("compare_at")) else None,
        available=_available(row),
    )


def _money(text: str, currency: str) -> Money:
    if _AMOUNT.fullmatch(text) is None:
        raise ValueError("not an amount")
    return from_decimal(text, currency)


def _available(row: _Row) -> int | None:
    """Return the units for sale; None when nobody counts them, or when the shop sells on without any."""
    quantity = row.cell("quantity")
    if not row.cell("tracker") or not quantity:
        return None
    if _QUANTITY.fullmatch(quantity) is None:
        raise ValueError("not a quantity")
    sells_on = row.cell("when_gone").lower() in ("continue", "true")
    return None if sells_on and int(quantity) <= 0 else int(quantity)
