"""Amounts, percentages, durations and measures: a number beside a unit, in eight languages.

Canonical forms: `1234.56 EUR`, `20`, `30 d`, `3..5 bd`, `24 mo`, `1500 g`. A range equals only the same range.
Source: design §5.
"""

import functools
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from shared.domain.money import minor_digits
from shared.domain.typed_values.numbers import DIGITS, ONE_WORDS, SPACED_DIGITS, number_words, plain, read_digits

Found = tuple[int, int, frozenset[str]]
"""Folded start, folded end, readings."""

_TO: Final = r"\s?(?:-|to|bis|a|tot|ate|and|und|et|y|e|en|or|ou|oder|of|o|au|ila)\s?"
_DOLLARS: Final = frozenset({"USD", "CAD", "AUD", "NZD", "HKD", "SGD", "MXN"})
_CROWNS: Final = frozenset({"SEK", "NOK", "DKK", "ISK"})
_SYMBOLS: Final = {
    "us$": "USD", "ca$": "CAD", "c$": "CAD", "au$": "AUD", "a$": "AUD", "nz$": "NZD", "hk$": "HKD", "s$": "SGD",
    "r$": "BRL", "mx$": "MXN", "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH",
    "zl": "PLN", "kc": "CZK", "chf": "CHF", "fr.": "CHF",
}  # fmt: skip
_CODES: Final = (
    "usd eur gbp cad aud nzd jpy cny chf sek nok dkk isk pln czk huf ron bgn try inr brl mxn zar krw sgd hkd twd thb"
    " idr myr php vnd ils aed sar kwd bhd omr qar egp rub uah clp cop pen ars"
)
_CURRENCY_WORDS: Final = {
    "euros": "EUR", "euro": "EUR", "pounds": "GBP", "pound": "GBP", "quid": "GBP", "pfund": "GBP", "libras": "GBP",
    "yen": "JPY", "francs": "CHF", "franken": "CHF", "reais": "BRL", "rupees": "INR", "zloty": "PLN",
}  # fmt: skip
_OWN_CURRENCY_WORDS: Final = {"tr": {"tl": "TRY", "lira": "TRY", "lirasi": "TRY"}}
"""Words that are money in one language only: "2 TL" of sugar is a German teaspoon."""
_DOLLAR_WORDS: Final = frozenset({"dollars", "dollar", "bucks", "dolares", "dolar", "dollari", "dollaro"})
_CENT_WORDS: Final = frozenset({"cents", "cent", "centimes", "centimos", "centesimi", "pence"})
_SCALES: Final = {"k": 1_000, "thousand": 1_000, "tausend": 1_000, "mille": 1_000, "mil": 1_000, "million": 1_000_000}


def find_amounts(text: str, language: str, default_currency: str) -> Iterator[Found]:
    """Yield amounts of money; both ends of a range are amounts of their own."""
    pattern = _amount_pattern(language)
    for match in pattern.finditer(text):
        mark = match["post"] or match["tail"] or match["pre"]
        scale = Decimal(_SCALES.get((match["scale1"] or match["scale2"] or "").strip(), 1))
        if mark in _CENT_WORDS:
            scale = Decimal(1).scaleb(-minor_digits(default_currency))
        currencies = _currencies(mark, default_currency, language)
        for number in filter(None, (match["lo1"], match["n1"], match["lo2"], match["n2"])):
            readings = _amount_readings(number, language, currencies, scale)
            if readings:
                yield match.start(), match.end(), readings


def find_percentages(text: str, language: str) -> Iterator[Found]:
    """Yield percentages; a range is one value."""
    for match in _percent_pattern(language).finditer(text):
        low, high = match["lo"] or match["after_lo"], match["n"] or match["after"]
        yield match.start(), match.end(), _range(low, high, language, Decimal(1), "")


def find_durations(text: str, language: str) -> Iterator[Found]:
    """Yield durations; weeks are days, years are months, business days stay apart."""
    for match in _duration_pattern(language).finditer(text):
        word = match["unit"]
        factor, unit = _duration_units(language)[word]
        if unit == "s" and factor == _DAY and (match["biz"] or match["after"]):
            factor, unit = 1, "bd"
        yield match.start(), match.end(), _range(match["lo"], match["n"] or "1", language, Decimal(factor), f" {unit}")


def find_measures(text: str, language: str) -> Iterator[Found]:
    """Yield sizes, weights, volumes and the like in base units, and garment sizes such as XL."""
    for match in _measure_pattern(language).finditer(text):
        factor, unit = _MEASURE_UNITS[match["unit"]]
        yield match.start(), match.end(), _range(match["lo"], match["n"], language, Decimal(factor), f" {unit}")
    for match in _GARMENT.finditer(text):
        yield match.start(), match.end(), frozenset({_garment(match.group())})


_DAY: Final = 86_400
_WEEK: Final = 7 * _DAY
_UNIT_WORDS: Final = (
    (1, "s", "s sec secs second seconds seconde secondes segundo segundos sekunde sekunden secondo secondi seconden"),
    (60, "s", "min mins minute minutes minuto minutos minuten minuti minuut"),
    (3_600, "s", "h hr hrs hour hours heure heures hora horas stunde stunden std ora ore uur uren"),
    (_DAY, "s", "d day days jour jours j dia dias tag tage tagen tages tagig tagige tagigen tagiges"),
    (_DAY, "s", "giorno giorni dag dagen daags"),
    (_WEEK, "s", "wk wks week weeks weekly semaine semaines semana semanas woche wochen wochig wochige"),
    (_WEEK, "s", "settimana settimane weken"),
    (2 * _WEEK, "s", "fortnight fortnights"),
    (1, "mo", "mo month months mois mes meses monat monate monaten monats monatig monatige mese mesi maand maanden"),
    (
        12,
        "mo",
        "yr yrs year years an ans annee annees ano anos jahr jahre jahren jahres jahrig jahrige anno anni jaar jaren",
    ),
    (1, "bd", "werktag werktage werktagen werktags arbeitstag arbeitstage arbeitstagen bankarbeitstage"),
    (1, "bd", "geschaftstag geschaftstage geschaftstagen werkdag werkdagen"),
)
_OWN_UNIT_WORDS: Final = {
    "tr": (
        (1, "s", "saniye sn"),
        (60, "s", "dakika dakikada dakikalik dk"),
        (3_600, "s", "saat saatte saatlik"),
        (_DAY, "s", "gun gunu gunun gunde gune gunluk gundur"),
        (_WEEK, "s", "hafta haftada haftalik haftadir"),
        (1, "mo", "ay ayda aylik aydir"),
        (12, "mo", "yil yilda yillik yildir sene senede senelik"),
    )
}
"""Units whose words mean other things in other languages ("gun")."""
_BUSINESS_BEFORE: Final = r"business|working|trading|work|bank|uteis|lavorativi"
_OWN_BUSINESS_BEFORE: Final = {"tr": "|is|calisma"}
_BUSINESS_AFTER: Final = (
    "ouvres|ouvrables|ouvre|ouvrable|habiles|habil|laborables|laborable|laborales|lavorativi|lavorativo|uteis|util"
)
_MEASURES: Final = (
    ("0.001", "g", "mg"),
    ("1", "g", "g gr gram grams gramme grammes gramm gramos grammi"),
    ("1000", "g", "kg kgs kilo kilos kilogram kilograms"),
    ("1", "lb", "lb lbs"),
    ("1", "oz", "oz ounce ounces"),
    ("1", "mm", "mm"),
    ("10", "mm", "cm"),
    ("1000", "mm", "m meter meters metre metres metros metri"),
    ("1000000", "mm", "km"),
    ("1", "in", 'inch inches zoll pouces pulgadas pollici polegadas "'),
    ("1", "ft", "ft foot feet"),
    ("1", "ml", "ml"),
    ("10", "ml", "cl"),
    ("1000", "ml", "l liter liters litre litres litro litros litri"),
    ("1", "mb", "mb"),
    ("1000", "mb", "gb"),
    ("1000000", "mb", "tb"),
    ("1", "w", "w watt watts"),
    ("1000", "w", "kw"),
    ("1", "v", "v volt volts"),
    ("1", "mah", "mah"),
    ("1", "wh", "wh"),
    ("1", "hz", "hz"),
    ("1", "degc", "°c"),
    ("1", "degf", "°f"),
    ("1", "lm", "lm lumen lumens"),
    ("1", "mp", "mp megapixel megapixels"),
    ("1", "px", "px"),
    ("1", "star", "stars star"),
)
_MEASURE_UNITS: Final = {word: (factor, unit) for factor, unit, words in _MEASURES for word in words.split()}
_GARMENT: Final = re.compile(r"\b(?:x{1,4}[sl]|[2-6]x[sl]|[2-6]xl)\b(?!-\d)")
"""An article or order number may begin like a size: XS-0001 is none."""


def _garment(text: str) -> str:
    count = int(text[0]) if text[0].isdigit() else text.count("x")
    return f"size {count}x{text[-1]}"


@functools.cache
def _duration_units(language: str) -> dict[str, tuple[int, str]]:
    rows = (*_UNIT_WORDS, *_OWN_UNIT_WORDS.get(language, ()))
    return {word: (factor, unit) for factor, unit, words in rows for word in words.split()}


@functools.cache
def _number(language: str, *, is_one_allowed: bool) -> str:
    words = sorted((w for w in number_words(language) if is_one_allowed or w not in ONE_WORDS), key=len, reverse=True)
    # Atomic, so that "thirty-five" or "vingt et un" never falls apart into the two ends of a range.
    return rf"(?:{DIGITS}|(?>\b(?:{'|'.join(words)})\b))"


@functools.cache
def _amount_pattern(language: str) -> re.Pattern[str]:
    symbols = "|".join(re.escape(s) for s in sorted([*_SYMBOLS, "$", "¥", "kr", "kr."], key=len, reverse=True))
    codes = "|".join(_CODES.split())
    words = "|".join(sorted([*_currency_words(language), *_DOLLAR_WORDS, *_CENT_WORDS], key=len, reverse=True))
    digits = rf"(?:{SPACED_DIGITS}|{DIGITS})"
    number = rf"(?:{SPACED_DIGITS}|{_number(language, is_one_allowed=True)})"
    scales = "|".join(_SCALES)
    # Written behind its amount a dollar says whose it is; one before a figure belongs to that figure.
    behind = r"(?:us|ca|au|nz|hk|mx|r)\$(?!\s?\d)"
    dash = r"(?:[,.]-{1,2})?"
    return re.compile(
        rf"(?<![a-z])(?P<pre>{symbols}|{codes})\s?(?:(?P<lo1>{digits}){_TO}(?:{symbols})?\s?)?(?P<n1>{digits})(?P<scale1>\s?(?:{scales})\b)?{dash}(?:\s?(?P<tail>{codes})\b)?"
        rf"|(?:(?P<lo2>{number})\s?(?:{symbols})?{_TO})?(?P<n2>{number})(?P<scale2>\s?(?:{scales})\b)?{dash}[\s-]?(?:(?P<post>(?:{codes}|{words}|kr|zl|kc)\b|{behind}|[€$£¥₹₽₩₺₴]))"
    )


def _currency_words(language: str) -> dict[str, str]:
    return _CURRENCY_WORDS | _OWN_CURRENCY_WORDS.get(language, {})


def _currencies(mark: str, default: str, language: str) -> frozenset[str]:
    if mark.rstrip(".") == "kr":
        return frozenset({default}) if default in _CROWNS else _CROWNS
    if mark == "$" or mark in _DOLLAR_WORDS:
        return frozenset({default if default in _DOLLARS else "USD"})
    if mark == "¥":
        return frozenset({default if default in ("JPY", "CNY") else "JPY"})
    if mark in _CENT_WORDS:
        return frozenset({default})
    return frozenset({_SYMBOLS.get(mark) or _currency_words(language).get(mark) or mark.upper()})


def _amount_readings(number: str, language: str, currencies: frozenset[str], scale: Decimal) -> frozenset[str]:
    out: set[str] = set()
    for currency in currencies:
        values = _values(number, "und")
        whole = {v for v in values if -int(v.normalize().as_tuple().exponent) <= minor_digits(currency)}
        if len(whole) > 1:
            whole &= _values(number, language)
        out |= {f"{plain(v * scale)} {currency}" for v in whole or values}
    return frozenset(out)


def _values(number: str, language: str) -> frozenset[Decimal]:
    if number[0].isdigit():
        return read_digits(number, language)
    value = number_words(language).get(number)
    return frozenset() if value is None else frozenset({Decimal(value)})


@functools.cache
def _percent_pattern(language: str) -> re.Pattern[str]:
    number = _number(language, is_one_allowed=True)
    sign = r"(?:%|(?:percent|per ?cent|prozent|por ?ciento|pour ?cent|per ?cento|por ?cento|procent)\b)"
    behind = rf"(?:(?P<lo>{number})\s?%?{_TO})?(?P<n>{number})[\s\u00a0-]?{sign}"
    before = rf"(?:%|\byuzde\b)\s?(?:(?P<after_lo>{number}){_TO})?(?P<after>{number})"
    if language != "tr":
        # Never matched: elsewhere the sign in front belongs to what stands before it.
        before = rf"(?!){before}"
    return re.compile(f"{before}|{behind}")


@functools.cache
def _duration_pattern(language: str) -> re.Pattern[str]:
    number = _number(language, is_one_allowed=True)
    ones = "|".join(sorted(ONE_WORDS, key=len, reverse=True))
    units = "|".join(sorted(_duration_units(language), key=len, reverse=True))
    business = _BUSINESS_BEFORE + _OWN_BUSINESS_BEFORE.get(language, "")
    lead = r"(?:full|whole|calendar|consecutive|more|volle|ganze)"
    return re.compile(
        rf"(?:(?P<lo>{number}){_TO})?(?:(?P<n>{number})|\b(?:{ones})\b)(?:[\s-]{{0,2}}(?:{lead}))?"
        rf"(?:[\s-]{{0,2}}(?P<biz>{business}))?[\s-]{{0,2}}(?P<unit>{units})(?![a-z\d])(?:\s(?P<after>{_BUSINESS_AFTER})\b)?"
    )


@functools.cache
def _measure_pattern(language: str) -> re.Pattern[str]:
    number = _number(language, is_one_allowed=False)
    units = "|".join(re.escape(u) for u in sorted(_MEASURE_UNITS, key=len, reverse=True))
    return re.compile(rf"(?:(?P<lo>{number})\s?(?:-|to|bis|a)\s?)?(?P<n>{number})[\s-]?(?P<unit>{units})(?![a-z\d])")


def _range(low: str | None, high: str, language: str, factor: Decimal, unit: str) -> frozenset[str]:
    tops = _values(high, language) or frozenset({Decimal(1)})
    if low is None:
        return frozenset(f"{plain(v * factor)}{unit}" for v in tops)
    bottoms = _values(low, language) or frozenset({Decimal(1)})
    return frozenset(f"{plain(b * factor)}..{plain(t * factor)}{unit}" for b in bottoms for t in tops)
