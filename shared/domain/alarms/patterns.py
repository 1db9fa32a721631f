"""Phrases as patterns over folded words, and the reading that finds them in one pass.

Owns folding, the small notation and matching; knows no language and decides nothing. A word is folded to its letters
without case and marks, Turkish dotted and dotless i alike, so that SHOUTING and missing accents change nothing. Each
word starts a bounded number of patterns and each pattern looks at a bounded number of words: linear in the text.
Source: GO-03, design §9 "Screening normalises first", fault 034.

Notation: `a|b` either word, `a*` any word beginning so, `[a]` may be absent, `~3` up to three words of any kind, `$`
the end of a sentence. A pattern never reaches over the end of a sentence, and begins with a word that must be there.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from shared.domain.language import to_plain

STEM_CHARS: Final = 3
"""Least letters before a `*` at the beginning of a pattern, by which it is found. Value ours."""
LEAST_STEM: Final = 2
"""Least letters before any `*`. Value ours."""
MAX_GAP: Final = 6
"""Most words a `~` spans. Value ours: more would join what does not belong together."""
END: Final = "."
"""The token of a sentence's end."""

_TOKEN: Final = re.compile(r"[^\W_]+(?:['’ʼ`´][^\W_]+)*|[.!?…;]")
_ELISION: Final = re.compile(r"\b(c|d|j|l|m|n|s|t|qu|all|dall|dell|nell|sull|un)['’ʼ`´](?=[^\W_])")
_APOSTROPHE: Final = re.compile(r"['’ʼ`´]")
_LETTERS: Final = str.maketrans({"ı": "i", "ß": "ss", "œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d"})


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of a pattern."""

    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    is_optional: bool = False
    gap: int = 0
    """Words of any kind that may stand here; a slot with a gap holds nothing else."""

    def fits(self, token: str) -> bool:
        """Tell whether the token can stand here."""
        return token in self.words or token.startswith(self.stems)


Pattern = tuple[Slot, ...]
L = TypeVar("L")


def fold_words(text: str) -> str:
    """Return the text without case, marks, invisible characters and elisions; apostrophes inside words are gone."""
    if text.isascii() and text.isprintable():
        bare = text.lower()
    else:
        letters = unicodedata.normalize("NFKD", to_plain(text).casefold())
        # Marks go first: a letter under one (`ǣ`, `ǿ`) has to be folded too.
        bare = "".join(c for c in letters if not unicodedata.combining(c)).translate(_LETTERS)
    return " ".join(_APOSTROPHE.sub("'", _ELISION.sub(r"\1 ", bare)).split())


def to_tokens(text: str) -> tuple[str, ...]:
    """Return the folded words in order, with END between sentences and lines and at the end."""
    found: list[str] = []
    for line in text.splitlines():
        for match in _TOKEN.finditer(fold_words(line)):
            found.append(match[0].replace("'", "") if match[0][0].isalnum() else END)
        found.append(END)
    return tuple(found)


def parse(text: str) -> tuple[Pattern, ...]:
    """Return the patterns of a text, one a line. Raises: ValueError for a line the notation does not allow."""
    return tuple(_parse_line(line) for line in text.strip().splitlines() if line.strip())


class PatternSet(Generic[L]):
    """Labelled patterns, found by their first word."""

    def __init__(self, patterns: Iterable[tuple[L, Pattern]]) -> None:
        self._by_word: dict[str, list[tuple[L, Pattern]]] = {}
        self._by_stem: dict[str, list[tuple[L, Pattern]]] = {}
        for label, pattern in patterns:
            for word in pattern[0].words:
                self._by_word.setdefault(word, []).append((label, pattern))
            for stem in {stem[:STEM_CHARS] for stem in pattern[0].stems}:
                self._by_stem.setdefault(stem, []).append((label, pattern))

    def spans(self, tokens: Sequence[str]) -> Iterator[tuple[L, int, int]]:
        """Yield the label and the span, begin and one past the end, of each pattern that stands in the tokens."""
        for start, token in enumerate(tokens):
            for label, pattern in (*self._by_word.get(token, ()), *self._by_stem.get(token[:STEM_CHARS], ())):
                if (end := _end(pattern, tokens, start)) is not None:
                    yield label, start, end


def _end(pattern: Pattern, tokens: Sequence[str], start: int) -> int | None:
    """Return one past the pattern's nearest end when it stands at the start, else None."""
    places = {start}
    for slot in pattern:
        after: set[int] = set()
        for place in places:
            if slot.is_optional or slot.gap:
                after.add(place)
            for further in range(slot.gap):
                if place + further >= len(tokens) or tokens[place + further] == END:
                    break
                after.add(place + further + 1)
            if not slot.gap and place < len(tokens) and slot.fits(tokens[place]):
                after.add(place + 1)
        places = after
    return min(places, default=None)


def _parse_line(line: str) -> Pattern:
    pattern = tuple(_parse_slot(item) for item in line.split())
    first = pattern[0]
    if first.is_optional or first.gap or END in first.words or any(len(stem) < STEM_CHARS for stem in first.stems):
        raise ValueError(f"a pattern begins with a word: {line!r}")
    return pattern


def _parse_slot(item: str) -> Slot:
    if item.startswith("~"):
        gap = int(item[1:])
        if not 1 <= gap <= MAX_GAP:
            raise ValueError(f"a gap spans 1 to {MAX_GAP} words: {item!r}")
        return Slot(gap=gap)
    is_optional = item.startswith("[") and item.endswith("]")
    words: set[str] = set()
    stems: list[str] = []
    for choice in item.strip("[]").split("|"):
        folded = END if choice == "$" else fold_words(choice.removesuffix("*")).replace("'", "")
        if not (folded == END or folded.isalnum()) or (choice.endswith("*") and len(folded) < LEAST_STEM):
            raise ValueError(f"not a word: {choice!r} in {item!r}")
        if choice.endswith("*"):
            stems.append(folded)
        else:
            words.add(folded)
    return Slot(frozenset(words), tuple(stems), is_optional)
