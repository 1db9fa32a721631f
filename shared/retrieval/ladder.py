"""Hybrid search and its ladder: hybrid → vector only → keyword only → empty, each result saying which rung served.

Owns the order of steps; ranks by relevance, judges by confidence, writes nothing. Knowledge is read at one version:
the tenant's knowledge head is looked up first, and index and result cache serve that version or a newer one.
Source: KB-05…09, KB-13, RK-01, design §4, §6 "Keyword index", faults 022, 024, 026.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from shared.domain.article import Article
from shared.domain.deltas import Knowledge
from shared.domain.errors import IntegrationError, SchemaError
from shared.domain.ids import ArticleId
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.sources import RetrievalPath
from shared.domain.text import MaskedText
from shared.ports.articles import ArticleIndexSource, KnowledgeHead
from shared.ports.clock import Clock
from shared.ports.documents import TenantScope
from shared.ports.models import Embedder, Vector
from shared.retrieval.breaker import Breaker
from shared.retrieval.caches import CacheUse, QueryCaches, ResultKey, may_cache_result, query_digest
from shared.retrieval.confidence import Evidence, Judge, coverage, load_calibration
from shared.retrieval.embedding_text import embedding_key
from shared.retrieval.found import Found, hand_on
from shared.retrieval.fusion import Preference, clamp_top_k, fuse, pool_size
from shared.retrieval.languages import guess_language
from shared.retrieval.library import IndexLibrary
from shared.retrieval.tenant_index import TenantIndex
from shared.retrieval.tokens import query_words, terms_of

MAX_QUERY_CHARS: Final = 2_000
"""Part of a question that is searched: its end, where customers put what they want. Unit: characters. Value ours."""
TYPE_BONUS: Final = 0.012
"""Relevance a preferred kind of article may lack and still come first: about one rank of the vector list (CL-04)."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds each step may take; together below the retriever's own deadline (agents.SPECS)."""

    head_s: float = 1.0
    index_s: float = 2.5
    embed_s: float = 2.0
    nearest_s: float = 1.5


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
        library: IndexLibrary | None = None,
        calibration: Judge | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._articles = articles
        self._embedder = embedder
        self._key = embedding_key(embedder.model, embedder.dimension)
        self._library = library or IndexLibrary(articles)
        self._calibration = calibration or load_calibration(self._key)
        self._deadlines = deadlines or Deadlines()
        self._caches = QueryCaches()
        self._store = Breaker(clock)
        self._model = Breaker(clock)

    @property
    def is_calibrated(self) -> bool:
        """Tell whether confidence was fitted for this embedding model; readiness says `uncalibrated` otherwise."""
        return self._calibration.is_calibrated

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

        Never raises for a failing rung: it degrades and records the path; an empty result has confidence 0.
        """
        text = query.value[-MAX_QUERY_CHARS:]
        if not query_words(text):
            return Knowledge(for_intent=intent)
        head = await self._rung(self._store, self._deadlines.head_s, lambda: self._articles.head(scope))
        key = ResultKey(
            scope.tenant_id,
            head.seq if head is not None else -1,
            self._key,
            query_digest(text),
            tuple(types),
            clamp_top_k(top_k),
        )
        is_cacheable = head is not None and may_cache_result(intent)
        if is_cacheable and (known := self._caches.results.get(key)) is not None:
            return known.model_copy(update={"cache": CacheUse.EXACT.value, "for_intent": intent})
        index, embedded = await asyncio.gather(self._index(scope, head), self._embed(scope, text))
        found = await self._find(scope, text, index, embedded.vector, frozenset(types), clamp_top_k(top_k))
        knowledge = Knowledge(
            articles=hand_on(found),
            path=found.path,
            cache=embedded.cache.value,
            for_intent=intent,
            confidence=self._confidence(found),
        )
        if is_cacheable and found.path is RetrievalPath.HYBRID:
            self._caches.results.put(key, knowledge)
        return knowledge

    async def warm(self, scope: TenantScope) -> None:
        """Load the tenant's index, its vectors and the model before the first customer asks (KB-13).

        Waits for the index however long it takes. Raises: Unavailable, RateLimited when the store does not answer.
        """
        await self._library.fresh(scope, await self._articles.head(scope))
        await self.search(scope, MaskedText("warm up"), intent=None, types=(), top_k=1)

    # -- rungs -------------------------------------------------------------------------------------------------------

    async def _index(self, scope: TenantScope, head: KnowledgeHead | None) -> TenantIndex | None:
        if head is None:
            return None
        return await self._rung(self._store, self._deadlines.index_s, lambda: self._library.fresh(scope, head))

    async def _embed(self, scope: TenantScope, text: str) -> _Embedded:
        if not self._calibration.understands(guess_language(text)):
            return _Embedded(None, CacheUse.MISS)
        words = query_words(text)
        known = self._caches.embedding(scope.tenant_id, self._key, text, words)
        if known is not None:
            return _Embedded(*known)
        rows = await self._rung(self._model, self._deadlines.embed_s, lambda: self._embedder.embed([MaskedText(text)]))
        if rows is None or rows.shape != (1, self._embedder.dimension):
            return _Embedded(None, CacheUse.MISS)
        vector: Vector = rows[0]
        self._caches.keep_embedding(scope.tenant_id, self._key, text, words, vector)
        return _Embedded(vector, CacheUse.MISS)

    async def _nearest(self, scope: TenantScope, vector: Vector | None, top_k: int) -> dict[str, float] | None:
        if vector is None:
            return None
        found = await self._rung(
            self._store,
            self._deadlines.nearest_s,
            lambda: self._articles.nearest(scope, vector, embedding_key=self._key, top_k=pool_size(top_k)),
        )
        return None if found is None else dict(found)

    async def _find(
        self,
        scope: TenantScope,
        text: str,
        index: TenantIndex | None,
        vector: Vector | None,
        types: frozenset[ArticleType],
        top_k: int,
    ) -> Found:
        similar = await self._nearest(scope, vector, top_k)
        if index is None:
            return await self._by_vector_only(scope, similar or {}, top_k)
        # What the index does not know was published after this search began; what it knows is pinned.
        similar = {id: s for id, s in (similar or {}).items() if index.get(id) is not None}
        if not guess_language(text) and not any(map(self._calibration.understands, index.languages)):
            similar = {}
        words = query_words(text, index.languages)
        ranked = [hit.id for hit in index.keywords.search(terms_of(words), pool_size(top_k))]
        exact = index.exact_matches(text)
        pool = {id: a for id in {*similar, *ranked, *exact} if (a := index.get(id)) is not None}
        hits = fuse(
            tuple(similar),
            ranked,
            ahead=exact,
            unembedded=self._unembedded(pool) if similar else (),
            preference=Preference(frozenset(id for id, a in pool.items() if a.type in types), TYPE_BONUS),
            top_k=top_k,
        )
        path = RetrievalPath.HYBRID if similar else RetrievalPath.KEYWORD_ONLY
        return Found(hits, path if hits else RetrievalPath.EMPTY, pool, similar, index, words)

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
        return await self._rung(
            self._store, self._deadlines.nearest_s, lambda: self._articles.get(scope, ArticleId(id))
        )

    async def _rung(self, breaker: Breaker, deadline_s: float, call: Callable[[], Awaitable[T]]) -> T | None:
        """Return what the dependency answers, or None when it fails, is too slow or is being spared."""
        if breaker.is_open:
            return None
        try:
            async with asyncio.timeout(deadline_s):
                value = await call()
        except (IntegrationError, SchemaError, TimeoutError):
            breaker.fail()
            return None
        breaker.succeed()
        return value

    # -- judging -----------------------------------------------------------------------------------------------------

    def _confidence(self, found: Found) -> float:
        if not found.hits:
            return 0.0
        ids = [hit.id for hit in found.hits]
        evidence = Evidence(
            max((found.similarities.get(id, 0.0) for id in ids), default=0.0),
            self._coverage(found, ids),
            any(hit.is_identifier_match for hit in found.hits),
        )
        confidence = self._calibration.confidence(found.path, evidence)
        # An article published a moment ago has no vector yet: its words alone may answer.
        waiting = [id for id in ids if id in self._unembedded(found.articles)]
        if waiting and found.path is RetrievalPath.HYBRID:
            by_words = Evidence(0.0, self._coverage(found, waiting), evidence.is_exact)
            confidence = max(confidence, self._calibration.confidence(RetrievalPath.KEYWORD_ONLY, by_words))
        return confidence

    def _coverage(self, found: Found, ids: Sequence[str]) -> float:
        return coverage(found.words, ids, found.index.keywords) if found.index is not None else 0.0
