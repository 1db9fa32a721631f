"""The shop's catalog: one product with all its variants, a product by inventory item, all of them by bulk query."""

from contextlib import aclosing

import pytest

from shared.adapters.shopify import bulk
from shared.adapters.shopify.bulk import BulkQueries
from shared.adapters.shopify.catalog import ShopifyCatalog
from shared.domain.catalog import Product, ProductStatus
from shared.domain.errors import IntegrationError, Unavailable
from shared.domain.money import Money
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer, Trouble
from tests.surface.shopify.conftest import Instance

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture
def catalog(instance: Instance, clock: FixedClock) -> ShopifyCatalog:
    """The catalog under test; its waiting moves the clock."""

    async def wait(seconds: float) -> None:
        clock.forward(seconds=seconds)

    return ShopifyCatalog(instance.client, BulkQueries(instance.client, instance.transport, sleep=wait))


async def all_of(catalog: ShopifyCatalog, tenant: TenantScope) -> dict[str, Product]:
    """Return every product by title."""
    return {product.title: product async for product in catalog.all_products(tenant)}


async def note_titles(catalog: ShopifyCatalog, tenant: TenantScope, seen: list[str]) -> None:
    """Note each product that comes, even when the run ends badly."""
    async for product in catalog.all_products(tenant):
        seen.append(product.title)


@pytest.mark.req("SH-01")
async def test_a_product_is_read_with_what_customers_are_told_of_it(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    seeded = shop.add_product(
        "Kettle",
        [
            {"title": "Blue / M", "price": "50.00", "sku": "KT-B", "compare_at_price": "60.00", "available": 3},
            {"title": "Red / M", "price": "51.50", "sku": "KT-R", "is_tracked": False},
        ],
        description_html="<p>Boils.</p>",
        vendor="Hollin",
        product_type="Kitchen",
        tags=["new", "steel"],
    )

    product = await catalog.product(tenant, str(seeded.number))

    assert product is not None
    blue, red = product.variants
    assert (product.title, product.status, product.tags) == ("Kettle", ProductStatus.ACTIVE, ("new", "steel"))
    assert product.updated_at == clock.now()
    assert (blue.title, blue.price, blue.compare_at) == ("Blue / M", usd(5000), usd(6000))
    assert (blue.available, red.available) == (3, None)
    assert blue.inventory_item_id == str(seeded.variants[0].item_number)


@pytest.mark.req("SH-01")
async def test_a_product_without_options_has_a_variant_without_title(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    seeded = shop.add_product("Spoon")

    product = await catalog.product(tenant, str(seeded.number))

    assert product is not None
    assert [variant.title for variant in product.variants] == [""]


@pytest.mark.req("SH-01", "SH-02")
async def test_two_thousand_variants_come_in_one_query_and_the_last_48_in_another(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, server: ShopifyServer
) -> None:
    """apis.md §1.9: 2,000 in one connection of a single product; §1.8: at most 2,048."""
    most = [{"title": str(i), "price": "1.00"} for i in range(2048)]
    full, short = shop.add_product("Full", most), shop.add_product("Short", most[:2000])

    product = await catalog.product(tenant, str(full.number))
    queries = server.calls["product"]
    other = await catalog.product(tenant, str(short.number))

    assert product is not None
    assert other is not None
    assert [variant.title for variant in product.variants] == [str(i) for i in range(2048)]
    assert (queries, server.calls["product"] - queries) == (2, 1)


@pytest.mark.parametrize("product_id", ["77", "", "1 OR 1", "gid://shopify/Product/1", "1" * 30])
async def test_what_is_no_product_of_the_shop_is_none(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, product_id: str
) -> None:
    assert await catalog.product(tenant, product_id) is None
    assert await catalog.product_of_item(tenant, product_id) is None


@pytest.mark.req("SH-01")
async def test_an_inventory_item_leads_to_its_product(catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop) -> None:
    """apis.md §1.8: inventory_levels/update names neither variant nor product."""
    shop.add_product("Other")
    seeded = shop.add_product("Kettle")

    product = await catalog.product_of_item(tenant, str(seeded.variants[0].item_number))

    assert product is not None
    assert product.title == "Kettle"


@pytest.mark.parametrize(
    ("said", "status"),
    [("ACTIVE", "active"), ("DRAFT", "draft"), ("ARCHIVED", "archived"), ("UNLISTED", "draft")],
)
async def test_a_state_that_is_not_for_everybody_is_not_told(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, said: str, status: str
) -> None:
    seeded = shop.add_product("Kettle", status=said)

    product = await catalog.product(tenant, str(seeded.number))

    assert product is not None
    assert product.status == status


@pytest.mark.req("SH-02")
@pytest.mark.parametrize("order", ["parents_first", "children_first", "shuffled"])
async def test_all_products_come_once_whatever_the_order_of_the_lines(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, order: str
) -> None:
    """apis.md §1.12: children need not follow their parent."""
    shop.bulk_order = order
    for i in range(700):
        shop.add_product(f"P{i}", [{"title": f"{i}-{j}", "price": "1.00"} for j in range(i % 4)])

    products = await all_of(catalog, tenant)

    assert len(products) == 700
    assert (
        all(
            [v.title for v in products[f"P{i}"].variants] == [f"{i}-{j}" for j in range(i % 4)]
            for i in range(0, 700, 7)
        )
        or order == "shuffled"
    )
    assert all({v.title for v in products[f"P{i}"].variants} == {f"{i}-{j}" for j in range(i % 4)} for i in range(700))


@pytest.mark.req("SH-02")
async def test_one_product_and_all_products_say_the_same(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    seeded = shop.add_product("Kettle", [{"title": "Blue", "price": "50.00", "available": 2}], tags=["a"])

    products = await all_of(catalog, tenant)

    assert products["Kettle"] == await catalog.product(tenant, str(seeded.number))


@pytest.mark.req("SH-02")
async def test_an_empty_shop_has_no_products_and_that_is_no_failure(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    assert await all_of(catalog, tenant) == {}


@pytest.mark.req("SH-02")
async def test_a_failed_bulk_query_yields_whole_products_only_and_says_that_more_are_missing(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    """apis.md §1.12: partialDataUrl; nobody may take the rest for deleted, or a product for one without variants."""
    shop.bulk_order = "parents_first"
    for i in range(4):
        shop.add_product(f"P{i}", [{"title": f"{i}-{j}", "price": "1.00"} for j in range(2)])
    shop.bulk_fails_after = 4 + 5
    seen: list[str] = []

    with pytest.raises(Unavailable):
        await note_titles(catalog, tenant, seen)

    assert seen == ["P0", "P1"]


@pytest.mark.req("SH-02")
async def test_a_download_that_breaks_off_is_not_taken_for_the_whole_catalog(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, server: ShopifyServer
) -> None:
    for i in range(50):
        shop.add_product(f"P{i}")
    server.faults.next("bulk", Trouble.CUT_AFTER)

    with pytest.raises(Unavailable):
        await all_of(catalog, tenant)

    assert len(await all_of(catalog, tenant)) == 50


@pytest.mark.req("SH-02")
async def test_a_result_with_fewer_lines_than_the_shop_counted_is_not_whole(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    for i in range(5):
        shop.add_product(f"P{i}")
    shop.bulk_line = lambda line: "" if '"P3"' in line else line
    seen: list[str] = []

    with pytest.raises(Unavailable, match="9 of 10"):
        await note_titles(catalog, tenant, seen)

    assert sorted(seen) == ["P0", "P1", "P2", "P4"]


@pytest.mark.req("SH-02")
async def test_a_bulk_query_is_watched_until_it_ends_and_called_off_when_it_never_does(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    shop.add_product("Kettle")
    shop.bulk_polls = 8
    assert len(await all_of(catalog, tenant)) == 1

    shop.bulk_polls, began = 10**9, clock.now()
    with pytest.raises(Unavailable):
        await all_of(catalog, tenant)

    assert shop.bulk_operations[-1].status == "CANCELED"
    assert bulk.DEADLINE_S <= (clock.now() - began).total_seconds() < bulk.DEADLINE_S + bulk.LONGEST_LOOK_S + 1


@pytest.mark.req("SH-02")
async def test_a_look_that_fails_does_not_end_a_run_that_goes_on(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, server: ShopifyServer
) -> None:
    shop.add_product("Kettle")
    server.faults.next("bulkOperation", Trouble.ERROR_BEFORE)
    server.faults.next("bulkOperation", Trouble.THROTTLE)

    assert len(await all_of(catalog, tenant)) == 1
    assert len(shop.bulk_operations) == 1


@pytest.mark.req("SH-02")
async def test_a_product_that_cannot_be_read_costs_that_product_and_is_told(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    shop.add_product("Kettle")
    shop.add_product("Broken")
    shop.bulk_line = lambda line: line.replace('"Broken"', "null")
    seen: list[str] = []

    with pytest.raises(IntegrationError, match="1 products"):
        await note_titles(catalog, tenant, seen)

    assert seen == ["Kettle"]


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"id": 7}', '{"id": "a", "__parentId": 7}', "\xff"])
async def test_a_line_that_is_no_object_ends_the_run(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop, line: str
) -> None:
    shop.add_product("Kettle")
    shop.bulk_line = lambda _: line

    with pytest.raises(IntegrationError):
        await all_of(catalog, tenant)


@pytest.mark.req("SH-02")
async def test_leaving_the_walk_early_leaves_nothing_behind(
    catalog: ShopifyCatalog, tenant: TenantScope, shop: Shop
) -> None:
    for i in range(5):
        shop.add_product(f"P{i}")

    async with aclosing(catalog.all_products(tenant)) as products:
        first = await anext(products)

    assert first.title.startswith("P")
    assert len(await all_of(catalog, tenant)) == 5


def usd(minor: int) -> Money:
    """Return dollars."""
    return Money(amount_minor=minor, currency="USD")
