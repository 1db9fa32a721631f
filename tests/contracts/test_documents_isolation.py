"""The contract of the Documents port: nobody reaches what is not theirs, through any call.

Source: ME-07, faults 050 (a recall path that forgets its filter) and 093 (isolation never rests on the key alone).
"""

from collections.abc import Awaitable, Callable
from typing import cast

import numpy as np
import pytest

from shared.domain.errors import NotFound, SchemaError, ScopeError
from shared.domain.ids import CustomerId, TenantId
from shared.ports.documents import (
    Container,
    Create,
    CustomerScope,
    Delete,
    PlatformScope,
    Query,
    Replace,
    Scope,
    TenantScope,
    Where,
    customer_partition,
)
from tests.contracts.conftest import StoreUnderTest

pytestmark = pytest.mark.req("ME-07", "DC-01")

VECTOR = np.array([1, 0, 0], dtype=np.float32)
PLATFORM = PlatformScope("test of isolation")


def _memory(scope: CustomerScope, id: str = "m1") -> dict[str, str]:
    return {
        "id": id,
        "tenant_id": scope.tenant_id,
        "customer_id": scope.customer_id,
        "kind": "memory",
        "instance_id": "t-1",
        "text": f"likes tea, says {scope.tenant_id}/{scope.customer_id}",
    }


async def _remember(store: StoreUnderTest) -> None:
    for scope in (store.ana, store.ben, store.ana_of_t2):
        await store.documents.create(
            Container.MEMORIES, scope, customer_partition(scope), dict(_memory(scope)), vector=VECTOR
        )


async def test_fault_050_each_recall_path_returns_only_the_callers_own(store: StoreUnderTest) -> None:
    """T1/ana, T1/ben and T2/ana each store a preference under the same id; every path shows each only their own."""
    await _remember(store)

    for scope in (store.ana, store.ben, store.ana_of_t2):
        own, partition = _memory(scope), customer_partition(scope)
        queries = (
            Query(partition),
            Query(None, reason="test"),
            Query(None, reason="test", where=(Where("kind", "=", "memory"),)),
            Query(None, reason="test", where=(Where("instance_id", "=", "t-1"),)),
            Query(None, reason="test", order_by="text", is_descending=True),
        )
        for query in queries:
            page = await store.documents.query(Container.MEMORIES, scope, query)
            assert [item.body for item in page.items] == [own]
        stored = await store.documents.read(Container.MEMORIES, scope, partition, "m1")
        assert stored is not None
        assert stored.body == own
        assert await store.documents.nearest(Container.MEMORIES, scope, partition, VECTOR, top_k=9) == (("m1", 1.0),)


async def test_a_tenant_sees_all_its_customers_and_no_other_tenants(store: StoreUnderTest) -> None:
    await _remember(store)

    page = await store.documents.query(Container.MEMORIES, store.t1, Query(None, reason="test"))

    assert {item.body["customer_id"] for item in page.items} == {"ana", "ben"}
    assert {item.body["tenant_id"] for item in page.items} == {store.t1.tenant_id}


Call = Callable[[StoreUnderTest, Scope, str], Awaitable[object]]


def _as_ana(store: StoreUnderTest) -> dict[str, str]:
    return _memory(store.ana, "m2")


CALLS: dict[str, Call] = {
    "read": lambda s, scope, p: s.documents.read(Container.MEMORIES, scope, p, "m1"),
    "create": lambda s, scope, p: s.documents.create(Container.MEMORIES, scope, p, dict(_as_ana(s))),
    "replace": lambda s, scope, p: s.documents.replace(Container.MEMORIES, scope, p, dict(_as_ana(s)), etag="x"),
    "delete": lambda s, scope, p: s.documents.delete(Container.MEMORIES, scope, p, "m1"),
    "query": lambda s, scope, p: s.documents.query(Container.MEMORIES, scope, Query(p)),
    "batch": lambda s, scope, p: s.documents.batch(Container.MEMORIES, scope, p, (Delete("m1"),)),
    "nearest": lambda s, scope, p: s.documents.nearest(
        Container.MEMORIES, cast(TenantScope, scope), p, VECTOR, top_k=1
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_every_call_on_a_partition_outside_the_scope_is_refused(store: StoreUnderTest, call: Call) -> None:
    await _remember(store)
    own = customer_partition(store.ana)
    outside = (
        (store.ben, own),
        (store.ana_of_t2, own),
        (store.t2, own),
        (store.ana, store.t1.tenant_id),
        (store.ana, f"{store.t1.tenant_id}|"),
        (store.ana, f"{own}|x"),
        (store.ana, ""),
        (store.t1, f"{store.t1.tenant_id}x|ana"),
    )

    for scope, partition in outside:
        with pytest.raises(ScopeError):
            await call(store, scope, partition)

    assert len((await store.documents.query(Container.MEMORIES, store.t1, Query(None, reason="test"))).items) == 2


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_fault_050_a_call_lacking_tenant_or_customer_raises(store: StoreUnderTest, call: Call) -> None:
    lacking = (
        TenantScope(TenantId("")),
        TenantScope(TenantId("T1|ana")),
        CustomerScope(store.t1.tenant_id, CustomerId("")),
        CustomerScope(TenantId(""), CustomerId("ana")),
        CustomerScope(store.t1.tenant_id, cast(CustomerId, None)),
        PlatformScope("  "),
        cast(Scope, None),
    )

    for scope in lacking:
        with pytest.raises(ScopeError):
            await call(store, scope, customer_partition(store.ana))


@pytest.mark.parametrize("call", [CALLS[name] for name in ("create", "replace", "delete", "batch", "nearest")])
async def test_the_platform_may_look_but_not_write_or_search(store: StoreUnderTest, call: Call) -> None:
    with pytest.raises(ScopeError):
        await call(store, PLATFORM, customer_partition(store.ana))


async def test_the_platform_reads_across_tenants_for_its_reason(store: StoreUnderTest) -> None:
    await _remember(store)

    page = await store.documents.query(
        Container.MEMORIES, PLATFORM, Query(None, where=(Where("kind", "=", "memory"),), limit=1000)
    )
    stored = await store.documents.read(Container.MEMORIES, PLATFORM, customer_partition(store.ana), "m1")

    tenants = {item.body["tenant_id"] for item in page.items}
    assert {store.t1.tenant_id, store.t2.tenant_id} <= tenants
    assert stored is not None


async def test_fault_093_a_query_over_partitions_without_a_reason_is_refused(store: StoreUnderTest) -> None:
    for scope in (store.t1, store.ana):
        with pytest.raises(ScopeError):
            await store.documents.query(Container.MEMORIES, scope, Query(None))
        with pytest.raises(ScopeError):
            await store.documents.query(Container.MEMORIES, scope, Query(None, reason=" "))


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"tenant_id": "T9"}, ScopeError, id="other tenant"),
        pytest.param({"tenant_id": None}, ScopeError, id="null tenant"),
        pytest.param({"customer_id": "ben"}, ScopeError, id="other customer"),
        pytest.param({"customer_id": None}, ScopeError, id="null customer"),
        pytest.param({"customer_id": 7}, SchemaError, id="number as customer"),
    ],
)
async def test_a_write_whose_owner_differs_from_the_scope_is_refused(
    store: StoreUnderTest, changes: dict[str, object], error: type[Exception]
) -> None:
    partition = customer_partition(store.ana)
    first = await store.documents.create(Container.MEMORIES, store.ana, partition, dict(_memory(store.ana)))
    wrong = {**_memory(store.ana), **changes}
    fresh = {**wrong, "id": "m2"}

    with pytest.raises(error):
        await store.documents.create(Container.MEMORIES, store.ana, partition, fresh)
    with pytest.raises(error):
        await store.documents.replace(Container.MEMORIES, store.ana, partition, wrong, etag=first.etag)
    with pytest.raises(error):
        await store.documents.batch(Container.MEMORIES, store.ana, partition, (Create(fresh),))
    with pytest.raises(error):
        await store.documents.batch(Container.MEMORIES, store.ana, partition, (Replace(wrong, first.etag),))

    page = await store.documents.query(Container.MEMORIES, store.ana, Query(partition))
    assert [item.etag for item in page.items] == [first.etag]


async def test_a_tenants_write_into_a_customers_partition_must_name_that_customer(store: StoreUnderTest) -> None:
    with pytest.raises(ScopeError):
        await store.documents.create(
            Container.MEMORIES, store.t1, customer_partition(store.ana), dict(_memory(store.ben))
        )


async def test_fault_093_in_a_shared_partition_a_customer_reaches_only_their_own_documents(
    store: StoreUnderTest,
) -> None:
    """The partition key does not tell customers apart here, so the WHERE must."""
    partition = f"{store.t1.tenant_id}|c1"
    etags = {}
    for scope in (store.ana, store.ben):
        created = await store.documents.create(
            Container.TICKETS, scope, partition, dict(_memory(scope, scope.customer_id)), vector=VECTOR
        )
        etags[scope.customer_id] = created.etag
    anonymous = {"id": "anonymous", "tenant_id": store.t1.tenant_id, "customer_id": None}
    await store.documents.create(Container.TICKETS, store.t1, partition, dict(anonymous), vector=VECTOR)

    page = await store.documents.query(Container.TICKETS, store.ana, Query(partition))
    near = await store.documents.nearest(Container.TICKETS, store.ana, partition, VECTOR, top_k=9)

    assert [item.body["id"] for item in page.items] == ["ana"]
    assert near == (("ana", 1.0),)
    for id in ("ben", "anonymous"):
        assert await store.documents.read(Container.TICKETS, store.ana, partition, id) is None
        with pytest.raises(NotFound):
            await store.documents.delete(Container.TICKETS, store.ana, partition, id)
    with pytest.raises(NotFound):
        await store.documents.replace(
            Container.TICKETS, store.ana, partition, dict(_memory(store.ana, "ben")), etag=etags["ben"]
        )
    assert len((await store.documents.query(Container.TICKETS, store.t1, Query(partition))).items) == 3


async def test_in_the_key_container_a_tenant_reaches_only_its_own_keys(store: StoreUnderTest) -> None:
    """Keys are partitioned by key id, which says nothing about the owner."""
    kid = f"k{store.mark}"
    await store.documents.create(Container.KEYS, store.t1, kid, {"id": kid, "tenant_id": store.t1.tenant_id})

    assert await store.documents.read(Container.KEYS, store.t2, kid, kid) is None
    with pytest.raises(NotFound):
        await store.documents.delete(Container.KEYS, store.t2, kid, kid)
    assert await store.documents.read(Container.KEYS, store.t1, kid, kid) is not None
