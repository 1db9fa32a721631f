"""Reading articles: for administration, for audit, and for the index that search keeps in memory.

Holding one of these gives no way to change an article. Source: KB-10, KB-11, design §6 "Keyword index".
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.domain.article import Article
from shared.domain.ids import ArticleId, SourceRef
from shared.ports.documents import TenantScope
from shared.ports.models import Vector


@dataclass(frozen=True, slots=True)
class KnowledgeHead:
    """Where a tenant's knowledge stands; moves in the same transaction as every article write."""

    seq: int = 0
    """Knowledge version: rises by one with each publish, delete and new vector."""
    purged_seq: int = 0
    """An index older than this may have missed a delete whose tombstone is gone: it must be built anew."""


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """One page of articles and the token of the next, if any."""

    items: tuple[Article, ...]
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class IndexCoverage:
    """How much of a tenant's knowledge search by meaning can see (KB-13, fault 023)."""

    published: int = 0
    current: int = 0
    """Articles whose vector was made of their present text by the present model."""
    stale: int = 0
    """Articles embedded before, but of another text or by another model."""
    missing: int = 0
    """Articles never embedded."""
    flagged: int = 0
    """Of all these, the articles that answer nobody."""
    oldest_waiting: datetime | None = None
    """When the text that waits longest was published; now minus this is the freshness lag."""
    lag_p50_ms: int | None = None
    """Median time from a text's publication to its vector, over the articles that have one; None without any."""
    lag_p95_ms: int | None = None


class ArticleReader(Protocol):
    """The merchant's articles. Raises (every method): Unavailable, RateLimited."""

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        """Return the published article, or None when it is absent or deleted."""
        ...

    async def list(self, scope: TenantScope, *, limit: int = 100, continuation: str | None = None) -> ArticlePage:
        """Return published articles by id, a page at a time."""
        ...

    async def version(self, scope: TenantScope, ref: SourceRef) -> Article | None:
        """Return the snapshot a reference pins, also long after the article changed or went (KB-10)."""
        ...

    async def coverage(self, scope: TenantScope, embedding_key: str) -> IndexCoverage:
        """Return how many articles have a vector of that model, stale and missing ones apart."""
        ...


class ArticleIndexSource(Protocol):
    """What hybrid search reads. Raises (every method): Unavailable, RateLimited."""

    async def head(self, scope: TenantScope) -> KnowledgeHead:
        """Return where the tenant's knowledge stands: one point read."""
        ...

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        """Return articles written after that knowledge version, oldest first, tombstones included, without vectors."""
        ...

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        """Return the published article, or None."""
        ...

    async def nearest(
        self, scope: TenantScope, vector: Vector, *, embedding_key: str, top_k: int
    ) -> tuple[tuple[ArticleId, float], ...]:
        """Return (id, cosine) of the published articles nearest to the vector, best first, of that model only."""
        ...
