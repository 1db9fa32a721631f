"""What a message names: orders, articles by SKU, accounts, and masked contacts, exactly as typed.

Owns recognition by shape and context only; whether an order exists or is the customer's own is for the account
context agent. Pure. Source: CL-03, design §9 "Identifiers in a message are checked for ownership".
"""

import re
import unicodedata
from typing import Final

from shared.domain.deltas import Entities
from shared.domain.ids import OrderId, is_id
from shared.domain.text import MaskedText

MAX_EACH: Final = 10
"""Most entities of one kind read from one message: a flood of numbers is not a question. Value ours."""
LOOK_BACK_CHARS: Final = 64
"""How far before a number the word that names it is looked for. Unit: characters. Value ours."""

_CONTACT = re.compile(r"\[(?:email|phone)[:_-][^\]\s]{1,80}\]", re.IGNORECASE)
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
_URL = re.compile(r"https?://\S+|www\.\S+")
_UNITS = (
    "usd|eur|gbp|inr|rs|rupees|dollars?|euros?|pounds?|ml|g|kg|cm|mm|inch(?:es)?|ft|days?|weeks?|months?|years?|hours?"
)
_NOT_IDS = re.compile(
    r"[$€£₹¥]\s?\d[\d.,]*|[$€£₹¥]|\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b|\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}:\d{2}\b"
    rf"|\b\d[\d.,]{{0,24}}+\s?(?:%|{_UNITS}|times?|am|pm|x)(?!\w)",
    re.IGNORECASE,
)
_REF = r"#?\s?([A-Za-z]{0,4}-?\d[A-Za-z0-9]*(?:[-/.][A-Za-z0-9]+)*)"
_ACCOUNT = re.compile(
    r"\b(?:account|acct|customer|client|membership|member)\s*+(?:id|no|nr|num|number|#)\s*+[.:#]*+\s*+(?:is\s++)?#?"
    r"([A-Za-z0-9][A-Za-z0-9._-]{1,62}\d[A-Za-z0-9._-]*|\d{2,})",
    re.IGNORECASE,
)
_ORDER_WORD = (
    r"(?:orders?|ordr|oder|purchase|pedidos?|commandes?|bestellung(?:en)?|bestelling|encomendas?|ordin[ei]|po|auftrag"
    r"|bestellnummer)"
)
_ORDER = re.compile(
    rf"\b{_ORDER_WORD}\s*+(?:is\s++|was\s++)?"
    r"(?:id|ids|no|nr|num|nos|number|ref|reference|n[°º]|número|numéro|nummer)?"
    rf"\s*+[.:#=-]*+\s*+(?:is\s++)?{_REF}",
    re.IGNORECASE,
)
_HASHED = re.compile(r"(?<![\w&])#\s?([A-Za-z]{0,4}-?\d[A-Za-z0-9]*(?:[-/.][A-Za-z0-9]+)*)")
_NUMBERED = re.compile(
    r"\b(?:no|nr|n[°º]|num|number|ref)\s*+[.:#]*+\s*+([A-Za-z]{0,4}\d{3,}[A-Za-z0-9]*)", re.IGNORECASE
)
_ALSO = re.compile(rf"\s*+(?:,|and|&|or|y|et|und|e|en|plus)\s++{_REF}", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w./-])(?:[A-Z]{1,3}\d{5,}|\d{4,15})(?![\w/-]|[.,]\d)")
_SKU_WORD = re.compile(
    r"\b(?:sku|item|article|art|product|model|part)\s*+(?:no|nr|number|code|id|#)?\s*+[.:#]*+\s*+([A-Za-z0-9]*\d[A-Za-z0-9]*(?:[-/][A-Za-z0-9]+)*)\b",
    re.IGNORECASE,
)
_SKU = re.compile(
    r"(?<![\w#/-])(?=[A-Za-z0-9/-]*[A-Za-z])(?=[A-Za-z0-9/-]*\d)[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)+(?![\w/-])"
)
_ALONE = re.compile(r"[A-Za-z]{0,4}-?\d{3,15}[.!]?")
_ORDER_CONTEXT = re.compile(
    rf"\b(?:{_ORDER_WORD}|sipari[sş]\w*|where(?:'?s)?|track(?:ing)?|status|ship(?:ped|ping)?|arriv\w+|deliver\w*|parcel|package|cancel\w*|refund\w*|return\w*|"
    r"dónde|où|wo|cadê|onde|dov|waar|paquete|colis|paket|pakket|pacco|kahan|kab)\b",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"\b(?:pin\s?code|pincode|pin|zip|post\s?code|postal|phone|mobile|call|whatsapp|contact|card|ending|otp|code"
    r"|tracking\s+(?:number|no|id)|awb|invoice|iban|year|since|in)\s*+(?:is|no|number|code)?\s*+[.:#]*+\s*+$",
    re.IGNORECASE,
)
_ENDS_WITH_ORDER_WORD = re.compile(rf"\b{_ORDER_WORD}\s*+(?:id|no|nr|number)?\s*+[.:#]*+\s*+$", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")


def extract_entities(text: MaskedText, *, answers_which_order: bool = False) -> Entities:
    """Return what the message names, each once, in order of appearance, a leading `#` stripped from orders.

    `answers_which_order`: it follows our question, so a number that stands alone is the order.

    A number is an order only by its `#`, a word beside it, or a message that talks about an order; money, sizes, dates,
    postcodes and contact tokens are none.
    """
    written = _ascii_digits(text.value)
    if answers_which_order and _ALONE.fullmatch(written.strip()):
        written = f"order {written}"
    contacts = tuple(match[0] for match in _CONTACT.finditer(written))
    body = _blank(_blank(_blank(written, _CONTACT), _UUID), _URL)
    accounts, body = _take(body, _ACCOUNT)
    skus, rest = _take_skus(body)
    orders = _orders(rest)
    return Entities(
        order_refs=tuple(OrderId(ref) for ref in _once(orders)),
        skus=_once(skus),
        account_ids=_once(accounts),
        contact_tokens=_once(contacts),
    )


def _ascii_digits(text: str) -> str:
    """Write every decimal digit (full-width, Arabic-Indic, Devanagari …) as 0–9; keeps the length."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def _orders(body: str) -> list[str]:
    found: dict[int, str] = {}
    body = _NOT_IDS.sub(lambda m: m[0] if _is_after_order_word(body, m.start()) else " " * len(m[0]), body)
    for match in _ORDER.finditer(body):
        found[match.start(1)] = match[1]
        end = match.end()
        while (more := _ALSO.match(body, end)) is not None:
            found[more.start(1)] = more[1]
            end = more.end()
    for pattern in (_HASHED, _NUMBERED):
        for match in pattern.finditer(body):
            if pattern is _HASHED or not _is_introduced(_OTHER_NUMBER, body, match.start()):
                found.setdefault(match.start(1), match[1])
    if _ORDER_CONTEXT.search(body):
        for match in _BARE.finditer(body):
            if not _is_introduced(_OTHER_NUMBER, body, match.start()) and not _YEAR.fullmatch(match[0]):
                found.setdefault(match.start(), match[0])
    return [found[start].rstrip(".-/") for start in sorted(found)]


def _is_after_order_word(body: str, start: int) -> bool:
    return _is_introduced(_ENDS_WITH_ORDER_WORD, body, start)


def _is_introduced(words: re.Pattern[str], body: str, start: int) -> bool:
    """Tell whether the words stand right before `start`; looks back a bounded way, so that many numbers stay linear."""
    return words.search(body, max(0, start - LOOK_BACK_CHARS), start) is not None


def _take_skus(body: str) -> tuple[list[str], str]:
    """Return SKU-shaped tokens and the body without them; what follows an order word or `#` stays an order."""
    found: dict[int, str] = {}
    for pattern, group in ((_SKU_WORD, 1), (_SKU, 0)):
        for match in pattern.finditer(body):
            start = match.start(group)
            token = match[group]
            if _is_after_order_word(body, start) or _NOT_IDS.fullmatch(token) or len(token) > 64:
                continue
            found.setdefault(start, token)
    for start, token in found.items():
        body = body[:start] + " " * len(token) + body[start + len(token) :]
    return [found[start] for start in sorted(found)], body


def _take(body: str, pattern: re.Pattern[str]) -> tuple[list[str], str]:
    return [match[1].rstrip(".") for match in pattern.finditer(body)], _blank(body, pattern)


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text with each match replaced by as many spaces, so that positions stay."""
    return pattern.sub(lambda match: " " * len(match[0]), text)


def _once(values: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if len(value) > 1 or is_id(value)))[:MAX_EACH]
