"""The tenants' indexes of one process: restored or built on first use, caught up before each search, bounded in memory.

Catching up is one task a tenant however many searches wait for it; a search that stops waiting does not stop it. Hot
means much used: an index that serves many searches stays, with all its articles, when tenants that asked once come by.
Source: design §6 "Keyword index", KB-13, fault 022.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from shared.domain.article import Article
from shared.domain.errors import IntegrationError
from shared.domain.ids import TenantId
from shared.ports.articles import ArticleIndexSource, KnowledgeHead
from shared.ports.documents import TenantScope
from shared.ports.snapshots import Snapshots
from shared.retrieval.figures import SearchCounters
from shared.retrieval.snapshots import IndexSnapshots, is_due
from shared.retrieval.tenant_index import TenantIndex

MAX_INDEX_BYTES: Final = 256 * 1024 * 1024
"""Memory of all tenants' indexes together; 10,000 articles of 1 KB take about 40 MB. Source: value ours."""
INLINE_CHANGES: Final = 16
"""Changes applied on the event loop; more go to a thread. Unit: articles, about 0.4 ms each. Source: value ours."""
HALF_LIFE_USES: Final = 2_000
"""Searches of all tenants after which a tenant's own count half: yesterday's busy shop leaves some day. Value ours."""


class _Shelf:
    """One tenant's index, how much it is used, and the tasks that change it or write it down, if any."""

    __slots__ = ("heat", "index", "keeping", "kept_seq", "refresh", "used_at")

    def __init__(self) -> None:
        self.index = TenantIndex()
        self.refresh: asyncio.Task[None] | None = None
        self.keeping: asyncio.Task[None] | None = None
        self.kept_seq: int | None = None
        self.heat = 0.0
        self.used_at = 0

    def warmth(self, now: int) -> float:
        """Return how much the index was used, older uses counting less. Unit: searches."""
        decayed: float = self.heat * 0.5 ** ((now - self.used_at) / HALF_LIFE_USES)
        return decayed

    def use(self, now: int) -> None:
        """Count one search."""
        self.heat, self.used_at = self.warmth(now) + 1, now


class IndexLibrary:
    """Indexes by tenant under one memory bound."""

    def __init__(
        self,
        source: ArticleIndexSource,
        *,
        snapshots: Snapshots | None = None,
        max_bytes: int = MAX_INDEX_BYTES,
        counters: SearchCounters | None = None,
    ) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._counters = counters or SearchCounters()
        self._snapshots = None if snapshots is None else IndexSnapshots(snapshots, counters=self._counters)
        self._shelves: dict[TenantId, _Shelf] = {}
        self._uses = 0

    @property
    def size_bytes(self) -> int:
        """Return about how much memory all indexes hold."""
        return sum(shelf.index.size_bytes for shelf in self._shelves.values())

    def __len__(self) -> int:
        return len(self._shelves)

    def __contains__(self, tenant: object) -> bool:
        return tenant in self._shelves

    def is_fresh(self, scope: TenantScope, head: KnowledgeHead) -> bool:
        """Tell whether the tenant's index has nothing to catch up with."""
        shelf = self._shelves.get(scope.tenant_id)
        return shelf is not None and shelf.index.seq >= head.seq

    async def fresh(self, scope: TenantScope, head: KnowledgeHead) -> TenantIndex:
        """Return the tenant's index, at least as new as the knowledge version given.

        Raises: Unavailable, RateLimited, IntegrationError when the store does not give the changes.
        """
        shelf = self._shelves.setdefault(scope.tenant_id, _Shelf())
        self._uses += 1
        shelf.use(self._uses)
        while shelf.index.seq < head.seq:
            if shelf.refresh is None or shelf.refresh.done():
                shelf.refresh = asyncio.create_task(self._catch_up(scope, shelf, head))
                shelf.refresh.add_done_callback(_look_at)
            await asyncio.shield(shelf.refresh)
        return shelf.index

    async def forget(self, scope: TenantScope) -> None:
        """Drop the tenant's index and remove its snapshots. Raises: Unavailable."""
        shelf = self._shelves.pop(scope.tenant_id, None)
        if shelf is not None:
            await _ended(shelf.refresh)
            await _ended(shelf.keeping)
        if self._snapshots is not None:
            await self._snapshots.forget(scope)

    async def settled(self) -> None:
        """Wait until no index is being read or written down."""
        for shelf in tuple(self._shelves.values()):
            await _ended(shelf.refresh)
            await _ended(shelf.keeping)

    async def _catch_up(self, scope: TenantScope, shelf: _Shelf, head: KnowledgeHead) -> None:
        started = asyncio.get_running_loop().time()
        await _ended(shelf.keeping)
        index = shelf.index
        # Behind the last purge, a delete may have left no trace: what is kept is then of no use.
        is_new = index.seq == 0 or index.seq < head.purged_seq
        if is_new:
            index = await self._restored(scope, shelf, head) or TenantIndex()
        self._count(is_new, index)
        after, continuation = index.seq, None
        while True:
            page = await self._source.changes(scope, after, continuation=continuation)
            if len(page.items) > INLINE_CHANGES:
                await asyncio.to_thread(_apply, index, page.items)
            else:
                _apply(index, page.items)
            if after:
                self._note_lags(page.items)
            continuation = page.continuation
            if continuation is None:
                break
        index.seq = head.seq
        shelf.index = index
        self._counters.waited((asyncio.get_running_loop().time() - started) * 1_000)
        self._shrink(scope.tenant_id)
        if self._snapshots is not None and is_due(index, shelf.kept_seq):
            shelf.keeping = asyncio.create_task(self._keep(scope, shelf, index, self._snapshots))
            shelf.keeping.add_done_callback(_look_at)

    async def _restored(self, scope: TenantScope, shelf: _Shelf, head: KnowledgeHead) -> TenantIndex | None:
        if self._snapshots is None:
            return None
        try:
            index = await self._snapshots.newest(scope, head)
        except IntegrationError:
            return None
        shelf.kept_seq = None if index is None else index.seq
        return index

    async def _keep(self, scope: TenantScope, shelf: _Shelf, index: TenantIndex, snapshots: IndexSnapshots) -> None:
        """Write the index down beside the searches; the next change waits until that is done."""
        shelf.kept_seq = await snapshots.keep(scope, index)

    def _count(self, is_new: bool, index: TenantIndex) -> None:
        if not is_new:
            self._counters.caught_up += 1
        elif index.seq:
            self._counters.restored += 1
        else:
            self._counters.built += 1

    def _note_lags(self, articles: Sequence[Article]) -> None:
        for article in articles:
            self._counters.followed(article)

    def _shrink(self, newest: TenantId) -> None:
        while len(self._shelves) > 1 and self.size_bytes > self._max_bytes:
            others = [tenant for tenant in self._shelves if tenant != newest]
            del self._shelves[min(others, key=lambda tenant: self._shelves[tenant].warmth(self._uses))]
            self._counters.evicted += 1


def _apply(index: TenantIndex, articles: Sequence[Article]) -> None:
    for article in articles:
        index.apply(article)


async def _ended(task: asyncio.Task[None] | None) -> None:
    """Wait for the task, if there is one, whatever becomes of it."""
    if task is not None and not task.done():
        await asyncio.wait((task,))


def _look_at(task: asyncio.Task[None]) -> None:
    """Take note of a failure nobody waited for; the next search tries again."""
    if not task.cancelled():
        task.exception()
