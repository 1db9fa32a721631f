"""One failing dependency costs its rung and no other; when none is left, the turn can tell. Source: KB-09, RK-01."""

import asyncio

import pytest

from shared.adapters.records.articles import ArticleRecords
from shared.domain.errors import Unavailable
from shared.domain.ids import TenantId
from shared.domain.sources import RetrievalPath
from shared.domain.text import MaskedText
from shared.ports.articles import ArticlePage
from shared.ports.documents import TenantScope
from shared.retrieval.breaker import FAILURES_TO_OPEN, OPEN_S
from shared.retrieval.ladder import HybridSearch
from shared.retrieval.rungs import Deadlines
from tests.conftest import FixedClock
from tests.unit.retrieval.conftest import BrokenEmbedder, FaultySource, LetterEmbedder, Publish

pytestmark = pytest.mark.req("KB-09", "RK-01")

DOWN = Unavailable("down")


async def _path(search: HybridSearch, scope: TenantScope, text: str = "returns within days") -> RetrievalPath:
    return (await search.search(scope, MaskedText(text), intent=None, types=(), top_k=5)).path


@pytest.fixture
async def shop(publish: Publish) -> None:
    """One article, embedded."""
    await publish("a", "Returns", "Send it back within 30 days.", embedder=LetterEmbedder())


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("failing", "is_model_down", "path"),
    [
        ((), False, RetrievalPath.HYBRID),
        (("changes",), False, RetrievalPath.VECTOR_ONLY),
        (("head",), False, RetrievalPath.VECTOR_ONLY),
        (("nearest",), False, RetrievalPath.KEYWORD_ONLY),
        ((), True, RetrievalPath.KEYWORD_ONLY),
        (("changes",), True, RetrievalPath.EMPTY),
        (("head", "nearest"), False, RetrievalPath.EMPTY),
        (("head", "changes", "nearest", "get"), True, RetrievalPath.EMPTY),
    ],
)
async def test_an_outage_serves_the_same_rung_before_and_after_its_breaker_opens(
    source: FaultySource,
    tenant: TenantScope,
    clock: FixedClock,
    failing: tuple[str, ...],
    is_model_down: bool,
    path: RetrievalPath,
) -> None:
    """An open breaker of one dependency must not take the others' rungs along."""
    search = HybridSearch(source, BrokenEmbedder(DOWN if is_model_down else None), clock=clock)
    source.failing.update(dict.fromkeys(failing, DOWN))

    served = [await _path(search, tenant, f"returns within {'days ' * i}") for i in range(1, 3 * FAILURES_TO_OPEN)]

    assert set(served) == {path}
    assert search.figures().by_path == {path.value: len(served)}


@pytest.mark.usefixtures("shop")
async def test_while_nothing_can_be_asked_a_turn_may_only_acknowledge(
    source: FaultySource, tenant: TenantScope, clock: FixedClock
) -> None:
    """The finding says that nothing was looked up, at once and without waiting; a trial after the pause ends it."""
    embedder = BrokenEmbedder(DOWN)
    search = HybridSearch(source, embedder, clock=clock)
    source.failing["head"] = DOWN
    for _ in range(FAILURES_TO_OPEN):
        await _path(search, tenant)
    is_spared_while_down, asked = search.is_spared, len(source.asked)

    spared = await search.search(tenant, MaskedText("returns"), intent=None, types=(), top_k=5)
    embedder.error = None
    source.failing.clear()
    clock.forward(seconds=OPEN_S + 1)
    back = await search.search(tenant, MaskedText("returns"), intent=None, types=(), top_k=5)

    assert is_spared_while_down
    assert (spared.path, spared.is_unavailable, spared.confidence) == (RetrievalPath.EMPTY, True, 0.0)
    assert len(source.asked) - asked == len(["head", "changes", "nearest"])
    assert (back.path, back.is_unavailable, search.is_spared) == (RetrievalPath.HYBRID, False, False)


@pytest.mark.usefixtures("shop")
async def test_finding_nothing_is_not_the_same_as_not_looking(
    source: FaultySource, tenant: TenantScope, clock: FixedClock
) -> None:
    """Words alone, no word of the question anywhere: an honest empty finding."""
    search = HybridSearch(source, BrokenEmbedder(DOWN), clock=clock)

    found = await search.search(tenant, MaskedText("router"), intent=None, types=(), top_k=5)

    assert (found.path, found.is_unavailable) == (RetrievalPath.EMPTY, False)


class SlowChanges(FaultySource):
    """A source whose first tenant's changes never come."""

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        """Hang for that tenant."""
        if scope.tenant_id == "t1":
            await asyncio.get_running_loop().create_future()
        return await super().changes(scope, after_seq, continuation=continuation)


@pytest.mark.usefixtures("shop")
async def test_a_tenant_whose_index_takes_too_long_costs_the_others_nothing(
    records: ArticleRecords, publish: Publish, tenant: TenantScope, clock: FixedClock
) -> None:
    """Slow building is ours, not the store's: it opens no breaker."""
    other = TenantScope(TenantId("t2"))
    await publish("b", "Returns", "Within 14 days.", embedder=LetterEmbedder(), scope=other)
    search = HybridSearch(SlowChanges(records), LetterEmbedder(), clock=clock, deadlines=Deadlines(index_s=0.001))
    slow = [await _path(search, tenant) for _ in range(FAILURES_TO_OPEN + 1)]

    calm = HybridSearch(SlowChanges(records), LetterEmbedder(), clock=clock)

    assert set(slow) == {RetrievalPath.VECTOR_ONLY}
    assert search.figures().spared == ()
    assert await _path(calm, other) is RetrievalPath.HYBRID
