"""The first sync and the nightly comparison: what events missed is found and mended, and nothing else is touched."""

import random
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from orchestrators.triggers.catalog_reconcile import reconcile, reconcile_catalogs
from shared.domain.article import ArticleInput
from shared.domain.catalog import ProductStatus
from shared.domain.errors import RateLimited, SchemaError, Unavailable
from shared.domain.ids import ArticleId, TenantId
from shared.domain.installation import TokenGrant
from shared.domain.intents import ArticleType
from shared.domain.reconciling import NIGHT_MINUTES, CatalogReport, next_night
from shared.domain.shop_events import Topic
from shared.domain.text import PublishedText
from shared.retrieval.product_article import to_article
from tests.unit.shop_sync.conftest import T1, Desk, at
from tests.unit.shop_sync.small_shop import DOMAIN, SmallShop, product_payload, stock_payload

SEEDS = range(10)
EVENTS = 2_000


def wanted(shop: SmallShop) -> dict[str, dict[str, str]]:
    """Return the articles the shop's present state comes to."""
    made = [found.article for found in map(to_article, shop.products.values()) if found is not None]
    return {a.article_id: {"title": a.title.value, **a.attributes} for a in made}


async def compare(desk: Desk) -> CatalogReport:
    """Compare the first tenant once."""
    return await reconcile(T1, desk.services, desk.clock.now() + timedelta(minutes=8))


@pytest.mark.req("SH-02", "KB-01")
async def test_a_new_shop_is_synced_from_one_listing(desk: Desk) -> None:
    """No product is asked for by itself; the night's minute follows."""
    for number in range(120):
        desk.shop.put(number)

    await reconcile_catalogs(desk.services)

    row = await desk.services.reconciles.get(T1)
    assert len(await desk.articles()) == 120
    assert (desk.shop.listings, desk.shop.asked) == (2, []), "one a connected tenant"
    assert row is not None
    assert row.last == CatalogReport(products=120, added=120)
    assert row.seq > desk.clock.now().timestamp() * 1e6


@pytest.mark.req("SH-01", "SH-02")
async def test_fault_068_a_day_without_webhooks_is_four_differences_found_and_mended(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """Three products changed, one deleted, every event lost, and the subscription gone: mended, with an alarm."""
    for number in range(20):
        desk.shop.put(number)
    await reconcile_catalogs(desk.services)
    desk.clock.forward(hours=10)
    desk.shop.put(3, price=1_500)
    desk.shop.put(4, "Another name")
    desk.shop.put(5, stock=0)
    del desk.shop.products["6"]

    desk.shop.missing_topics = (Topic.PRODUCTS_UPDATE,)
    desk.clock.forward(hours=14)
    await reconcile_catalogs(desk.services)

    row = await desk.services.reconciles.get(T1)
    assert row is not None
    assert row.last is not None
    assert (row.last.differences, row.last.changed, row.last.removed, row.last.left) == (4, 3, 1, 0)
    assert await desk.articles() == wanted(desk.shop)
    assert any(r.levelname == "ERROR" and "products/update" in r.getMessage() for r in caplog.records)


@dataclass(frozen=True, slots=True)
class Event:
    """One event on its way; its ids make a second delivery the same event."""

    topic: str
    payload: dict[str, Any]
    id: str
    at: str

    async def arrive(self, desk: Desk) -> None:
        """Deliver it."""
        ids = {"X_Shopify_Event_Id": self.id, "X_Shopify_Webhook_Id": f"w-{self.id}", "X_Shopify_Triggered_At": self.at}
        assert (await desk.deliver(self.topic, self.payload, **ids)).status_code == 200


def live(desk: Desk, dice: random.Random) -> list[Event]:
    """Have the shop live through some days and return what it sent, in order."""
    sent = []
    for n in range(EVENTS):
        desk.clock.forward(seconds=dice.choice((0, 0, 1, 7)))
        known = sorted(desk.shop.products, key=int)
        topic, payload = "products/update", {}
        if known and dice.random() < 0.15:
            topic, payload = "products/delete", {"id": int(known.pop(dice.randrange(len(known))))}
            del desk.shop.products[str(payload["id"])]
        elif known and dice.random() < 0.3:
            product = desk.shop.put(int(dice.choice(known)), stock=dice.randrange(3))
            topic, payload = "inventory_levels/update", stock_payload(product, desk.clock.now())
        else:
            status = dice.choice([ProductStatus.ACTIVE] * 8 + [ProductStatus.DRAFT])
            number, price = dice.randrange(150), dice.randrange(1, 9_999)
            payload = product_payload(desk.shop.put(number, f"Name {n}", price=price, status=status))
        sent.append(Event(topic, payload, f"e{n}", desk.clock.now().isoformat()))
    return sent


async def deliver_all(desk: Desk, arriving: Iterable[Event], dice: random.Random) -> None:
    """Deliver in this order, the worker running now and then, and let it come to rest."""
    for event in arriving:
        await event.arrive(desk)
        if dice.random() < 0.02:
            desk.clock.forward(seconds=5)
            await desk.sync()
    await rest(desk)


async def rest(desk: Desk) -> None:
    """Run the worker until nothing is due, second looks included."""
    for _ in range(8):
        desk.clock.forward(seconds=61)
        await desk.sync()


@pytest.mark.req("SH-01", "SH-02")
@pytest.mark.parametrize("seed", SEEDS)
async def test_lost_late_and_repeated_events_converge_after_one_comparison(desk: Desk, seed: int) -> None:
    """2,000 product, stock and delete events: permuted, a tenth lost, a tenth twice."""
    dice = random.Random(seed)
    sent = live(desk, dice)
    arriving = [event for event in sent if dice.random() > 0.1]
    arriving += dice.sample(arriving, len(arriving) // 10)
    dice.shuffle(arriving)
    await deliver_all(desk, arriving, dice)

    report = await compare(desk)
    await rest(desk)

    assert report.is_complete
    assert await desk.articles() == wanted(desk.shop)
    assert (await compare(desk)).differences == 0


@pytest.mark.req("SH-01")
@pytest.mark.parametrize("seed", [11, 12, 13])
async def test_events_in_any_order_converge_without_a_comparison_when_none_is_lost(desk: Desk, seed: int) -> None:
    """The newest event of each product is among them, and every older one is covered by the answer to it."""
    dice = random.Random(seed)
    arriving = live(desk, dice)
    dice.shuffle(arriving)

    await deliver_all(desk, arriving, dice)

    assert await desk.articles() == wanted(desk.shop)
    assert len(desk.shop.asked) < EVENTS


@pytest.mark.req("SH-02")
async def test_what_a_merchant_wrote_is_left_alone(desk: Desk) -> None:
    """Not one of the sync: another id, another type, or no number behind the prefix."""
    for id, type in (("returns", "faq"), ("product-care", "product"), ("product-7", "faq"), ("7", "product")):
        await desk.services.articles.put(
            T1,
            ArticleInput(
                article_id=ArticleId(id),
                type=ArticleType(type),
                title=PublishedText("By hand"),
                content=PublishedText("Text"),
            ),
        )
    desk.shop.put(1)

    report = await compare(desk)

    assert (report.added, report.removed) == (1, 0)
    assert sorted(await desk.articles()) == ["7", "product-1", "product-7", "product-care", "returns"]


@pytest.mark.req("SH-02")
async def test_a_listing_that_is_cut_short_removes_nothing(desk: Desk) -> None:
    """Before an article goes, the shop is asked for that very product."""
    for number in range(10):
        desk.shop.put(number)
    await compare(desk)
    desk.shop.is_listing_cut = True

    report = await compare(desk)

    assert report.differences == 0
    assert len(desk.shop.asked) == 5
    assert len(await desk.articles()) == 10


@pytest.mark.req("SH-02")
async def test_a_comparison_does_not_overwrite_what_a_newer_event_brought(desk: Desk) -> None:
    """The listing is of the moment it began; a webhook may have overtaken it."""
    old = desk.shop.put(1, "As listed")
    await compare(desk)
    desk.clock.forward(seconds=10)
    await desk.deliver("products/update", product_payload(desk.shop.put(1, "By event")))
    await desk.sync()
    desk.shop.products["1"] = old

    report = await compare(desk)

    assert (report.left, report.changed) == (1, 0)
    assert (await desk.articles())["product-1"]["title"] == "By event"


@pytest.mark.req("SH-02")
async def test_a_comparison_leaves_a_product_whose_event_is_on_its_way_to_the_worker(desk: Desk) -> None:
    """One product, one writer."""
    product = desk.shop.put(1)
    await desk.deliver("products/update", product_payload(product))

    report = await compare(desk)
    await desk.sync()

    assert (report.left, report.added) == (1, 0)
    assert list(await desk.articles()) == ["product-1"]


@pytest.mark.req("SH-02")
@pytest.mark.parametrize("trouble", [Unavailable("down"), RateLimited("slow", retry_after_s=5), SchemaError("odd")])
async def test_a_listing_that_breaks_off_is_told_and_tried_again_in_minutes(desk: Desk, trouble: Exception) -> None:
    """What was mended stays; nothing is removed; the next run finds the rest."""
    for number in range(10):
        desk.shop.put(number)
    desk.shop.trouble = lambda id: trouble if id == "list:5" else None
    await reconcile_catalogs(desk.services)
    row = await desk.services.reconciles.get(T1)
    assert row is not None
    assert row.last is not None
    assert (row.last.added, row.last.is_complete) == (5, False)

    desk.shop.trouble = lambda _: None
    desk.clock.forward(minutes=11)
    await reconcile_catalogs(desk.services)

    assert len(await desk.articles()) == 10


@pytest.mark.req("SH-02")
async def test_fault_086_a_comparison_that_runs_out_of_time_goes_on_where_it_was(desk: Desk) -> None:
    """The limit of a function is ten minutes; a run ends before, and the next has less to do."""
    for number in range(40):
        desk.shop.put(number)
    await compare(desk)
    desk.shop.products.clear()
    desk.shop.latency_s = 20.0

    reports = [await compare(desk) for _ in range(2)]

    assert [report.is_complete for report in reports] == [False, True]
    assert sum(report.removed for report in reports) == 40
    assert await desk.articles() == {}


@pytest.mark.req("SH-02")
async def test_a_tenant_without_its_shop_is_not_compared_and_at_once_when_it_is_back(desk: Desk) -> None:
    """An uninstalled shop has no token to list with; what it sent meanwhile was left."""
    await reconcile_catalogs(desk.services)
    desk.clock.forward(days=1, hours=6)
    await desk.services.installations.uninstall(T1, DOMAIN, at=desk.clock.now())
    await reconcile_catalogs(desk.services)
    listings_without = desk.shop.listings

    desk.clock.forward(hours=1)
    await desk.services.installations.install(T1, DOMAIN, TokenGrant("shpat_new", ("read_products",)))
    await reconcile_catalogs(desk.services)
    await reconcile_catalogs(desk.services)

    assert (listings_without, desk.shop.listings) == (3, 4), "two shops, the other one the next night, the first again"


@pytest.mark.req("SH-02")
async def test_a_run_that_died_is_taken_up_again(desk: Desk) -> None:
    """Its turn was a lease."""
    (first, _) = await desk.services.installations.connected()
    await desk.services.reconciles.enrol(T1, first.installed_at)
    await desk.services.reconciles.next_turns(1, desk.clock.now() + timedelta(minutes=18))
    desk.shop.put(1)

    await reconcile_catalogs(desk.services)
    early = await desk.articles()
    desk.clock.forward(minutes=19)
    await reconcile_catalogs(desk.services)

    assert (early, list(await desk.articles())) == ({}, ["product-1"])


@pytest.mark.req("SH-02")
async def test_what_a_run_that_died_had_taken_is_mended_after_the_next(desk: Desk) -> None:
    """It had claimed the product when it was killed: nobody else may touch it until the lease is over."""
    product = desk.shop.put(1)
    assert await desk.services.catalog_queue.claim(T1, "1", product.updated_at) is not None

    report = await compare(desk)
    desk.clock.forward(seconds=61)
    await desk.sync()

    assert report.left == 1
    assert list(await desk.articles()) == ["product-1"]


@pytest.mark.req("SH-02")
def test_each_tenant_has_its_own_minute_of_the_night() -> None:
    """Six hundred and eighty shops are not listed at once; the minute stays the same every night."""
    noon = at(12, 0)
    dues = [next_night(TenantId(f"t{n}"), noon) for n in range(680)]
    tonight = at(2, 0) + timedelta(days=1)

    assert all(tonight <= due < tonight + timedelta(minutes=NIGHT_MINUTES) for due in dues)
    assert len(set(dues)) > NIGHT_MINUTES // 2
    assert next_night(T1.tenant_id, next_night(T1.tenant_id, noon)) == next_night(T1.tenant_id, noon) + timedelta(
        days=1
    )


@pytest.mark.req("SH-02")
async def test_a_product_nobody_can_make_an_article_of_keeps_no_other_waiting(desk: Desk) -> None:
    """Counted, logged, and the comparison is complete all the same."""
    odd = desk.shop.put(1)
    desk.shop.products = {"odd": odd.model_copy(update={"product_id": "not a number"})}
    desk.shop.put(2)

    report = await compare(desk)

    assert (report.added, report.left, report.is_complete) == (1, 1, True)
    assert list(await desk.articles()) == ["product-2"]
