"""Token buckets on a real store: shared by instances, never more granted than there is, set right by reports."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.buckets import CONTENDED_WAIT_S, BucketRecords
from shared.domain.errors import SchemaError
from shared.domain.ids import TenantId
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock

CAPACITY = 100.0
RATE = 10.0
OTHER = TenantScope(TenantId("t2"))


@pytest.fixture
async def instances(tmp_path: Path, clock: FixedClock) -> AsyncIterator[tuple[BucketRecords, BucketRecords]]:
    """Two instances, each with a connection of its own to one file."""
    stores = [SqliteDocuments(tmp_path / "vouch.db", clock=clock) for _ in range(2)]
    yield BucketRecords(stores[0], clock=clock), BucketRecords(stores[1], clock=clock)
    for store in stores:
        await store.close()


async def take(bucket: BucketRecords, tenant: TenantScope, cost: float, name: str = "shop") -> float:
    """Take from the bucket of the tests."""
    return await bucket.take(tenant, name, cost, capacity=CAPACITY, per_second=RATE)


@pytest.mark.req("AX-04", "RK-02")
async def test_what_is_taken_is_gone_for_every_instance_until_time_refills_it(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock
) -> None:
    here, there = instances

    assert await take(here, tenant, 60) == 0
    assert await take(there, tenant, 60) == pytest.approx(2.0)
    clock.forward(seconds=2)
    assert await take(there, tenant, 60) == 0
    assert await take(here, tenant, 1) == pytest.approx(0.1)


@pytest.mark.req("AX-04", "RK-02", "ME-07")
async def test_buckets_of_other_names_and_tenants_are_others(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope
) -> None:
    here, _ = instances
    await take(here, tenant, 100)

    assert await take(here, tenant, 100, name="billing") == 0
    assert await take(here, OTHER, 100) == 0
    assert await take(here, tenant, 1) > 0


@pytest.mark.req("AX-04", "RK-02")
async def test_many_takers_over_two_instances_are_never_granted_more_than_capacity_and_refill(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock
) -> None:
    """AX-04: one bucket for all; the law is granted ≤ capacity + rate × time, at every moment."""
    began, granted = clock.now(), 0.0
    refused = 0

    for _ in range(8):
        asked = [take(instances[i % 2], tenant, cost) for i, cost in enumerate((3.0, 7.0, 5.0, 11.0) * 10)]
        waits = await asyncio.gather(*asked)
        granted += sum(c for c, wait in zip((3.0, 7.0, 5.0, 11.0) * 10, waits, strict=True) if wait == 0)
        refused += sum(wait > 0 for wait in waits)
        assert granted <= CAPACITY + RATE * (clock.now() - began).total_seconds() + 1e-6
        clock.forward(seconds=3)

    assert refused > 0
    assert granted > CAPACITY + RATE * 21 - 11


@pytest.mark.req("AX-04", "RK-02")
async def test_takers_in_threads_of_their_own_are_never_granted_more_than_there_is(
    tmp_path: Path, tenant: TenantScope, clock: FixedClock
) -> None:
    """Real interleaving: eight instances on eight threads over one file; every lost race is asked again."""

    def run(_: int) -> float:
        async def ask() -> float:
            store = SqliteDocuments(tmp_path / "vouch.db", clock=clock)
            bucket, granted, empty = BucketRecords(store, clock=clock), 0.0, False
            while not empty:
                wait_s = await take(bucket, tenant, 3)
                granted += 3.0 * (wait_s == 0)
                # With a standing clock only an empty bucket asks for as long as its refill takes.
                empty = wait_s > 0 and wait_s != CONTENDED_WAIT_S
            await store.close()
            return granted

        return asyncio.run(ask())

    granted = await asyncio.gather(*(asyncio.to_thread(run, i) for i in range(8)))

    assert sum(granted) == 99.0


@pytest.mark.req("AX-04")
async def test_a_cost_above_the_capacity_is_granted_from_a_full_bucket_and_paid_off_after(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock
) -> None:
    here, there = instances

    assert await take(here, tenant, 150) == 0
    assert await take(there, tenant, 1) == pytest.approx(5.1)
    clock.forward(seconds=5.1)
    assert await take(there, tenant, 1) == 0


@pytest.mark.req("AX-04")
async def test_what_was_not_used_comes_back_and_a_report_never_raises_the_level_above_itself(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope
) -> None:
    here, there = instances
    await take(here, tenant, 100)

    await there.settle(tenant, "shop", refund=40, available=90, capacity=CAPACITY, per_second=RATE)
    assert await take(here, tenant, 40) == 0
    assert await take(here, tenant, 1) > 0

    await there.settle(tenant, "shop", refund=100, available=20, capacity=CAPACITY, per_second=RATE)
    assert await take(here, tenant, 21) > 0
    assert await take(here, tenant, 20) == 0


@pytest.mark.req("AX-04", "RK-02")
async def test_reported_capacity_and_rate_overrule_what_a_caller_assumes(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock
) -> None:
    here, there = instances
    await here.settle(tenant, "shop", refund=0, available=1_000, capacity=1_000, per_second=500)
    clock.forward(seconds=2)

    assert await take(there, tenant, 1_000) == 0
    assert await take(there, tenant, 500) == pytest.approx(1.0)


async def test_a_clock_that_stands_behind_anothers_grants_nothing_twice(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock
) -> None:
    here, there = instances
    clock.forward(seconds=30)
    await take(here, tenant, 100)
    clock.at -= timedelta(seconds=30)

    assert await take(there, tenant, 1) > 0
    clock.forward(seconds=30)
    assert await take(there, tenant, 1) > 0


async def test_a_wait_is_never_too_short_to_be_waited(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock
) -> None:
    """A wait below a microsecond moved no clock, and the caller asked for ever."""
    here, _ = instances
    await here.take(tenant, "shop", 10, capacity=10, per_second=1e9)

    wait_s = await here.take(tenant, "shop", 1, capacity=10, per_second=1e9)
    clock.forward(seconds=wait_s)

    assert await here.take(tenant, "shop", 1, capacity=10, per_second=1e9) == 0


async def test_an_idle_bucket_leaves_no_row_and_is_full(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, clock: FixedClock, documents: SqliteDocuments
) -> None:
    here, there = instances
    await take(here, tenant, 100)
    clock.forward(minutes=5)

    assert documents.purge_expired(clock.now(), 10) == 1
    assert await take(there, tenant, 100) == 0


@pytest.mark.parametrize(("cost", "capacity", "rate"), [(-1, 1, 1), (1, 0, 1), (1, 1, 0), (float("nan"), 1, 1)])
async def test_amounts_that_make_no_sense_are_refused(
    instances: tuple[BucketRecords, BucketRecords], tenant: TenantScope, cost: float, capacity: float, rate: float
) -> None:
    with pytest.raises(SchemaError):
        await instances[0].take(tenant, "shop", cost, capacity=capacity, per_second=rate)


@pytest.mark.req("AX-04")
@settings(max_examples=30, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.floats(0, 30), st.floats(0.1, 60), st.booleans()).map(
            lambda s: (round(s[0], 3), round(s[1], 3), s[2])
        ),
        max_size=25,
    )
)
def test_no_sequence_of_takes_and_pauses_breaks_the_law(steps: list[tuple[float, float, bool]]) -> None:
    """The law of a bucket: granted ≤ capacity + rate × time; and a wait is neither too short nor for nothing."""

    async def run() -> None:
        clock = FixedClock()
        store = SqliteDocuments(Path(":memory:"), clock=clock)
        bucket, tenant, began, granted = (
            BucketRecords(store, clock=clock),
            TenantScope(TenantId("t1")),
            clock.now(),
            0.0,
        )
        for pause_s, cost, is_patient in steps:
            clock.forward(seconds=pause_s)
            wait_s = await take(bucket, tenant, cost)
            if wait_s > 0 and is_patient:
                clock.forward(seconds=wait_s + 0.001)
                assert await take(bucket, tenant, cost) == 0
            granted += cost * (wait_s == 0 or is_patient)
            assert granted <= CAPACITY + RATE * (clock.now() - began).total_seconds() + 1e-3
        await store.close()

    asyncio.run(run())
