"""The contract of the Documents port: single writes, conflicts, expiry, batches, limits, changes.

Isolation, queries and vectors have their own files beside this one. Source: shared/ports/documents.py.
"""

import asyncio
from collections.abc import Awaitable, Callable
from threading import Barrier

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.errors import AlreadyExists, NotFound, SchemaError, VersionConflict
from shared.ports.documents import (
    MAX_BATCH_OPERATIONS,
    MAX_DOCUMENT_BYTES,
    Container,
    Create,
    Delete,
    Document,
    Operation,
    Query,
    Replace,
    TenantScope,
)
from tests.contracts.conftest import StoreUnderTest

pytestmark = pytest.mark.req("ME-07", "DC-01")


def _row(scope: TenantScope, id: str, **fields: object) -> Document:
    return {"id": id, "tenant_id": scope.tenant_id, **fields}  # type: ignore[dict-item]


def _talk(scope: TenantScope, name: str = "c1") -> str:
    return f"{scope.tenant_id}|{name}"


async def test_a_created_document_reads_back_as_written_with_its_vector(store: StoreUnderTest) -> None:
    document = _row(store.t1, "a", text="naïve 漢字 👍", n=1.5, flags=[True, None], deep={"x": {"y": 2**53}})
    vector = np.array([1, 2, 3], dtype=np.float32)

    created = await store.documents.create(Container.TICKETS, store.t1, _talk(store.t1), document, vector=vector)
    stored = await store.documents.read(Container.TICKETS, store.t1, _talk(store.t1), "a")

    assert stored is not None
    assert stored.body == document == created.body
    assert stored.etag == created.etag
    assert stored.vector is not None
    assert stored.vector.tolist() == [1, 2, 3]


async def test_an_absent_document_reads_as_none(store: StoreUnderTest) -> None:
    assert await store.documents.read(Container.TICKETS, store.t1, _talk(store.t1), "nothing") is None


async def test_creating_an_id_twice_is_refused_and_keeps_the_first(store: StoreUnderTest) -> None:
    await store.documents.create(Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a", n=1))

    with pytest.raises(AlreadyExists):
        await store.documents.create(Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a", n=2))

    stored = await store.documents.read(Container.TICKETS, store.t1, _talk(store.t1), "a")
    assert stored is not None
    assert stored.body["n"] == 1


async def test_the_same_id_lives_apart_in_another_partition_or_container(store: StoreUnderTest) -> None:
    for container, talk in ((Container.TICKETS, "c1"), (Container.TICKETS, "c2"), (Container.MASKS, "c1")):
        await store.documents.create(container, store.t1, _talk(store.t1, talk), _row(store.t1, "a", at=talk))

    stored = await store.documents.read(Container.TICKETS, store.t1, _talk(store.t1, "c2"), "a")
    assert stored is not None
    assert stored.body["at"] == "c2"


async def test_replacing_needs_the_current_etag_and_gives_a_new_one(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    first = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=1))

    second = await store.documents.replace(
        Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=2), etag=first.etag
    )

    assert second.etag != first.etag
    with pytest.raises(VersionConflict):
        await store.documents.replace(Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=3), etag=first.etag)
    stored = await store.documents.read(Container.TICKETS, store.t1, partition, "a")
    assert stored is not None
    assert stored.body["n"] == 2


async def test_replacing_with_the_same_body_still_changes_the_etag(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    first = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a"))

    second = await store.documents.replace(Container.TICKETS, store.t1, partition, _row(store.t1, "a"), etag=first.etag)

    assert second.etag != first.etag


async def test_replacing_what_is_absent_is_not_found(store: StoreUnderTest) -> None:
    with pytest.raises(NotFound):
        await store.documents.replace(Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a"), etag="x")


async def test_replacing_without_a_vector_drops_the_one_there_was(store: StoreUnderTest) -> None:
    partition, vector = _talk(store.t1), np.ones(3, dtype=np.float32)
    first = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a"), vector=vector)

    await store.documents.replace(Container.TICKETS, store.t1, partition, _row(store.t1, "a"), etag=first.etag)

    stored = await store.documents.read(Container.TICKETS, store.t1, partition, "a")
    assert stored is not None
    assert stored.vector is None


async def test_deleting_removes_once_and_then_is_not_found(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a"))

    await store.documents.delete(Container.TICKETS, store.t1, partition, "a")

    assert await store.documents.read(Container.TICKETS, store.t1, partition, "a") is None
    with pytest.raises(NotFound):
        await store.documents.delete(Container.TICKETS, store.t1, partition, "a")


async def test_deleting_with_an_old_etag_is_refused_and_keeps_the_document(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    first = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a"))
    second = await store.documents.replace(Container.TICKETS, store.t1, partition, _row(store.t1, "a"), etag=first.etag)

    with pytest.raises(VersionConflict):
        await store.documents.delete(Container.TICKETS, store.t1, partition, "a", etag=first.etag)

    await store.documents.delete(Container.TICKETS, store.t1, partition, "a", etag=second.etag)


# -- races -------------------------------------------------------------------------------------------------------------


def _race(calls: list[Callable[[], Awaitable[object]]]) -> Awaitable[list[object]]:
    """Run each call in a thread of its own, released at the same instant, and return results or exceptions."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Awaitable[object]]) -> object:
        async def go() -> object:
            return await call()

        barrier.wait()
        return asyncio.run(go())

    return asyncio.gather(*(asyncio.to_thread(run, call) for call in calls), return_exceptions=True)


@pytest.mark.parametrize("turn", range(5))
async def test_fault_083_of_two_parallel_creates_of_one_lease_exactly_one_wins(
    store: StoreUnderTest, turn: int
) -> None:
    """A singleton starts through create-if-absent, never check-then-start."""
    partition, id = _talk(store.t1), f"consolidate-T1-ana-{turn}"

    def start(owner: str) -> Callable[[], Awaitable[object]]:
        return lambda: store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, id, owner=owner))

    results = await _race([start("one"), start("two"), start("three")])

    assert sum(isinstance(result, AlreadyExists) for result in results) == 2
    assert len(results) == 3


@pytest.mark.parametrize("turn", range(5))
async def test_fault_083_of_two_parallel_replaces_of_one_version_exactly_one_wins(
    store: StoreUnderTest, turn: int
) -> None:
    partition, id = _talk(store.t1), f"lease-{turn}"
    first = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, id))

    def take(owner: str) -> Callable[[], Awaitable[object]]:
        return lambda: store.documents.replace(
            Container.TICKETS, store.t1, partition, _row(store.t1, id, owner=owner), etag=first.etag
        )

    results = await _race([take("one"), take("two")])

    assert sum(isinstance(result, VersionConflict) for result in results) == 1
    (winner,) = (result for result in results if not isinstance(result, VersionConflict))
    stored = await store.documents.read(Container.TICKETS, store.t1, partition, id)
    assert stored == winner


async def test_a_counter_raised_by_compare_and_swap_from_many_threads_loses_no_step(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "counter", n=0))

    async def raise_ten_times() -> None:
        for _ in range(10):
            while True:
                current = await store.documents.read(Container.TICKETS, store.t1, partition, "counter")
                assert current is not None
                n = current.body["n"]
                assert isinstance(n, int)
                try:
                    await store.documents.replace(
                        Container.TICKETS, store.t1, partition, _row(store.t1, "counter", n=n + 1), etag=current.etag
                    )
                    break
                except VersionConflict:
                    continue

    results = await _race([raise_ten_times] * 4)

    stored = await store.documents.read(Container.TICKETS, store.t1, partition, "counter")
    assert results == [None] * 4
    assert stored is not None
    assert stored.body["n"] == 40


# -- expiry ------------------------------------------------------------------------------------------------------------


@pytest.mark.req("PV-05")
async def test_an_expired_document_is_gone_for_every_call_before_any_purge(store: StoreUnderTest) -> None:
    if store.clock is None:
        pytest.skip("this database keeps its own time")
    partition, vector = store.t1.tenant_id, np.ones(3, dtype=np.float32)
    created = await store.documents.create(
        Container.ARTICLES, store.t1, partition, _row(store.t1, "a"), ttl_s=60, vector=vector
    )
    store.clock.advance(59)
    assert await store.documents.read(Container.ARTICLES, store.t1, partition, "a") is not None
    assert await store.documents.nearest(Container.ARTICLES, store.t1, partition, vector, top_k=1) != ()

    store.clock.advance(1)

    assert await store.documents.read(Container.ARTICLES, store.t1, partition, "a") is None
    assert (await store.documents.query(Container.ARTICLES, store.t1, Query(partition))).items == ()
    assert await store.documents.nearest(Container.ARTICLES, store.t1, partition, vector, top_k=1) == ()
    with pytest.raises(NotFound):
        await store.documents.replace(Container.ARTICLES, store.t1, partition, _row(store.t1, "a"), etag=created.etag)
    with pytest.raises(NotFound):
        await store.documents.delete(Container.ARTICLES, store.t1, partition, "a")


async def test_an_expired_id_can_be_created_again(store: StoreUnderTest) -> None:
    if store.clock is None:
        pytest.skip("this database keeps its own time")
    partition = _talk(store.t1)
    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=1), ttl_s=1)
    store.clock.advance(1)

    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=2))

    store.clock.advance(3600)
    stored = await store.documents.read(Container.TICKETS, store.t1, partition, "a")
    assert stored is not None
    assert stored.body["n"] == 2


async def test_a_replace_restarts_or_lifts_the_expiry(store: StoreUnderTest) -> None:
    if store.clock is None:
        pytest.skip("this database keeps its own time")
    partition = _talk(store.t1)
    first = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a"), ttl_s=10)
    store.clock.advance(9)

    second = await store.documents.replace(
        Container.TICKETS, store.t1, partition, _row(store.t1, "a"), etag=first.etag, ttl_s=10
    )
    store.clock.advance(9)
    await store.documents.replace(Container.TICKETS, store.t1, partition, _row(store.t1, "a"), etag=second.etag)
    store.clock.advance(3600)

    assert await store.documents.read(Container.TICKETS, store.t1, partition, "a") is not None


@pytest.mark.parametrize("ttl_s", [0, -1, 2**31])
async def test_a_time_to_live_no_database_knows_is_refused(store: StoreUnderTest, ttl_s: int) -> None:
    with pytest.raises(SchemaError):
        await store.documents.create(Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a"), ttl_s=ttl_s)


# -- documents and limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({}, id="no id"),
        pytest.param({"id": None}, id="null id"),
        pytest.param({"id": ""}, id="empty id"),
        pytest.param({"id": 7}, id="number as id"),
        pytest.param({"id": "a/b"}, id="slash in id"),
        pytest.param({"id": "a?"}, id="question mark in id"),
        pytest.param({"id": "a\x00"}, id="control character in id"),
        pytest.param({"id": "a" * 1024}, id="id too long"),
        pytest.param({"id": "a", "x": float("nan")}, id="not a number"),
        pytest.param({"id": "a", "x": object()}, id="not JSON"),
        pytest.param({"id": "a", "x": "\ud800"}, id="half a character"),
        pytest.param({"id": "a", "customer_id": ""}, id="empty customer"),
        pytest.param({"id": "a", "x": "é" * (MAX_DOCUMENT_BYTES // 2)}, id="too large"),
    ],
)
async def test_a_broken_document_is_refused_and_nothing_is_written(store: StoreUnderTest, document: Document) -> None:
    partition = _talk(store.t1)

    with pytest.raises(SchemaError):
        await store.documents.create(
            Container.TICKETS, store.t1, partition, {**document, "tenant_id": store.t1.tenant_id}
        )

    assert (await store.documents.query(Container.TICKETS, store.t1, Query(partition))).items == ()


async def test_a_refused_document_never_shows_its_text_in_the_error(store: StoreUnderTest) -> None:
    with pytest.raises(SchemaError) as caught:
        await store.documents.create(
            Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a", text="mail ana@x.example", bad=object())
        )

    assert "ana@x" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_a_document_nested_beyond_all_reason_is_refused(store: StoreUnderTest) -> None:
    deep: list[object] = []
    for _ in range(200_000):
        deep = [deep]

    with pytest.raises(SchemaError):
        await store.documents.create(Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a", deep=deep))


@pytest.mark.parametrize(
    "values", [[], [[1.0, 2.0]], [float("inf")], [0.0] * 4097], ids=["empty", "matrix", "inf", "long"]
)
async def test_a_broken_vector_is_refused(store: StoreUnderTest, values: list[object]) -> None:
    with pytest.raises(SchemaError):
        await store.documents.create(
            Container.TICKETS, store.t1, _talk(store.t1), _row(store.t1, "a"), vector=np.array(values, dtype=np.float32)
        )


# -- batches -----------------------------------------------------------------------------------------------------------


async def test_a_batch_applies_in_order_and_answers_each_operation(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    old = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "old"))
    gone = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "gone"))

    results = await store.documents.batch(
        Container.TICKETS,
        store.t1,
        partition,
        (Create(_row(store.t1, "new")), Replace(_row(store.t1, "old", n=2), old.etag), Delete("gone", gone.etag)),
    )

    assert [result is None for result in results] == [False, False, True]
    page = await store.documents.query(Container.TICKETS, store.t1, Query(partition))
    assert [item.body["id"] for item in page.items] == ["new", "old"]
    assert {item.etag for item in page.items} == {result.etag for result in results if result is not None}


@pytest.mark.parametrize(
    ("last", "error"),
    [
        pytest.param(lambda row: Create(row("old")), AlreadyExists, id="exists"),
        pytest.param(lambda row: Replace(row("old"), "wrong"), VersionConflict, id="other version"),
        pytest.param(lambda row: Replace(row("none"), "wrong"), NotFound, id="replace absent"),
        pytest.param(lambda row: Delete("none"), NotFound, id="delete absent"),
        pytest.param(lambda row: Delete("old", "wrong"), VersionConflict, id="delete other version"),
        pytest.param(lambda row: Create({**row("x"), "bad": object()}), SchemaError, id="broken"),
    ],
)
async def test_a_batch_whose_last_operation_fails_changes_nothing(
    store: StoreUnderTest, last: Callable[[Callable[[str], Document]], Operation], error: type[Exception]
) -> None:
    partition, vector = _talk(store.t1), np.ones(3, dtype=np.float32)
    old = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "old"), vector=vector)
    await store.documents.nearest(Container.TICKETS, store.t1, partition, vector, top_k=5)

    with pytest.raises(error):
        await store.documents.batch(
            Container.TICKETS,
            store.t1,
            partition,
            (Create(_row(store.t1, "new"), vector=vector), last(lambda id: _row(store.t1, id))),
        )

    page = await store.documents.query(Container.TICKETS, store.t1, Query(partition))
    near = await store.documents.nearest(Container.TICKETS, store.t1, partition, vector, top_k=5)
    assert [(item.body["id"], item.etag) for item in page.items] == [("old", old.etag)]
    assert [id for id, _ in near] == ["old"]


async def test_a_batch_above_its_limits_is_refused_whole(store: StoreUnderTest) -> None:
    partition = _talk(store.t1)
    many = [Create(_row(store.t1, f"n{n}")) for n in range(MAX_BATCH_OPERATIONS + 1)]
    large = [Create(_row(store.t1, f"n{n}", text="x" * (MAX_DOCUMENT_BYTES // 4))) for n in range(5)]

    for operations in (many, large):
        with pytest.raises(SchemaError):
            await store.documents.batch(Container.TICKETS, store.t1, partition, operations)

    await store.documents.batch(Container.TICKETS, store.t1, partition, many[:MAX_BATCH_OPERATIONS])
    page = await store.documents.query(Container.TICKETS, store.t1, Query(partition, limit=1000))
    assert len(page.items) == MAX_BATCH_OPERATIONS


async def test_an_empty_batch_does_nothing(store: StoreUnderTest) -> None:
    assert await store.documents.batch(Container.TICKETS, store.t1, _talk(store.t1), ()) == ()


_MOVES = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(["create", "replace", "stale", "delete", "delete_stale"]), st.sampled_from(["a", "b", "c"])
        ),
        min_size=1,
        max_size=6,
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=_MOVES)
async def test_any_sequence_of_batches_matches_a_dict_that_applies_whole_batches_or_none(
    store: StoreUnderTest, batches: list[list[tuple[str, str]]]
) -> None:
    """Law: the partition equals a dict that copies itself, applies a batch in order and keeps the copy on success."""
    _partitions.append(None)
    partition = _talk(store.t1, f"law-{len(_partitions)}")
    model: dict[str, tuple[int, str]] = {}
    counter = 0

    for batch in batches:
        trial: dict[str, int] = {id: n for id, (n, _) in model.items()}
        touched: set[str] = set()
        operations: list[Operation] = []
        expected: type[Exception] | None = None
        for move, id in batch:
            counter += 1
            # Within a batch an ETag just made is not known yet, so a second conditional write of an id is stale.
            etag = model[id][1] if id in model and id not in touched else "stale"
            row = _row(store.t1, id, n=counter)
            failure: type[Exception] | None = None
            match move:
                case "create":
                    operations.append(Create(row))
                    failure = AlreadyExists if id in trial else None
                case "replace" | "stale":
                    shown = etag if move == "replace" else "stale"
                    operations.append(Replace(row, shown))
                    failure = NotFound if id not in trial else VersionConflict if shown == "stale" else None
                case _:
                    shown = None if move == "delete" else "stale"
                    operations.append(Delete(id, shown))
                    failure = NotFound if id not in trial else VersionConflict if shown == "stale" else None
            if failure is not None:
                expected = expected or failure
            elif move.startswith("delete"):
                trial.pop(id)
            else:
                trial[id] = counter
            touched.add(id)

        if expected is not None:
            with pytest.raises(expected):
                await store.documents.batch(Container.TICKETS, store.t1, partition, operations)
        else:
            await store.documents.batch(Container.TICKETS, store.t1, partition, operations)
            model = {id: (n, "") for id, n in trial.items()}
        page = await store.documents.query(Container.TICKETS, store.t1, Query(partition))
        assert {item.body["id"]: item.body["n"] for item in page.items} == {id: n for id, (n, _) in model.items()}
        model = {str(item.body["id"]): (model[str(item.body["id"])][0], item.etag) for item in page.items}


_partitions: list[None] = []
"""One entry a Hypothesis example: each gets a partition of its own in the shared store."""


# -- changes -----------------------------------------------------------------------------------------------------------


async def test_the_change_log_names_each_document_once_at_its_newest_version_in_order(store: StoreUnderTest) -> None:
    if store.changes is None:
        pytest.skip("a trigger of the platform delivers this database's changes")
    partition = _talk(store.t1)
    a = await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=1))
    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "b", n=1))
    await store.documents.create(Container.MASKS, store.t1, partition, _row(store.t1, "elsewhere"))
    await store.documents.replace(Container.TICKETS, store.t1, partition, _row(store.t1, "a", n=2), etag=a.etag)

    changes = store.changes.read_changes("tickets", 0, 10)

    assert [(body["id"], body["n"]) for _, body in changes] == [("b", 1), ("a", 2)]
    sequences = [seq for seq, _ in changes]
    assert sequences == sorted(sequences)
    assert store.changes.read_changes("tickets", sequences[0], 10) == changes[1:]
    assert store.changes.read_changes("tickets", 0, 1) == changes[:1]
    assert store.changes.read_changes("tickets", sequences[-1], 10) == []


async def test_a_write_after_the_newest_document_was_deleted_is_still_behind_every_checkpoint(
    store: StoreUnderTest,
) -> None:
    if store.changes is None:
        pytest.skip("a trigger of the platform delivers this database's changes")
    partition = _talk(store.t1)
    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "a"))
    ((checkpoint, _),) = store.changes.read_changes("tickets", 0, 10)
    await store.documents.delete(Container.TICKETS, store.t1, partition, "a")

    assert store.changes.read_changes("tickets", 0, 10) == []
    await store.documents.create(Container.TICKETS, store.t1, partition, _row(store.t1, "b"))

    ((seq, body),) = store.changes.read_changes("tickets", checkpoint, 10)
    assert seq > checkpoint
    assert body["id"] == "b"


async def test_a_batch_that_failed_leaves_no_change(store: StoreUnderTest) -> None:
    if store.changes is None:
        pytest.skip("a trigger of the platform delivers this database's changes")
    with pytest.raises(NotFound):
        await store.documents.batch(
            Container.TICKETS, store.t1, _talk(store.t1), (Create(_row(store.t1, "a")), Delete("none"))
        )

    assert store.changes.read_changes("tickets", 0, 10) == []
