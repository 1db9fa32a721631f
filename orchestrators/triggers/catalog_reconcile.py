"""Holding the articles against the whole catalog: the first sync of a new shop, and every night what events missed.

One bulk listing says what the shop has. Where an article differs it is published from the listing; where one has no
product any more, the shop is asked for that very product before the article goes, so that a listing cut short removes
nothing. Only articles of the sync are touched (`product-` and a number). A run that is cut short finds less to do next
time. Source: SH-02, KB-01, faults 068, 086.
"""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine
from datetime import datetime, timedelta
from typing import Final

from orchestrators.triggers.catalog_sync import WORK_LIMIT_S, is_of_the_shop, publish
from orchestrators.triggers.replaying import replay_sync
from shared.adapters.records.reconciles import ReconcileTurn
from shared.container import Services
from shared.domain.article import Article, ArticleInput
from shared.domain.catalog import Product, product_article_id
from shared.domain.errors import VouchError
from shared.domain.ids import ArticleId, digest
from shared.domain.intents import ArticleType
from shared.domain.reconciling import CatalogReport, next_night
from shared.ports.documents import TenantScope
from shared.retrieval.product_article import to_article

RUN: Final = timedelta(minutes=8)
"""Time one run may take: under the functions' limit of ten minutes (host.json). Value ours."""
TENANTS_AT_ONCE: Final = 4
"""Tenants compared side by side. Value ours."""
RETRY: Final = timedelta(minutes=10)
"""Wait before a shop that did not answer to the end is compared again. Value ours."""
PAGE: Final = 500
"""Articles of one page. Value ours: 1 MB at the usual 2 KB an article."""
_PREFIX: Final = str(product_article_id(""))

_log = logging.getLogger(__name__)


async def reconcile_catalogs(parts: Services) -> None:
    """Enrol tenants that are new, and compare those that are due until the time is over."""
    ends = parts.clock.now() + RUN
    enrolled = await parts.reconciles.enrolled()
    for installation in await parts.installations.connected():
        if enrolled.get(installation.tenant_id) != installation.installed_at:
            await parts.reconciles.enrol(TenantScope(installation.tenant_id), installation.installed_at)
    while parts.clock.now() < ends:
        turns = await parts.reconciles.next_turns(TENANTS_AT_ONCE, ends + RETRY)
        if not turns:
            return
        await asyncio.gather(*(_serve(turn, parts, ends) for turn in turns))


async def reconcile(scope: TenantScope, parts: Services, ends: datetime) -> CatalogReport:
    """Hold the tenant's articles against its shop and mend what differs, until the moment."""
    return await _Comparison(scope, parts, ends).run()


async def _serve(turn: ReconcileTurn, parts: Services, ends: datetime) -> None:
    scope, report = turn.scope, None
    try:
        if await parts.installations.is_connected(scope):
            report = await reconcile(scope, parts, ends)
            await replay_sync(scope, parts)
            await _mend_subscriptions(scope, parts)
        now = parts.clock.now()
        due = next_night(scope.tenant_id, now) if report is None or report.is_complete else now + RETRY
        await parts.reconciles.finish(turn, report, due)
    except Exception as error:  # noqa: BLE001 - the timer's edge: the turn comes back when its lease is over
        _log.error("comparing tenant %s failed: %s", scope.tenant_id, type(error).__name__)


async def _mend_subscriptions(scope: TenantScope, parts: Services) -> None:
    """Subscribe anew to what the shop no longer tells us of; a shop that does not answer is asked the next night."""
    try:
        missing = await parts.subscriptions.mend(scope)
    except VouchError as error:
        _log.error("subscriptions of tenant %s could not be looked at: %s", scope.tenant_id, type(error).__name__)
        return
    if missing:
        topics = ", ".join(topic.value for topic in missing)
        _log.error("subscriptions of tenant %s were missing and are made anew: %s", scope.tenant_id, topics)


class _Comparison:
    """One run over one tenant."""

    def __init__(self, scope: TenantScope, parts: Services, ends: datetime) -> None:
        self._scope = scope
        self._parts = parts
        self._ends = ends
        self._count: Counter[str] = Counter()

    async def run(self) -> CatalogReport:
        """Compare everything; what stops it half-way is told, not raised."""
        is_complete = False
        try:
            async with asyncio.timeout(RUN.total_seconds()):
                is_complete = await self._compare_all()
        except (VouchError, TimeoutError) as error:
            _log.error("comparing tenant %s stopped: %s", self._scope.tenant_id, type(error).__name__)
        report = CatalogReport(**self._count, is_complete=is_complete)
        if report.differences or not is_complete:
            _log.warning("tenant %s differed from its shop: %s", self._scope.tenant_id, report)
        return report

    async def _compare_all(self) -> bool:
        # Whatever a run that died has left waiting is the worker's from here.
        await self._parts.catalog_queue.announce(self._scope)
        unseen = await self._synced_articles()
        listing = self._parts.catalog.all_products(self._scope)
        try:
            async for product in listing:
                if self._is_over():
                    return False
                self._count["products"] += 1
                known = unseen.pop(product_article_id(product.product_id), None)
                await self._by_itself(product.product_id, self._compare(product, known))
        finally:
            # A listing left half-way holds what it has downloaded.
            if isinstance(listing, AsyncGenerator):
                await listing.aclose()
        for article, known in unseen.items():
            if self._is_over():
                return False
            id = article.removeprefix(_PREFIX)
            await self._by_itself(id, self._remove(id, known))
        return True

    async def _by_itself(self, product_id: str, look: Coroutine[None, None, None]) -> None:
        """Look at one product; its own defect is counted and stops no other. Raises: what stops them all."""
        try:
            await look
        except Exception as error:
            if is_of_the_shop(error):
                raise
            self._count["left"] += 1
            kind = type(error).__name__
            _log.error("product %s of tenant %s could not be mended: %s", product_id, self._scope.tenant_id, kind)

    async def _remove(self, product_id: str, known: str) -> None:
        """Take an article away whose product was not listed, if the shop knows no such product."""
        found = await self._parts.catalog.product(self._scope, product_id)
        if found is not None:
            await self._compare(found, known)
        else:
            await self._mend("removed", product_id, None)

    async def _compare(self, product: Product, known: str | None) -> None:
        made = to_article(product)
        wanted = None if made is None else _fingerprint(made.article)
        if wanted != known:
            difference = "added" if known is None else "removed" if wanted is None else "changed"
            await self._mend(difference, product.product_id, product)

    async def _mend(self, difference: str, product_id: str, product: Product | None) -> None:
        """Publish what the shop says under the product's lease; the worker tries again what fails."""
        scope, queue = self._scope, self._parts.catalog_queue
        mine = await queue.claim(scope, product_id, None if product is None else product.updated_at)
        if mine is None:
            self._count["left"] += 1
            return
        try:
            async with asyncio.timeout(WORK_LIMIT_S):
                await publish(scope, product_id, product, self._parts)
        except Exception as error:
            await queue.fail(scope, mine, is_of_shop=is_of_the_shop(error))
            raise
        await queue.finish(scope, mine, self._parts.clock.now() if product is None else product.updated_at)
        self._count[difference] += 1

    async def _synced_articles(self) -> dict[ArticleId, str]:
        """Return the fingerprints of the articles the sync has made."""
        found: dict[ArticleId, str] = {}
        continuation: str | None = None
        while True:
            page = await self._parts.articles.list(self._scope, limit=PAGE, continuation=continuation)
            found.update((article.article_id, _fingerprint(article)) for article in page.items if _is_synced(article))
            continuation = page.continuation
            if continuation is None:
                return found

    def _is_over(self) -> bool:
        return self._parts.clock.now() >= self._ends


def _is_synced(article: Article) -> bool:
    """Tell whether the sync made the article; what a merchant wrote is named otherwise, or is no product."""
    number = article.article_id.removeprefix(_PREFIX)
    return article.type is ArticleType.PRODUCT and number != article.article_id and number.isdigit()


def _fingerprint(of: Article | ArticleInput) -> str:
    """Return a digest of everything publishing would change."""
    facts = json.dumps([of.tags, dict(of.attributes)], sort_keys=True)
    return digest(of.type.value, of.title.value, of.content.value, of.language, facts)
