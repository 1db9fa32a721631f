"""Fold text for reading values out of it, keeping where each character came from.

NFKD without marks and format characters, lower case, every decimal digit as ASCII, dashes and quotes unified: what a
reader sees as the same figure is the same figure; Turkish dotted and dotless i are one. Linear in the text.
Source: design §9 "Screening normalises first".
"""

import unicodedata
from dataclasses import dataclass
from typing import Final

_SAME: Final = {
    **dict.fromkeys("‐‑‒–—−﹣－", "-"),
    **dict.fromkeys("’‘ʼ`´", "'"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("\u202f\u2009\u2007", "\u00a0"),
    "\u00a0": "\u00a0",
    "º": "º",
    "ª": "ª",
    "№": "no",
    "ı": "i",
}


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text; `origin[i]` is the index in the original of folded character i, with one past the end appended."""

    original: str
    text: str
    origin: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original's span of a folded span."""
        return self.origin[start], (self.origin[end - 1] + 1 if end > start else self.origin[start])


def fold(text: str) -> Folded:
    """Return the folded text with its origins."""
    if text.isascii():
        return Folded(text, text.lower().replace("`", "'"), tuple(range(len(text) + 1)))
    chars: list[str] = []
    origin: list[int] = []
    for index, char in enumerate(text):
        for piece in _fold_char(char):
            chars.append(piece)
            origin.append(index)
    origin.append(len(text))
    return Folded(text, "".join(chars), tuple(origin))


def fold_word(word: str) -> str:
    """Return one word folded, for tables written with accents."""
    return fold(word).text


def _fold_char(char: str) -> str:
    if char < "\x80":
        return "'" if char == "`" else char.lower()
    if (same := _SAME.get(char)) is not None:
        return same
    if unicodedata.category(char) == "Nd":
        return str(unicodedata.decimal(char))
    kept = [c for c in unicodedata.normalize("NFKD", char.lower()) if unicodedata.category(c) not in ("Mn", "Cf")]
    return "".join(_SAME.get(c, c) for c in kept)
