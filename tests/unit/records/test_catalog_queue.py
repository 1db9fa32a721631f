"""The queue of products: turns go round, whatever the length of anybody's queue."""

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.catalog_queue import CatalogQueue
from shared.domain.catalog_work import Hint, Subject
from shared.domain.ids import TenantId
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock


async def ask(queue: CatalogQueue, tenant: str, *products: int) -> None:
    """Put products in."""
    for number in products:
        await queue.hint(TenantScope(TenantId(tenant)), Hint(Subject.PRODUCT, str(number), None, "e"))


@pytest.mark.req("SH-01", "RK-02")
async def test_fault_067_who_has_waited_longest_is_next_and_who_was_served_goes_behind(
    documents: SqliteDocuments, clock: FixedClock
) -> None:
    """Three turns at a time of five tenants; one of them has far more to do than the others."""
    queue = CatalogQueue(documents, clock)
    await ask(queue, "t9", *range(50))
    for tenant in ("t5", "t7", "t1", "t3"):
        clock.forward(seconds=1)
        await ask(queue, tenant, 1)

    served = []
    while turns := await queue.next_turns(3):
        for turn in turns:
            clock.forward(seconds=1)
            served.append(turn.scope.tenant_id)
            for work in await queue.take(turn.scope, 25):
                await queue.finish(turn.scope, work, clock.now())
            await queue.end_turn(turn, not_before=clock.now())

    assert served == ["t9", "t5", "t7", "t1", "t3", "t9"]


@pytest.mark.req("SH-01")
async def test_a_turn_is_one_workers_until_it_is_over(documents: SqliteDocuments, clock: FixedClock) -> None:
    """Two instances of the worker divide the tenants between them."""
    queue = CatalogQueue(documents, clock)
    await ask(queue, "t1", 1)
    await ask(queue, "t2", 1)

    first, second, third = [await queue.next_turns(1) for _ in range(3)]

    assert [turn.scope.tenant_id for turn in (*first, *second)] == ["t1", "t2"]
    assert third == ()


@pytest.mark.req("SH-01")
async def test_the_longest_waiting_product_is_taken_first(documents: SqliteDocuments, clock: FixedClock) -> None:
    """Whatever the ids are, so that no product starves behind busy ones."""
    queue, scope = CatalogQueue(documents, clock), TenantScope(TenantId("t1"))
    for number in (9, 5, 7):
        await ask(queue, "t1", number)
        clock.forward(seconds=1)

    taken = await queue.take(scope, 2)

    assert [work.subject_id for work in taken] == ["9", "5"]
