"""The fixed texts of the product, by language, and which text is one of them.

Owns lookup, fallback to English and recognition; states no fact about a shop. Source: CO-05 (canned texts too).
"""

import functools
from enum import StrEnum
from string import Formatter
from typing import Final

from shared.domain.phrases.texts import TEXTS
from shared.domain.typed_values.numbers import base_language

FALLBACK: Final = "en"
"""Language of a canned text where the customer's has none. Source: ours, CO-05."""
LANGUAGES: Final = ("en", "es", "fr", "de", "it", "pt", "nl", "tr")
"""Languages every phrase exists in; tests/unit/agents proves it."""


class Phrase(StrEnum):
    """One fixed text."""

    AI_NOTICE = "ai_notice"
    AI_NOTICE_HANDOFF = "ai_notice_handoff"
    """The notice before a handoff: a person is coming anyway."""
    HANDOFF = "handoff"
    CLARIFY = "clarify"
    ACKNOWLEDGE = "acknowledge"
    GREETING = "greeting"
    THANKS = "thanks"
    GOODBYE = "goodbye"
    OUT_OF_SCOPE = "out_of_scope"
    ORDER_NOT_FOUND = "order_not_found"
    ORDER_NOT_FOUND_PLAIN = "order_not_found_plain"
    VERIFY = "verify"
    SIGN_IN = "sign_in"
    WHICH_ORDER = "which_order"
    """Asked when no order is in sight."""
    WHICH_OF_THESE = "which_of_these"
    """Asked under a list of orders."""
    SEVERAL_ORDERS = "several_orders"
    RECOMMEND = "recommend"


def phrase_language(language: str) -> str:
    """Return the language a canned text will be in: the customer's where we have it, else English."""
    base = base_language(language)
    return base if base in LANGUAGES else FALLBACK


def phrase(key: Phrase, language: str, **values: str) -> str:
    """Return the fixed text in the language, its placeholders filled. Raises: KeyError for a missing placeholder."""
    return TEXTS[key][phrase_language(language)].format(**values)


@functools.lru_cache(maxsize=256)
def canned_texts(shop_name: str) -> frozenset[str]:
    """Return every fixed text that has no placeholder but the shop's name, in all languages."""
    return frozenset(
        text.format(shop=shop_name)
        for by_language in TEXTS.values()
        for text in by_language.values()
        if {name for _, name, _, _ in Formatter().parse(text) if name} <= {"shop"}
    )


def is_canned(text: str, key: Phrase, language: str, **values: str) -> bool:
    """Tell whether the text is exactly this phrase."""
    return text == phrase(key, language, **values)
