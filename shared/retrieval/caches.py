"""The three caches of a search: exact results, embeddings of the same text, embeddings of nearly the same text.

All are bounded and live in memory only; keys are digests, so no question is kept as text. Results are keyed by the
tenant's knowledge version, so a publish or a delete leaves nothing old to serve. Never shared between tenants.
Source: KB-08, faults 022, 026.
"""

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Generic, TypeVar

from shared.domain.deltas import Knowledge
from shared.domain.ids import TenantId, digest
from shared.domain.intents import NEEDS, ArticleType, CustomerIntent
from shared.ports.models import Vector
from shared.retrieval.function_words import ASKING_WORDS
from shared.retrieval.tokens import QueryWord, fold

MAX_RESULTS: Final = 1_024
"""Results kept. Unit: searches; 4 KB each. Source: value ours."""
MAX_EMBEDDINGS: Final = 2_048
"""Embeddings kept. Unit: texts; 12 KB each at 3,072 dimensions. Source: value ours."""

V = TypeVar("V")


class CacheUse(StrEnum):
    """Which cache served, as Knowledge.cache shows it."""

    MISS = "miss"
    EXACT = "exact"
    """The whole result of the identical question."""
    EMBEDDING = "embedding"
    """The embedding of the identical text; the search itself ran."""
    SEMANTIC = "semantic"
    """The embedding of a question with the same content words; the search itself ran."""


class Lru(Generic[V]):
    """A bounded map that forgets what was not used for longest; safe between threads."""

    def __init__(self, max_items: int) -> None:
        self._items: OrderedDict[Hashable, V] = OrderedDict()
        self._max = max_items
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: Hashable) -> V | None:
        """Return the value and count it as used, or None."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
            return self._items.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Keep the value, forgetting the oldest when full."""
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            while len(self._items) > self._max:
                self._items.popitem(last=False)


@dataclass(frozen=True, slots=True)
class ResultKey:
    """Everything a result depends on."""

    tenant_id: TenantId
    knowledge_seq: int
    embedding_key: str
    query: str
    """Digest of the folded question: identifiers, numbers and language are all in it."""
    types: tuple[ArticleType, ...]
    top_k: int


@dataclass(slots=True)
class QueryCaches:
    """The caches of one process."""

    results: Lru[Knowledge] = field(default_factory=lambda: Lru(MAX_RESULTS))
    embeddings: Lru[Vector] = field(default_factory=lambda: Lru(MAX_EMBEDDINGS))

    def embedding(
        self, tenant: TenantId, embedding_key: str, query: str, words: Sequence[QueryWord]
    ) -> tuple[Vector, CacheUse] | None:
        """Return a known embedding of the question, or of one with the same content words in the same order."""
        exact = self.embeddings.get(_exact_key(tenant, embedding_key, query))
        if exact is not None:
            return exact, CacheUse.EMBEDDING
        near = self.embeddings.get(_near_key(tenant, embedding_key, words))
        return None if near is None else (near, CacheUse.SEMANTIC)

    def keep_embedding(
        self, tenant: TenantId, embedding_key: str, query: str, words: Sequence[QueryWord], vector: Vector
    ) -> None:
        """Remember the embedding for the question and for questions close to it."""
        self.embeddings.put(_exact_key(tenant, embedding_key, query), vector)
        if (near := _near_key(tenant, embedding_key, words)) is not None:
            self.embeddings.put(near, vector)


def may_cache_result(intent: CustomerIntent | None) -> bool:
    """Tell whether the result may serve another asker: a question about one's own account never does (fault 026)."""
    return intent is None or not NEEDS[intent].needs_account


def query_digest(query: str) -> str:
    """Return the digest under which the identical question is found, case and spacing aside."""
    return digest(" ".join(fold(query).split()))


def _exact_key(tenant: TenantId, embedding_key: str, query: str) -> Hashable:
    return ("exact", tenant, embedding_key, digest(query))


def _near_key(tenant: TenantId, embedding_key: str, words: Sequence[QueryWord]) -> Hashable:
    """Content and asking words decide, in their order and with every number: "order 1001" is never "order 1002"."""
    told = [word.alternatives[0][0] for word in words if word.is_content or word.surface in ASKING_WORDS]
    return ("near", tenant, embedding_key, digest(*told)) if len(told) > 1 else None
