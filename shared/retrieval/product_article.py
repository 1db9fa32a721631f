"""One catalog product as one article: its description as plain text, its variants folded into typed attributes.

Owns which facts of a product a customer may be told, under the attribute names that replies and search read
(shared/domain/phrases/products.py, shared/retrieval/identifiers.py). Pure: fetches and stores nothing.
Source: KB-01, SH-01, faults 064, 065.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shared.domain.article import (
    MAX_ATTRIBUTE_CHARS,
    MAX_CONTENT_CHARS,
    MAX_TAG_CHARS,
    MAX_TAGS,
    MAX_TITLE_CHARS,
    ArticleInput,
)
from shared.domain.catalog import Product, ProductStatus, Variant, product_article_id
from shared.domain.intents import ArticleType
from shared.domain.money import Money, minor_digits
from shared.domain.text import PublishedText
from shared.retrieval.html_text import plain_line, read_html

MAX_SPOKEN_CHARS: Final = 150
"""Longest list a reply could say whole; a longer one is left out, because its first half would mislead.
Unit: characters. Value ours: MAX_VALUE_CHARS of the product sentences, less the words before it."""
MAX_OPTION_CHARS: Final = 100
"""Longest name of an option or variant. Unit: characters. Value ours."""

_DEFAULT_VARIANT: Final = "default title"
"""What Shopify calls the one variant of a product without options."""
_RESERVED: Final = frozenset({
    "price", "price_min", "price_max", "currency", "compare_at_price", "availability", "available", "inventory",
    "stock", "in_stock", "sku", "skus", "barcode", "barcodes", "gtin", "mpn", "ean", "upc", "isbn", "model", "vendor",
    "type", "handle", "variants", "variant_prices",
})  # fmt: skip
"""Attribute names an option must not take: "Model" or "Type" as an option is written "option:Model"."""


@dataclass(frozen=True, slots=True)
class ProductArticle:
    """The article of a product, and what did not make it into it."""

    article: ArticleInput
    cut: tuple[str, ...] = ()
    """What was shortened or left out to keep within the article's limits, in words."""
    hidden: str = ""
    """Words the description holds but does not show; for screening only."""


def to_article(product: Product, *, language: str = "") -> ProductArticle | None:
    """Return the product's article; None for a draft or an archived product, which must not be published.

    A product that was published and gives None now is to be deleted by the caller (`product_article_id`).
    """
    if product.status is not ProductStatus.ACTIVE:
        return None
    cut: list[str] = []
    page = read_html(product.body_html)
    title = plain_line(product.title) or plain_line(product.handle) or product.product_id
    tags = list(dict.fromkeys(filter(None, map(plain_line, product.tags))))
    short_tags = [tag for tag in tags if len(tag) <= MAX_TAG_CHARS][:MAX_TAGS]
    if page.is_cut or len(page.text) > MAX_CONTENT_CHARS:
        cut.append("the end of the description")
    if len(title) > MAX_TITLE_CHARS:
        cut.append("the end of the title")
    if len(short_tags) < len(tags):
        cut.append(f"{len(tags) - len(short_tags)} tags")
    article = ArticleInput(
        article_id=product_article_id(product.product_id),
        type=ArticleType.PRODUCT,
        title=PublishedText(title[:MAX_TITLE_CHARS]),
        content=PublishedText(page.text[:MAX_CONTENT_CHARS]),
        tags=tuple(short_tags),
        attributes=_attributes(product, cut),
        language=language,
    )
    return ProductArticle(article, tuple(cut), page.hidden)


def _attributes(product: Product, cut: list[str]) -> dict[str, str]:
    """Return the typed facts, those a reply needs most first: search hands on only what fits its budget."""
    variants = product.variants
    facts = _prices(variants, cut)
    facts["availability"] = _availability(variants, cut)
    facts |= _options(product, cut)
    facts["vendor"] = plain_line(product.vendor)
    facts["type"] = plain_line(product.product_type)
    facts["variant_prices"] = _variant_prices(variants)
    facts["handle"] = plain_line(product.handle)
    facts["sku"] = _codes("SKUs", (variant.sku for variant in variants), cut)
    facts["barcode"] = _codes("barcodes", (variant.barcode for variant in variants), cut)
    return {name: value[:MAX_ATTRIBUTE_CHARS] for name, value in facts.items() if value}


def _prices(variants: tuple[Variant, ...], cut: list[str]) -> dict[str, str]:
    """Return price and currency, and the price before a markdown; nothing when variants disagree on the currency."""
    currencies = {variant.price.currency for variant in variants}
    if len(currencies) != 1:
        if currencies:
            cut.append("the price: it is given in several currencies")
        return {}
    currency = currencies.pop()
    before = [v.compare_at for v in variants if v.compare_at and v.compare_at.currency == currency]
    # A markdown of some variants only would read as one of all.
    is_reduced = len(before) == len(variants) and all(
        v.compare_at and v.compare_at.amount_minor > v.price.amount_minor for v in variants
    )
    return {
        "price": _range([variant.price for variant in variants]),
        "currency": currency,
        "compare_at_price": _range(before) if is_reduced else "",
    }


def _range(amounts: list[Money]) -> str:
    low, high = min(amounts, key=_minor), max(amounts, key=_minor)
    return _amount(low) if low == high else f"{_amount(low)}-{_amount(high)}"


def _minor(money: Money) -> int:
    return money.amount_minor


def _amount(money: Money) -> str:
    return f"{money.to_decimal():.{minor_digits(money.currency)}f}"


def _availability(variants: tuple[Variant, ...], cut: list[str]) -> str:
    """Return `in stock`, `out of stock`, `in stock, except: …` or `unknown`.

    Untracked stock is unknown, and so is any mix that a reply could not tell whole.
    """
    if not variants or any(variant.available is None for variant in variants):
        return "unknown"
    gone = [variant for variant in variants if (variant.available or 0) <= 0]
    if not gone:
        return "in stock"
    if len(gone) == len(variants):
        return "out of stock"
    names = [_variant_name(variant) for variant in gone]
    listed = "; ".join(names)
    if not all(names) or len(listed) > MAX_SPOKEN_CHARS:
        cut.append("the availability: it differs between more variants than a reply could name")
        return "unknown"
    return f"in stock, except: {listed}"


def _options(product: Product, cut: list[str]) -> dict[str, str]:
    """Return each option with its values, or all variants' names where the options have none."""
    titles = [variant.title for variant in product.variants if not _is_default(variant)]
    parts = [title.split(" / ") for title in titles]
    names = [plain_line(name)[:MAX_OPTION_CHARS] for name in product.option_names]
    if names and all(names) and all(len(part) == len(names) for part in parts):
        options = {_option_key(name): [_value(p[i]) for p in parts] for i, name in enumerate(names)}
    else:
        options = {"variants": [_variant_name(v) for v in product.variants if not _is_default(v)]}
    kept: dict[str, str] = {}
    for key, values in options.items():
        listed = " | ".join(dict.fromkeys(filter(None, values)))
        if len(listed) <= MAX_ATTRIBUTE_CHARS:
            kept[key] = listed
        else:
            cut.append(f"the values of option {key!r}")
    return kept


def _option_key(name: str) -> str:
    return f"option:{name}" if name.casefold().replace(" ", "_") in _RESERVED else name


def _variant_prices(variants: tuple[Variant, ...]) -> str:
    """Return each variant's price where they differ and a reply can say them all."""
    if len({variant.price for variant in variants}) < 2 or not all(_variant_name(v) for v in variants):
        return ""
    listed = "; ".join(f"{_variant_name(variant)}: {variant.price}" for variant in variants)
    return listed if len(listed) <= MAX_SPOKEN_CHARS else ""


def _codes(kind: str, codes: Iterable[str], cut: list[str]) -> str:
    """Return the codes in one line, whole ones only."""
    found = list(dict.fromkeys(filter(None, map(plain_line, codes))))
    kept: list[str] = []
    room = MAX_ATTRIBUTE_CHARS
    for code in found:
        room -= len(code) + len(", ")
        if room < 0:
            break
        kept.append(code)
    if len(kept) < len(found):
        cut.append(f"{len(found) - len(kept)} {kind}")
    return ", ".join(kept)


def _is_default(variant: Variant) -> bool:
    return variant.title.strip().casefold() in ("", _DEFAULT_VARIANT)


def _variant_name(variant: Variant) -> str:
    """Return the variant's options in words; empty for the only variant of a product without options."""
    return "" if _is_default(variant) else _value(variant.title.replace(" / ", " · "))


def _value(text: str) -> str:
    """Return an option's value without the signs that part values in a list."""
    for sign in (",", "|", ";"):
        text = text.replace(sign, " · ")
    return plain_line(text)[:MAX_OPTION_CHARS].strip(" ·")
