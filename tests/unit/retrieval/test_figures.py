"""Search counts what it does: rungs, caches, indexes, freshness. Source: KB-08, KB-09, KB-13, OB-01."""

import pytest

from shared.adapters.records.articles import ArticleRecords
from shared.domain.errors import Unavailable
from shared.domain.ids import ArticleId
from shared.domain.search_figures import SearchFigures
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from shared.retrieval.caches import CacheUse
from shared.retrieval.ladder import HybridSearch
from tests.conftest import FixedClock
from tests.unit.retrieval.conftest import FaultySource, LetterEmbedder, Publish

pytestmark = pytest.mark.req("KB-13", "OB-01")


async def _ask(search: HybridSearch, scope: TenantScope, *questions: str) -> None:
    for text in questions:
        await search.search(scope, MaskedText(text), intent=None, types=(), top_k=5)


@pytest.mark.req("KB-08")
async def test_hit_rates_are_shares_of_all_searches(
    source: FaultySource, publish: Publish, tenant: TenantScope, clock: FixedClock
) -> None:
    """Two new questions, one asked again, one asked alike."""
    embedder = LetterEmbedder()
    await publish("a", "Returns", "Within 30 days.", embedder=embedder)
    search = HybridSearch(source, embedder, clock=clock)

    await _ask(search, tenant, "the returns policy", "the returns policy", "your returns policy?", "shipping costs")
    figures = search.figures()

    assert (figures.searches, figures.by_path) == (4, {"hybrid": 4})
    assert [figures.hit_rate(use.value) for use in CacheUse] == [0.5, 0.25, 0.0, 0.25]
    assert SearchFigures().hit_rate(CacheUse.EXACT.value) == 0.0


async def test_an_index_is_built_once_and_followed_after(
    source: FaultySource, publish: Publish, tenant: TenantScope, clock: FixedClock
) -> None:
    """What a search waited for it is told in milliseconds."""
    embedder = LetterEmbedder()
    await publish("a", "Returns", "Within 30 days.", embedder=embedder)
    search = HybridSearch(source, embedder, clock=clock)
    await _ask(search, tenant, "returns", "returns")

    await publish("b", "Shipping", "Three days.", embedder=embedder)
    await _ask(search, tenant, "returns")
    figures = search.figures()

    assert (figures.built, figures.restored, figures.caught_up, figures.indexes) == (1, 0, 1, 1)
    assert figures.index_bytes > 0
    assert 0 < figures.catch_up_ms <= figures.longest_catch_up_ms


async def test_freshness_lag_is_how_long_an_article_waited_for_its_vector(
    records: ArticleRecords, publish: Publish, tenant: TenantScope, clock: FixedClock
) -> None:
    """By words it is found at once; the lag is what search by meaning did not see yet."""
    embedder = LetterEmbedder()
    await publish("a", "Returns", "Within 30 days.", embedder=embedder)
    search = HybridSearch(records, embedder, clock=clock)
    await _ask(search, tenant, "returns")

    for id, waits_s in (("b", 90.0), ("c", 5.0)):
        await publish(id, "Shipping", f"Three days, says {id}.")
        clock.forward(seconds=waits_s)
        await records.reembed(tenant, ArticleId(id), embedder)
        await _ask(search, tenant, f"shipping {id}")
    figures = search.figures()

    assert (figures.vector_lag_s, figures.longest_vector_lag_s) == (5.0, 90.0)


async def test_warming_loads_what_a_first_search_needs_and_counts_as_none(
    source: FaultySource, publish: Publish, tenant: TenantScope, clock: FixedClock
) -> None:
    """Index, vectors, model; a customer's question is not counted before it was asked."""
    embedder = LetterEmbedder()
    await publish("a", "Returns", "Within 30 days.", embedder=embedder)
    search = HybridSearch(source, embedder, clock=clock)

    await search.warm(tenant)

    assert source.asked == ["head", "changes", "nearest"]
    assert embedder.calls == 2
    assert search.figures().searches == 0


@pytest.mark.req("KB-09")
async def test_warming_raises_nothing_while_the_store_is_down(
    source: FaultySource, tenant: TenantScope, clock: FixedClock
) -> None:
    """It is a courtesy of the opening channel."""
    source.failing = dict.fromkeys(("head", "changes", "nearest"), Unavailable("down"))

    await HybridSearch(source, LetterEmbedder(), clock=clock).warm(tenant)
