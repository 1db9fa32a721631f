"""Writing articles: the administration calls, the catalog sync and the change feed hold this; no agent does.

Source: KB-02, KB-04, KB-10, KB-11.
"""

from datetime import datetime
from typing import Protocol

from shared.domain.article import Article, ArticleInput
from shared.domain.ids import ArticleId
from shared.ports.documents import TenantScope
from shared.ports.models import Embedder


class ArticleWriter(Protocol):
    """The one way articles change. Raises (every method): Unavailable, RateLimited, VersionConflict."""

    async def put(self, scope: TenantScope, article: ArticleInput, *, hidden: str = "") -> Article:
        """Publish the article: a new version and its immutable snapshot, or nothing when it says what it said.

        It is looked through for instructions first, with `hidden`, the words its page held but did not show; one that
        holds any is stored with its flag and answers nobody.
        """
        ...

    async def delete(self, scope: TenantScope, article: ArticleId) -> bool:
        """Take the article out of every answer now; False when it was not published. Snapshots stay for audit."""
        ...

    async def purge_deleted(self, scope: TenantScope, before: datetime) -> int:
        """Remove the tombstones of articles deleted before the moment; return how many."""
        ...

    async def reembed(self, scope: TenantScope, article: ArticleId, embedder: Embedder) -> bool:
        """Give the article the vector of its present text; False when it has it already or is gone."""
        ...

    async def pending(
        self, scope: TenantScope, embedding_key: str, *, limit: int = 100, before: datetime | None = None
    ) -> tuple[ArticleId, ...]:
        """Return articles without a vector of their present text by that model: those written before, if given."""
        ...
