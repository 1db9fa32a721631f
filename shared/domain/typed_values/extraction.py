"""Find every typed value of a text: total on any input, linear in it, each character in at most one value.

Kinds are tried from the most to the least specific; the first to claim a stretch of text keeps it.
Source: design §5 "Grounding".
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Final

from shared.domain.typed_values import calendar, codes, quantities
from shared.domain.typed_values.folding import Folded, fold
from shared.domain.typed_values.model import TypedValue, ValueKind
from shared.domain.typed_values.numbers import DIGITS, ONE_WORDS, base_language, number_words, plain, read_digits

Found = tuple[int, int, frozenset[str]]

REMEMBERED_TEXTS: Final = 1024
"""Texts whose values are remembered: one review reads the same passages and sentences several times. Value ours."""


@lru_cache(maxsize=REMEMBERED_TEXTS)
def extract_values(text: str, *, language: str, default_currency: str) -> tuple[TypedValue, ...]:
    """Return the text's typed values in order of position.

    `language` decides number words, month names and what "1.234" means; unknown languages keep both readings.
    Sees masked and published text only, so that what it remembers is never raw contact data.
    `default_currency` is what a bare "$" or "kr" stands for. Two values may share a span (both ends of a range).
    """
    folded = fold(text)
    base = base_language(language)
    taken = bytearray(len(folded.text))
    values: list[TypedValue] = []
    for kind, found in _scanners(folded, base, default_currency):
        seen: set[Found] = set()
        ours: set[tuple[int, int]] = set()
        for start, end, readings in found:
            if (start, end, readings) in seen or ((start, end) not in ours and any(taken[start:end])):
                continue
            seen.add((start, end, readings))
            ours.add((start, end))
            taken[start:end] = b"\x01" * (end - start)
            at, until = folded.span(start, end)
            values.append(TypedValue(kind, readings, text[at:until], at, until))
    return tuple(sorted(values, key=lambda v: (v.start, v.end, v.canonical)))


def _scanners(folded: Folded, base: str, currency: str) -> Iterator[tuple[ValueKind, Iterable[Found]]]:
    text = folded.text
    yield ValueKind.EMAIL, codes.find_emails(text)
    yield ValueKind.URL, codes.find_urls(folded)
    yield ValueKind.AMOUNT, quantities.find_amounts(text, base, currency)
    yield ValueKind.DATE, calendar.find_dates(text, base)
    yield ValueKind.PERCENTAGE, quantities.find_percentages(text, base)
    yield ValueKind.DURATION, quantities.find_durations(text, base)
    yield ValueKind.MEASURE, quantities.find_measures(text, base)
    yield ValueKind.TIME, calendar.find_times(text)
    yield ValueKind.PHONE, codes.find_phones(text)
    yield ValueKind.IDENTIFIER, codes.find_identifiers(text)
    yield ValueKind.NUMBER, _find_numbers(text, base)


def _find_numbers(text: str, base: str) -> Iterator[Found]:
    for match in re.finditer(DIGITS, text):
        yield match.start(), match.end(), frozenset(map(plain, read_digits(match.group(), base)))
    for match in re.finditer(r"\d+", text):
        yield match.start(), match.end(), frozenset({match.group().lstrip("0") or "0"})
    words = number_words(base)
    longest = "|".join(sorted((w for w in words if w not in ONE_WORDS), key=len, reverse=True))
    for match in re.finditer(rf"\b(?:{longest})\b", text):
        yield match.start(), match.end(), frozenset({plain(Decimal(words[match.group()]))})
