"""A merchant's bulk edit: what it costs, and what it costs the neighbour. Source: fault 067."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from orchestrators.triggers.catalog_reconcile import reconcile
from tests.unit.shop_sync.conftest import OTHER_DOMAIN, T1, T2, Desk
from tests.unit.shop_sync.small_shop import product_payload

RENAMED = 100
"""Products whose text changes; of the others only the price does."""
MINUTES = 10
NEIGHBOURS = range(9_001, 9_006)
ANSWER_S = 0.25
"""How long the shop takes to answer."""


@dataclass
class Flood:
    """The updates as time goes by: each arrives at its moment, however busy the worker is."""

    desk: Desk
    updates: int
    products: int
    began: datetime
    sent: int = 0
    neighbours_sent: datetime | None = None
    neighbours_done: datetime | None = None

    async def pump(self, _: str = "") -> None:
        """Deliver what is due by now."""
        desk, now = self.desk, self.desk.clock.now()
        due = min(self.updates, int((now - self.began) / timedelta(minutes=MINUTES) * self.updates))
        while self.sent < due:
            number = 1 + self.sent % self.products
            name = f"Renamed {number}" if number <= RENAMED else f"Product {number}"
            product = desk.shop.put(number, name, price=1_000 + self.sent // self.products)
            await desk.deliver("products/update", product_payload(product))
            self.sent += 1
        if self.neighbours_sent is None and now >= self.began + timedelta(minutes=MINUTES / 2):
            self.neighbours_sent = now
            for number in NEIGHBOURS:
                payload = product_payload(desk.shop.put(number, "Next door"))
                await desk.deliver("products/update", payload, X_Shopify_Shop_Domain=OTHER_DOMAIN)
        elif self.neighbours_done is None and len(await desk.articles(T2)) == len(NEIGHBOURS):
            self.neighbours_done = now


async def run(desk: Desk, updates: int, products: int) -> None:
    """Send the updates over ten minutes, the worker's timer firing every five seconds, and hold all promises."""
    for number in range(1, products + 1):
        desk.shop.put(number)
    await reconcile(T1, desk.services, desk.clock.now() + timedelta(minutes=8))
    await desk.feed()
    assert len(await desk.articles(T1)) == products
    desk.embedder.texts.clear()
    desk.shop.latency_s = ANSWER_S
    flood = Flood(desk, updates, products, desk.clock.now())
    desk.shop.on_ask = flood.pump

    while flood.sent < updates or await desk.sync():
        desk.clock.forward(seconds=5)
        await flood.pump()
        await desk.sync()
    await desk.feed()

    assert flood.neighbours_sent is not None
    assert flood.neighbours_done is not None
    waited_s = (flood.neighbours_done - flood.neighbours_sent).total_seconds()
    took_s = (desk.clock.now() - flood.began).total_seconds()
    print(
        f"{updates} updates: {len(desk.shop.asked)} asked, done after {took_s:.0f} s; the neighbour waited {waited_s} s"
    )
    assert waited_s <= 60
    assert len(desk.shop.asked) <= min(updates, took_s / ANSWER_S + 1)
    assert sorted(desk.embedder.texts) == sorted({t for t in desk.embedder.texts if "Renamed" in t or "Next door" in t})
    assert len(desk.embedder.texts) == RENAMED + len(NEIGHBOURS)
    prices = {found["price"] for found in (await desk.articles(T1)).values()}
    assert prices == {f"{(1_000 + (updates - 1) // products) / 100:.2f}"}


@pytest.mark.req("SH-01", "KB-04", "RK-02")
async def test_fault_067_a_bulk_edit_of_5000_updates_does_not_hold_up_the_neighbour(desk: Desk) -> None:
    """A tenth of the flood for every run; the whole of it is a soak."""
    await run(desk, 5_000, products=1_000)


@pytest.mark.soak
@pytest.mark.req("SH-01", "KB-04", "RK-02")
async def test_fault_067_a_bulk_edit_of_50000_updates_does_not_hold_up_the_neighbour(desk: Desk) -> None:
    """50,000 updates of one tenant in ten minutes, five of another."""
    await run(desk, 50_000, products=2_000)
