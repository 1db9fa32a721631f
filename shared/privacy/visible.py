"""The text as a reader sees it, with the way back to the original offsets.

Owns folding one character at a time (full-width and other scripts' digits, dashes, spaces, invisible characters), so
that patterns are written once and spans still point into the text that came in. Never changes what is stored.
Source: faults 034, 041.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

FULLWIDTH_AT: Final = "\uff20"
"""Kept as it is: it separates an address when no plain `@` does, and is a letter of the local part otherwise."""
_KEYCAP: Final = frozenset("\u20e3\ufe0e\ufe0f")
"""Drawn around or behind a digit, not read. Source: Unicode emoji keycap sequences."""


@dataclass(frozen=True, slots=True)
class VisibleText:
    """Folded text; `offsets[i]` is where its i-th character stands in the source, None when they agree."""

    text: str
    offsets: tuple[int, ...] | None = None

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """Return the source span of a non-empty span of the folded text."""
        if self.offsets is None:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def to_visible(text: str) -> VisibleText:
    """Return the text with look-alike digits, dashes and spaces folded to ASCII and invisible characters left out."""
    if text.isascii():
        return VisibleText(text)
    folded = text.translate(_FOLDING)
    if len(folded) == len(text):
        return VisibleText(folded)
    return VisibleText(folded, tuple(i for i, char in enumerate(text) if _FOLDING[ord(char)] is not None))


class _Folding(dict[int, int | None]):
    """The folding of each code point met so far; None leaves it out."""

    def __missing__(self, point: int) -> int | None:
        self[point] = folded = _fold(chr(point))
        return folded


def _fold(char: str) -> int | None:
    category = unicodedata.category(char)
    if category == "Cf" or char in _KEYCAP:
        return None
    if category == "Nd":
        return ord("0") + unicodedata.decimal(char)
    if category == "Pd" or char == "\u2212":
        return ord("-")
    if category == "Zs":
        return ord(" ")
    compatible = unicodedata.normalize("NFKC", char)
    if len(compatible) == 1 and compatible.isascii() and char != FULLWIDTH_AT:
        return ord(compatible)
    return ord(char)


_FOLDING: Final = _Folding()
