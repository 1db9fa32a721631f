"""Numbers as people write them: localised digits and number words of eight languages.

Knows nothing of units. Source: design §5 "localised numbers and dates included".
"""

import functools
from decimal import Decimal
from typing import Final

from shared.domain.typed_values.folding import fold_word

DIGITS: Final = (
    r"(?:(?<![\d])(?<!\d[.,])"
    r"(?:\d{1,3}(?:,\d{2}){1,4},\d{3}(?:\.\d{1,4})?"
    r"|\d{1,3}(?:[.,'\u00a0]\d{3}){1,5}(?:[.,]\d{1,4})?"
    r"|\d{1,3}(?: \d{3}){1,5}[.,]\d{2}"
    r"|\d{1,18}(?:[.,]\d{1,6})?)(?!\d))"
)
"""Regular expression of one localised number in folded text; bounded, so matching is linear."""
SPACED_DIGITS: Final = r"(?:(?<![\d])(?<!\d[.,])\d{1,3}(?: \d{3}){1,5}(?!\d))"
"""Groups parted by a plain space; only trusted beside a currency, elsewhere two numbers may stand together."""

_COMMA_DECIMAL: Final = frozenset({"de", "fr", "it", "pt", "nl", "da", "sv", "nb", "no", "fi", "pl", "cs", "ru", "tr"})
_POINT_DECIMAL: Final = frozenset({"en", "ja", "zh", "ko", "he", "th"})
"""Where neither holds (Spanish varies by country, unknown languages) a lone group of three keeps both readings."""


def base_language(language: str) -> str:
    """Return the primary subtag of a BCP 47 tag, lower case."""
    return language.replace("_", "-").split("-", 1)[0].lower()


def read_digits(text: str, language: str) -> frozenset[Decimal]:
    """Return every value the digits may mean in the language; one, or two for a lone separator before three digits."""
    plain = text.replace("'", "").replace("\u00a0", "").replace(" ", "")
    separators = [c for c in plain if c in ".,"]
    if not separators:
        return frozenset({Decimal(plain)})
    last = separators[-1]
    if len(set(separators)) == 2:
        other = "." if last == "," else ","
        return frozenset({Decimal(plain.replace(other, "").replace(last, "."))})
    joined = Decimal(plain.replace(last, ""))
    if len(separators) > 1:
        return frozenset({joined})
    decimal = Decimal(plain.replace(last, "."))
    head, tail = plain.split(last)
    if len(tail) != 3 or len(head) > 3 or head.startswith("0"):
        return frozenset({decimal})
    base = base_language(language)
    decimal_marks = "," if base in _COMMA_DECIMAL else "." if base in _POINT_DECIMAL else ""
    if not decimal_marks:
        return frozenset({decimal, joined})
    return frozenset({decimal if last == decimal_marks else joined})


def plain(value: Decimal) -> str:
    """Return the canonical decimal text: no exponent, no trailing zeros."""
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") or "0" if "." in text else text.lstrip("0") or "0"


@functools.cache
def number_words(language: str) -> dict[str, int]:
    """Return folded number words of a language from 0 to 100; English for languages without a table."""
    build = _BUILDERS.get(base_language(language), _english)
    words: dict[str, int] = {}
    for value, spelled in build():
        words[fold_word(spelled)] = value
        words.setdefault(fold_word(spelled).replace("-", " "), value)
    return words


ONE_WORDS: Final = frozenset(
    {
        "one",
        "a",
        "an",
        "un",
        "une",
        "uno",
        "una",
        "um",
        "uma",
        "ein",
        "eine",
        "einen",
        "einem",
        "einer",
        "een",
        "eins",
        "bir",
    }
)
"""Words for one that are also articles: a value only in front of a unit."""

Pairs = list[tuple[int, str]]


def _compound(units: list[str], teens: list[str], tens: list[str], join: str) -> Pairs:
    """Return 0–99 where tens and units are joined in reading order."""
    pairs: Pairs = list(enumerate(units)) + [(10 + i, w) for i, w in enumerate(teens)]
    for t, ten in enumerate(tens, start=2):
        pairs.append((10 * t, ten))
        pairs += [(10 * t + u, f"{ten}{join}{units[u]}") for u in range(1, 10)]
    return pairs


def _words(text: str) -> list[str]:
    return text.split()


def _english() -> Pairs:
    units = _words("zero one two three four five six seven eight nine")
    teens = _words("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
    tens = _words("twenty thirty forty fifty sixty seventy eighty ninety")
    return [*_compound(units, teens, tens, "-"), (100, "one hundred"), (100, "a hundred"), (100, "hundred")]


def _spanish() -> Pairs:
    units = _words("cero uno dos tres cuatro cinco seis siete ocho nueve")
    teens = _words("diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve")
    tens = _words("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa")
    twenties = "veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
    fused = list(enumerate(twenties.split(), start=21))
    return [*_compound(units, teens, tens, " y "), *fused, (21, "veintiún"), (1, "un"), (1, "una"), (100, "cien")]


def _french() -> Pairs:
    units = _words("zéro un deux trois quatre cinq six sept huit neuf")
    teens = _words("dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf")
    tens = _words("vingt trente quarante cinquante soixante")
    pairs = _compound(units, teens, tens, "-")
    pairs += [(10 * t + 1, f"{w} et un") for t, w in enumerate(tens, start=2)]
    pairs += [(60 + 10 + i, f"soixante-{w}") for i, w in enumerate(teens)]
    pairs += [(80, "quatre-vingts"), (80, "quatre-vingt"), (71, "soixante et onze")]
    pairs += [(80 + i, f"quatre-vingt-{w}") for i, w in enumerate(units) if i]
    pairs += [(90 + i, f"quatre-vingt-{w}") for i, w in enumerate(teens)]
    return [*pairs, (1, "une"), (100, "cent")]


def _german() -> Pairs:
    units = _words("null ein zwei drei vier fünf sechs sieben acht neun")
    teens = _words("zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
    tens = _words("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
    pairs: Pairs = list(enumerate(units)) + [(10 + i, w) for i, w in enumerate(teens)]
    for t, ten in enumerate(tens, start=2):
        pairs += [(10 * t, ten), *((10 * t + u, f"{units[u]}und{ten}") for u in range(1, 10))]
    ones = [(1, w) for w in ("eins", "eine", "einen", "einem", "einer")]
    return [*pairs, *ones, (30, "dreissig"), (100, "hundert"), (100, "einhundert")]


def _italian() -> Pairs:
    units = _words("zero uno due tre quattro cinque sei sette otto nove")
    teens = _words("dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove")
    tens = _words("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")
    pairs: Pairs = list(enumerate(units)) + [(10 + i, w) for i, w in enumerate(teens)]
    for t, ten in enumerate(tens, start=2):
        pairs.append((10 * t, ten))
        pairs += [(10 * t + u, (ten[:-1] if u in (1, 8) else ten) + units[u]) for u in range(1, 10)]
    return [*pairs, (1, "un"), (1, "una"), (100, "cento")]


def _portuguese() -> Pairs:
    units = _words("zero um dois três quatro cinco seis sete oito nove")
    teens = _words("dez onze doze treze quatorze quinze dezesseis dezessete dezoito dezenove")
    tens = _words("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa")
    european = [(14, "catorze"), (16, "dezasseis"), (17, "dezassete"), (19, "dezanove")]
    return [*_compound(units, teens, tens, " e "), *european, (1, "uma"), (2, "duas"), (100, "cem")]


def _dutch() -> Pairs:
    units = _words("nul een twee drie vier vijf zes zeven acht negen")
    teens = _words("tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien")
    tens = _words("twintig dertig veertig vijftig zestig zeventig tachtig negentig")
    pairs: Pairs = list(enumerate(units)) + [(10 + i, w) for i, w in enumerate(teens)]
    for t, ten in enumerate(tens, start=2):
        pairs += [(10 * t, ten), *((10 * t + u, f"{units[u]}en{ten}") for u in range(1, 10))]
    return [*pairs, (1, "één"), (100, "honderd")]


def _turkish() -> Pairs:
    units = _words("sıfır bir iki üç dört beş altı yedi sekiz dokuz")
    tens = _words("on yirmi otuz kırk elli altmış yetmiş seksen doksan")
    pairs: Pairs = list(enumerate(units))
    for t, ten in enumerate(tens, start=1):
        pairs += [(10 * t, ten), *((10 * t + u, f"{ten} {units[u]}") for u in range(1, 10))]
    return [*pairs, (100, "yüz")]


_BUILDERS: Final = {
    "en": _english,
    "es": _spanish,
    "fr": _french,
    "de": _german,
    "it": _italian,
    "pt": _portuguese,
    "nl": _dutch,
    "tr": _turkish,
}
