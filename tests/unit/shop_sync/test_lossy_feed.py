"""A change feed that loses what it should deliver only delays. Source: fault 086."""

import pytest

from orchestrators.triggers.feeding import EMBED_FEED, embed_missed
from shared.domain.errors import SchemaError, Unavailable
from tests.unit.shop_sync.conftest import T1, Desk
from tests.unit.shop_sync.small_shop import product_payload


@pytest.mark.req("KB-02", "DC-03", "SH-01")
async def test_fault_086_articles_the_feed_never_delivered_are_embedded_all_the_same(desk: Desk) -> None:
    """Of 40 only every second arrives; ten minutes later the timer has the others, and nothing is embedded twice."""
    for number in range(40):
        await desk.deliver("products/update", product_payload(desk.shop.put(number)))
    await desk.sync()
    await desk.feed(is_lost=lambda article: article[-1] in "02468")
    assert len(desk.embedder.texts) == 20

    early = await embed_missed(desk.services)
    desk.clock.forward(minutes=11)
    late = await embed_missed(desk.services)
    again = await embed_missed(desk.services)

    assert (early, late, again) == (0, 20, 0)
    assert len(desk.embedder.texts) == len(set(desk.embedder.texts)) == 40


@pytest.mark.req("KB-02", "DC-03")
async def test_what_cannot_be_embedded_is_given_up_once_and_keeps_no_other_waiting(desk: Desk) -> None:
    """A dead letter, and no further call until somebody replays it."""
    for number in (1, 2):
        await desk.deliver("products/update", product_payload(desk.shop.put(number)))
    await desk.sync()
    desk.clock.forward(minutes=11)
    desk.embedder.trouble = lambda text: SchemaError("no") if "Product 1" in text else None

    first = await embed_missed(desk.services)
    second = await embed_missed(desk.services)

    letters = await desk.services.dead_letters.unresolved(T1, EMBED_FEED, limit=10)
    assert (first, second, desk.embedder.asked) == (1, 0, 2)
    assert [(letter.item_id, letter.attempts) for letter in letters] == [("product-1", 1)]


@pytest.mark.req("KB-02", "DC-03")
async def test_an_embedder_that_is_down_is_not_called_for_every_article(desk: Desk) -> None:
    """The next run tries again; nothing is given up."""
    for number in range(10):
        await desk.deliver("products/update", product_payload(desk.shop.put(number)))
    await desk.sync()
    desk.clock.forward(minutes=11)
    desk.embedder.trouble = lambda _: Unavailable("down")

    assert await embed_missed(desk.services) == 0
    assert desk.embedder.asked == 1
    desk.embedder.trouble = lambda _: None
    assert await embed_missed(desk.services) == 10
