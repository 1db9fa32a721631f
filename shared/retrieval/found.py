"""What a search found, and what of it is handed on: pinned passages within the context budget.

Owns the cut, never the order. Source: KB-07, KB-10.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.domain.article import Article
from shared.domain.sources import RetrievalPath, RetrievedArticle
from shared.domain.text import PublishedText
from shared.retrieval.budget import Candidate, fit_passages
from shared.retrieval.fusion import Hit
from shared.retrieval.tenant_index import TenantIndex
from shared.retrieval.tokens import QueryWord, analyse, surface_tokens, terms_of

MAX_ATTRIBUTE_CHARS: Final = 600
"""Attributes handed on with one article; longer values stay behind. Unit: characters. Value ours."""


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
    passages = fit_passages(candidates, _weigher(found))
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


def _short_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    room = MAX_ATTRIBUTE_CHARS
    kept: dict[str, str] = {}
    for name, value in attributes.items():
        if len(name) + len(value) <= room:
            kept[name] = value
            room -= len(name) + len(value)
    return kept


def _weigher(found: Found) -> Callable[[str], Mapping[str, float]]:
    index = found.index
    if index is None:
        return lambda sentence: {}
    worth = {term: index.keywords.idf(term) for term in terms_of(w for w in found.words if w.is_content)}
    starts = frozenset(term[:2] for term in worth)
    languages = index.languages
    known: dict[str, Mapping[str, float]] = {}

    def weigh_token(token: str) -> Mapping[str, float]:
        # Stemmers keep the beginning of a word: most words of an article need no stemming to be ruled out.
        if token.isalnum() and token.isascii() and token[:2] not in starts:
            return {}
        if token not in known:
            terms = {term for language in languages for term in analyse(token, language)}
            known[token] = {term: worth[term] for term in terms if term in worth}
        return known[token]

    def weigh(sentence: str) -> Mapping[str, float]:
        held: dict[str, float] = {}
        for token in surface_tokens(sentence):
            held.update(weigh_token(token))
        return held

    return weigh
