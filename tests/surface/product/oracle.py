"""Two independent judges of a reply: which of its values no evidence supports, and whose data it shows.

The first uses the product's own value reader; the second is a set of plain expressions that share no code with the
product and would catch a reader that looks away. Source: design §5 "Grounding", §9; issue "Real input".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from shared.domain.sources import Order
from shared.domain.typed_values import ValueKind, extract_values, unsupported

CHECKED: Final = frozenset(
    {
        ValueKind.AMOUNT,
        ValueKind.DATE,
        ValueKind.DURATION,
        ValueKind.PERCENTAGE,
        ValueKind.IDENTIFIER,
        ValueKind.URL,
        ValueKind.EMAIL,
    }
)
"""Kinds that must be vouched for. Source: design §5."""

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_UNITS: Final = r"minutes?|hours?|(?:working |business |calendar )?days?|weeks?|months?|years?"
_SPELT: Final = {
    w: n for n, w in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=1)
}
_SPELT_WORDS: Final = "|".join(_SPELT)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What may vouch for a reply: published texts, own records, policy, the customer's words; all as plain text."""

    texts: tuple[str, ...]
    moments: tuple[datetime, ...] = ()
    currency: str = "USD"
    language: str = "en"


def order_evidence(orders: Iterable[Order]) -> tuple[tuple[str, ...], tuple[datetime, ...]]:
    """Return every value of the records as text, and their moments."""
    texts: list[str] = []
    moments: list[datetime] = []
    for order in orders:
        amounts = [order.total, order.refunded, *(line.unit_price for line in order.lines)]
        texts += [f"{m.to_decimal()} {m.currency}" for m in amounts if m is not None]
        texts += [f"order {order.order_id}", order.status, order.payment]
        for line in order.lines:
            texts += [f"{line.quantity} × {line.title}", line.sku, line.variant]
        for parcel in order.shipments:
            texts += [parcel.carrier, parcel.tracking_number, parcel.tracking_url, parcel.status]
            moments += [m for m in (parcel.expected_on, parcel.delivered_at) if m is not None]
        moments += [m for m in (order.placed_at, order.as_of) if m is not None]
    return tuple(texts), tuple(moments)


def unsupported_by_reader(reply: str, evidence: Evidence) -> list[str]:
    """Return the reply's typed values that no evidence supports, by the product's own reader."""
    claims = [v for v in _read(reply, evidence) if v.kind in CHECKED]
    days = " · ".join(f"{m:%Y-%m-%d}" for m in evidence.moments)
    sources = [value for text in (*evidence.texts, days) for value in _read(text, evidence)]
    return [value.text for value in unsupported(claims, sources)]


def unsupported_by_expressions(reply: str, evidence: Evidence) -> list[str]:
    """Return the reply's values that no evidence holds, by expressions of our own."""
    known: set[tuple[str, str]] = set()
    for text in evidence.texts:
        known |= set(_values(text))
    for moment in evidence.moments:
        known |= {("date", f"{moment:%Y-%m-%d}"), ("date", f"{moment:--%m-%d}")}
    return [f"{kind} {value}" for kind, value in _values(reply) if (kind, value) not in known]


def _read(text: str, evidence: Evidence):  # type: ignore[no-untyped-def]
    return extract_values(text, language=evidence.language, default_currency=evidence.currency)


def _values(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    rest = text
    for kind, pattern in (
        ("email", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
        ("url", r"(?:https?://|www\.)[^\s)\]>,;]+[^\s)\]>,;.!?]"),
    ):
        for match in re.finditer(pattern, rest, re.IGNORECASE):
            found.append((kind, re.sub(r"^https?://", "", match.group().lower()).rstrip("/")))
        rest = re.sub(pattern, " ", rest, flags=re.IGNORECASE)
    found += _dates(rest)
    rest = re.sub(r"\d{4}-\d{2}-\d{2}", " ", rest)
    number = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
    for match in re.finditer(rf"(?:[$€£]|\b(?:USD|EUR|GBP)\s)\s?({number})", rest):
        found.append(("money", _plain(match[1])))
    for match in re.finditer(rf"({number})\s?(?:€|£|USD|EUR|GBP|dollars?\b|euros?\b|pounds?\b)", rest):
        found.append(("money", _plain(match[1])))
    for match in re.finditer(rf"({number})\s?(?:%|per ?cent\b)", rest):
        found.append(("percent", _plain(match[1])))
    low = rest.lower()
    lengths = rf"(?:(\d+|{_SPELT_WORDS})\s?(?:-|–|to|or|and)\s?)?(\d+|{_SPELT_WORDS})[\s-]?({_UNITS})\b"
    for match in re.finditer(lengths, low):
        unit = match[3].split()[-1].rstrip("s")
        for amount in (match[1], match[2]):
            if amount is not None:
                found.append(("length", f"{_SPELT.get(amount, amount)} {unit}"))
    for match in re.finditer(r"\b[A-Za-z]{0,3}\d{6,}[A-Za-z0-9]*\b", rest):
        found.append(("number", match.group().upper()))
    return found


def _dates(text: str) -> list[tuple[str, str]]:
    found = []
    for match in re.finditer(r"\b(\d{4})-(\d{2})-(\d{2})\b", text):
        found.append(("date", match.group()))
    for match in re.finditer(
        rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s)?\b{_MONTH}(?:\s(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b)?"
        rf"(?:,?\s(?P<year>\d{{4}}))?",
        text,
        re.IGNORECASE,
    ):
        day = match["before"] or match["after"]
        if day is None:
            continue
        month = _MONTHS.index(match["month"].lower()) + 1
        year = match["year"]
        found.append(("date", f"{date(int(year), month, int(day))}" if year else f"--{month:02}-{int(day):02}"))
    return found


def _plain(number: str) -> str:
    return f"{Decimal(number.replace(',', '')).normalize():f}"
