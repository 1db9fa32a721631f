"""Contradicting sources: two pinned articles that give different values of one kind for the same thing.

Compares short value-bearing sentences that speak of what the customer asked; says what disagrees and decides nothing.
"Standard shipping" and "express shipping", or two countries, are two things. Source: SU-05, GO-03.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Final

from agents.supervisor.lexical import split_sentences
from shared.domain.deltas import Knowledge, TurnState
from shared.domain.ids import SourceRef
from shared.domain.intents import ArticleType
from shared.domain.language import detect_language
from shared.domain.sources import Passage
from shared.domain.typed_values import TypedValue, ValueKind, equals, extract_values
from shared.retrieval.function_words import FUNCTION_WORDS
from shared.retrieval.tokens import analyse, fold

SAME_SUBJECT: Final = 0.5
"""Share of both sentences' content words that they have in common to be about one thing. Unit: 0–1. Source: ours."""
_MEASURES: Final = frozenset(
    ["within", "after", "before", "until", "least", "most", "than", "over", "about", "around", "up", "only"]
)
"""Words around a value that say nothing of what it is a value of."""
MAX_PASSAGES: Final = 6
"""Most passages shown to a person. Value ours."""
REMEMBERED_ARTICLES: Final = 512
"""Articles whose statements are remembered, 1 ms each to read anew. Value ours."""
_KINDS: Final = frozenset({ValueKind.AMOUNT, ValueKind.DURATION, ValueKind.PERCENTAGE})
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sources that say different things of one subject."""

    first: SourceRef
    second: SourceRef
    values: tuple[str, str]
    """What the first and the second say, as written."""
    sentences: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Statement:
    ref: SourceRef
    sentence: str
    value: TypedValue
    stems: tuple[str, ...]
    """Content words in order; "" stands where a function word or the value was."""
    names: frozenset[str]
    """Words written with a capital inside the sentence."""

    @property
    def content(self) -> frozenset[str]:
        return frozenset(filter(None, self.stems))


def conflicting_passages(state: TurnState, *, default_currency: str) -> tuple[Passage, ...]:
    """Return both passages of every contradiction that touches a source the draft cites; nothing where none does."""
    if state.knowledge is None or state.draft is None:
        return ()
    conflicts = find_conflicts(
        state.knowledge,
        question=state.snapshot.message.value,
        default_currency=default_currency,
        cited=frozenset(state.draft.refs),
    )
    passages = [
        Passage(ref=ref, text=text)
        for conflict in conflicts
        for ref, text in zip((conflict.first, conflict.second), conflict.sentences, strict=True)
    ]
    return tuple(dict.fromkeys(passages))[:MAX_PASSAGES]


def find_conflicts(
    knowledge: Knowledge, *, question: str, default_currency: str, cited: frozenset[SourceRef] = frozenset()
) -> tuple[Conflict, ...]:
    """Return the contradictions among the pinned FAQ and policy articles; with `cited`, only those of a cited one.

    Products are left out: two products have two prices and nothing contradicts.
    """
    language = detect_language(question)[0] or "en"
    asked = frozenset(filter(None, _stems(question, language)))
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
        if not equals(a.value, b.value) and _is_same_subject(a, b, asked) and not _agrees(a, b, statements):
            found = Conflict(a.ref, b.ref, (a.value.text, b.value.text), (a.sentence, b.sentence))
            conflicts.setdefault((a.ref, b.ref), found)
    return tuple(conflicts.values())


@lru_cache(maxsize=REMEMBERED_ARTICLES)
def _statements(ref: SourceRef, text: str, currency: str) -> tuple[_Statement, ...]:
    """Return what an article states; remembered, since a pinned version never says anything else."""
    language = detect_language(text)[0] or "en"
    found: list[_Statement] = []
    for sentence in split_sentences(text):
        values = [v for v in extract_values(sentence, language=language, default_currency=currency) if v.kind in _KINDS]
        if len(values) == 1:
            spoken = sentence.replace(values[0].text, " – ")
            names = frozenset(fold(w) for w in _WORD.findall(spoken)[1:] if w[0].isupper())
            found.append(_Statement(ref, sentence.strip(), values[0], _stems(spoken, language), names))
    return tuple(found)


def _stems(text: str, language: str) -> tuple[str, ...]:
    """Return the stem of each content word in its place, "" for a function word."""
    stems: list[str] = []
    for word in _WORD.findall(text):
        folded = fold(word)
        is_empty = folded in FUNCTION_WORDS or folded in _MEASURES
        stems.append("" if is_empty else next(iter(analyse(folded, language)), ""))
    return tuple(stems)


def _is_same_subject(a: _Statement, b: _Statement, asked: frozenset[str]) -> bool:
    """Tell whether both say almost the same of what was asked, and of one variety of it.

    One shared word is not enough: "returns within 30 days" and "tell us within 14 days if the return label is missing"
    are two rules of one policy.
    """
    shared, either = a.content & b.content, a.content | b.content
    if len(shared) < SAME_SUBJECT * len(either) or (asked and not asked & shared):
        return False
    if a.names - b.names and b.names - a.names:
        return False
    return not any(_differ(a, b, stem, shared) for stem in (asked & shared or shared))


def _differ(a: _Statement, b: _Statement, stem: str, shared: frozenset[str]) -> bool:
    """Tell whether each puts a word of its own before this one: two varieties of a thing."""
    return bool(_modifiers(a, stem) - shared) and bool(_modifiers(b, stem) - shared)


def _modifiers(statement: _Statement, stem: str) -> frozenset[str]:
    pairs = zip(statement.stems, statement.stems[1:], strict=False)
    return frozenset(before for before, word in pairs if word == stem and before)


def _agrees(a: _Statement, b: _Statement, statements: list[_Statement]) -> bool:
    """Tell whether either article also states the other's value, as a list of countries or tiers does."""
    return any(
        (s.ref == a.ref and equals(s.value, b.value)) or (s.ref == b.ref and equals(s.value, a.value))
        for s in statements
    )
