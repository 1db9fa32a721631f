"""The contract of the Documents port: nearest neighbours against brute force, and in step with every write.

Source: shared/ports/documents.py (nearest), fault 051 (a deleted memory is never found), KB-02.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shared.domain.errors import SchemaError
from shared.ports.documents import Container, Create, Delete, Replace, Where
from tests.contracts.conftest import StoreUnderTest

pytestmark = pytest.mark.req("ME-07", "DC-01")

_partitions: list[None] = []
"""One entry an example: each gets a partition of its own in the shared store."""


def _new_partition(store: StoreUnderTest) -> str:
    _partitions.append(None)
    return f"{store.t1.tenant_id}|v{len(_partitions)}"


def _row(store: StoreUnderTest, id: str, **fields: str | int) -> dict[str, str | int]:
    return {"id": id, "tenant_id": store.t1.tenant_id, **fields}


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    x, y = a.astype(np.float64), b.astype(np.float64)
    norms = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / norms if norms else 0.0


@pytest.mark.parametrize("n_dimensions", [3, 384, 3072])
async def test_the_nearest_are_those_of_brute_force_with_filters_applied(
    store: StoreUnderTest, n_dimensions: int
) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(240, n_dimensions)).astype(np.float32)
    partition = _new_partition(store)
    for start in range(0, 240, 60):
        rows = [
            Create(dict(_row(store, f"a{n:03}", type=("faq", "policy", "product")[n % 3])), vector=vectors[n])
            for n in range(start, start + 60)
        ]
        await store.documents.batch(Container.TICKETS, store.t1, partition, rows)
    query = rng.normal(size=n_dimensions).astype(np.float32)

    for where, kept in (
        ((), range(240)),
        ((Where("type", "=", "faq"),), range(0, 240, 3)),
        ((Where("type", "=", "x"),), ()),
    ):
        found = await store.documents.nearest(Container.TICKETS, store.t1, partition, query, top_k=12, where=where)

        exact = sorted((-_cosine(vectors[n], query), f"a{n:03}") for n in kept)[:12]
        assert [id for id, _ in found] == [id for _, id in exact]
        assert [similarity for _, similarity in found] == pytest.approx([-s for s, _ in exact], abs=1e-6)


_WRITES = st.lists(
    st.tuples(st.sampled_from(["put", "put", "put", "bare", "delete", "ask"]), st.integers(0, 9), st.integers(0, 5)),
    max_size=40,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(writes=_WRITES)
async def test_after_any_writes_the_nearest_are_those_of_brute_force_and_ties_go_by_id(
    store: StoreUnderTest, writes: list[tuple[str, int, int]]
) -> None:
    """Vectors come from a pool of six, so that ties abound; asking in between loads caches early."""
    pool = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [-1, 0, 2], [0, 0, 0], [3, 1, 0]], dtype=np.float32)
    partition, query = _new_partition(store), np.array([2, 1, 0], dtype=np.float32)
    model: dict[str, tuple[str, int | None]] = {}

    for move, n, which in [*writes, ("ask", 0, 0)]:
        id = f"d{n}"
        if move == "ask":
            found = await store.documents.nearest(Container.TICKETS, store.t1, partition, query, top_k=4)
            ranked = sorted((-round(_cosine(pool[w], query), 5), id) for id, (_, w) in model.items() if w is not None)
            assert [id for id, _ in found] == [id for _, id in ranked[:4]]
        elif move == "delete":
            if id in model:
                await store.documents.delete(Container.TICKETS, store.t1, partition, id)
                del model[id]
        else:
            vector = pool[which] if move == "put" else None
            if id in model:
                stored = await store.documents.replace(
                    Container.TICKETS, store.t1, partition, dict(_row(store, id)), etag=model[id][0], vector=vector
                )
            else:
                stored = await store.documents.create(
                    Container.TICKETS, store.t1, partition, dict(_row(store, id)), vector=vector
                )
            model[id] = (stored.etag, which if move == "put" else None)


async def test_fault_051_a_deleted_document_is_never_found_again(store: StoreUnderTest) -> None:
    partition, vector = _new_partition(store), np.ones(8, dtype=np.float32)
    await store.documents.create(Container.TICKETS, store.t1, partition, dict(_row(store, "a")), vector=vector)
    assert await store.documents.nearest(Container.TICKETS, store.t1, partition, vector, top_k=5) != ()

    await store.documents.delete(Container.TICKETS, store.t1, partition, "a")

    assert await store.documents.nearest(Container.TICKETS, store.t1, partition, vector, top_k=5) == ()


async def test_writes_of_one_batch_are_all_found_at_once(store: StoreUnderTest) -> None:
    partition = _new_partition(store)
    near, far = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    old = await store.documents.create(Container.TICKETS, store.t1, partition, dict(_row(store, "old")), vector=far)
    await store.documents.create(Container.TICKETS, store.t1, partition, dict(_row(store, "gone")), vector=near)
    await store.documents.nearest(Container.TICKETS, store.t1, partition, near, top_k=5)

    await store.documents.batch(
        Container.TICKETS,
        store.t1,
        partition,
        (
            Create(dict(_row(store, "new")), vector=near),
            Replace(dict(_row(store, "old")), old.etag, vector=near),
            Delete("gone"),
        ),
    )

    found = await store.documents.nearest(Container.TICKETS, store.t1, partition, near, top_k=5)
    assert found == (("new", 1.0), ("old", 1.0))


async def test_only_vectors_of_the_questions_dimension_are_compared(store: StoreUnderTest) -> None:
    """While a tenant is re-embedded with another model both kinds lie side by side."""
    partition = _new_partition(store)
    three, four = np.ones(3, dtype=np.float32), np.ones(4, dtype=np.float32)
    old = await store.documents.create(Container.TICKETS, store.t1, partition, dict(_row(store, "a")), vector=three)
    await store.documents.create(Container.TICKETS, store.t1, partition, dict(_row(store, "b")), vector=four)

    by_three = await store.documents.nearest(Container.TICKETS, store.t1, partition, three, top_k=5)
    await store.documents.replace(
        Container.TICKETS, store.t1, partition, dict(_row(store, "a")), etag=old.etag, vector=four
    )

    assert [id for id, _ in by_three] == ["a"]
    assert await store.documents.nearest(Container.TICKETS, store.t1, partition, three, top_k=5) == ()
    by_four = await store.documents.nearest(Container.TICKETS, store.t1, partition, four, top_k=5)
    assert [id for id, _ in by_four] == ["a", "b"]


@pytest.mark.parametrize("scale", [1e-30, 1e30], ids=["tiny", "huge"])
async def test_cosine_ignores_length_even_at_the_edge_of_float32(store: StoreUnderTest, scale: float) -> None:
    partition, vector = _new_partition(store), np.array([1, 2, 2], dtype=np.float32)
    extreme = (vector * np.float32(scale)).astype(np.float32)
    await store.documents.create(Container.TICKETS, store.t1, partition, dict(_row(store, "a")), vector=extreme)

    found = await store.documents.nearest(Container.TICKETS, store.t1, partition, vector, top_k=1)

    assert found == (("a", pytest.approx(1.0, abs=1e-6)),)


async def test_a_question_that_is_no_vector_or_asks_for_nothing_is_refused(store: StoreUnderTest) -> None:
    partition = _new_partition(store)
    for vector, top_k in ((np.ones((2, 2)), 1), (np.array([np.nan]), 1), (np.ones(3), 0)):
        with pytest.raises(SchemaError):
            await store.documents.nearest(
                Container.TICKETS, store.t1, partition, vector.astype(np.float32), top_k=top_k
            )
