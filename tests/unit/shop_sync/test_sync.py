"""The catalog worker: what it publishes, in which order, for whom, and what it does when things fail."""

from datetime import timedelta
from typing import Any

import pytest

from orchestrators.triggers.replaying import replay_sync
from shared.adapters.records.catalog_queue import CatalogQueue
from shared.domain.catalog import ProductStatus
from shared.domain.catalog_work import LEASE, MAX_ATTEMPTS
from shared.domain.errors import AuthorityError, RateLimited, SchemaError, Unavailable
from shared.ports.documents import Container
from tests.unit.shop_sync.conftest import OTHER_DOMAIN, T1, T2, Desk
from tests.unit.shop_sync.small_shop import product_payload, stock_payload


@pytest.mark.req("SH-01", "KB-01")
async def test_a_product_is_published_as_the_shop_says_not_as_the_payload(desk: Desk) -> None:
    """Name, description, price, availability; from the answer of the shop."""
    await desk.deliver("products/create", product_payload(desk.shop.put(1, "Linen apron", price=2_450)))

    await desk.sync()

    assert await desk.articles() == {
        "product-1": {
            "title": "Linen apron",
            "price": "24.50",
            "currency": "USD",
            "availability": "in stock",
            "sku": "SKU-1",
        }
    }


@pytest.mark.req("SH-01")
async def test_fault_064_update_before_create_makes_one_article_with_the_newest_content(desk: Desk) -> None:
    """The id is the tenant's and the product's."""
    old = desk.shop.put(1, "Old name")
    desk.clock.forward(seconds=1)
    new = desk.shop.put(1, "New name")

    await desk.deliver("products/update", product_payload(new))
    await desk.sync()
    await desk.deliver("products/create", product_payload(old))
    await desk.sync()

    assert {id: found["title"] for id, found in (await desk.articles()).items()} == {"product-1": "New name"}
    assert desk.shop.asked == ["1"]


@pytest.mark.req("SH-01")
async def test_fault_065_an_older_event_after_a_newer_one_changes_nothing(desk: Desk) -> None:
    """Price 20 at 10:02, then price 25 of 10:01; then deleted, then a late update: it stays deleted."""
    older = desk.shop.put(1, price=2_500)
    desk.clock.forward(minutes=1)
    newer = desk.shop.put(1, price=2_000)

    await desk.deliver("products/update", product_payload(newer))
    await desk.sync()
    await desk.deliver("products/update", product_payload(older))
    await desk.sync()
    assert await desk.price(1) == "20.00"

    desk.clock.forward(minutes=1)
    del desk.shop.products["1"]
    await desk.deliver("products/delete", {"id": 1})
    await desk.sync()
    await desk.deliver("products/update", product_payload(newer))
    await desk.sync()
    assert await desk.price(1) is None
    assert desk.shop.asked == ["1", "1"]


@pytest.mark.req("SH-01")
async def test_fault_065_events_of_one_moment_are_told_apart_by_their_ids(desk: Desk) -> None:
    """Times have whole seconds; the newest of both stands for the row, and neither is lost."""
    product = desk.shop.put(1)

    await desk.deliver("products/update", product_payload(product), X_Shopify_Event_Id="b")
    await desk.deliver("products/update", product_payload(product), X_Shopify_Event_Id="a")

    (row,) = desk.rows(kind="catalog_work")
    assert (row["hint_event"], row["hints"]) == ("b", 2)


@pytest.mark.req("SH-01")
async def test_a_deletion_counts_whatever_its_time_says(desk: Desk) -> None:
    """Its payload holds an id and nothing else; the time stands in a header, which nobody signed."""
    await desk.deliver("products/create", product_payload(desk.shop.put(1)))
    await desk.sync()
    del desk.shop.products["1"]

    await desk.deliver("products/delete", {"id": 1}, X_Shopify_Triggered_At="2019-01-01T00:00:00Z")
    await desk.sync()

    assert await desk.articles() == {}


@pytest.mark.req("SH-01")
async def test_an_event_after_a_deletion_counts_when_the_shop_itself_says_so(desk: Desk) -> None:
    """Newer than the deletion: the shop is asked, and its answer stands."""
    product = desk.shop.put(1)
    await desk.deliver("products/delete", {"id": 1}, X_Shopify_Triggered_At=desk.clock.now().isoformat())
    del desk.shop.products["1"]
    await desk.sync()
    desk.clock.forward(minutes=5)
    product = desk.shop.put(1, "Back again")

    await desk.deliver("products/update", product_payload(product))
    await desk.sync()

    assert (await desk.articles())["product-1"]["title"] == "Back again"


@pytest.mark.req("SH-01", "KB-01")
async def test_a_product_that_is_no_longer_sold_loses_its_article(desk: Desk) -> None:
    """Draft and archived products are no answers."""
    await desk.deliver("products/create", product_payload(desk.shop.put(1)))
    await desk.sync()
    desk.clock.forward(seconds=5)

    await desk.deliver("products/update", product_payload(desk.shop.put(1, status=ProductStatus.ARCHIVED)))
    await desk.sync()

    assert await desk.articles() == {}


@pytest.mark.req("SH-01", "KB-01")
async def test_a_stock_event_refreshes_the_product_its_item_belongs_to(desk: Desk) -> None:
    """inventory_levels/update names an item and a location, and no product (apis.md §1.8)."""
    product = desk.shop.put(1)
    await desk.deliver("products/create", product_payload(product))
    await desk.sync()
    desk.shop.put(1, stock=0)

    await desk.deliver("inventory_levels/update", stock_payload(product, desk.clock.now()))
    await desk.sync()

    assert (await desk.articles())["product-1"]["availability"] == "out of stock"


@pytest.mark.req("SH-01")
async def test_one_answer_settles_the_product_and_its_items(desk: Desk) -> None:
    """A product and its item changed together: the shop is asked once."""
    product = desk.shop.put(1)
    await desk.deliver("products/update", product_payload(product))
    await desk.deliver("inventory_levels/update", stock_payload(product, desk.clock.now()))

    await desk.sync()

    assert len(desk.shop.asked) == 1
    assert {row["status"] for row in desk.rows(kind="catalog_work")} == {"done"}


@pytest.mark.req("KB-04", "SH-01")
async def test_fault_088_three_fast_edits_delivered_again_and_again_are_one_embedding(desk: Desk) -> None:
    """Intermediate versions may never be seen; the last one delivered three times costs nothing more."""
    for title in ("One", "Two", "Three"):
        desk.clock.forward(seconds=1)
        await desk.deliver("products/update", product_payload(desk.shop.put(1, title)))
    await desk.sync()
    await desk.feed()
    last = product_payload(desk.shop.products["1"])
    for _ in range(3):
        await desk.deliver("products/update", last)
        await desk.sync()
        await desk.feed()

    assert (await desk.articles())["product-1"]["title"] == "Three"
    assert len(desk.embedder.texts) == 1


@pytest.mark.req("KB-04", "SH-01")
async def test_a_changed_price_is_published_without_a_new_embedding(desk: Desk) -> None:
    """The vector is made of label, title, tags and content."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1, price=1_000)))
    await desk.sync()
    await desk.feed()
    desk.clock.forward(seconds=1)

    await desk.deliver("products/update", product_payload(desk.shop.put(1, price=1_200)))
    await desk.sync()
    await desk.feed()

    assert await desk.price(1) == "12.00"
    assert len(desk.embedder.texts) == 1


@pytest.mark.req("SH-01")
async def test_an_event_that_arrives_while_its_product_is_looked_at_is_not_lost(desk: Desk) -> None:
    """The answer was made up before the change; the row waits again."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1, "Before")))

    async def change(_: str) -> None:
        if desk.shop.products["1"].title == "Before":
            desk.clock.forward(seconds=1)
            await desk.deliver("products/update", product_payload(desk.shop.put(1, "After")))

    desk.shop.on_ask = change
    await desk.sync()
    await desk.sync()

    assert (await desk.articles())["product-1"]["title"] == "After"
    assert desk.shop.asked == ["1", "1"]


@pytest.mark.req("SH-01")
async def test_a_shop_that_answers_with_less_than_its_own_event_is_asked_again(desk: Desk) -> None:
    """A read may lag behind the webhook: three more looks, a minute apart, then the night's comparison has it."""
    stale = desk.shop.put(1, "Stale")
    desk.clock.forward(seconds=30)
    fresh = {**product_payload(stale), "updated_at": desk.clock.now().isoformat()}
    await desk.deliver("products/update", fresh)
    await desk.sync()
    await desk.sync()
    assert desk.shop.asked == ["1"]

    desk.clock.forward(seconds=61)
    desk.shop.put(1, "Fresh")
    await desk.sync()

    assert (await desk.articles())["product-1"]["title"] == "Fresh"
    assert desk.rows(kind="catalog_work")[0]["status"] == "done"


@pytest.mark.req("SH-01")
async def test_a_newer_event_does_not_wait_for_a_second_look(desk: Desk) -> None:
    """What was due in a minute is due now."""
    stale = desk.shop.put(1, "Stale")
    desk.clock.forward(seconds=30)
    await desk.deliver("products/update", {**product_payload(stale), "updated_at": desk.clock.now().isoformat()})
    await desk.sync()

    desk.clock.forward(seconds=11)
    await desk.deliver("products/update", product_payload(desk.shop.put(1, "Fresh")))
    await desk.sync()

    assert (await desk.articles())["product-1"]["title"] == "Fresh"


@pytest.mark.req("SH-01")
async def test_two_workers_never_have_one_product_at_once(desk: Desk) -> None:
    """The second finds it leased; when the first has died, the lease runs out and the product comes back."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1)))
    queue = desk.services.catalog_queue

    (first,) = await queue.take(T1, 10)
    assert await queue.take(T1, 10) == ()
    desk.clock.forward(seconds=LEASE.total_seconds() + 1)
    (second,) = await queue.take(T1, 10)
    await queue.finish(T1, second, desk.clock.now())
    await queue.finish(T1, first, desk.clock.now() - timedelta(hours=1))

    (row,) = desk.rows(kind="catalog_work")
    assert row["status"] == "waiting", "what the late worker wrote may be older: the shop is asked once more"
    assert row["known_at"].startswith(desk.clock.now().isoformat()[:19])


@pytest.mark.req("SH-01", "RK-03")
async def test_fault_085_a_product_that_always_fails_becomes_a_dead_letter_and_the_others_go_through(
    desk: Desk,
) -> None:
    """Ten products, the fourth cannot be read: nine articles, one letter with its attempts; the function ends well."""
    for number in range(1, 11):
        await desk.deliver("products/update", product_payload(desk.shop.put(number)))
    desk.shop.trouble = lambda id: SchemaError("unreadable") if id == "4" else None

    for _ in range(40):
        await desk.sync()
        desk.clock.forward(seconds=30)

    (letter,) = desk.rows(Container.DEAD_LETTERS)
    assert len(await desk.articles()) == 9
    assert (letter["item_id"], letter["attempts"], letter["error"]) == ("product-4", MAX_ATTEMPTS, "SchemaError")
    assert desk.shop.asked.count("4") == MAX_ATTEMPTS


@pytest.mark.req("SH-01")
async def test_fault_085_what_died_of_a_reason_that_has_gone_goes_through_later(desk: Desk) -> None:
    """The night's comparison replays the letters; the letter is kept thirty days as resolved."""
    await desk.deliver("products/update", product_payload(desk.shop.put(4)))
    desk.shop.trouble = lambda id: SchemaError("unreadable") if id == "4" else None
    for _ in range(40):
        await desk.sync()
        desk.clock.forward(seconds=30)
    desk.shop.trouble = lambda _: None

    replayed = await replay_sync(T1, desk.services)
    await desk.sync()

    assert replayed == 1
    assert await desk.price(4) == "10.00"
    assert [row["resolved_at"] is not None for row in desk.rows(Container.DEAD_LETTERS)] == [True]


@pytest.mark.req("SH-01", "SH-02")
@pytest.mark.parametrize(
    "trouble", [Unavailable("down"), AuthorityError("token"), RateLimited("slow", retry_after_s=40)]
)
async def test_a_shop_in_trouble_pauses_its_own_tenant_only(desk: Desk, trouble: Exception) -> None:
    """No attempt is wasted on the rest of the queue; what it asked us to wait is waited."""
    for number in (1, 2, 3):
        await desk.deliver("products/update", product_payload(desk.shop.put(number)))
    await desk.deliver("products/update", product_payload(desk.shop.put(7)), X_Shopify_Shop_Domain=OTHER_DOMAIN)
    down = {"1", "2", "3"}
    desk.shop.trouble = lambda id: trouble if id in down else None

    await desk.sync()
    asked = list(desk.shop.asked)
    down.clear()
    desk.clock.forward(seconds=25)
    await desk.sync()
    early = dict(await desk.articles())
    desk.clock.forward(seconds=26)
    await desk.sync()

    assert sorted(asked) == ["1", "7"]
    assert (early, len(await desk.articles())) == ({}, 3)
    assert list(await desk.articles(T2)) == ["product-7"]


@pytest.mark.req("SH-01")
async def test_a_long_outage_of_the_shop_costs_no_product(desk: Desk) -> None:
    """Three hours without an answer are no reason to give anything up."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1)))
    desk.shop.trouble = lambda _: Unavailable("down")
    for _ in range(180):
        desk.clock.forward(minutes=1)
        await desk.sync()
    desk.shop.trouble = lambda _: None

    desk.clock.forward(minutes=11)
    await desk.sync()

    assert desk.rows(Container.DEAD_LETTERS) == []
    assert list(await desk.articles()) == ["product-1"]


@pytest.mark.req("SH-01")
async def test_fault_086_what_the_time_does_not_allow_stays_in_the_queue(desk: Desk) -> None:
    """2,000 events in 20 seconds, each look takes four seconds: runs end in time, nothing is lost."""
    for number in range(200):
        product = desk.shop.put(number)
        for _ in range(10):
            await desk.deliver("products/update", product_payload(product))
        desk.clock.forward(milliseconds=100)
    desk.shop.latency_s = 4.0

    longest, runs = 0.0, 0
    while len(await desk.articles()) < 200:
        began = desk.clock.now()
        await desk.sync()
        longest = max(longest, (desk.clock.now() - began).total_seconds())
        runs += 1
        desk.clock.forward(seconds=5)

    assert longest < 300
    assert runs >= 2
    assert len(desk.shop.asked) == 200
    assert {row["status"] for row in desk.rows(kind="catalog_work")} == {"done"}


@pytest.mark.req("SH-01")
async def test_fault_086_what_a_killed_worker_held_comes_back(desk: Desk) -> None:
    """It had taken the tenant's turn and every row when it died."""
    for number in range(10):
        await desk.deliver("products/update", product_payload(desk.shop.put(number)))
    queue = desk.services.catalog_queue
    (turn,) = await queue.next_turns(8)
    assert len(await queue.take(turn.scope, 25)) == 10

    assert await desk.sync() == 0
    desk.clock.forward(seconds=91)
    await desk.sync()

    assert len(await desk.articles()) == 10


@pytest.mark.req("SH-01")
async def test_an_event_between_the_last_look_and_the_end_of_a_turn_is_found(desk: Desk) -> None:
    """Whoever puts something in while the marker stands says nothing; whoever takes the marker away looks again."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1)))
    queue = CatalogQueue(_EventBeforeDelete(desk), desk.clock)
    (turn,) = await queue.next_turns(8)
    (work,) = await queue.take(T1, 25)
    await queue.finish(T1, work, desk.clock.now())

    await queue.end_turn(turn, not_before=desk.clock.now())
    await desk.sync()

    assert list(await desk.articles()) == ["product-2"]


class _EventBeforeDelete:
    """The real store, and an event that arrives in the moment before something is deleted."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._desk.documents, name)

    async def delete(self, *args: Any, **kwargs: Any) -> None:
        """Let the event in, then delete."""
        await self._desk.deliver("products/update", product_payload(self._desk.shop.put(2)))
        await self._desk.documents.delete(*args, **kwargs)


@pytest.mark.req("SH-01")
async def test_a_new_event_does_not_wait_behind_an_old_failure(desk: Desk) -> None:
    """The failing product is due in minutes, the new one in seconds."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1)))
    desk.shop.trouble = lambda id: SchemaError("unreadable") if id == "1" else None
    for _ in range(5):
        await desk.sync()
        desk.clock.forward(seconds=60)
    await desk.sync()

    await desk.deliver("products/update", product_payload(desk.shop.put(2)))
    desk.clock.forward(seconds=11)
    await desk.sync()

    assert list(await desk.articles()) == ["product-2"]
