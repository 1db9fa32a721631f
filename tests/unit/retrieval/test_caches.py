"""What the three caches keep, for whom, and when they forget. Source: KB-08, faults 022, 026."""

from collections.abc import Sequence

import pytest

from shared.domain.deltas import Knowledge
from shared.domain.ids import TenantId
from shared.domain.intents import NEEDS, CustomerIntent
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from shared.retrieval.caches import MAX_EMBEDDINGS, CacheUse, Lru, QueryCaches, Question, may_cache_result
from shared.retrieval.ladder import HybridSearch
from shared.retrieval.tokens import query_words
from tests.conftest import FixedClock
from tests.unit.retrieval.conftest import FaultySource, LetterEmbedder, Publish

pytestmark = pytest.mark.req("KB-08")

STATUS = CustomerIntent.ORDER_STATUS
ANA, BEN = "status of order 1001?", "status of order 1002?"


@pytest.fixture
async def search(source: FaultySource, publish: Publish, clock: FixedClock) -> HybridSearch:
    """A search over one article about orders."""
    await publish("a", "Order status", "See your account.", embedder=LetterEmbedder())
    return HybridSearch(source, LetterEmbedder(), clock=clock)


async def _ask(
    search: HybridSearch, scope: TenantScope, *asked: tuple[str, CustomerIntent | None]
) -> Sequence[Knowledge]:
    return [await search.search(scope, MaskedText(t), intent=i, types=(), top_k=5) for t, i in asked]


@pytest.mark.parametrize("intent", [STATUS, None, CustomerIntent.RETURN_EXCHANGE], ids=["known", "not yet", "other"])
async def test_fault_026_exact_cache_keeps_no_result_of_a_personal_question(
    search: HybridSearch, tenant: TenantScope, intent: CustomerIntent | None
) -> None:
    """Not while the intent is unknown (a speculative search), and not under an intent that is public otherwise."""
    first, again = await _ask(search, tenant, (ANA, intent), (ANA, intent))

    assert (first.cache, again.cache) == (CacheUse.MISS, CacheUse.EMBEDDING)


async def test_fault_026_session_cache_gives_a_vector_only_and_the_search_runs(
    search: HybridSearch, source: FaultySource, tenant: TenantScope
) -> None:
    """The same words again: their embedding is known, what is found is found anew."""
    await _ask(search, tenant, (ANA, STATUS))
    source.asked.clear()

    (again,) = await _ask(search, tenant, (ANA, STATUS))

    assert again.cache == CacheUse.EMBEDDING
    assert source.asked == ["head", "nearest"]


@pytest.mark.parametrize(
    "other",
    [BEN, "status of order 1001 B?", "estado del pedido 1001?", "status of order?"],
    ids=["other order", "more", "other language", "no order"],
)
async def test_fault_026_semantic_cache_never_takes_one_identifier_for_another(
    search: HybridSearch, tenant: TenantScope, other: str
) -> None:
    """Ana's order is not Ben's, however alike the sentences are; both embed their own words."""
    _, found = await _ask(search, tenant, (ANA, STATUS), (other, STATUS))

    assert found.cache == CacheUse.MISS


async def test_semantic_cache_reuses_the_vector_and_nothing_of_the_result(
    search: HybridSearch, source: FaultySource, tenant: TenantScope
) -> None:
    """A question close to a recent one skips the embedding call; it is searched all the same."""
    await _ask(search, tenant, ("where do I see my order status", None))
    source.asked.clear()

    (near,) = await _ask(search, tenant, ("Where do you see the order status?", None))

    assert near.cache == CacheUse.SEMANTIC
    assert source.asked == ["head", "nearest"]


def test_the_same_words_in_another_guessed_language_are_another_question() -> None:
    """The language is part of each key."""
    caches, words = QueryCaches("m/3"), query_words("chat gift")
    tenant = TenantId("t1")
    english, french = Question("chat gift", "en", words), Question("chat gift", "fr", words)

    assert caches.result_key(tenant, 1, english, (), 5) != caches.result_key(tenant, 1, french, (), 5)


@pytest.mark.parametrize("intent", list(CustomerIntent))
def test_a_question_about_ones_own_account_is_never_kept(intent: CustomerIntent) -> None:
    """Whatever its words; and a masked contact or a number makes any question personal."""
    assert may_cache_result(intent, "what is it") is not NEEDS[intent].needs_account
    assert not may_cache_result(intent, "write to [email:0a1b2c3d-0000-4000-8000-000000000001]")
    assert not may_cache_result(intent, "where is order #1001")


def test_memory_is_bounded_and_the_unused_go_first() -> None:
    """A flood of questions pushes out the oldest, never more than it brings in."""
    kept = Lru[int, int](MAX_EMBEDDINGS)
    for i in range(MAX_EMBEDDINGS + 10):
        kept.put(i, i)
        kept.get(0)

    assert len(kept) == MAX_EMBEDDINGS
    assert kept.get(0) == 0
    assert kept.get(1) is None
