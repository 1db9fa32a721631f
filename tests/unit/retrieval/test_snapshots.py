"""Cold instances start from a snapshot and the changes since; nothing old is ever served. Source: design §6, KB-13."""

from pathlib import Path

import pytest

from shared.adapters.embedded.snapshot_files import SnapshotFiles
from shared.adapters.records.articles import ArticleRecords
from shared.domain.errors import Unavailable
from shared.domain.ids import ArticleId
from shared.domain.intents import ArticleType
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.figures import SearchCounters
from shared.retrieval.index_file import to_bytes
from shared.retrieval.ladder import HybridSearch
from shared.retrieval.library import IndexLibrary
from shared.retrieval.snapshots import DUE_CHANGES, DUE_SHARE, KEPT, MIN_ARTICLES, IndexSnapshots, is_due
from shared.retrieval.tenant_index import Card, TenantIndex
from tests.conftest import FixedClock
from tests.unit.retrieval.conftest import FaultySource, LetterEmbedder, Publish

pytestmark = pytest.mark.req("KB-13")


@pytest.fixture
def files(tmp_path: Path) -> SnapshotFiles:
    """Snapshots on disk."""
    return SnapshotFiles(tmp_path / "snapshots")


@pytest.fixture
async def shop(publish: Publish) -> None:
    """A shop just large enough for snapshots."""
    for i in range(MIN_ARTICLES):
        await publish(f"a{i:03d}", f"Title {i}", f"Text about thing{i}.")


class Instance:
    """One process's library over a source that counts, and what it counted itself."""

    def __init__(self, records: ArticleRecords, files: SnapshotFiles) -> None:
        self.source, self.counters, self.files = FaultySource(records), SearchCounters(), files
        self.library = IndexLibrary(self.source, snapshots=files, counters=self.counters)

    async def index(self, scope: TenantScope) -> TenantIndex:
        """Return the tenant's index as a search would get it, once nothing is being written down any more."""
        index = await self.library.fresh(scope, await self.source.records.head(scope))
        await self.library.settled()
        return index


@pytest.mark.usefixtures("shop")
async def test_a_cold_instance_restores_the_snapshot_and_reads_only_what_changed_since(
    records: ArticleRecords, files: SnapshotFiles, publish: Publish, tenant: TenantScope
) -> None:
    """Built once by the first instance; the second reads one page of one article, and never a vector."""
    first, second = Instance(records, files), Instance(records, files)
    await first.index(tenant)
    await publish("a007", "Title 7", "Text about something new.")
    await records.delete(tenant, ArticleId("a008"))

    index = await second.index(tenant)

    assert (first.counters.built, first.counters.snapshots_kept) == (1, 1)
    assert (second.counters.built, second.counters.restored) == (0, 1)
    assert second.source.asked == ["changes"]
    assert index.keywords.holders("someth") == ("a007",)
    assert index.keywords.holders("thing7") == index.keywords.holders("thing8") == ()
    assert index.keywords.holders("thing9") == ("a009",)


@pytest.mark.req("KB-08", "KB-10")
@pytest.mark.usefixtures("shop")
async def test_fault_022_a_cold_instance_never_serves_what_was_deleted_after_its_snapshot(
    records: ArticleRecords, files: SnapshotFiles, tenant: TenantScope, clock: FixedClock
) -> None:
    """Whether the tombstone is still there, or was purged and the snapshot is of no use any more."""
    await Instance(records, files).index(tenant)
    await records.delete(tenant, ArticleId("a007"))
    with_tombstone, after_purge = Instance(records, files), Instance(records, files)

    index = await with_tombstone.index(tenant)
    clock.forward(days=2)
    await records.purge_deleted(tenant, clock.now())
    anew = await after_purge.index(tenant)

    assert (with_tombstone.counters.restored, after_purge.counters.built) == (1, 1)
    assert index.get("a007") is anew.get("a007") is None
    assert index.exact_matches("Title 7") == anew.exact_matches("Title 7") == frozenset()
    assert len(anew) == MIN_ARTICLES - 1


@pytest.mark.usefixtures("shop")
async def test_a_damaged_snapshot_is_refused_and_the_index_built_anew(
    records: ArticleRecords, files: SnapshotFiles, tenant: TenantScope
) -> None:
    """A byte that changed on disk costs time, no answer."""
    await Instance(records, files).index(tenant)
    (name,) = await files.list(tenant)
    data = bytearray(await files.get(tenant, name) or b"")
    data[len(data) // 2] ^= 1
    await files.put(tenant, name, bytes(data))
    other = Instance(records, files)

    index = await other.index(tenant)

    assert (other.counters.snapshots_refused, other.counters.built) == (1, 1)
    assert len(index) == MIN_ARTICLES


@pytest.mark.usefixtures("shop")
async def test_a_snapshot_of_a_future_that_did_not_happen_is_removed(
    records: ArticleRecords, files: SnapshotFiles, tenant: TenantScope
) -> None:
    """The store was put back to an earlier day: once its version passed the snapshot's, that would be believed."""
    first = Instance(records, files)
    index = await first.index(tenant)
    (true,) = await files.list(tenant)
    index.seq += 100
    await files.put(tenant, f"keywords-{index.seq:012d}", to_bytes(tenant.tenant_id, index))
    other = Instance(records, files)

    await other.index(tenant)

    assert await files.list(tenant) == (true,)
    assert other.counters.restored == 1


class BrokenSnapshots(SnapshotFiles):
    """A keeper that is down."""

    async def list(self, scope: TenantScope) -> tuple[str, ...]:
        """Fail."""
        raise Unavailable("down")


@pytest.mark.req("KB-09")
@pytest.mark.usefixtures("shop")
async def test_search_does_without_snapshots_while_their_keeper_is_down(
    records: ArticleRecords, tmp_path: Path, tenant: TenantScope, clock: FixedClock
) -> None:
    """Neither reading nor writing one is the search's business."""
    search = HybridSearch(records, LetterEmbedder(), clock=clock, snapshots=BrokenSnapshots(tmp_path))

    found = await search.search(tenant, MaskedText("thing9"), intent=None, types=(), top_k=5)
    await search.settled()

    assert found.articles[0].article_id == "a009"
    assert (search.figures().built, search.figures().snapshots_kept) == (1, 0)


async def test_only_the_newest_snapshots_are_kept(files: SnapshotFiles, tenant: TenantScope) -> None:
    """Another instance may be reading the one before; older ones go."""
    keeper, index = IndexSnapshots(files), _index_of(MIN_ARTICLES)
    for seq in range(1, 4):
        index.seq = seq * DUE_CHANGES
        await keeper.keep(tenant, index)

    names = await files.list(tenant)

    assert names == tuple(f"keywords-{seq * DUE_CHANGES:012d}" for seq in range(4 - KEPT, 4))


@pytest.mark.parametrize(
    ("n_articles", "seq", "last", "due"),
    [
        (MIN_ARTICLES - 1, 5_000, None, False),
        (MIN_ARTICLES, 500, None, True),
        (MIN_ARTICLES, 500 + DUE_CHANGES - 1, 500, False),
        (MIN_ARTICLES, 500 + DUE_CHANGES, 500, True),
    ],
)
def test_a_snapshot_is_due_after_enough_changes(n_articles: int, seq: int, last: int | None, due: bool) -> None:
    """Small shops need none; the first one is due at once."""
    index = _index_of(n_articles)
    index.seq = seq

    assert is_due(index, last) is due
    assert n_articles * DUE_SHARE < DUE_CHANGES


@pytest.mark.req("PV-04")
@pytest.mark.usefixtures("shop")
async def test_a_forgotten_tenant_leaves_no_snapshot_and_nothing_in_memory(
    records: ArticleRecords, files: SnapshotFiles, tenant: TenantScope, clock: FixedClock
) -> None:
    """Erasing a tenant takes the text of its articles along."""
    embedder = LetterEmbedder()
    search = HybridSearch(records, embedder, clock=clock, snapshots=files)
    asked = MaskedText("what about thing nine")
    await search.search(tenant, asked, intent=None, types=(), top_k=5)
    await search.settled()
    held = await files.list(tenant)

    await search.forget(tenant)

    assert len(held) == 1
    assert await files.list(tenant) == ()
    assert search.figures().indexes == 0
    calls = embedder.calls
    await search.search(tenant, asked, intent=None, types=(), top_k=5)
    assert embedder.calls == calls + 1


def _index_of(n_articles: int) -> TenantIndex:
    ids, keywords = [f"a{i}" for i in range(n_articles)], KeywordIndex()
    for id in ids:
        keywords.put(id, [], ["x"])
    return TenantIndex.restored(
        0, keywords, dict.fromkeys(ids, b"{}"), dict.fromkeys(ids, Card(ArticleType.FAQ, "en", (), (), ""))
    )
