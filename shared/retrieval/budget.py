"""Cuts retrieved articles to the context budget: fair shares, whole sentences, the part that fits the question.

A passage is always one unbroken piece of the article's content, so that a proof can point at its span.
Source: KB-07, design §7 "proof".
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

CONTEXT_CHARS: Final = 4_000
"""Most text handed on from one search: titles, attributes and passages together. Unit: characters. Source: KB-07."""
MIN_PASSAGE_CHARS: Final = 160
"""A share below this says nothing; later results go before shares shrink further. Value ours: about two sentences."""

_BORDER = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One result that asks for room, best first."""

    content: str
    overhead_chars: int
    """Characters handed on beside the content: title and attributes."""


def fit_passages(
    candidates: Sequence[Candidate],
    weigh: Callable[[str], Mapping[str, float]],
    *,
    budget_chars: int = CONTEXT_CHARS,
) -> tuple[str, ...]:
    """Return the passage of each result that fits, best first; results without room at the end are left out.

    Shapes: at most len(candidates) passages, each a substring of its content; with overheads at most `budget_chars`.
    `weigh` gives the question's terms a sentence holds and what each is worth: of a long article the stretch of
    sentences that holds most of the question is kept, the earliest of equals.
    """
    kept = _those_with_room(candidates, budget_chars)
    room = budget_chars - sum(c.overhead_chars for c in kept)
    shares = _fair_shares([len(c.content) for c in kept], room)
    return tuple(best_passage(c.content, share, weigh) for c, share in zip(kept, shares, strict=True))


def best_passage(content: str, limit: int, weigh: Callable[[str], Mapping[str, float]]) -> str:
    """Return the unbroken run of sentences, at most `limit` characters long, that holds most of the question."""
    if len(content) <= limit:
        return content
    spans = _sentences(content)
    # A sentence longer than the limit is in no run.
    held = [weigh(content[start:end]) if end - start <= limit else {} for start, end in spans]
    best, best_value = (0, 0), -1.0
    for first, (start, _) in enumerate(spans):
        seen: dict[str, float] = {}
        last = first
        while last < len(spans) and spans[last][1] - start <= limit:
            seen.update(held[last])
            last += 1
        value = sum(seen.values())
        if last > first and value > best_value + 1e-9:
            best, best_value = (start, spans[last - 1][1]), value
        if last == len(spans):
            break
    if best_value < 0:
        return _cut_at_word(content, limit)
    return content[best[0] : best[1]].strip()


def _those_with_room(candidates: Sequence[Candidate], budget_chars: int) -> list[Candidate]:
    kept: list[Candidate] = []
    needed = 0
    for candidate in candidates:
        needed += candidate.overhead_chars + min(MIN_PASSAGE_CHARS, len(candidate.content))
        if needed > budget_chars:
            break
        kept.append(candidate)
    return kept


def _fair_shares(lengths: Sequence[int], room: int) -> list[int]:
    """Give everyone the same; what a short one leaves over goes to the others."""
    shares = [0] * len(lengths)
    waiting = sorted(range(len(lengths)), key=lambda i: lengths[i])
    while waiting:
        even = room // len(waiting)
        i = waiting.pop(0)
        shares[i] = min(lengths[i], even)
        room -= shares[i]
    return shares


def _sentences(content: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for border in _BORDER.finditer(content):
        if border.end() > start:
            spans.append((start, border.start() if border.start() > start else border.end()))
            start = border.end()
    if start < len(content):
        spans.append((start, len(content)))
    return spans


def _cut_at_word(content: str, limit: int) -> str:
    cut = content[:limit]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).strip()
