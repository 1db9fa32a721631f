"""A product's typed attributes as sentences in the customer's language.

Attribute keys read: `price` ("49.67", "46.66-54.84" or "49.67 EUR"), `price_min`/`price_max`, `currency`,
`availability` ("in_stock", "out_of_stock", "in stock, except: M; L", "true", "false", a count) or
`available`/`inventory`; every other key with a list of values ("S | M", "S, M") is an option or a plain attribute.
Source: KB-01, CO-05.
"""

import re
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Final

from shared.domain.errors import SchemaError
from shared.domain.money import Money, from_decimal
from shared.domain.phrases.catalog import phrase_language
from shared.domain.phrases.product_texts import PRODUCT_TEXTS
from shared.domain.phrases.rendering import render_money
from shared.domain.sources import RetrievedArticle

MAX_VALUE_CHARS: Final = 160
"""Longest attribute value shown. Unit: characters. Source: ours."""
_PRICE_KEYS: Final = frozenset({"price", "price_min", "price_max", "currency", "compare_at_price"})
_STOCK_KEYS: Final = frozenset({"availability", "available", "inventory", "stock", "in_stock"})
_EXCEPT: Final = ", except:"
"""Parts "in stock" from the variants that are not."""
_WHOLE_KEYS: Final = frozenset({"vendor", "brand", "type"})
"""Names of one thing, whatever signs they hold."""
_LIST_SIGN: Final = re.compile(r",|\s/\s")
"""Parts values where no bar does; a slash without spaces is part of a value ("Black/Red")."""
_CODE_KEYS: Final = frozenset({"sku", "skus", "barcode", "gtin", "mpn", "ean"})
_HIDDEN_KEYS: Final = frozenset(
    {"id", "product_id", "handle", "url", "image", "vendor_id", "updated_at", "lang", "language", "status", "tags"}
)
_YES: Final = frozenset({"in_stock", "instock", "in stock", "available", "true", "yes", "1"})
_NO: Final = frozenset(
    {"out_of_stock", "outofstock", "out of stock", "sold_out", "sold out", "unavailable", "false", "no", "0"}
)


class ProductFact(StrEnum):
    """One thing a product's attributes can say."""

    PRICE = "price"
    AVAILABILITY = "availability"
    OPTIONS = "options"
    ATTRIBUTE = "attribute"
    CODE = "code"
    """SKU, barcode and the like: only for whoever asks for one."""
    OFFER = "offer"


def product_prices(article: RetrievedArticle, currency: str) -> tuple[Money, Money] | None:
    """Return the lowest and highest price, or None when the attributes give none that can be read exactly."""
    values = article.attributes
    unit = values.get("currency", "").strip().upper() or currency
    low = values.get("price_min") or values.get("price", "")
    high = values.get("price_max") or values.get("price", "")
    numbers = re.findall(r"\d+(?:\.\d+)?", f"{low} {high}")
    try:
        found = sorted(
            (from_decimal(Decimal(n), _code(values.get("price", "")) or unit) for n in numbers),
            key=lambda m: m.amount_minor,
        )
    except (SchemaError, InvalidOperation, ValueError):
        return None
    return (found[0], found[-1]) if found else None


def is_available(article: RetrievedArticle) -> bool | None:
    """Tell whether the product can be bought in any variant; None when the attributes do not say."""
    for key in ("availability", "available", "in_stock", "inventory", "stock"):
        value = article.attributes.get(key, "").partition(_EXCEPT)[0].strip().lower()
        if value in _YES or (value.isdigit() and int(value) > 0):
            return True
        if value in _NO or (value.lstrip("-").isdigit() and int(value) <= 0):
            return False
    return None


def product_sentences(article: RetrievedArticle, language: str, currency: str) -> dict[ProductFact, tuple[str, ...]]:
    """Return every sentence the attributes support, by fact."""
    base = phrase_language(language)
    title = article.title.value
    facts: dict[ProductFact, tuple[str, ...]] = {}
    if prices := product_prices(article, currency):
        low, high = (render_money(m, language) for m in prices)
        kind = "" if low == high else "_range"
        facts[ProductFact.PRICE] = (
            PRODUCT_TEXTS[f"price{kind}"][base].format(title=title, price=low, low=low, high=high),
        )
        facts[ProductFact.OFFER] = (
            PRODUCT_TEXTS[f"offer{kind}"][base].format(title=title, price=low, low=low, high=high),
        )
    if (stock := is_available(article)) is not None:
        gone = article.attributes.get("availability", "").partition(_EXCEPT)[2].strip()
        frame = "available_except" if stock and gone else "available" if stock else "unavailable"
        facts[ProductFact.AVAILABILITY] = (PRODUCT_TEXTS[frame][base].format(title=title, values=gone),)
    options = product_options(article)
    if options:
        listed = "; ".join(f"{name}: {', '.join(values)}" for name, values in options.items())
        facts[ProductFact.OPTIONS] = (PRODUCT_TEXTS["options"][base].format(title=title, values=listed),)
    listed_keys = {key for key, value in article.attributes.items() if _name(key) in options or _is_long_list(value)}
    for fact, keys in ((ProductFact.ATTRIBUTE, _plain_keys(article) - listed_keys), (ProductFact.CODE, _CODE_KEYS)):
        frames = tuple(
            PRODUCT_TEXTS["attribute"][base].format(
                title=title, name=_name(key), values=value.strip()[:MAX_VALUE_CHARS]
            )
            for key, value in article.attributes.items()
            if key in keys and value.strip()
        )
        if frames:
            facts[fact] = frames
    return facts


def product_options(article: RetrievedArticle) -> dict[str, tuple[str, ...]]:
    """Return the attributes that list several values, such as colours and sizes."""
    options: dict[str, tuple[str, ...]] = {}
    for key, value in article.attributes.items():
        if key not in _plain_keys(article) - _WHOLE_KEYS or len(value) > MAX_VALUE_CHARS:
            continue
        parts = tuple(p.strip() for p in (value.split("|") if "|" in value else _LIST_SIGN.split(value)) if p.strip())
        if len(parts) > 1:
            options[_name(key)] = parts
    return options


def _is_long_list(value: str) -> bool:
    """Tell whether the value lists more than a sentence holds: its first half would read as all of it."""
    return "|" in value and len(value) > MAX_VALUE_CHARS


def _plain_keys(article: RetrievedArticle) -> frozenset[str]:
    return frozenset(article.attributes) - _PRICE_KEYS - _STOCK_KEYS - _HIDDEN_KEYS - _CODE_KEYS


def _name(key: str) -> str:
    return key.removeprefix("option:").replace("_", " ").strip()


def _code(price: str) -> str:
    match = re.search(r"\b[A-Z]{3}\b", price)
    return match.group() if match else ""
