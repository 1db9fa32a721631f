"""The knowledge retriever agent. Source: KB-11, KB-12, CL-04."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from agents.knowledge_retriever import retrieve_articles, source_types
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder
from shared.adapters.records.articles import ArticleRecords
from shared.domain.deltas import Context, Knowledge, Metadata, Snapshot
from shared.domain.ids import ConversationId, InstanceId, MessageId
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.sources import HistoryLine
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from shared.retrieval.ladder import HybridSearch
from tests.conftest import FixedClock
from tests.unit.retrieval.conftest import Publish


class RecordingSearch:
    """An ArticleSearch that passes on to a real one and keeps what was asked."""

    def __init__(self, search: HybridSearch) -> None:
        self.search_with = search
        self.asked: list[tuple[str, tuple[ArticleType, ...], int]] = []

    async def search(
        self,
        scope: TenantScope,
        query: MaskedText,
        *,
        intent: CustomerIntent | None,
        types: Sequence[ArticleType],
        top_k: int,
    ) -> Knowledge:
        """Search for real."""
        self.asked.append((query.value, tuple(types), top_k))
        return await self.search_with.search(scope, query, intent=intent, types=types, top_k=top_k)


@pytest.fixture
async def search(records: ArticleRecords, publish: Publish, minilm: OnnxEmbedder, clock: FixedClock) -> RecordingSearch:
    """A small shop."""
    await publish("shirt", "Linen shirt", "Comes in white, blue and green. Sizes S to XL.", embedder=minilm)
    await publish("mug", "Stoneware mug", "Holds 300 ml. Dishwasher safe.", embedder=minilm)
    await publish("returns", "Returns", "Send unworn goods back within 30 days.", embedder=minilm)
    return RecordingSearch(HybridSearch(records, minilm, clock=clock))


def _snapshot(tenant: TenantScope, message: str, *earlier: str) -> Snapshot:
    history = tuple(HistoryLine(seq=i, role="customer", text=MaskedText(t)) for i, t in enumerate(earlier))
    return Snapshot(
        conversation_id=ConversationId("c"),
        tenant_id=tenant.tenant_id,
        message=MaskedText(message),
        context=Context(history=history),
        metadata=Metadata(timestamp=datetime(2026, 3, 2, tzinfo=UTC)),
        message_id=MessageId("m"),
        instance_id=InstanceId("t-1"),
    )


@pytest.mark.req("KB-11", "PR-01")
async def test_delta_names_its_version_confidence_and_pinned_sources(
    search: RecordingSearch, tenant: TenantScope
) -> None:
    """What every agent returns beside its finding."""
    delta = await retrieve_articles(
        _snapshot(tenant, "can I send it back?"), base_version=7, intent=CustomerIntent.RETURN_EXCHANGE, search=search
    )

    assert delta.base_version == 7
    assert delta.confidence == delta.knowledge.confidence
    assert delta.source_refs[0] == delta.knowledge.articles[0].ref == "article:returns@1"


@pytest.mark.req("CL-04", "KB-12")
async def test_intent_decides_the_kinds_and_widening_adds_the_neighbours(
    search: RecordingSearch, tenant: TenantScope
) -> None:
    """A recommendation prefers products and questions; widened, its neighbour's policies join and more is asked."""
    intent = CustomerIntent.PRODUCT_RECOMMENDATION
    snapshot = _snapshot(tenant, "which linen shirt do you recommend for summer weddings")

    await retrieve_articles(snapshot, base_version=1, intent=intent, search=search)
    await retrieve_articles(snapshot, base_version=1, intent=intent, is_widened=True, search=search)

    (_, types, top_k), (_, wide_types, wide_top_k) = search.asked[0], search.asked[-1]
    assert (types, top_k) == ((ArticleType.PRODUCT, ArticleType.FAQ), 5)
    assert (wide_types, wide_top_k) == ((ArticleType.PRODUCT, ArticleType.FAQ, ArticleType.POLICY), 10)


@pytest.mark.req("CL-04")
@pytest.mark.parametrize("intent", [None, *CustomerIntent])
def test_every_intent_has_kinds_that_widening_only_adds_to(intent: CustomerIntent | None) -> None:
    """The preferred kinds are a prefix of the widened ones."""
    narrow, wide = source_types(intent, is_widened=False), source_types(intent, is_widened=True)

    assert wide[: len(narrow)] == narrow


@pytest.mark.req("KB-05")
async def test_follow_up_is_read_with_the_question_before_it(search: RecordingSearch, tenant: TenantScope) -> None:
    """ "and in blue?" alone names no article; after a question about the shirt it does."""
    delta = await retrieve_articles(
        _snapshot(tenant, "and in blue?", "do you have the linen shirt in white"),
        base_version=1,
        intent=CustomerIntent.PRODUCT_QUESTION,
        search=search,
    )

    assert delta.knowledge.articles[0].article_id == "shirt"
    assert delta.confidence >= 0.5


@pytest.mark.req("RT-06")
async def test_new_topic_does_not_borrow_confidence_from_the_old_one(
    search: RecordingSearch, tenant: TenantScope
) -> None:
    """The earlier question is answerable, this one is not: the articles do not speak of it."""
    delta = await retrieve_articles(
        _snapshot(tenant, "how do I reset my router?", "do you have the linen shirt in white"),
        base_version=1,
        intent=CustomerIntent.GENERAL_INQUIRY,
        search=search,
    )

    assert delta.confidence < 0.5


@pytest.mark.req("KB-05")
async def test_message_that_stands_alone_is_searched_alone(search: RecordingSearch, tenant: TenantScope) -> None:
    """History costs nothing where it is not needed."""
    await retrieve_articles(
        _snapshot(tenant, "is the stoneware mug dishwasher safe?", "do you have the linen shirt"),
        base_version=1,
        intent=CustomerIntent.PRODUCT_QUESTION,
        search=search,
    )

    assert [query for query, _, _ in search.asked] == ["is the stoneware mug dishwasher safe?"]
