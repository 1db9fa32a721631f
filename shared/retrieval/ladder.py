"""Hybrid search and its ladder: hybrid → vector only → keyword only → empty, each result saying which rung served.

Owns the order of steps; ranks by relevance, judges by confidence, writes nothing. Knowledge is read at one version:
the tenant's knowledge head is looked up first, and index and result cache serve that version or a newer one.
Source: KB-05…09, KB-13, RK-01, design §4, §6 "Keyword index", faults 022, 024, 026.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from shared.domain.article import Article
from shared.domain.deltas import Knowledge
from shared.domain.ids import ArticleId
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.search_figures import SearchFigures
from shared.domain.sources import RetrievalPath
from shared.domain.text import MaskedText
from shared.ports.articles import ArticleIndexSource, KnowledgeHead
from shared.ports.clock import Clock
from shared.ports.documents import TenantScope
from shared.ports.models import Embedder, Vector
from shared.ports.snapshots import Snapshots
from shared.retrieval.caches import CacheUse, QueryCaches, Question, may_cache_result
from shared.retrieval.confidence import Judge, load_calibration
from shared.retrieval.embedding_text import embedding_key
from shared.retrieval.figures import SearchCounters
from shared.retrieval.found import Found, hand_on
from shared.retrieval.fusion import Preference, clamp_top_k, fuse, pool_size, second_opinion
from shared.retrieval.judging import judge
from shared.retrieval.languages import guess_language
from shared.retrieval.library import IndexLibrary
from shared.retrieval.rungs import Deadlines, Rungs, Step
from shared.retrieval.tenant_index import TenantIndex
from shared.retrieval.tokens import query_words, weighted_terms

MAX_QUERY_CHARS: Final = 2_000
"""Part of a question that is searched: its end, where customers put what they want. Unit: characters. Value ours."""
TYPE_BONUS: Final = 0.012
"""Relevance a preferred kind of article may lack and still come first: about one rank of the vector list (CL-04)."""
WARM_UP: Final = MaskedText("delivery and returns")
"""Question that loads what a first search needs. Value ours."""

_MASK: Final = re.compile(r"\[(?:email|phone):[0-9a-f-]{36}\]")
"""A masked contact says nothing about the shop, and would weigh as a word no article has. Source: PV-01."""


@dataclass(frozen=True, slots=True)
class _Embedded:
    """The question as a vector, where it could be made, and the cache that had it."""

    vector: Vector | None
    cache: CacheUse


class HybridSearch:
    """ArticleSearch over an ArticleIndexSource and an Embedder. One instance a process: it holds indexes and caches."""

    def __init__(
        self,
        articles: ArticleIndexSource,
        embedder: Embedder,
        *,
        clock: Clock,
        snapshots: Snapshots | None = None,
        library: IndexLibrary | None = None,
        calibration: Judge | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._articles = articles
        self._embedder = embedder
        self._key = embedding_key(embedder.model, embedder.dimension)
        self._counters = SearchCounters()
        self._library = library or IndexLibrary(articles, snapshots=snapshots, counters=self._counters)
        self._calibration = calibration or load_calibration(self._key)
        self._caches = QueryCaches(self._key)
        self._rungs = Rungs(clock, deadlines or Deadlines())

    @property
    def is_calibrated(self) -> bool:
        """Tell whether confidence was fitted for this embedding model; readiness says `uncalibrated` otherwise."""
        return self._calibration.is_calibrated

    @property
    def is_spared(self) -> bool:
        """Tell whether search leaves its dependencies alone for now: turns acknowledge, none answers (RK-01)."""
        return self._rungs.is_search_spared

    def figures(self) -> SearchFigures:
        """Return what this process counted (KB-08, KB-09, KB-13)."""
        return self._counters.figures(
            indexes=len(self._library), index_bytes=self._library.size_bytes, spared=self._rungs.spared
        )

    async def search(
        self,
        scope: TenantScope,
        query: MaskedText,
        *,
        intent: CustomerIntent | None,
        types: Sequence[ArticleType],
        top_k: int,
    ) -> Knowledge:
        """Return pinned results within the context budget, the path that served and the absolute confidence.

        Never raises for a failing rung: it degrades and records the path; an empty result has confidence 0, and
        `is_unavailable` when no rung could look at all.
        """
        question = _to_question(query)
        if not question.words:
            return Knowledge(for_intent=intent)
        head = await self._rungs.ask(Step.HEAD, lambda: self._articles.head(scope))
        key = self._caches.result_key(
            scope.tenant_id, head.seq if head is not None else -1, question, types, clamp_top_k(top_k)
        )
        is_cacheable = head is not None and may_cache_result(intent, query.value)
        if is_cacheable and (known := self._caches.results.get(key)) is not None:
            self._counters.searched(known.path, CacheUse.EXACT)
            return known.model_copy(update={"cache": CacheUse.EXACT.value, "for_intent": intent})
        index, embedded = await self._index_and_vector(scope, head, question)
        similar = await self._nearest(scope, embedded.vector, top_k)
        found = await self._find(scope, question, index, similar, frozenset(types), clamp_top_k(top_k))
        knowledge = Knowledge(
            articles=hand_on(found),
            path=found.path,
            cache=embedded.cache.value,
            for_intent=intent,
            confidence=judge(found, self._calibration, unembedded=self._unembedded(found.articles)),
            is_unavailable=index is None and similar is None,
        )
        if is_cacheable and found.path is RetrievalPath.HYBRID:
            self._caches.results.put(key, knowledge)
        self._counters.searched(found.path, embedded.cache)
        return knowledge

    async def warm(self, scope: TenantScope) -> None:
        """Load the tenant's index, its vectors and the model before the first customer asks (KB-13).

        Like a search it never raises and waits no longer; what is still being loaded goes on being loaded.
        """
        question = _to_question(WARM_UP)
        head = await self._rungs.ask(Step.HEAD, lambda: self._articles.head(scope))
        _, embedded = await self._index_and_vector(scope, head, question)
        await self._nearest(scope, embedded.vector, 1)

    async def forget(self, scope: TenantScope) -> None:
        """Drop everything kept of the tenant, its snapshots included: part of erasing it. Raises: Unavailable."""
        self._caches.forget(scope.tenant_id)
        await self._library.forget(scope)

    async def settled(self) -> None:
        """Wait until nothing is being loaded or written down in the background."""
        await self._library.settled()

    # -- rungs -------------------------------------------------------------------------------------------------------

    async def _index_and_vector(
        self, scope: TenantScope, head: KnowledgeHead | None, question: Question
    ) -> tuple[TenantIndex | None, _Embedded]:
        """Return both; beside each other only where the index has to be waited for."""
        if head is not None and self._library.is_fresh(scope, head):
            return await self._index(scope, head), await self._embed(scope, question)
        return await asyncio.gather(self._index(scope, head), self._embed(scope, question))

    async def _index(self, scope: TenantScope, head: KnowledgeHead | None) -> TenantIndex | None:
        if head is None:
            return None
        return await self._rungs.ask(Step.INDEX, lambda: self._library.fresh(scope, head))

    async def _embed(self, scope: TenantScope, question: Question) -> _Embedded:
        if not self._calibration.understands(question.language):
            return _Embedded(None, CacheUse.MISS)
        known = self._caches.embedding(scope.tenant_id, question)
        if known is not None:
            return _Embedded(*known)
        rows = await self._rungs.ask(Step.EMBED, lambda: self._embedder.embed([MaskedText(question.text)]))
        if rows is None or rows.shape != (1, self._embedder.dimension):
            return _Embedded(None, CacheUse.MISS)
        vector: Vector = rows[0]
        self._caches.keep_embedding(scope.tenant_id, question, vector)
        return _Embedded(vector, CacheUse.MISS)

    async def _nearest(self, scope: TenantScope, vector: Vector | None, top_k: int) -> dict[str, float] | None:
        if vector is None:
            return None
        found = await self._rungs.ask(
            Step.NEAREST,
            lambda: self._articles.nearest(scope, vector, embedding_key=self._key, top_k=pool_size(top_k)),
        )
        # Approximate indexes give equal neighbours in any order, and another one the next time (fault 025).
        return None if found is None else dict(sorted(found, key=lambda hit: (-hit[1], hit[0])))

    async def _find(
        self,
        scope: TenantScope,
        question: Question,
        index: TenantIndex | None,
        similar: dict[str, float] | None,
        types: frozenset[ArticleType],
        top_k: int,
    ) -> Found:
        if index is None:
            return await self._by_vector_only(scope, similar or {}, top_k)
        # What the index does not know was published after this search began; what it knows is pinned.
        similar = {id: s for id, s in (similar or {}).items() if id in index}
        if not question.language and not any(map(self._calibration.understands, index.languages)):
            similar = {}
        words = query_words(question.text, index.languages)
        scored = [(hit.id, hit.score) for hit in index.keywords.search(weighted_terms(words), pool_size(top_k))]
        exact = index.exact_matches(question.text)
        pool = {id: card for id in {*similar, *dict(scored), *exact} if (card := index.cards.get(id)) is not None}
        unembedded = frozenset(id for id, card in pool.items() if similar and card.embedded_model != self._key)
        hits = fuse(
            tuple(similar),
            second_opinion(scored, always=unembedded | exact) if similar else tuple(dict(scored)),
            ahead=exact,
            unembedded=unembedded,
            preference=Preference(frozenset(id for id, card in pool.items() if card.type in types), TYPE_BONUS),
            top_k=top_k,
        )
        path = RetrievalPath.HYBRID if similar else RetrievalPath.KEYWORD_ONLY
        articles = {hit.id: article for hit in hits if (article := index.get(hit.id)) is not None}
        # Another search may have taken in a delete meanwhile.
        hits = tuple(hit for hit in hits if hit.id in articles)
        return Found(hits, path if hits else RetrievalPath.EMPTY, articles, similar, index, words)

    def _unembedded(self, pool: Mapping[str, Article]) -> frozenset[str]:
        """Return the articles that have no vector of this model yet."""
        return frozenset(id for id, article in pool.items() if article.embedded_model != self._key)

    async def _by_vector_only(self, scope: TenantScope, similar: dict[str, float], top_k: int) -> Found:
        hits = fuse(tuple(similar), (), top_k=top_k)
        read = await asyncio.gather(*(self._read(scope, hit.id) for hit in hits))
        articles: dict[str, Article] = {a.article_id: a for a in read if a is not None and a.may_answer}
        kept = tuple(hit for hit in hits if hit.id in articles)
        path = RetrievalPath.VECTOR_ONLY if kept else RetrievalPath.EMPTY
        return Found(kept, path, articles, similar)

    async def _read(self, scope: TenantScope, id: str) -> Article | None:
        return await self._rungs.ask(Step.NEAREST, lambda: self._articles.get(scope, ArticleId(id)))


def _to_question(query: MaskedText) -> Question:
    text = _MASK.sub(" ", query.value)[-MAX_QUERY_CHARS:].strip()
    return Question(text, guess_language(text), query_words(text))
