"""What a search found, and what of it is handed on: pinned passages within the context budget.

Owns the cut, never the order. Source: KB-07, KB-10.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.domain.article import Article
from shared.domain.sources import RetrievalPath, RetrievedArticle
from shared.domain.text import PublishedText
from shared.retrieval.budget import Candidate, fit_passages
from shared.retrieval.fusion import Hit
from shared.retrieval.tenant_index import TenantIndex
from shared.retrieval.tokens import PREFIXING_STEMMERS, QueryWord, analyse, surface_tokens, terms_of

MAX_ATTRIBUTE_CHARS: Final = 600
"""Attributes handed on with one article; longer values stay behind. Unit: characters. Value ours."""

_PLAIN_TOKEN: Final = re.compile(r"[a-z0-9]+(?:[-_/][a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Found:
    """What the two rankings gave."""

    hits: tuple[Hit, ...] = ()
    path: RetrievalPath = RetrievalPath.EMPTY
    articles: Mapping[str, Article] = field(default_factory=dict)
    similarities: Mapping[str, float] = field(default_factory=dict)
    index: TenantIndex | None = None
    words: tuple[QueryWord, ...] = ()


def hand_on(found: Found) -> tuple[RetrievedArticle, ...]:
    """Return the results with the passages that fit the context budget (KB-07)."""
    chosen = [(hit, found.articles[hit.id]) for hit in found.hits]
    attributes = [_short_attributes(article.attributes) for _, article in chosen]
    candidates = [
        Candidate(article.content.value, len(article.title.value) + sum(len(k) + len(v) for k, v in given.items()))
        for (_, article), given in zip(chosen, attributes, strict=True)
    ]
    passages = fit_passages(candidates, weigher(found.words, found.index))
    return tuple(
        RetrievedArticle(
            article_id=article.article_id,
            version=article.version,
            type=article.type,
            title=article.title,
            content=PublishedText(passage),
            attributes=given,
            relevance=hit.relevance,
            similarity=found.similarities.get(hit.id),
            is_identifier_match=hit.is_identifier_match,
            is_strong=hit.is_strong,
        )
        for (hit, article), given, passage in zip(chosen, attributes, passages, strict=False)
    )


def weigher(words: Iterable[QueryWord], index: TenantIndex | None) -> Callable[[str], Mapping[str, float]]:
    """Return what tells of a sentence which terms of the question it holds, and what each is worth."""
    if index is None:
        return lambda sentence: {}
    worth = {term: index.keywords.idf(term) for term in terms_of(word for word in words if word.is_content)}
    languages = index.languages
    may_skip = PREFIXING_STEMMERS.isdisjoint(languages)
    starts = frozenset(term[: 2 if len(term) > 3 else 1] for term in worth)
    known: dict[str, Mapping[str, float]] = {}

    def weigh_token(token: str) -> Mapping[str, float]:
        if token not in known:
            terms = {term for language in languages for term in analyse(token, language)}
            known[token] = {term: worth[term] for term in terms if term in worth}
        return known[token]

    def weigh(sentence: str) -> Mapping[str, float]:
        held: dict[str, float] = {}
        if may_skip and sentence.isascii() and "'" not in sentence:
            tokens: Iterable[str] = _likely_tokens(sentence, starts)
        else:
            tokens = surface_tokens(sentence)
        for token in tokens:
            held.update(weigh_token(token))
        return held

    return weigh


def _short_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    room = MAX_ATTRIBUTE_CHARS
    kept: dict[str, str] = {}
    for name, value in attributes.items():
        if len(name) + len(value) <= room:
            kept[name] = value
            room -= len(name) + len(value)
    return kept


def _likely_tokens(plain: str, starts: Collection[str]) -> list[str]:
    """Return the tokens of plain text that may stem to a term with one of the beginnings; compounds always may.

    Stemmers keep the beginning of a word, for the shortest stems its first letter only ("dying" is "die"), so most
    words of an article need no stemming to be ruled out.
    """
    tokens = _PLAIN_TOKEN.findall(plain.lower())
    return [t for t in tokens if t[:2] in starts or t[0] in starts or not t.isalnum()]
