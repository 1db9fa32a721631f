"""Turns text into index terms: one analysis for articles and questions, so that both sides always agree.

Owns normalising, splitting and stemming; knows nothing of ranking, and its terms are never shown to anyone.
Source: KB-06, libraries table "tokeniser".
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import Stemmer

from shared.retrieval.function_words import FUNCTION_WORDS, QUESTION_WORDS

DEFAULT_LANGUAGE: Final = "en"
"""Stemmer of text whose language nobody said; leaves other scripts untouched. Unit: ISO 639-1."""
FUNCTION_WEIGHT: Final = 0.5
"""What a function word counts beside a word of meaning: in a long message they are half of it. Value ours; 0.25 to 0.5
measure alike, 0 loses short questions ("what is …"). Decision 0025."""
MAX_QUERY_WORDS: Final = 96
"""Words of a question that are searched; the rest is ignored. Unit: words. Source: value ours (longest real: 150)."""

_ALGORITHMS: Final = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

PREFIXING_STEMMERS: Final = frozenset({"ar", "ga", "id"})
"""Languages whose stemmers also cut the beginning of a word."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Hangul: spaced, but bigrams see through its endings
    "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_INDIC: Final = "\u0900-\u0963\u0966-\u0dff"
_TOKEN: Final = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    r"|(?P<compound>[a-z0-9]+(?:[-_/][a-z0-9]+)+)"
    rf"|(?P<word>(?:[^\W_{_UNSPACED}]|[{_INDIC}])+)"
)
_MARKS: Final = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]")
# Category Cf, as a pattern: asking Unicode for each character takes ten times as long.
_INVISIBLE: Final = re.compile(
    "[\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    "\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001"
    "\U000e0020-\U000e007f]"
)
_APOSTROPHES: Final = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u2018": "'", "`": "'"})
_CONTRACTION: Final = re.compile(r"(?<=\w)'(?:s\b|(?=(?:t|re|ll|ve|m|d)\b))")
# Letters that Unicode does not decompose, and the two Turkish i: one letter here, or IŞIK would not find ışık.
_LETTERS: Final = str.maketrans({"ı": "i", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe"})
_HAS_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a question and how an article may hold it."""

    surface: str
    """The folded word, before stemming."""
    alternatives: tuple[tuple[str, ...], ...]
    """Any one of these matches; all terms of it are needed."""
    is_content: bool
    """It carries meaning of its own; "how", "the" and "my" do not."""

    @property
    def weight(self) -> float:
        """Return how much the word counts in the keyword ranking."""
        return 1.0 if self.is_content or self.surface in QUESTION_WORDS else FUNCTION_WEIGHT


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


def fold(text: str) -> str:
    """Return the text in the one form that is compared: NFKC, no case, no accents, no invisible characters."""
    if text.isascii():
        folded = text.lower()
    else:
        visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
        decomposed = unicodedata.normalize("NFD", visible.translate(_APOSTROPHES).casefold())
        folded = unicodedata.normalize("NFC", _MARKS.sub("", decomposed)).translate(_LETTERS)
    return _CONTRACTION.sub("", folded) if "'" in folded else folded


def analyse(text: str, language: str = DEFAULT_LANGUAGE) -> list[str]:
    """Return the index terms of a text, in order, repeated as often as they occur.

    A compound (`sku-4521`, `t-shirt`) gives itself, its parts and its parts joined; runs of a script without spaces
    give bigrams; words with a digit are never stemmed.
    """
    stemmer = _stemmer(language)
    terms: list[str] = []
    for kind, token in _tokens(fold(text)):
        if kind == "run":
            terms.extend(_bigrams(token))
        elif kind == "compound":
            parts = _parts(token)
            terms.append(token)
            terms.extend(_stem(part, stemmer) for part in (*parts, "".join(parts)))
        else:
            terms.append(_stem(token, stemmer))
    return terms


def query_words(text: str, languages: Iterable[str] = (DEFAULT_LANGUAGE,)) -> tuple[QueryWord, ...]:
    """Return the distinct words of a question, each with its form in every language the index holds."""
    stemmers = [_stemmer(language) for language in sorted(set(languages))] or [_stemmer(DEFAULT_LANGUAGE)]
    words: dict[str, QueryWord] = {}
    for kind, token in _tokens(fold(text)):
        if kind == "run":
            for pair in _bigrams(token):
                words.setdefault(pair, QueryWord(pair, ((pair,),), True))
        elif kind == "compound":
            words.setdefault(token, QueryWord(token, _compound_forms(token, stemmers), True))
        else:
            forms = dict.fromkeys((_stem(token, s),) for s in stemmers)
            words.setdefault(token, QueryWord(token, tuple(forms), token not in FUNCTION_WORDS))
        if len(words) >= MAX_QUERY_WORDS:
            break
    return tuple(words.values())


def terms_of(words: Iterable[QueryWord]) -> tuple[str, ...]:
    """Return every index term the words may match by, each once, in a stable order."""
    return tuple(dict.fromkeys(term for word in words for form in word.alternatives for term in form))


def weighted_terms(words: Iterable[QueryWord]) -> dict[str, float]:
    """Return every index term the words may match by, and what it counts."""
    weights: dict[str, float] = {}
    for word in words:
        for term in (term for form in word.alternatives for term in form):
            weights[term] = max(weights.get(term, 0.0), word.weight)
    return weights


def surface_tokens(text: str) -> tuple[str, ...]:
    """Return the folded tokens of a text, unsplit and unstemmed: what exact comparison uses."""
    return tuple(token for _, token in _tokens(fold(text)))


def _tokens(folded: str) -> Iterator[tuple[str, str]]:
    for match in _TOKEN.finditer(folded):
        yield match.lastgroup or "word", match.group()


def _parts(compound: str) -> list[str]:
    return re.split("[-_/]", compound)


def _compound_forms(token: str, stemmers: list[_Stemmer]) -> tuple[tuple[str, ...], ...]:
    parts = _parts(token)
    forms: list[tuple[str, ...]] = [(token,)]
    for stemmer in stemmers:
        forms.append((_stem("".join(parts), stemmer),))
        forms.append(tuple(_stem(part, stemmer) for part in parts))
    return tuple(dict.fromkeys(forms))


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _stem(word: str, stemmer: _Stemmer) -> str:
    return stemmer.stemWord(word) if word.isalpha() or not _HAS_DIGIT.search(word) else word


# A stemmer keeps a cache and is not safe to share between threads.
_local = threading.local()


def _stemmer(language: str) -> _Stemmer:
    algorithm = _ALGORITHMS.get(language.lower().partition("-")[0], _ALGORITHMS[DEFAULT_LANGUAGE])
    stemmers: dict[str, _Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if algorithm not in stemmers:
        stemmers[algorithm] = Stemmer.Stemmer(algorithm)
    return stemmers[algorithm]
