"""Dates and money as a locale writes them, for sentence frames.

Own small tables instead of a locale library: eight languages, two formats. Source: CO-05; CLDR 45 patterns.
"""

from datetime import date, datetime
from typing import Final

from shared.domain.money import Money, minor_digits
from shared.domain.phrases.catalog import phrase_language
from shared.domain.typed_values.calendar import MONTHS

_NARROW: Final = "\u202f"
_NBSP: Final = "\u00a0"
_SYMBOLS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}
_TR_SYMBOLS: Final = {**_SYMBOLS, "TRY": "₺"}
_EN_SYMBOLS: Final = {**_SYMBOLS, "CAD": "CA$", "AUD": "A$", "NZD": "NZ$"}
_MARKS: Final = {
    "en": (",", "."),
    "fr": (_NARROW, ","),
    **dict.fromkeys(("es", "de", "it", "pt", "nl", "tr"), (".", ",")),
}
"""Language → (group, decimal)."""
_MIN_GROUPING: Final = {"es": 5, "pt": 5}
"""Digits from which groups are written. Source: CLDR minimumGroupingDigits 2 (es, pt-PT)."""


def render_money(money: Money, language: str) -> str:
    """Return the amount as the locale writes it, e.g. "$1,234.56", "1.234,56 €", "1 234,56 €"."""
    base = phrase_language(language)
    sign = "-" if money.amount_minor < 0 else ""
    digits = minor_digits(money.currency)
    whole, cents = divmod(abs(money.amount_minor), 10**digits)
    group, point = _MARKS[base]
    head = f"{whole:,}".replace(",", group) if len(str(whole)) >= _MIN_GROUPING.get(base, 4) else str(whole)
    number = f"{head}{point}{cents:0{digits}}" if digits else head
    if base == "en":
        symbol = _EN_SYMBOLS.get(money.currency)
        return f"{sign}{symbol}{number}" if symbol else f"{sign}{number}{_NBSP}{money.currency}"
    if base == "tr":
        symbol = _TR_SYMBOLS.get(money.currency)
        return f"{sign}{symbol}{number}" if symbol else f"{sign}{money.currency}{_NBSP}{number}"
    symbol = _SYMBOLS.get(money.currency, money.currency)
    if money.currency == "USD":
        symbol = "US$"
    return f"{symbol}{_NBSP}{sign}{number}" if base == "nl" else f"{sign}{number}{_NBSP}{symbol}"


def render_date(day: date | datetime, language: str) -> str:
    """Return the day as the locale writes it, e.g. "March 12, 2026", "12. März 2026", "1er mars 2026"."""
    base = phrase_language(language)
    month = MONTHS[base].split()[day.month - 1]
    match base:
        case "en":
            name = month.capitalize()
            is_american = language.lower() in ("en", "en-us")
            return f"{name} {day.day}, {day.year}" if is_american else f"{day.day} {name} {day.year}"
        case "de":
            return f"{day.day}. {month.capitalize()} {day.year}"
        case "es" | "pt":
            return f"{day.day} de {month} de {day.year}"
        case "fr":
            return f"{'1er' if day.day == 1 else day.day} {month} {day.year}"
        case "tr":
            return f"{day.day} {month.capitalize()} {day.year}"
        case _:
            return f"{day.day} {month} {day.year}"
