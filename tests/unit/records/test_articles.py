"""Articles as versions: what publish, delete, crash and a new vector leave behind. Source: KB-02, KB-04, KB-10."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.articles import HEAD_ID, ArticleRecords
from shared.domain.article import ArticleInput
from shared.domain.errors import SchemaError, Unavailable
from shared.domain.ids import ArticleId, SourceRef, TenantId
from shared.domain.intents import ArticleType
from shared.domain.text import ModelText, PublishedText
from shared.ports.articles import KnowledgeHead
from shared.ports.documents import Container, Operation, Scope, Stored, TenantScope
from shared.retrieval.embedding_text import embedding_key
from shared.wire import decode
from tests.conftest import FixedClock


class CountingEmbedder:
    """One fixed direction a text length; keeps the texts it was given."""

    model = "lengths"
    dimension = 3

    def __init__(self, model: str = "lengths") -> None:
        self.model = model
        self.texts: list[str] = []

    @property
    def key(self) -> str:
        """What its vectors are stored under."""
        return embedding_key(self.model, self.dimension)

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return unit vectors."""
        self.texts += [text.value for text in texts]
        rows = np.array([[1.0, len(t.value) % 7, 1.0] for t in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class CrashingDocuments(SqliteDocuments):
    """A store whose process dies before a chosen batch."""

    is_crashing = False

    async def batch(
        self, container: Container, scope: Scope, partition: str, operations: Sequence[Operation]
    ) -> tuple[Stored | None, ...]:
        """Die, or write."""
        if self.is_crashing:
            raise Unavailable("the process died here")
        return await super().batch(container, scope, partition, operations)


def _given(
    content: str = "Within 30 days.",
    *,
    id: str = "returns",
    title: str = "Returns",
    tags: tuple[str, ...] = (),
    attributes: dict[str, str] | None = None,
    type: ArticleType = ArticleType.FAQ,
) -> ArticleInput:
    return ArticleInput(
        article_id=ArticleId(id),
        type=type,
        title=PublishedText(title),
        content=PublishedText(content),
        tags=tags,
        attributes=attributes or {},
    )


ID = ArticleId("returns")


@pytest.mark.req("KB-10")
async def test_each_publish_is_a_new_immutable_version(articles: ArticleRecords, tenant: TenantScope) -> None:
    """The old version stays readable by its reference, whatever happens to the article."""
    first = await articles.put(tenant, _given("Within 30 days."))
    second = await articles.put(tenant, _given("Within 60 days."))
    await articles.delete(tenant, ID)

    old, new = await articles.version(tenant, first.ref), await articles.version(tenant, second.ref)

    assert (first.ref, second.ref) == ("article:returns@1", "article:returns@2")
    assert old is not None
    assert new is not None
    assert (old.content.value, new.content.value) == ("Within 30 days.", "Within 60 days.")


@pytest.mark.req("KB-04")
async def test_unchanged_publish_changes_nothing(articles: ArticleRecords, tenant: TenantScope) -> None:
    """Same version, same knowledge version: no cache is lost and nothing is embedded again."""
    first = await articles.put(tenant, _given(tags=("a",), attributes={"sku": "X-1"}))
    again = await articles.put(tenant, _given(tags=("a",), attributes={"sku": "X-1"}))

    assert again == first
    assert await articles.head(tenant) == KnowledgeHead(1)


@pytest.mark.req("KB-10")
async def test_pinned_versions_go_stale_on_change_and_delete(articles: ArticleRecords, tenant: TenantScope) -> None:
    """Only article references are judged; a malformed one is stale."""
    kept = await articles.put(tenant, _given(id="kept"))
    changed = await articles.put(tenant, _given(id="changed"))
    gone = await articles.put(tenant, _given(id="gone"))
    await articles.put(tenant, _given("New.", id="changed"))
    await articles.delete(tenant, ArticleId("gone"))
    refs = [kept.ref, changed.ref, gone.ref, SourceRef("article:broken"), SourceRef("order:1001")]

    assert await articles.stale_refs(tenant, refs) == (changed.ref, gone.ref, "article:broken")
    assert await articles.current_version(tenant, ArticleId("changed")) == 2
    assert await articles.current_version(tenant, ArticleId("gone")) is None


@pytest.mark.req("KB-10")
async def test_crash_between_snapshot_and_publish_loses_nothing(
    clock: FixedClock, tenant: TenantScope, tmp_path: Path
) -> None:
    """The current article stays what it was; the next publish takes the snapshot that was left behind."""
    store = CrashingDocuments(tmp_path / "crash.db", clock=clock)
    articles = ArticleRecords(store, clock=clock)
    first = await articles.put(tenant, _given("Within 30 days."))
    store.is_crashing = True
    with pytest.raises(Unavailable):
        await articles.put(tenant, _given("Within 60 days."))
    store.is_crashing = False

    before = await articles.get(tenant, ID)
    after = await articles.put(tenant, _given("Within 60 days."))

    assert before == first
    assert (after.version, after.seq) == (2, 2)
    await store.close()


@pytest.mark.req("KB-10")
async def test_snapshot_left_by_a_crash_is_never_given_other_content(
    clock: FixedClock, tenant: TenantScope, tmp_path: Path
) -> None:
    """A different text after the crash takes the next number: a reference means one text for ever."""
    store = CrashingDocuments(tmp_path / "crash.db", clock=clock)
    articles = ArticleRecords(store, clock=clock)
    await articles.put(tenant, _given("Within 30 days."))
    store.is_crashing = True
    with pytest.raises(Unavailable):
        await articles.put(tenant, _given("Within 60 days."))
    store.is_crashing = False

    after = await articles.put(tenant, _given("Within 90 days."))

    left_behind = await articles.version(tenant, SourceRef("article:returns@2"))
    assert after.version == 3
    assert left_behind is not None
    assert left_behind.content.value == "Within 60 days."
    await store.close()


@pytest.mark.req("KB-10")
async def test_writers_at_the_same_time_all_win_in_some_order(articles: ArticleRecords, tenant: TenantScope) -> None:
    """One knowledge version a write, none lost, each article at a version whose snapshot says the same."""
    await asyncio.gather(*(articles.put(tenant, _given(f"Text {i}.", id=f"a{i % 3}")) for i in range(12)))

    head = await articles.head(tenant)
    page = await articles.list(tenant)

    assert head.seq == 12
    for article in page.items:
        snapshot = await articles.version(tenant, article.ref)
        assert snapshot is not None
        assert snapshot.content == article.content


@pytest.mark.req("KB-10")
async def test_reference_is_not_reused_after_an_article_was_purged(
    articles: ArticleRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Published again years later, the article goes on counting."""
    await articles.put(tenant, _given("Old."))
    await articles.delete(tenant, ID)
    clock.forward(days=2)
    await articles.purge_deleted(tenant, clock.now())

    again = await articles.put(tenant, _given("New."))

    assert again.version == 2


# -- change feed -----------------------------------------------------------------------------------------------------


@pytest.mark.req("KB-02", "KB-13")
async def test_fault_022_delete_leaves_a_tombstone_without_text_until_it_is_purged(
    articles: ArticleRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Every index learns of it; after the purge, older indexes are told to start anew."""
    await articles.put(tenant, _given())
    await articles.delete(tenant, ID)
    (tombstone,) = (await articles.changes(tenant, 1)).items

    kept = await articles.purge_deleted(tenant, clock.now())
    clock.forward(days=1)
    purged = await articles.purge_deleted(tenant, clock.now())

    assert not tombstone.is_published
    assert (tombstone.title.value, tombstone.content.value) == ("", "")
    assert (kept, purged) == (0, 1)
    assert await articles.head(tenant) == KnowledgeHead(2, 2)
    assert (await articles.changes(tenant, 0)).items == ()


@pytest.mark.req("KB-10", "KB-13")
async def test_fault_022_a_purge_that_breaks_off_leaves_tombstones_and_the_next_goes_on(
    clock: FixedClock, tenant: TenantScope, tmp_path: Path
) -> None:
    """Soft first, hard last: whatever is derived has its time to forget, and no article comes back between."""
    store = CrashingDocuments(tmp_path / "crash.db", clock=clock)
    articles = ArticleRecords(store, clock=clock)
    n_deleted = 150
    for n in range(n_deleted):
        await articles.put(tenant, _given(id=f"a{n}"))
        await articles.delete(tenant, ArticleId(f"a{n}"))
    clock.forward(hours=1)
    await articles.put(tenant, _given(id="late"))
    await articles.delete(tenant, ArticleId("late"))

    store.is_crashing = True
    with pytest.raises(Unavailable):
        await articles.purge_deleted(tenant, clock.now())
    store.is_crashing = False
    left = len((await articles.changes(tenant, 0)).items)
    purged = await articles.purge_deleted(tenant, clock.now())

    assert (left, purged) == (n_deleted + 1, n_deleted)
    assert [a.article_id for a in (await articles.changes(tenant, 0)).items] == ["late"]
    assert await articles.version(tenant, SourceRef("article:a0@1")) is not None
    await store.close()


@pytest.mark.req("KB-13")
async def test_changes_since_a_knowledge_version_come_oldest_first(
    articles: ArticleRecords, tenant: TenantScope
) -> None:
    """An article changed twice appears once, at its newest."""
    for content, id in (("1.", "a"), ("2.", "b"), ("3.", "c"), ("4.", "a")):
        await articles.put(tenant, _given(content, id=id))

    page = await articles.changes(tenant, 1)

    assert [(a.article_id, a.seq) for a in page.items] == [("b", 2), ("c", 3), ("a", 4)]


@pytest.mark.req("KB-02")
async def test_head_is_no_article(articles: ArticleRecords, tenant: TenantScope) -> None:
    """The knowledge version lives beside the articles and is never listed, searched or deleted as one."""
    await articles.put(tenant, _given())

    assert await articles.get(tenant, ArticleId(HEAD_ID)) is None
    assert not await articles.delete(tenant, ArticleId(HEAD_ID))
    assert [a.article_id for a in (await articles.list(tenant)).items] == ["returns"]


# -- vectors ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("KB-02", "KB-03", "KB-04")
async def test_article_is_embedded_once_and_found_by_its_vector(articles: ArticleRecords, tenant: TenantScope) -> None:
    """The vector is on the article's own document; its own write, seen again by the feed, finds nothing to do."""
    embedder = CountingEmbedder()
    await articles.put(tenant, _given())

    done = [await articles.reembed(tenant, ID, embedder) for _ in range(3)]
    vector = (await embedder.embed([PublishedText("FAQ: Returns\nWithin 30 days.")]))[0]
    found = await articles.nearest(tenant, vector, embedding_key=embedder.key, top_k=5)

    assert done == [True, False, False]
    assert embedder.texts[0] == "FAQ: Returns\nWithin 30 days."
    assert [(id, round(similarity, 5)) for id, similarity in found] == [("returns", 1.0)]
    assert (await articles.head(tenant)).seq == 2


@pytest.mark.req("KB-04")
async def test_fault_023_changed_tag_is_embedded_again_and_a_changed_price_is_not(
    articles: ArticleRecords, tenant: TenantScope
) -> None:
    """The hash covers the exact embedded text: tags are in it, attributes are not."""
    embedder = CountingEmbedder()
    await articles.put(tenant, _given(attributes={"price": "18.00 USD"}))
    await articles.reembed(tenant, ID, embedder)

    await articles.put(tenant, _given(attributes={"price": "19.00 USD"}))
    by_price = await articles.reembed(tenant, ID, embedder)
    await articles.put(tenant, _given(tags=("refund",), attributes={"price": "19.00 USD"}))
    by_tag = await articles.reembed(tenant, ID, embedder)

    assert (by_price, by_tag) == (False, True)


@pytest.mark.req("KB-13", "KB-04")
async def test_fault_023_stale_vectors_are_counted_apart_from_missing_ones(
    articles: ArticleRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """And an out-of-date vector is never searched: the article waits, visibly."""
    embedder = CountingEmbedder()
    for id in ("current", "edited", "never"):
        await articles.put(tenant, _given(id=id))
        if id != "never":
            await articles.reembed(tenant, ArticleId(id), embedder)
    waiting_since = clock.now()
    clock.forward(seconds=30)
    await articles.put(tenant, _given("Changed.", id="edited"))

    coverage = await articles.coverage(tenant, embedder.key)
    vector = (await embedder.embed([PublishedText("x")]))[0]
    found = await articles.nearest(tenant, vector, embedding_key=embedder.key, top_k=5)

    assert (coverage.published, coverage.current, coverage.stale, coverage.missing) == (3, 1, 1, 1)
    assert coverage.oldest_waiting == waiting_since
    assert [id for id, _ in found] == ["current"]
    assert await articles.pending(tenant, embedder.key) == ("edited", "never")


@pytest.mark.req("KB-04")
async def test_another_model_makes_every_vector_stale(articles: ArticleRecords, tenant: TenantScope) -> None:
    """Vectors of two models are never compared."""
    old, new = CountingEmbedder("old"), CountingEmbedder("new")
    await articles.put(tenant, _given())
    await articles.reembed(tenant, ID, old)

    coverage = await articles.coverage(tenant, new.key)
    vector = (await new.embed([PublishedText("x")]))[0]

    assert (coverage.current, coverage.stale) == (0, 1)
    assert await articles.nearest(tenant, vector, embedding_key=new.key, top_k=5) == ()
    assert await articles.reembed(tenant, ID, new)


@pytest.mark.req("KB-03")
async def test_fault_029_article_beyond_the_token_limit_is_published_and_says_what_is_not_searchable(
    articles: ArticleRecords, tenant: TenantScope
) -> None:
    """8,000 emoji embed without an error; the article keeps all of them."""
    await articles.put(tenant, _given("🎉" * 8_000))

    await articles.reembed(tenant, ID, CountingEmbedder())
    article = await articles.get(tenant, ID)

    assert article is not None
    assert article.embedded_chars is not None
    assert 0 < article.embedded_chars < 8_000
    assert len(article.content.value) == 8_000


@pytest.mark.req("KB-03")
async def test_fault_029_the_models_own_measure_decides_where_it_has_one(
    articles: ArticleRecords, tenant: TenantScope
) -> None:
    """Neither more is sent than the model reads, nor less noted than it left out."""

    class Measuring(CountingEmbedder):
        def fit(self, text: str) -> int:
            return min(len(text), 40)

    embedder = Measuring()
    await articles.put(tenant, _given("y" * 100))

    await articles.reembed(tenant, ID, embedder)
    article = await articles.get(tenant, ID)

    assert article is not None
    assert embedder.texts == ["FAQ: Returns\n" + "y" * 27]
    assert article.embedded_chars == 27


@pytest.mark.req("KB-13")
async def test_freshness_lag_is_measured_from_publishing_a_text_to_its_vector(
    articles: ArticleRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """A price changed while the text waits does not make it look fresh; another model's vector is no lag."""
    embedder, other = CountingEmbedder(), CountingEmbedder("other")
    await articles.put(tenant, _given(id="quick"))
    clock.forward(seconds=1)
    await articles.reembed(tenant, ArticleId("quick"), embedder)
    since = clock.now()
    await articles.put(tenant, _given(id="slow"))
    clock.forward(seconds=60)
    await articles.put(tenant, _given(id="slow", attributes={"price": "9.00"}))
    waiting = await articles.coverage(tenant, embedder.key)
    clock.forward(seconds=30)
    await articles.reembed(tenant, ArticleId("slow"), embedder)
    clock.forward(days=30)

    before = await articles.coverage(tenant, embedder.key)
    for id in ("quick", "slow"):
        await articles.reembed(tenant, ArticleId(id), other)
    after = await articles.coverage(tenant, other.key)

    assert waiting.oldest_waiting == since
    assert (before.lag_p50_ms, before.lag_p95_ms) == (1_000, 90_000)
    assert (after.lag_p50_ms, after.lag_p95_ms) == (1_000, 90_000)


@pytest.mark.req("KB-02")
async def test_deleted_article_is_not_embedded(articles: ArticleRecords, tenant: TenantScope) -> None:
    """The feed delivers tombstones and the head too; neither reaches a model."""
    embedder = CountingEmbedder()
    await articles.put(tenant, _given())
    await articles.delete(tenant, ID)

    assert not await articles.reembed(tenant, ID, embedder)
    assert not await articles.reembed(tenant, ArticleId(HEAD_ID), embedder)
    assert embedder.texts == []


@pytest.mark.req("KB-10")
async def test_tenants_do_not_see_each_others_articles(articles: ArticleRecords, tenant: TenantScope) -> None:
    """Same id, two shops."""
    other = TenantScope(TenantId("t2"))
    await articles.put(tenant, _given("Mine."))

    assert await articles.get(other, ID) is None
    assert await articles.version(other, SourceRef("article:returns@1")) is None
    assert await articles.head(other) == KnowledgeHead()


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    "wrong",
    [
        {"article_id": "a/b"},
        {"title": "  "},
        {"title": "x" * 301},
        {"content": "x" * 100_001},
        {"tags": [""]},
        {"attributes": {"a": "x" * 4_001}},
        {"unknown": 1},
    ],
    ids=lambda w: next(iter(w)),
)
def test_malformed_article_is_refused_before_anything_is_written(wrong: dict[str, object]) -> None:
    """With an error that names the field, not the value."""
    body = {"article_id": "a", "type": "faq", "title": "T", "content": "C", **wrong}

    with pytest.raises(SchemaError, match=next(iter(wrong))):
        decode(ArticleInput, body)
