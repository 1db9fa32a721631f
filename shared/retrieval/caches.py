"""The three caches of a search: exact results, embeddings of the same text, embeddings of nearly the same text.

All are bounded and live in memory only; keys are digests, so no question is kept as text. Results are keyed by the
tenant's knowledge version, so a publish or a delete leaves nothing old to serve. Never shared between tenants.
The second is the cache of a session: one conversation asks the same words up to four times (on a preliminary intent, on
the real one, widened, again after a revision) and embeds them once; as a vector depends on nothing but the words, two
sessions of a tenant may share it. The third reuses a vector only, never what another asker was given.
Auth scope: what is kept is published articles, which every asker of a tenant may read, and of a question about one's
own account no result is kept at all, so that the tenant is the whole scope. Source: KB-08, faults 022, 026.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Generic, TypeVar

from shared.domain.deltas import Knowledge
from shared.domain.ids import TenantId, digest
from shared.domain.intents import NEEDS, ArticleType, CustomerIntent
from shared.ports.models import Vector
from shared.retrieval.function_words import ASKING_WORDS
from shared.retrieval.identifiers import typed_code
from shared.retrieval.tokens import QueryWord, fold

MAX_RESULTS: Final = 1_024
"""Results kept. Unit: searches; 4 KB each. Source: value ours."""
MAX_EMBEDDINGS: Final = 2_048
"""Embeddings kept. Unit: texts; 12 KB each at 3,072 dimensions. Source: value ours."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_PERSONAL: Final = re.compile(r"\[(?:email|phone):|\d{3}")
"""A masked contact, or a number long enough for an order, a customer, a sum."""


class CacheUse(StrEnum):
    """Which cache served, as Knowledge.cache shows it."""

    MISS = "miss"
    EXACT = "exact"
    """The whole result of the identical question."""
    EMBEDDING = "embedding"
    """The embedding of the identical text; the search itself ran."""
    SEMANTIC = "semantic"
    """The embedding of a question with the same content words; the search itself ran."""


class Lru(Generic[K, V]):
    """A bounded map that forgets what was not used for longest; safe between threads."""

    def __init__(self, max_items: int) -> None:
        self._items: OrderedDict[K, V] = OrderedDict()
        self._max = max_items
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: K) -> V | None:
        """Return the value and count it as used, or None."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
            return self._items.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep the value, forgetting the oldest when full."""
        with self._lock:
            self._items[key] = value
            self._items.move_to_end(key)
            while len(self._items) > self._max:
                self._items.popitem(last=False)

    def discard(self, key: K) -> None:
        """Forget the value, if there is one."""
        with self._lock:
            self._items.pop(key, None)

    def drop(self, is_unwanted: Callable[[K], bool]) -> None:
        """Forget every value whose key is unwanted."""
        with self._lock:
            for key in [key for key in self._items if is_unwanted(key)]:
                del self._items[key]


@dataclass(frozen=True, slots=True)
class ResultKey:
    """Everything a result depends on."""

    tenant_id: TenantId
    knowledge_seq: int
    """Version of the tenant's set of articles."""
    embedding_key: str
    language: str
    query: str
    """Digest of the folded question, with every identifier and number in it."""
    types: tuple[ArticleType, ...]
    top_k: int


@dataclass(frozen=True, slots=True)
class EmbeddingKey:
    """Everything the reuse of a vector depends on."""

    tenant_id: TenantId
    embedding_key: str
    language: str
    is_near: bool
    query: str
    """Digest of the text itself or, near, of its telling words, identifiers and numbers included, in their order."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the caches see it."""

    text: str
    language: str
    """As guessed; empty when nothing tells."""
    words: tuple[QueryWord, ...]


@dataclass(slots=True)
class QueryCaches:
    """The caches of one process, for one embedding model."""

    embedding_key: str
    results: Lru[ResultKey, Knowledge] = field(default_factory=lambda: Lru(MAX_RESULTS))
    embeddings: Lru[EmbeddingKey, Vector] = field(default_factory=lambda: Lru(MAX_EMBEDDINGS))

    def result_key(
        self, tenant: TenantId, seq: int, question: Question, types: Sequence[ArticleType], top_k: int
    ) -> ResultKey:
        """Return the key of the identical question at that knowledge version; only a code's capitals tell apart."""
        folded = digest(" ".join(fold(question.text).split()), typed_code(question.text))
        return ResultKey(tenant, seq, self.embedding_key, question.language, folded, tuple(types), top_k)

    def embedding(self, tenant: TenantId, question: Question) -> tuple[Vector, CacheUse] | None:
        """Return a known embedding of the question, or of one with the same content words in the same order."""
        exact = self.embeddings.get(self._exact_key(tenant, question))
        if exact is not None:
            return exact, CacheUse.EMBEDDING
        key = self._near_key(tenant, question)
        near = self.embeddings.get(key) if key is not None else None
        return None if near is None else (near, CacheUse.SEMANTIC)

    def keep_embedding(self, tenant: TenantId, question: Question, vector: Vector) -> None:
        """Remember the embedding for the question and for questions close to it."""
        self.embeddings.put(self._exact_key(tenant, question), vector)
        if (near := self._near_key(tenant, question)) is not None:
            self.embeddings.put(near, vector)

    def forget(self, tenant: TenantId) -> None:
        """Drop everything of the tenant."""
        self.results.drop(lambda key: key.tenant_id == tenant)
        self.embeddings.drop(lambda key: key.tenant_id == tenant)

    def _exact_key(self, tenant: TenantId, question: Question) -> EmbeddingKey:
        return EmbeddingKey(tenant, self.embedding_key, question.language, False, digest(question.text))

    def _near_key(self, tenant: TenantId, question: Question) -> EmbeddingKey | None:
        """Content and asking words decide, with every number: "order 1001" is never "order 1002"."""
        telling = [w for w in question.words if w.is_content or w.surface in ASKING_WORDS]
        if len(telling) < 2:
            return None
        told = digest(*(word.alternatives[0][0] for word in telling))
        return EmbeddingKey(tenant, self.embedding_key, question.language, True, told)


def may_cache_result(intent: CustomerIntent | None, text: str) -> bool:
    """Tell whether the result may serve another asker (fault 026).

    Never of a question about one's own account; and as speculative searches know no intent yet, never of one that names
    a contact or a number, whatever the intent.
    """
    return (intent is None or not NEEDS[intent].needs_account) and _PERSONAL.search(text) is None
