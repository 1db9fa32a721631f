"""The tenants' indexes of one process: built on first use, caught up before each search, the unused ones leave first.

Catching up is one task a tenant however many searches wait for it; a search that stops waiting does not stop it.
Source: design §6 "Keyword index", KB-13, fault 022.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from shared.domain.article import Article
from shared.domain.ids import TenantId
from shared.ports.articles import ArticleIndexSource, KnowledgeHead
from shared.ports.documents import TenantScope
from shared.retrieval.tenant_index import TenantIndex

MAX_INDEX_BYTES: Final = 256 * 1024 * 1024
"""Memory of all tenants' indexes together; 10,000 articles of 1 KB take about 60 MB. Source: value ours."""
INLINE_CHANGES: Final = 16
"""Changes applied on the event loop; more go to a thread. Unit: articles, about 0.4 ms each. Source: value ours."""


class _Shelf:
    """One tenant's index and the task that is catching it up, if any."""

    __slots__ = ("index", "refresh")

    def __init__(self) -> None:
        self.index = TenantIndex()
        self.refresh: asyncio.Task[None] | None = None


class IndexLibrary:
    """Indexes by tenant under one memory bound."""

    def __init__(self, source: ArticleIndexSource, *, max_bytes: int = MAX_INDEX_BYTES) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._shelves: OrderedDict[TenantId, _Shelf] = OrderedDict()

    @property
    def size_bytes(self) -> int:
        """Return about how much memory all indexes hold."""
        return sum(shelf.index.size_bytes for shelf in self._shelves.values())

    def __contains__(self, tenant: object) -> bool:
        return tenant in self._shelves

    async def fresh(self, scope: TenantScope, head: KnowledgeHead) -> TenantIndex:
        """Return the tenant's index, at least as new as the knowledge version given.

        Raises: Unavailable, RateLimited, IntegrationError when the store does not give the changes.
        """
        shelf = self._shelves.setdefault(scope.tenant_id, _Shelf())
        self._shelves.move_to_end(scope.tenant_id)
        while shelf.index.seq < head.seq:
            if shelf.refresh is None or shelf.refresh.done():
                shelf.refresh = asyncio.create_task(self._catch_up(scope, shelf, head))
                shelf.refresh.add_done_callback(_look_at)
            await asyncio.shield(shelf.refresh)
        return shelf.index

    async def _catch_up(self, scope: TenantScope, shelf: _Shelf, head: KnowledgeHead) -> None:
        # Behind the last purge, a delete may have left no trace: what is kept is then of no use.
        index = TenantIndex() if shelf.index.seq < head.purged_seq else shelf.index
        after, continuation = index.seq, None
        while True:
            page = await self._source.changes(scope, after, continuation=continuation)
            if len(page.items) > INLINE_CHANGES:
                await asyncio.to_thread(_apply, index, page.items)
            else:
                _apply(index, page.items)
            continuation = page.continuation
            if continuation is None:
                break
        index.seq = head.seq
        shelf.index = index
        self._shrink()

    def _shrink(self) -> None:
        while len(self._shelves) > 1 and self.size_bytes > self._max_bytes:
            self._shelves.popitem(last=False)


def _apply(index: TenantIndex, articles: Sequence[Article]) -> None:
    for article in articles:
        index.apply(article)


def _look_at(task: asyncio.Task[None]) -> None:
    """Take note of a failure nobody waited for; the next search tries again."""
    if not task.cancelled():
        task.exception()
