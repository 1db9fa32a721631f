"""The demo shops are complete, consistent and apart from each other. Source: design §8, ME-07."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import phonenumbers
import pytest

from local.demo.shops import DemoShop, load_shops
from shared.domain.ids import is_id
from shared.domain.intents import ArticleType
from shared.domain.money import from_decimal

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def shops() -> tuple[DemoShop, ...]:
    return load_shops()


@pytest.mark.req("KB-01")
def test_the_first_shop_has_every_kind_of_knowledge(shops: tuple[DemoShop, ...]) -> None:
    """25 products, 12 questions and 6 policies: enough for search to be able to go wrong."""
    kinds = Counter(article.type for article in shops[0].articles)

    assert kinds[ArticleType.PRODUCT] == 25
    assert kinds[ArticleType.FAQ] == 12
    assert kinds[ArticleType.POLICY] == 6


@pytest.mark.req("KB-01")
def test_every_product_carries_typed_facts_with_an_exact_price(shops: tuple[DemoShop, ...]) -> None:
    """A price that is no exact amount of the shop's currency could never be vouched for."""
    products = [(s, a) for s in shops for a in s.articles if a.type is ArticleType.PRODUCT]

    for shop, product in products:
        assert product.attributes["currency"] == shop.policy.currency
        assert from_decimal(product.attributes["price"], shop.policy.currency).amount_minor > 0
        assert product.attributes["sku"] in product.tags
        assert product.attributes["availability"] in {"in stock", "low stock", "out of stock"}


@pytest.mark.req("AC-01")
def test_orders_cover_the_states_a_shop_knows(shops: tuple[DemoShop, ...]) -> None:
    """Fifteen orders of eight customers in a dozen states; order 1003 is on its way to a named customer."""
    shop = shops[0]

    orders = {order.order_id: order for order in shop.orders(NOW)}

    assert len(orders) == 15
    assert len(shop.customers) == 8
    assert len({order.status for order in orders.values()}) >= 12
    assert {order.customer_id for order in orders.values()} <= {customer.id for customer in shop.customers}
    owner = next(c for c in shop.customers if c.id == orders["1003"].customer_id)
    assert owner.name == "Maya Lindqvist"
    shipment = orders["1003"].shipments[0]
    assert shipment.tracking_number
    assert shipment.expected_on is not None
    assert shipment.expected_on.date() == (NOW + timedelta(days=2)).date()


@pytest.mark.req("AC-02")
def test_billing_events_add_up_to_the_orders(shops: tuple[DemoShop, ...]) -> None:
    """A charge is the order's total and a refund never exceeds it; nothing happens after now."""
    for shop in shops:
        orders = {order.order_id: order for order in shop.orders(NOW)}
        for customer, event in shop.billing_events(NOW):
            order = orders[event.order_id] if event.order_id else None
            assert order is not None
            assert order.customer_id == customer
            assert event.amount.amount_minor <= order.total.amount_minor
            assert event.at <= NOW


@pytest.mark.req("ME-07")
def test_two_tenants_share_a_customer_id_an_e_mail_and_an_order_number(shops: tuple[DemoShop, ...]) -> None:
    """Isolation shows only where the names collide: the same shopper buys in both shops, order 1003 exists twice."""
    first, second = shops

    shared = {c.email for c in first.customers} & {c.email for c in second.customers}
    owners = [next(o.customer_id for o in shop.orders(NOW) if o.order_id == "1003") for shop in shops]

    assert shared == {"maya.lindqvist@post.example"}
    assert owners == ["maya-lindqvist", "henrike-voss"]


@pytest.mark.req("GW-06")
def test_every_id_is_one_the_surface_accepts_and_unique_in_its_shop(shops: tuple[DemoShop, ...]) -> None:
    """Ids travel through URLs: one alphabet, no doubles."""
    for shop in shops:
        for ids in (
            [a.article_id for a in shop.articles],
            [c.id for c in shop.customers],
            [o.order_id for o in shop.orders(NOW)],
        ):
            assert all(is_id(id) for id in ids)
            assert len(ids) == len(set(ids))


@pytest.mark.req("PV-01")
def test_policies_name_regions_that_exist_and_languages(shops: tuple[DemoShop, ...]) -> None:
    """Fault 041: a region code nobody knows means local numbers are missed."""
    for shop in shops:
        assert set(shop.policy.phone_regions) <= set(phonenumbers.SUPPORTED_REGIONS)
        assert shop.policy.default_language in shop.policy.languages
        assert shop.policy.origins
