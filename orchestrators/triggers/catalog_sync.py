"""The catalog worker: asks the shop about products that events named, and publishes what it says.

What a payload said is never published: the shop's answer is the truth, so events may be lost, repeated or late without
harm. Tenants take turns, a slice each; what the time does not allow stays in the queue. An article whose text did not
change is not written, and so not embedded. Source: SH-01, KB-01, KB-04, faults 064, 065, 067, 085, 086, 088.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, assert_never

from orchestrators.triggers.replaying import SYNC_FEED
from shared.adapters.records.catalog_queue import TenantTurn
from shared.container import Services
from shared.domain.catalog import Product, product_article_id
from shared.domain.catalog_work import CatalogWork, Hint, Subject, work_id
from shared.domain.errors import AuthorityError, RateLimited, VouchError
from shared.ports.documents import TenantScope
from shared.retrieval.product_article import to_article

RUN: Final = timedelta(minutes=4)
"""Time one run may take: well under the functions' limit of ten minutes (host.json). Value ours."""
TENANTS_AT_ONCE: Final = 8
"""Tenants served side by side; the shops limit each tenant by itself (apis.md §1.11). Value ours."""
SLICE: Final = 25
"""Most products of one tenant's turn. Value ours."""
SLICE_TIME: Final = timedelta(seconds=10)
"""Time after which a turn begins no further product, so that a slow shop keeps no other waiting. Value ours."""
WORK_LIMIT_S: Final = 20.0
"""Longest one product may take, a third of its lease: nothing is written after the lease is over. Value ours."""
TROUBLE_WAIT: Final = timedelta(seconds=30)
"""Pause of a tenant whose shop does not answer. Value ours."""
LONGEST_WAIT_S: Final = 120.0
"""Longest pause a shop can ask for. Value ours."""

_log = logging.getLogger(__name__)


async def sync_catalog(parts: Services) -> int:
    """Work through what is due, fairly, until nothing is or the time is over; return how many products were asked."""
    ends, asked = parts.clock.now() + RUN, 0
    while parts.clock.now() < ends:
        turns = await parts.catalog_queue.next_turns(TENANTS_AT_ONCE)
        if not turns:
            break
        asked += sum(await asyncio.gather(*(_serve(turn, parts, ends) for turn in turns)))
    return asked


async def publish(scope: TenantScope, product_id: str, product: Product | None, parts: Services) -> bool:
    """Make the tenant's article what the shop says, None for gone; tell whether that changed anything.

    A draft or archived product has no article.
    """
    made = None if product is None else to_article(product)
    if made is None:
        return await parts.articles.delete(scope, product_article_id(product_id))
    before = await parts.articles.current_version(scope, made.article.article_id)
    return (await parts.articles.put(scope, made.article, hidden=made.hidden)).version != before


def is_of_the_shop(error: Exception) -> bool:
    """Tell whether the shop, or our way to it, is in trouble, rather than one product of it."""
    if isinstance(error, VouchError):
        return error.is_transient or isinstance(error, AuthorityError)
    return isinstance(error, TimeoutError)


async def _serve(turn: TenantTurn, parts: Services, ends: datetime) -> int:
    """Serve one turn; whatever happens in it, the tenant keeps its place in the queue."""
    queue, scope, wait, asked = parts.catalog_queue, turn.scope, timedelta(), 0
    try:
        if not await parts.installations.is_connected(scope):
            await queue.drop_turn(turn)
            return 0
        works = await queue.take(scope, SLICE)
        asked, wait = await _Slice(scope, works, parts).work_through(min(ends, parts.clock.now() + SLICE_TIME))
        await queue.end_turn(turn, not_before=parts.clock.now() + wait)
    except Exception as error:  # noqa: BLE001 - the worker's edge: one tenant's trouble must not end the others' run
        _log.error("the catalog turn of tenant %s failed: %s", scope.tenant_id, type(error).__name__)
    return asked


class _Slice:
    """The products of one turn, one after the other; remembers what an answer has settled on the way."""

    def __init__(self, scope: TenantScope, works: Sequence[CatalogWork], parts: Services) -> None:
        self._scope = scope
        self._parts = parts
        self._works = works
        self._held = {work.id for work in works}
        """Rows this worker has the lease of and has not given back."""
        self._settled: dict[str, datetime | None] = {}
        """Rows an answer of this slice covers, with the source time it was of; None for items, which have none."""

    async def work_through(self, ends: datetime) -> tuple[int, timedelta]:
        """Return how many products were asked for, and how long the tenant should pause."""
        asked = 0
        for index, work in enumerate(self._works):
            if work.id in self._settled:
                await self._finish(work, self._settled[work.id])
                continue
            if self._parts.clock.now() >= ends:
                await self._put_back(self._works[index:])
                break
            asked += 1
            pause = await self._try(work)
            if pause is not None:
                await self._put_back(self._works[index + 1 :])
                return asked, pause
        return asked, timedelta()

    async def _try(self, work: CatalogWork) -> timedelta | None:
        """Look at one product; return how long to pause when it is the shop that is in trouble, not the product."""
        try:
            async with asyncio.timeout(WORK_LIMIT_S):
                await self._look_at(work)
        except RateLimited as error:
            await self._put_back([work])
            return timedelta(seconds=min(error.retry_after_s, LONGEST_WAIT_S))
        except Exception as error:  # noqa: BLE001 - the worker's edge: one product's defect must not stop the others
            is_of_shop = is_of_the_shop(error)
            await self._fail(work, error, is_of_shop=is_of_shop)
            return TROUBLE_WAIT if is_of_shop else None
        return None

    async def _look_at(self, work: CatalogWork) -> None:
        scope, parts = self._scope, self._parts
        match work.subject:
            case Subject.PRODUCT:
                product = await parts.catalog.product(scope, work.subject_id)
                await publish(scope, work.subject_id, product, parts)
                known_at = parts.clock.now() if product is None else product.updated_at
                await self._finish(work, known_at)
            case Subject.ITEM:
                product = await parts.catalog.product_of_item(scope, work.subject_id)
                if product is not None:
                    await self._publish_of_item(product)
                await self._finish(work, None)
            case _:
                assert_never(work.subject)
        if product is not None:
            self._settle(product)

    async def _publish_of_item(self, product: Product) -> None:
        """Publish the product an item led to, under the product's own lease."""
        scope, queue = self._scope, self._parts.catalog_queue
        if work_id(Subject.PRODUCT, product.product_id) in self._held:
            await publish(scope, product.product_id, product, self._parts)
            return
        mine = await queue.claim(scope, product.product_id, None)
        if mine is None:
            # Somebody has it, and may have asked the shop before the item changed.
            await queue.hint(scope, Hint(Subject.PRODUCT, product.product_id, None, ""))
            return
        await publish(scope, product.product_id, product, self._parts)
        await queue.finish(scope, mine, product.updated_at)

    def _settle(self, product: Product) -> None:
        self._settled[work_id(Subject.PRODUCT, product.product_id)] = product.updated_at
        for variant in product.variants:
            self._settled[work_id(Subject.ITEM, variant.inventory_item_id)] = None

    async def _finish(self, work: CatalogWork, known_at: datetime | None) -> None:
        self._held.discard(work.id)
        await self._parts.catalog_queue.finish(self._scope, work, known_at)

    async def _put_back(self, works: Sequence[CatalogWork]) -> None:
        for work in works:
            await self._parts.catalog_queue.put_back(self._scope, work)

    async def _fail(self, work: CatalogWork, error: Exception, *, is_of_shop: bool) -> None:
        """Have the product tried later; after its last try leave a dead letter."""
        self._held.discard(work.id)
        tenant, kind = self._scope.tenant_id, type(error).__name__
        if await self._parts.catalog_queue.fail(self._scope, work, is_of_shop=is_of_shop):
            await self._parts.dead_letters.put(self._scope, SYNC_FEED, work.id, kind, attempts=work.attempts)
            _log.error("%s of tenant %s could not be looked at: %s", work.id, tenant, kind)
        else:
            _log.warning("%s of tenant %s is tried again: %s", work.id, tenant, kind)
