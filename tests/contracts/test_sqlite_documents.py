"""What the embedded store promises beyond the port: it survives being killed, forgets on disk, and finds by index.

Source: design §6 and §8 ("Kill the process anywhere and start it again"), PV-05.
"""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.sqlite_queries import select_sql
from shared.adapters.embedded.sqlite_schema import open_database
from shared.adapters.embedded.sqlite_vectors import FIRST_ROWS, PARTITION_BYTES, VectorCache, to_units
from shared.domain.errors import Unavailable
from shared.domain.ids import CustomerId, TenantId
from shared.ports.documents import (
    Container,
    CustomerScope,
    PlatformScope,
    Query,
    Scope,
    TenantScope,
    Where,
)
from tests.contracts.manual_clock import ManualClock

T1 = TenantScope(TenantId("T1"))
ANA = CustomerScope(TenantId("T1"), CustomerId("ana"))
SWEEP = PlatformScope("test of sweeps")
TALK = "T1|c1"
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.req("DC-01")


@pytest.fixture
async def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


@pytest.fixture
async def documents(tmp_path: Path, clock: ManualClock) -> AsyncIterator[SqliteDocuments]:
    """An empty store in `tmp_path/vouch.db`."""
    opened = SqliteDocuments(tmp_path / "vouch.db", clock=clock)
    yield opened
    await opened.close()


# -- being killed -----------------------------------------------------------------------------------------------------

_WRITER = """
import asyncio, sys
from pathlib import Path
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import SystemClock
from shared.ports.documents import Container, Create, Replace, TenantScope

async def main():
    documents, scope = SqliteDocuments(Path(sys.argv[1]), clock=SystemClock()), TenantScope("T1")
    counter = await documents.read(Container.TICKETS, scope, "T1|c1", "counter")
    if counter is None:
        counter = await documents.create(
            Container.TICKETS, scope, "T1|c1", {"id": "counter", "tenant_id": "T1", "n": 0}
        )
    while True:
        n = counter.body["n"] + 1
        row = {"id": f"row-{n:06}", "tenant_id": "T1", "text": "x" * 3000}
        new = {"id": "counter", "tenant_id": "T1", "n": n}
        _, counter = await documents.batch(
            Container.TICKETS, scope, "T1|c1", (Create(row), Replace(new, counter.etag))
        )
        print(n, flush=True)

asyncio.run(main())
"""


async def test_a_killed_process_loses_no_acknowledged_write_and_leaves_no_half_batch(tmp_path: Path) -> None:
    """Three lives of one file, each ended by SIGKILL at full speed."""
    path = tmp_path / "vouch.db"

    for life in range(3):
        acknowledged = _write_and_kill(path, 150 + 70 * life)
        documents = SqliteDocuments(path, clock=ManualClock())
        counter = await documents.read(Container.TICKETS, T1, TALK, "counter")
        page = await documents.query(Container.TICKETS, T1, Query(TALK, limit=100_000, fields=("n",)))
        await documents.close()

        assert counter is not None
        n = counter.body["n"]
        assert isinstance(n, int)
        assert acknowledged <= n <= acknowledged + 1
        assert [item.body["id"] for item in page.items] == ["counter", *(f"row-{k:06}" for k in range(1, n + 1))]


def _write_and_kill(path: Path, n_lines: int) -> int:
    """Let a process write until it has acknowledged `n_lines` batches, kill it, and return the last acknowledged."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(n_lines)]
        writer.kill()
        lines.extend(line for line in writer.stdout if line.endswith("\n"))
    return int(lines[-1])


async def test_a_store_reopened_has_its_documents_vectors_and_sequence(tmp_path: Path) -> None:
    vector = np.ones(3, dtype=np.float32)
    first = SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock())
    await first.create(Container.TICKETS, T1, TALK, {"id": "a", "tenant_id": "T1"}, vector=vector)
    ((seq, _),) = first.read_changes("tickets", 0, 10)
    await first.delete(Container.TICKETS, T1, TALK, "a")
    await first.create(Container.TICKETS, T1, TALK, {"id": "b", "tenant_id": "T1"}, vector=vector)
    await first.close()

    second = SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock())
    found = await second.nearest(Container.TICKETS, T1, TALK, vector, top_k=5)
    changes = second.read_changes("tickets", seq, 10)
    await second.close()

    assert found == (("b", pytest.approx(1.0)),)
    assert [body["id"] for _, body in changes] == ["b"]


async def test_a_file_from_before_a_field_had_a_column_is_opened_and_gets_it(
    tmp_path: Path, clock: ManualClock
) -> None:
    db = open_database(tmp_path / "vouch.db")
    db.executescript("drop index by_queue; alter table documents drop column f_queue_key;")
    db.close()

    reopened = SqliteDocuments(tmp_path / "vouch.db", clock=clock)
    row = {"id": "a", "tenant_id": "T1", "status": "open", "queue_key": "2"}
    await reopened.create(Container.TICKETS, T1, TALK, dict(row))

    where = (Where("status", "=", "open"), Where("queue_key", ">", "1"))
    page = await reopened.query(Container.TICKETS, T1, Query(TALK, where=where, order_by="queue_key"))
    await reopened.close()
    assert [item.body["id"] for item in page.items] == ["a"]


async def test_a_closed_store_is_unavailable(tmp_path: Path) -> None:
    documents = SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock())
    await documents.close()

    with pytest.raises(Unavailable):
        await documents.read(Container.TICKETS, T1, TALK, "a")
    with pytest.raises(Unavailable):
        await documents.create(Container.TICKETS, T1, TALK, {"id": "a", "tenant_id": "T1"})


async def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "vouch.db").write_bytes(b"not a database at all" * 100)

    with pytest.raises(Unavailable):
        SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock())


async def test_a_file_locked_by_another_process_is_unavailable_and_then_works(
    tmp_path: Path,
) -> None:
    documents = SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock(), busy_timeout_s=0.01)
    other = open_database(tmp_path / "vouch.db")
    other.execute("begin immediate")

    with pytest.raises(Unavailable):
        await documents.create(Container.TICKETS, T1, TALK, {"id": "a", "tenant_id": "T1"})

    other.execute("rollback")
    other.close()
    await documents.create(Container.TICKETS, T1, TALK, {"id": "a", "tenant_id": "T1"})
    await documents.close()


async def test_vectors_another_process_wrote_are_found(tmp_path: Path, documents: SqliteDocuments) -> None:
    near, far = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    await documents.create(Container.TICKETS, T1, TALK, {"id": "a", "tenant_id": "T1"}, vector=far)
    await documents.nearest(Container.TICKETS, T1, TALK, near, top_k=1)
    other = SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock())

    await other.create(Container.TICKETS, T1, TALK, {"id": "b", "tenant_id": "T1"}, vector=near)

    await other.close()
    assert await documents.nearest(Container.TICKETS, T1, TALK, near, top_k=1) == (("b", 1.0),)


# -- forgetting -------------------------------------------------------------------------------------------------------


@pytest.mark.req("PV-05")
async def test_a_purge_deletes_expired_documents_oldest_first_within_its_limit(
    documents: SqliteDocuments, clock: ManualClock
) -> None:
    for n in range(5):
        await documents.create(Container.MASKS, T1, TALK, {"id": f"m{n}", "tenant_id": "T1"}, ttl_s=10 + n)
    await documents.create(Container.MASKS, T1, TALK, {"id": "kept", "tenant_id": "T1"})
    await documents.create(Container.TICKETS, T1, TALK, {"id": "elsewhere", "tenant_id": "T1"}, ttl_s=10)
    clock.advance(12)

    counts = [documents.purge_expired(clock.now(), 3), documents.purge_expired(clock.now(), 3)]

    assert counts == [3, 1]
    page = await documents.query(Container.MASKS, T1, Query(TALK))
    assert [item.body["id"] for item in page.items] == ["kept", "m3", "m4"]


@pytest.mark.req("PV-05")
async def test_purged_and_deleted_text_is_in_no_file_of_the_store(
    tmp_path: Path, documents: SqliteDocuments, clock: ManualClock
) -> None:
    canary = "canary-7f3a-ana"
    for n in range(50):
        text = f"{canary} {n} " * 50
        await documents.create(Container.MASKS, T1, TALK, {"id": f"m{n}", "tenant_id": "T1", "text": text}, ttl_s=9)
        await documents.create(Container.TICKETS, T1, TALK, {"id": f"t{n}", "tenant_id": "T1", "text": text})
    documents.empty_log()
    assert _is_on_disk(canary, tmp_path)

    for n in range(50):
        await documents.delete(Container.TICKETS, T1, TALK, f"t{n}")
    clock.advance(9)
    purged = documents.purge_expired(clock.now(), 1000)

    assert purged == 50
    assert not _is_on_disk(canary, tmp_path)


def _is_on_disk(text: str, folder: Path) -> bool:
    return any(text.encode() in file.read_bytes() for file in folder.iterdir())


# -- finding by index -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "query", "index", "columns"),
    [
        (T1, Query(TALK), "by_id", 2),
        (T1, Query(TALK, where=(Where("id", "in", ["a", "b"]),)), "by_id", 3),
        (T1, Query(TALK, where=(Where("kind", "=", "turn"),)), "by_kind", 3),
        (T1, Query(TALK, where=(Where("kind", "in", ["turn", "person"]),)), "by_kind", 3),
        (T1, Query(TALK, where=(Where("kind", "=", "turn"), Where("status", "=", "done"))), "by_kind", 3),
        (T1, Query(TALK, where=(Where("status", "in", ["open", "claimed"]),)), "by_status", 3),
        (
            T1,
            Query(TALK, where=(Where("status", "=", "open"), Where("queue_key", ">", "1")), order_by="queue_key"),
            "by_queue",
            4,
        ),
        (T1, Query(TALK, order_by="seq", is_descending=True), "by_seq", 2),
        (T1, Query(TALK, where=(Where("kind", "in", ["turn"]), Where("seq", ">", 3)), order_by="seq"), "by_seq", 3),
        (T1, Query(None, where=(Where("kind", "=", "handoff"),), reason="r"), "by_owner", 3),
        (ANA, Query(None, where=(Where("kind", "=", "ticket"),), reason="r"), "by_owner", 4),
        (SWEEP, Query(None, where=(Where("kind", "=", "turn"), Where("status", "=", "accepted"))), "by_sweep", 3),
        (SWEEP, Query(None, where=(Where("status", "=", "open"),)), "by_state", 2),
        (SWEEP, Query(None, where=(Where("instance_id", "=", "t-1"),)), "by_instance", 2),
    ],
    ids=str,
)
async def test_each_query_seeks_in_the_index_made_for_it(
    tmp_path: Path, scope: Scope, query: Query, index: str, columns: int
) -> None:
    """`columns` is how many leading columns of the index the query pins or bounds: less would walk past strangers."""
    db = open_database(tmp_path / "vouch.db")
    statement = select_sql(Container.TICKETS, scope, query, 0.0)

    plan = [row[3] for row in db.execute(f"explain query plan {statement.text}", statement.values)]

    db.close()
    (step,) = (text for text in plan if "documents" in text)
    assert step.startswith(f"SEARCH documents USING INDEX {index} ")
    assert step.count("?") == columns


async def test_paging_by_id_and_the_newest_by_seq_need_no_sort(tmp_path: Path) -> None:
    """The cost of a page stays flat while a conversation or a catalogue grows (design §10)."""
    db = open_database(tmp_path / "vouch.db")
    queries = (
        Query("T1"),
        Query("T1", where=(Where("kind", "=", "article"),)),
        Query("T1", where=(Where("status", "=", "published"),)),
        Query("T1", where=(Where("status", "=", "open"), Where("queue_key", ">", "1")), order_by="queue_key"),
    )

    for query in queries:
        statement = select_sql(Container.ARTICLES, T1, query, 0.0)
        plan = [row[3] for row in db.execute(f"explain query plan {statement.text}", statement.values)]
        assert not any("TEMP B-TREE" in text for text in plan)

    statement = select_sql(Container.TICKETS, T1, Query(TALK, order_by="seq", is_descending=True), 0.0)
    plan = [row[3] for row in db.execute(f"explain query plan {statement.text}", statement.values)]
    db.close()
    assert [text for text in plan if "TEMP B-TREE" in text] == ["USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"]


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400, -(10**400)], ids=["2^63", "-2^63-1", "huge", "-huge"])
async def test_numbers_beyond_64_bits_are_stored_whole_and_compared_as_doubles(
    documents: SqliteDocuments, number: int
) -> None:
    await documents.create(Container.TICKETS, T1, TALK, {"id": "a", "tenant_id": "T1", "seq": number, "n": number})

    for field in ("seq", "n"):
        where = (Where(field, ">" if number > 0 else "<", 0),)
        page = await documents.query(Container.TICKETS, T1, Query(TALK, where=where))
        assert [item.body[field] for item in page.items] == [number]


# -- the vector cache -------------------------------------------------------------------------------------------------


def test_the_cache_keeps_within_its_bytes_and_drops_the_partition_asked_longest_ago() -> None:
    row = np.ones(100, dtype=np.float32)
    size = 2 * FIRST_ROWS * row.nbytes + PARTITION_BYTES
    rows = [(f"a{n}", row.tobytes()) for n in range(FIRST_ROWS)]
    cache = VectorCache(max_bytes=2 * size)
    cache.load(("articles", "T1"), rows)
    cache.load(("articles", "T2"), rows)
    assert cache.has(("articles", "T1"))

    cache.load(("articles", "T3"), rows)

    assert cache.n_bytes == 2 * size
    assert [cache.has(("articles", t)) for t in ("T2", "T3", "T1")] == [False, True, True]
    for n in range(FIRST_ROWS + 1):
        cache.write(("articles", "T1"), f"b{n}", row)
    assert cache.n_bytes == 3 * FIRST_ROWS * row.nbytes + PARTITION_BYTES
    assert not cache.has(("articles", "T3"))


def test_partitions_without_vectors_leave_the_cache_too() -> None:
    cache = VectorCache(max_bytes=10 * PARTITION_BYTES)

    for n in range(50):
        cache.load(("memories", f"T1|c{n}"), [])

    assert sum(cache.has(("memories", f"T1|c{n}")) for n in range(50)) == 10


def test_a_row_comes_to_length_one_the_same_alone_and_among_others() -> None:
    """Loading brings many rows at once, a write one: equal vectors must still tie to the last bit."""
    rows = np.random.default_rng(3).normal(size=(3000, 385)).astype(np.float32)

    together = to_units(rows)

    for n in range(0, 3000, 7):
        assert (to_units(rows[n : n + 1])[0] == together[n]).all()
    assert np.abs(np.linalg.norm(together, axis=1) - 1).max() < 1e-6


async def test_a_bound_smaller_than_one_partition_still_answers_right(tmp_path: Path) -> None:
    documents = SqliteDocuments(tmp_path / "vouch.db", clock=ManualClock(), max_vector_bytes=1)
    vector = np.array([1, 0], dtype=np.float32)
    for talk in ("T1|a", "T1|b"):
        await documents.create(Container.TICKETS, T1, talk, {"id": talk[-1], "tenant_id": "T1"}, vector=vector)

    answers = [
        await documents.nearest(Container.TICKETS, T1, talk, vector, top_k=1) for talk in ("T1|a", "T1|b", "T1|a")
    ]

    await documents.close()
    assert answers == [(("a", 1.0),), (("b", 1.0),), (("a", 1.0),)]
