"""Indexes in memory: caught up, shared, bounded. Source: design §6 "Keyword index", KB-13."""

import asyncio

import pytest

from shared.adapters.records.articles import ArticleRecords
from shared.domain.ids import TenantId
from shared.ports.documents import TenantScope
from shared.retrieval.figures import SearchCounters
from shared.retrieval.library import HALF_LIFE_USES, IndexLibrary
from tests.unit.retrieval.conftest import FaultySource, Publish

pytestmark = pytest.mark.req("KB-13")


async def test_searches_at_the_same_time_build_one_index(
    records: ArticleRecords, publish: Publish, tenant: TenantScope
) -> None:
    """A cold tenant under load is read once."""
    await publish("a", "Returns", "Within 30 days.")
    source = FaultySource(records)
    library = IndexLibrary(source)
    head = await records.head(tenant)

    indexes = await asyncio.gather(*(library.fresh(tenant, head) for _ in range(10)))

    assert source.asked.count("changes") == 1
    assert all(index is indexes[0] for index in indexes)


async def test_warm_index_reads_only_what_changed(
    records: ArticleRecords, publish: Publish, tenant: TenantScope
) -> None:
    """And nothing at all when nothing changed."""
    for i in range(30):
        await publish(f"a{i:02d}", f"Title {i}", "Text.")
    source = FaultySource(records)
    library = IndexLibrary(source)
    await library.fresh(tenant, await records.head(tenant))
    await library.fresh(tenant, await records.head(tenant))

    await publish("a05", "Title 5", "Changed text.")
    index = await library.fresh(tenant, await records.head(tenant))

    assert source.asked.count("changes") == 2
    assert index.keywords.holders("chang") == ("a05",)
    assert len(index) == 30


async def test_least_used_tenants_leave_when_memory_is_full(records: ArticleRecords, publish: Publish) -> None:
    """The newest always stays, however big it is."""
    scopes = [TenantScope(TenantId(f"t{i}")) for i in range(3)]
    for scope in scopes:
        await publish("a", "Returns", "Within 30 days. " * 50, scope=scope)
    library = IndexLibrary(records, max_bytes=1)

    for scope in scopes:
        await library.fresh(scope, await records.head(scope))

    assert [scope.tenant_id in library for scope in scopes] == [False, False, True]


async def test_a_much_used_index_stays_when_tenants_that_asked_once_come_by(
    records: ArticleRecords, publish: Publish
) -> None:
    """Hot means used: the busy shop is not the one asked last, and its articles stay in memory all the same."""
    scopes = [TenantScope(TenantId(f"t{i}")) for i in range(5)]
    for scope in scopes:
        await publish("a", "Returns", "Within 30 days. " * 50, scope=scope)
    counters, busy = SearchCounters(), scopes[0]
    library = IndexLibrary(records, max_bytes=1, counters=counters)
    one = (await library.fresh(busy, await records.head(busy))).size_bytes
    library = IndexLibrary(records, max_bytes=int(2.5 * one), counters=counters)

    for _ in range(10):
        await library.fresh(busy, await records.head(busy))
    for scope in scopes[1:]:
        await library.fresh(scope, await records.head(scope))

    assert [scope.tenant_id in library for scope in scopes] == [True, False, False, False, True]
    assert counters.evicted == 3


async def test_yesterdays_busy_tenant_leaves_some_day(records: ArticleRecords, publish: Publish) -> None:
    """Use counts half after HALF_LIFE_USES searches of others."""
    was, is_now, new = (TenantScope(TenantId(name)) for name in ("was", "is", "new"))
    for scope in (was, is_now, new):
        await publish("a", "Returns", "Within 30 days. " * 50, scope=scope)
    library = IndexLibrary(records)
    one = (await library.fresh(was, await records.head(was))).size_bytes
    library = IndexLibrary(records, max_bytes=int(2.5 * one))
    for scope, times in ((was, 20), (is_now, 3 * HALF_LIFE_USES)):
        head = await records.head(scope)
        for _ in range(times):
            await library.fresh(scope, head)

    await library.fresh(new, await records.head(new))

    assert [scope.tenant_id in library for scope in (was, is_now, new)] == [False, True, True]


async def test_index_keeps_no_text_of_a_deleted_article(
    records: ArticleRecords, publish: Publish, tenant: TenantScope
) -> None:
    """Its words, its title and its size are gone."""
    await publish("a", "Returns", "Within 30 days.", attributes={"sku": "AB-1234"})
    library = IndexLibrary(records)
    index = await library.fresh(tenant, await records.head(tenant))

    await records.delete(tenant, (await records.list(tenant)).items[0].article_id)
    index = await library.fresh(tenant, await records.head(tenant))

    assert len(index) == 0
    assert index.exact_matches("Returns") == index.exact_matches("AB-1234") == frozenset()
    assert index.keywords.search(["30"], 5) == ()
