"""Dates and clock times as people write them, read to ISO forms.

Canonical forms: `2026-03-12`, `--03-12` (no year), `2026-03` (no day), `wd:4` (weekday, Monday is 1), `rel:+1`
(tomorrow), and `14:30` for times. Source: design §5.
"""

import functools
import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from shared.domain.typed_values.folding import fold_word
from shared.domain.typed_values.numbers import base_language

MONTHS: Final = {
    "en": "january february march april may june july august september october november december",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
}
"""Full month names in order, by language."""
_SHORT_MONTHS: Final = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "de": "jan feb mär apr mai jun jul aug sep okt nov dez",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "nl": "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "tr": "oca şub mar nis may haz tem ağu eyl eki kas ara",
}
_MORE_MONTHS: Final = {"sept": 9, "janner": 1, "setiembre": 9}
WEEKDAYS: Final = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "pt": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "nl": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "tr": "pazartesi salı çarşamba perşembe cuma cumartesi pazar",
}
"""Weekday names from Monday, by language."""
_RELATIVE: Final = {
    "en": {"tomorrow": 1, "yesterday": -1},
    "es": {"mañana": 1, "ayer": -1},
    "fr": {"demain": 1, "hier": -1},
    "de": {"morgen": 1, "gestern": -1},
    "it": {"domani": 1, "ieri": -1},
    "pt": {"amanhã": 1, "ontem": -1},
    "nl": {"morgen": 1, "gisteren": -1},
    "tr": {"yarın": 1, "dün": -1},
}

Found = tuple[int, int, frozenset[str]]
"""Folded start, folded end, readings."""


def find_dates(text: str, language: str) -> Iterator[Found]:
    """Yield the dates of a folded text; two for a range such as "12–14 March"."""
    base = base_language(language)
    yield from _find_iso(text)
    yield from _find_textual(text, base)
    yield from _find_numeric(text, base)
    named = _named_days(base)
    for match in re.finditer(r"\b[a-z]{4,9}(?:-feira)?\b", text):
        word = match.group()
        if (reading := named.get(word) or named.get(word.removesuffix("s"))) is not None:
            yield match.start(), match.end(), frozenset({reading})


def find_times(text: str) -> Iterator[Found]:
    """Yield the clock times of a folded text."""
    for match in _TIME.finditer(text):
        hour = int(match["h1"] or match["h2"] or match["h3"])
        minute = int(match["m1"] or match["m3"] or 0)
        half = (match["half1"] or match["half2"] or "").replace(".", "").replace(" ", "")
        if half:
            hour = hour % 12 + (12 if half == "pm" else 0)
        if hour < 25 and minute < 60:
            yield match.start(), match.end(), frozenset({f"{hour:02}:{minute:02}"})


_HALF = r"(?:a\.? ?m\b\.?|p\.? ?m\b\.?)"
_TIME: Final = re.compile(
    rf"(?<![\d.,:])(?:(?P<h1>\d{{1,2}})(?::|h)(?P<m1>\d{{2}})(?![\d:])(?:\s?(?P<half1>{_HALF}))?"
    rf"|(?P<h2>\d{{1,2}})\s?(?P<half2>{_HALF})"
    r"|(?P<h3>\d{1,2})(?:[:.](?P<m3>\d{2}))?\s?uhr\b)"
)
_ISO: Final = re.compile(
    r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)"
    r"(?:t\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:z|[+-]\d{2}:?\d{2})?)?"
)
_NUMERIC: Final = re.compile(r"(?<![\d.,/-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)(?![/.-]\d)")
_NUMERIC_NO_YEAR: Final = re.compile(r"(?<![\d.,/-])(?:(\d{1,2})/(\d{1,2})(?![\d/])|(\d{1,2})\.(\d{1,2})\.(?!\d))")


def _find_iso(text: str) -> Iterator[Found]:
    for match in _ISO.finditer(text):
        if reading := _iso(match[1], match[3], match[4]):
            yield match.start(), match.end(), frozenset({reading})


def _find_numeric(text: str, base: str) -> Iterator[Found]:
    for match in _NUMERIC.finditer(text):
        year = match[4] if len(match[4]) == 4 else f"20{match[4]}"
        orders = [(match[3], match[1])]
        if base not in MONTHS or (base == "en" and match[2] != "."):
            orders.append((match[1], match[3]))
        if readings := frozenset(filter(None, (_iso(year, m, d) for m, d in orders))):
            yield match.start(), match.end(), readings
    for match in _NUMERIC_NO_YEAR.finditer(text):
        first, second = (match[1], match[2]) if match[1] else (match[3], match[4])
        orders = [(second, first)] if base in MONTHS and base != "en" else [(second, first), (first, second)]
        days = (_iso("2024", m, d) for m, d in orders)
        if match.group() != "24/7" and (readings := frozenset(f"--{d[5:]}" for d in days if d)):
            yield match.start(), match.end(), readings


@functools.cache
def _month_table(base: str) -> dict[str, int]:
    table = dict(_MORE_MONTHS)
    for language in ("en", base) if base in MONTHS else tuple(MONTHS):
        for names in (_SHORT_MONTHS[language], MONTHS[language]):
            table |= {fold_word(name): number for number, name in enumerate(names.split(), start=1)}
    return table


@functools.cache
def _named_days(base: str) -> dict[str, str]:
    table: dict[str, str] = {}
    for language in ("en", base) if base in MONTHS else tuple(MONTHS):
        table |= {fold_word(n): f"wd:{i}" for i, n in enumerate(WEEKDAYS[language].split(), start=1)}
        table |= {fold_word(n): f"rel:{offset:+}" for n, offset in _RELATIVE[language].items()}
    return table


@functools.cache
def _textual(base: str) -> re.Pattern[str]:
    month = "|".join(sorted(_month_table(base), key=len, reverse=True))
    of = r"(?:of|de|del|d'|di|van)"
    to = r"(?:-|to|until|bis|a|al|au|tot|ate|ila|and|et|y|e|und|en)"
    suffix = r"(?:st|nd|rd|th|er|º|ª|o|\.)?"
    year = rf"(?:,?\s{{0,2}}(?:{of}\s)?(?P<%s>\d{{4}})(?!\d))?"
    first_day = rf"(?:(?P<lo>\d{{1,2}}){suffix}\s?{to}\s?)?"
    day_month = (
        rf"(?<![\d.,]){first_day}(?P<d1>\d{{1,2}}){suffix}[\s-]{{0,2}}(?:{of}\s?)?(?P<m1>{month})\b\.?{year % 'y1'}"
    )
    last_day = rf"(?:\s?{to}\s?(?P<hi>\d{{1,2}})(?:st|nd|rd|th)?)?(?![\d:.,]\d|\d)"
    month_day = rf"\b(?P<m2>{month})\.?\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?{last_day}{year % 'y2'}"
    month_year = rf"\b(?P<m3>{month})\.?,?\s(?:{of}\s)?(?P<y3>\d{{4}})(?!\d)"
    return re.compile(f"{day_month}|{month_day}|{month_year}")


def _find_textual(text: str, base: str) -> Iterator[Found]:
    table = _month_table(base)
    for match in _textual(base).finditer(text):
        if match["m3"]:
            yield match.start(), match.end(), frozenset({f"{match['y3']}-{table[match['m3']]:02}"})
            continue
        month = table[match["m1"] or match["m2"]]
        year = match["y1"] or match["y2"]
        for day in filter(None, (match["lo"], match["d1"], match["d2"], match["hi"])):
            if reading := _iso(year or "2024", str(month), day):
                yield match.start(), match.end(), frozenset({reading if year else f"--{reading[5:]}"})


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
