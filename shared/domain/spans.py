"""Where in a published text a sentence comes from: the characters that say it, markup and punctuation aside.

Finds, never judges: a claim was reviewed before. A sentence that is quoted is found exactly, a reworded one in the
sentence that shares most of its longer and rarer words, and only if that holds every figure of it. Pure, and linear in
the text.
Source: KB-10, CO-03, design §7 (proof: "article, version, span, text hash").
"""

import functools
import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from shared.domain.typed_values.folding import fold
from shared.domain.wire_model import Wire

WORDS_FLOOR: Final = 0.55
"""Share of a sentence's words, by weight, that a span must hold. Unit: 0–1. Value ours: over half, or it says more
than the span does."""
READ_TEXTS: Final = 16
"""Texts kept as read, by their whole content: the few sources of one reply. Value ours; the longest takes 5 MB."""

_MARKUP: Final = re.compile(r"<!--|</?([a-z][a-z0-9]{0,20})\b[^<>]{0,500}>", re.IGNORECASE)
_ENDS: Final = {
    "<!--": re.compile("-->"),
    **{name: re.compile(rf"</{name}\s{{0,9}}>", re.IGNORECASE) for name in ("script", "style", "template")},
}
"""What opens a stretch no reader sees, and what closes it."""
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[^\n.!?…。！？]*(?:[.!?…](?!\s)[^\n.!?…。！？]*)*(?:[.!?…。！？]|\n|$)")
_CLOSING: Final = ".!?…。！？)\"'”’»"


class Span(Wire):
    """Characters of a text: from `start`, up to but not including `end`."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)

    def of(self, text: str) -> str:
        """Return the characters."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class _Part:
    """One sentence or line of a text."""

    start: int
    end: int
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as it is searched: its letters and figures in one run, and its parts."""

    letters: str
    origin: tuple[int, ...]
    """Index in the text of each letter."""
    starts: frozenset[int]
    """Indices in `letters` at which a word begins."""
    parts: tuple[_Part, ...]
    in_parts: Counter[str]
    """How many parts hold a word."""


def find_span(sentence: str, text: str) -> Span | None:
    """Return the span of the text that says the sentence, or None when no part of it does."""
    words = _WORD.findall(fold(sentence).text)
    if not words:
        return None
    read = _read(text)
    exact = _exact("".join(words), read)
    if exact is None:
        return _nearest(frozenset(words), read)
    return Span(start=exact[0], end=_closed(text, exact[1]))


def _exact(wanted: str, read: _Read) -> tuple[int, int] | None:
    """Return the first place where the letters stand in this order and make whole words."""
    at = read.letters.find(wanted)
    while at >= 0:
        after = at + len(wanted)
        if at in read.starts and (after == len(read.letters) or after in read.starts):
            return read.origin[at], read.origin[after - 1] + 1
        at = read.letters.find(wanted, at + 1)
    return None


def _nearest(words: frozenset[str], read: _Read) -> Span | None:
    """Return the part that shares most of the words, all figures among them."""
    figures = frozenset(word for word in words if any(c.isdigit() for c in word))
    weights = {word: max(len(word) - 1, 1) / (read.in_parts[word] or 1) for word in words}
    whole = sum(weights.values())
    best, best_share = None, WORDS_FLOOR
    for part in read.parts:
        share = sum(weights[word] for word in words & part.words) / whole
        if figures <= part.words and share >= best_share and (best is None or share > best_share):
            best, best_share = part, share
    return None if best is None else Span(start=best.start, end=best.end)


@functools.lru_cache(maxsize=READ_TEXTS)
def _read(text: str) -> _Read:
    visible = _visible(text)
    folded = fold(visible)
    words: list[str] = []
    origin: list[int] = []
    starts: list[int] = []
    placed: list[int] = []
    for match in _WORD.finditer(folded.text):
        words.append(match[0])
        starts.append(len(origin))
        placed.append(folded.origin[match.start()])
        origin += folded.origin[match.start() : match.end()]
    parts = tuple(_parts(visible, words, placed))
    held = Counter(word for part in parts for word in part.words)
    return _Read("".join(words), tuple(origin), frozenset(starts), parts, held)


def _parts(visible: str, words: list[str], placed: list[int]) -> Iterator[_Part]:
    """Yield the sentences and lines that hold a word; `placed` is where each word begins."""
    at = 0
    for match in _PART.finditer(visible):
        first = at
        while at < len(words) and placed[at] < match.end():
            at += 1
        if at > first:
            end = match.start() + len(match[0].rstrip())
            yield _Part(end - len(match[0].strip()), end, frozenset(words[first:at]))


def _visible(text: str) -> str:
    """Return the text with markup blanked and entities read, each character where it was."""
    pieces: list[str] = []
    at = 0
    endless: set[str] = set()
    while (found := _MARKUP.search(text, at)) is not None:
        pieces.append(text[at : found.start()])
        at = _end_of(found, text, endless)
        pieces.append(" " * (at - found.start()))
    plain = "".join((*pieces, text[at:]))
    return _ENTITY.sub(lambda m: html.unescape(m[0])[: len(m[0])].ljust(len(m[0])), plain)


def _end_of(found: re.Match[str], text: str, endless: set[str]) -> int:
    """Return where the markup ends; a stretch that never closes is looked for once, so that reading stays linear."""
    name = (found[1] or found[0]).lower()
    if name in _ENDS and name not in endless and not found[0].startswith("</"):
        closing = _ENDS[name].search(text, found.end())
        if closing is not None:
            return closing.end()
        endless.add(name)
    return found.end()


def _closed(text: str, end: int) -> int:
    """Return the end with the punctuation that closes the sentence."""
    while end < len(text) and text[end] in _CLOSING:
        end += 1
    return end
