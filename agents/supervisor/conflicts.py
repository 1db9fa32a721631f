"""Contradicting sources: two pinned articles that give different values of one kind for the same thing.

Basic and honest: compares short value-bearing sentences about the same words; says which two references disagree and
decides nothing. Source: SU-05, GO-03.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Final

from agents.supervisor.lexical import split_sentences
from shared.domain.deltas import Knowledge
from shared.domain.ids import SourceRef
from shared.domain.intents import ArticleType
from shared.domain.language import detect_language
from shared.domain.typed_values import TypedValue, ValueKind, equals, extract_values
from shared.retrieval.function_words import FUNCTION_WORDS
from shared.retrieval.tokens import analyse, surface_tokens

SAME_SUBJECT: Final = 0.6
"""Share of the shorter sentence's content words both must hold to be about one thing. Unit: 0–1. Source: ours."""
_KINDS: Final = frozenset({ValueKind.AMOUNT, ValueKind.DURATION, ValueKind.PERCENTAGE})


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that say different things of one subject."""

    first: SourceRef
    second: SourceRef
    values: tuple[str, str]
    """What the first and the second say, as written."""


@dataclass(frozen=True, slots=True)
class _Statement:
    ref: SourceRef
    value: TypedValue
    stems: frozenset[str]


def find_conflicts(
    knowledge: Knowledge, *, default_currency: str, cited: frozenset[SourceRef] = frozenset()
) -> tuple[Conflict, ...]:
    """Return the contradictions among the pinned FAQ and policy articles; with `cited`, only those of a cited one.

    Products are left out: two products have two prices and nothing contradicts.
    """
    statements = [
        s
        for a in knowledge.articles
        if a.type is not ArticleType.PRODUCT
        for s in _statements(a.ref, f"{a.title}\n{a.content}", default_currency)
    ]
    conflicts: dict[tuple[SourceRef, SourceRef], Conflict] = {}
    for a, b in combinations(statements, 2):
        if a.ref == b.ref or (cited and not {a.ref, b.ref} & cited) or a.value.kind is not b.value.kind:
            continue
        if not equals(a.value, b.value) and _is_same_subject(a, b) and not _agrees(a, b, statements):
            conflicts.setdefault((a.ref, b.ref), Conflict(a.ref, b.ref, (a.value.text, b.value.text)))
    return tuple(conflicts.values())


def _statements(ref: SourceRef, text: str, currency: str) -> list[_Statement]:
    language, _ = detect_language(text)
    found: list[_Statement] = []
    for sentence in split_sentences(text):
        values = [
            v
            for v in extract_values(sentence, language=language or "en", default_currency=currency)
            if v.kind in _KINDS
        ]
        if len(values) == 1:
            spoken = sentence.replace(values[0].text, " ")
            words = [w for w in surface_tokens(spoken) if w not in FUNCTION_WORDS and not w.isdigit()]
            stems = frozenset(s for w in words for s in analyse(w, language or "en")[:1])
            found.append(_Statement(ref, values[0], stems))
    return found


def _is_same_subject(a: _Statement, b: _Statement) -> bool:
    shorter = min(len(a.stems), len(b.stems))
    return shorter >= 2 and len(a.stems & b.stems) >= SAME_SUBJECT * shorter


def _agrees(a: _Statement, b: _Statement, statements: list[_Statement]) -> bool:
    """Tell whether either article also states the other's value, as a list of countries or tiers does."""
    return any(
        (s.ref == a.ref and equals(s.value, b.value)) or (s.ref == b.ref and equals(s.value, a.value))
        for s in statements
    )
