"""What in a question names one thing exactly: an article number, a barcode, a whole title.

Owns what counts as an identifier and which articles hold it; ranking puts them ahead, relevance stays as it is.
Source: KB-06, design §4 "Identifiers first".
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Final

from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.tokens import surface_tokens

IDENTIFIER_ATTRIBUTES: Final = frozenset(
    {"sku", "skus", "barcode", "barcodes", "gtin", "ean", "upc", "isbn", "mpn", "model"}
)
"""Attributes whose values are identifiers by their nature. Source: Shopify product fields, schema.org Product."""
MIN_CODE_CHARS: Final = 4
"""Shortest code recognised inside a sentence: "a4" and "mp3" are words. Unit: letters and digits. Value ours."""
MIN_DIGITS: Final = 5
"""Shortest bare number recognised inside a sentence; shorter ones are years, sizes, prices. Source: value ours."""
RARE_AT_LEAST: Final = 3
"""A token that this few articles hold tells them apart, however small the shop. Unit: articles. Source: value ours."""
RARE_AT_MOST: Final = 20
"""A token more articles hold identifies none of them. Unit: articles. Source: KB-07 (most results of one search)."""

MAX_CODE_TOKENS: Final = 3
"""Longest article number in capitals, as in "OAK POLISH 2". Unit: words. Source: value ours."""

# Amounts, sizes, dates and spans: "30-day", "500ml", "24/7", "2024-01-15".
_QUANTITY = re.compile(r"\d{1,4}(?:[-/]?[a-z]{1,5}|(?:[-/]\d{1,4})*)")
_SEPARATORS = re.compile(r"[,;|\n]")
_MONEY = re.compile(r"[$€£¥₹]\s*+\d+|(?<!\d)\d++\s*+[$€£¥₹]")


def find_identifiers(query: str, declared: Mapping[str, object], index: KeywordIndex) -> tuple[str, ...]:
    """Return the tokens of the question that name something of this index exactly, each once.

    `declared` holds every identifier the articles' own attributes give. "SKU 4521" is read as `sku-4521` where that
    is a term; a token many articles hold identifies nothing and is left out.
    """
    tokens = surface_tokens(_MONEY.sub(" ", query))
    candidates = [t for t in tokens if t in declared or (len(tokens) == 1 and _is_compound(t)) or _is_code(t, tokens)]
    candidates += [f"{a}-{b}" for a, b in itertools.pairwise(tokens) if a.isalpha() and b.isdigit()]
    rare = max(RARE_AT_LEAST, min(RARE_AT_MOST, len(index) // 10))
    return tuple(t for t in dict.fromkeys(candidates) if 0 < index.count(t) <= rare)


def declared_identifiers(attributes: Mapping[str, str]) -> frozenset[str]:
    """Return the identifiers an article's attributes declare; plain words are none, even as a SKU."""
    values = (value for name, value in attributes.items() if name.casefold() in IDENTIFIER_ATTRIBUTES)
    return frozenset(t for value in values for t in surface_tokens(value) if _is_compound(t) or _has_digit(t))


def whole_names(title: str, attributes: Mapping[str, str]) -> frozenset[str]:
    """Return what names the article when it is the whole question: its title, and each of its article numbers."""
    values = (value for name, value in attributes.items() if name.casefold() in IDENTIFIER_ATTRIBUTES)
    names = (title, *(part for value in values for part in _SEPARATORS.split(value)))
    return frozenset(filter(None, map(title_key, names)))


def typed_code(query: str) -> str:
    """Return the question when it may be a code typed as printed ("BENCHNT", "OAK POLISH"), else an empty text."""
    text = query.strip()
    is_code = text.isupper() and len(text) >= MIN_CODE_CHARS and len(text.split()) <= MAX_CODE_TOKENS
    return text if is_code else ""


def title_key(title: str) -> str:
    """Return the form in which a question and a title are compared as a whole."""
    return " ".join(surface_tokens(title))


def holders(identifiers: Iterable[str], index: KeywordIndex) -> frozenset[str]:
    """Return the ids of the articles that hold one of the identifiers as an exact token."""
    return frozenset(id for identifier in identifiers for id in index.holders(identifier))


def _is_code(token: str, tokens: tuple[str, ...]) -> bool:
    if not _has_digit(token):
        return False
    if len(tokens) == 1:
        return True
    if token.isdigit():
        return len(token) >= MIN_DIGITS
    n_chars = sum(c.isalnum() for c in token)
    return n_chars >= MIN_CODE_CHARS and _QUANTITY.fullmatch(token) is None


def _is_compound(token: str) -> bool:
    return any(c in "-_/" for c in token)


def _has_digit(token: str) -> bool:
    return any(c.isdigit() for c in token)
