"""One call to a shop: what goes out, what comes back, and what each kind of trouble means to the caller."""

import asyncio
import json

import pytest
from pydantic import Field

from shared.adapters.shopify.client import ASSUMED_CAPACITY, BUCKET, TIMEOUT_S, WALK_STOP, ShopifyClient
from shared.adapters.shopify.operations import Answer, Connection, Operation
from shared.adapters.shopify.shops import ShopDirectory, parse_shop_domain, to_gid
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, Refused, SchemaError, Unavailable
from shared.domain.installation import Installation
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer, Trouble
from tests.servers.shopify.state import Order, Product
from tests.surface.shopify.conftest import DOMAIN, Instance
from tests.waiting import until


class ShopName(Answer):
    """`shop`."""

    name: str


class ShopAnswer(Answer):
    """The answer to SHOP."""

    shop: ShopName


class OrderNode(Answer):
    """An order's name and customer."""

    name: str
    customer: dict[str, str] | None = None


class OrdersAnswer(Answer):
    """The answer to ORDERS."""

    orders: Connection[OrderNode]


class Refund(Answer):
    """`refund`."""

    id: str


class Payload(Answer):
    """`refundCreate`."""

    refund: Refund | None = None


class RefundAnswer(Answer):
    """The answer to REFUND."""

    refund_create: Payload = Field(alias="refundCreate")


class ProductId(Answer):
    """A product's id."""

    id: str


class ProductsAnswer(Answer):
    """The answer to PRODUCTS."""

    products: Connection[ProductId]


PRODUCTS = Operation(
    "products",
    "query($after: String) { products(first: 250, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }",
    ProductsAnswer,
    20.0,
)
SHOP = Operation("shop", "{ shop { name } }", ShopAnswer, 1.0)
ORDERS = Operation(
    "orders",
    "query($n: Int!, $after: String) { orders(first: $n, after: $after)"
    " { nodes { name customer { id } } pageInfo { hasNextPage endCursor } } }",
    OrdersAnswer,
    50.0,
)
REFUND = Operation(
    "refundCreate",
    "mutation($input: RefundInput!, $key: String!) { refundCreate(input: $input) @idempotent(key: $key)"
    " { refund { id } userErrors { field message } } }",
    RefundAnswer,
    20.0,
    effect="refund",
)
UNKEYED = Operation("refundCreate", REFUND.text.replace(" @idempotent(key: $key)", ""), RefundAnswer, 20.0)
pytestmark = pytest.mark.usefixtures("installed")


def refund_of(order: Order, amount: str, key: str = "k1") -> dict[str, object]:
    """Return the variables of a refund of money."""
    paid = order.transactions[0]
    moved = {"orderId": order.gid, "gateway": paid.gateway, "kind": "REFUND", "amount": amount, "parentId": paid.gid}
    return {"key": key, "input": {"orderId": order.gid, "transactions": [moved]}}


@pytest.fixture
def client(instance: Instance) -> ShopifyClient:
    """The client under test."""
    return instance.client


@pytest.fixture
def order(shop: Shop) -> Order:
    """An order of 50.00, paid."""
    return shop.add_order(shop.add_customer("Ana"), "#1001")


@pytest.mark.req("SH-03")
async def test_a_query_reaches_the_shop_with_its_token_and_the_version_of_the_settings(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope, shop: Shop
) -> None:
    answer = await client.query(tenant, SHOP, {})

    assert answer.shop.name == shop.name
    assert shop.tokens is not None
    assert server.headers[-1]["x-shopify-access-token"] == shop.tokens.access
    assert server.headers[-1]["host"] == DOMAIN


@pytest.mark.req("SH-03", "AX-02")
async def test_a_mutation_happens_once_and_returns_its_payload(
    client: ShopifyClient, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    answer = await client.mutate(tenant, REFUND, refund_of(order, "20.00"))

    assert answer.refund_create.refund is not None
    assert answer.refund_create.refund.id == shop.refunds[0].gid
    assert str(order.refunded) == "20.00"


NOT_DONE = {
    Trouble.DROP_BEFORE: OutcomeUnknown,
    Trouble.HANG_BEFORE: OutcomeUnknown,
    Trouble.ERROR_BEFORE: OutcomeUnknown,
    Trouble.INTERNAL_BEFORE: OutcomeUnknown,
    Trouble.GARBAGE_BEFORE: OutcomeUnknown,
    Trouble.HUGE: OutcomeUnknown,
    Trouble.THROTTLE: RateLimited,
    Trouble.TOO_MANY: RateLimited,
    Trouble.REDIRECT: IntegrationError,
}
"""Trouble before the effect → what the writer is told."""
DONE = (
    Trouble.DROP_AFTER, Trouble.HANG_AFTER, Trouble.ERROR_AFTER, Trouble.INTERNAL_AFTER, Trouble.GARBAGE_AFTER,
    Trouble.CUT_AFTER,
)  # fmt: skip


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("trouble", DONE, ids=lambda t: t.name)
async def test_a_write_whose_answer_is_lost_is_doubt_and_is_never_sent_again(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope, shop: Shop, order: Order, trouble: Trouble
) -> None:
    server.faults.next("refundCreate", trouble)

    with pytest.raises(OutcomeUnknown):
        await client.mutate(tenant, REFUND, refund_of(order, "20.00"), timeout_s=1.0)

    assert len(shop.refunds) == 1
    assert server.calls["refundCreate"] == 1


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("trouble", NOT_DONE, ids=lambda t: t.name)
async def test_a_write_that_did_not_happen_is_never_reported_as_done(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope, shop: Shop, order: Order, trouble: Trouble
) -> None:
    server.faults.next("refundCreate", trouble)

    with pytest.raises(NOT_DONE[trouble]) as caught:
        await client.mutate(tenant, REFUND, refund_of(order, "20.00"), timeout_s=1.0)

    assert type(caught.value) is NOT_DONE[trouble]
    assert not shop.refunds
    assert server.calls["refundCreate"] == 1


async def test_a_call_takes_no_longer_than_its_deadline(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope
) -> None:
    loop = asyncio.get_running_loop()
    server.faults.next("shop", Trouble.HANG_BEFORE)
    began = loop.time()

    with pytest.raises(Unavailable):
        await client.query(tenant, SHOP, {}, timeout_s=0.2)

    assert loop.time() - began < TIMEOUT_S


@pytest.mark.parametrize("trouble", [*NOT_DONE, *DONE], ids=lambda t: t.name)
async def test_a_read_in_trouble_is_never_doubt(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope, trouble: Trouble
) -> None:
    server.faults.next("shop", trouble)

    with pytest.raises((Unavailable, RateLimited, IntegrationError)) as caught:
        await client.query(tenant, SHOP, {}, timeout_s=1.0)

    assert not isinstance(caught.value, OutcomeUnknown)
    assert caught.value.is_transient is (trouble is not Trouble.REDIRECT)


async def test_a_shop_that_cannot_be_reached_is_unavailable_for_reads_and_writes_alike(
    instance: Instance, tenant: TenantScope, order: Order
) -> None:
    instance.transport.directory = ShopDirectory(base_url="http://127.0.0.1:9")

    with pytest.raises(Unavailable):
        await instance.client.query(tenant, SHOP, {})
    with pytest.raises(Unavailable):
        await instance.client.mutate(tenant, REFUND, refund_of(order, "1.00"))


@pytest.mark.req("SH-03")
async def test_fault_070_the_same_key_pays_once_and_other_variables_are_refused(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    """apis.md §1.10: a retry with the same key and variables returns the original refund."""
    server.faults.next("refundCreate", Trouble.DROP_AFTER)
    with pytest.raises(OutcomeUnknown):
        await client.mutate(tenant, REFUND, refund_of(order, "20.00"))

    again = await client.mutate(tenant, REFUND, refund_of(order, "20.00"))
    with pytest.raises(Refused) as caught:
        await client.mutate(tenant, REFUND, refund_of(order, "21.00"))

    assert again.refund_create.refund is not None
    assert again.refund_create.refund.id == shop.refunds[0].gid
    assert len(shop.refunds) == 1
    assert caught.value.codes == ("IDEMPOTENCY_KEY_PARAMETER_MISMATCH",)


@pytest.mark.req("SH-03")
async def test_a_key_is_forgotten_after_a_day(
    client: ShopifyClient, tenant: TenantScope, shop: Shop, order: Order, clock: FixedClock, instance: Instance
) -> None:
    """apis.md §1.10: keys live 24 h, so after that a writer must have read the refunds first."""
    await client.mutate(tenant, REFUND, refund_of(order, "20.00"))
    clock.forward(hours=25)

    await client.mutate(tenant, REFUND, refund_of(order, "20.00"))

    assert len(shop.refunds) == 2


@pytest.mark.req("SH-03", "AX-02")
async def test_a_refund_already_under_way_is_doubt(
    client: ShopifyClient, server: ShopifyServer, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    gate = server.faults.hold("refundCreate")
    first = asyncio.create_task(client.mutate(tenant, REFUND, refund_of(order, "20.00")))
    await until(lambda: server.calls["refundCreate"] == 1, "the first refund arrives")

    with pytest.raises(OutcomeUnknown, match="IDEMPOTENCY_CONCURRENT_REQUEST"):
        await client.mutate(tenant, REFUND, refund_of(order, "20.00"))

    gate.set()
    await first
    assert len(shop.refunds) == 1


@pytest.mark.req("SH-03")
async def test_a_refund_without_the_directive_pays_nothing(
    client: ShopifyClient, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    variables = {"input": refund_of(order, "20.00")["input"]}
    unkeyed = Operation(UNKEYED.name, UNKEYED.text.replace(", $key: String!", ""), RefundAnswer, 20.0)

    with pytest.raises(Refused):
        await client.mutate(tenant, unkeyed, variables)

    assert not shop.refunds


@pytest.mark.req("AX-02")
async def test_a_user_error_is_a_refusal_that_names_the_field_and_quotes_nothing(
    client: ShopifyClient, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    with pytest.raises(Refused) as caught:
        await client.mutate(tenant, REFUND, refund_of(order, "50.01"))

    assert caught.value.fields == ("transactions",)
    assert "amount" not in str(caught.value)
    assert not shop.refunds


async def test_an_invalid_query_is_refused_without_a_word_of_its_text(
    client: ShopifyClient, tenant: TenantScope
) -> None:
    secret = Operation("shop", '{ shop { name email(of: "ana@x.example") } }', ShopAnswer, 1.0)

    with pytest.raises(IntegrationError) as caught:
        await client.query(tenant, secret, {})

    assert "ana@x" not in str(caught.value)


@pytest.mark.req("AC-01")
async def test_fields_the_app_may_not_read_are_null_and_the_rest_is_there(
    client: ShopifyClient, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    """apis.md §1.15: without the approval a field is null, with an error beside it."""
    shop.protected_data_level = 0

    answer = await client.query(tenant, ORDERS, {"n": 5})

    assert [(node.name, node.customer) for node in answer.orders.nodes] == [("#1001", None)]


async def test_a_query_of_a_withheld_root_is_refused(client: ShopifyClient, tenant: TenantScope, shop: Shop) -> None:
    shop.scopes = ("read_products",)

    with pytest.raises(Refused):
        await client.query(tenant, ORDERS, {"n": 5})


@pytest.mark.req("SH-02")
async def test_a_walk_follows_the_pages_to_the_end(client: ShopifyClient, tenant: TenantScope, shop: Shop) -> None:
    for i in range(7):
        shop.add_order(None, f"#{i}")

    names = [node.name async for node in client.walk(tenant, ORDERS, {"n": 3}, lambda a: a.orders)]

    assert sorted(names) == [f"#{i}" for i in range(7)]


@pytest.mark.req("SH-02")
async def test_a_walk_that_the_shop_ends_early_is_not_taken_for_the_whole(
    client: ShopifyClient, tenant: TenantScope, shop: Shop
) -> None:
    """apis.md §1.9: a paginated walk stops at 25,000 objects."""
    shop.maximum_points, shop.points_per_second = 1e9, 1e9
    for i in range(WALK_STOP + 1):
        shop.products.append(Product(i, f"P{i}", shop.now()))
    seen = 0

    async def walk() -> None:
        nonlocal seen
        async for _ in client.walk(tenant, PRODUCTS, {}, lambda a: a.products):
            seen += 1

    with pytest.raises(IntegrationError, match="in bulk"):
        await walk()

    assert seen == WALK_STOP


@pytest.mark.req("AX-02")
async def test_a_write_that_happened_is_told_even_when_the_bucket_cannot_be_set_right(
    instance: Instance, tenant: TenantScope, shop: Shop, order: Order
) -> None:
    class Broken:
        async def take(self, *_: object, **__: object) -> float:
            return 0.0

        async def settle(self, *_: object, **__: object) -> None:
            raise Unavailable("the store is down")

    client = ShopifyClient(credentials=instance.tokens, buckets=Broken(), transport=instance.transport)

    answer = await client.mutate(tenant, REFUND, refund_of(order, "20.00"))

    assert answer.refund_create.refund is not None


@pytest.mark.req("SH-02", "AX-04", "RK-02")
async def test_what_a_call_reserved_is_set_right_by_what_the_shop_reports(
    instance: Instance, tenant: TenantScope, shop: Shop
) -> None:
    """apis.md §1.11: requested cost reserved, difference refunded; the shop's own figures count."""
    shop.maximum_points, shop.points_per_second = 400.0, 50.0

    await instance.client.query(tenant, SHOP, {})

    wait_s = await instance.buckets.take(tenant, BUCKET, 400, capacity=ASSUMED_CAPACITY, per_second=100)
    assert 0 < wait_s <= 2 / 50 + 0.01


@pytest.mark.req("SH-02", "AX-04")
async def test_points_reserved_and_not_used_come_back(instance: Instance, tenant: TenantScope) -> None:
    dear = Operation("shop", SHOP.text, ShopAnswer, 900.0)

    for _ in range(3):
        await instance.client.query(tenant, dear, {})

    assert instance.waits == []


@pytest.mark.req("SH-02", "AX-04")
async def test_a_call_waits_for_the_budget_and_gives_up_beyond_its_patience(
    instance: Instance, server: ShopifyServer, tenant: TenantScope, shop: Shop
) -> None:
    dear = Operation("shop", SHOP.text, ShopAnswer, 900.0)
    await instance.buckets.take(tenant, BUCKET, 1_000, capacity=ASSUMED_CAPACITY, per_second=100)

    with pytest.raises(RateLimited) as caught:
        await instance.client.query(tenant, dear, {})
    assert caught.value.retry_after_s == pytest.approx(9.0)
    assert server.calls["shop"] == 0

    await instance.client.query(tenant, dear, {}, patience_s=10)
    assert instance.waits == [pytest.approx(9.0)]


@pytest.mark.req("SH-02")
async def test_a_throttled_call_says_how_long_to_wait(
    client: ShopifyClient, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    shop.maximum_points = shop.points = 4.0
    shop.points_at = clock.now()

    with pytest.raises(RateLimited) as caught:
        await client.query(tenant, ORDERS, {"n": 250})

    assert caught.value.retry_after_s > 0


NOT_SHOPS = (
    "evil.example", "a.myshopify.com.evil.example", "-a.myshopify.com", "a.myshopify.com/x", "a@b.myshopify.com",
    "a.myshopify.com\n", "", "a" * 250 + ".myshopify.com",
)  # fmt: skip


def test_no_domain_but_a_shops_becomes_a_url() -> None:
    assert parse_shop_domain("Hollin-2.myshopify.com") == "hollin-2.myshopify.com"
    for text in NOT_SHOPS:
        with pytest.raises(SchemaError):
            parse_shop_domain(text)
    assert ShopDirectory().url("a.myshopify.com", "/x") == "https://a.myshopify.com/x"
    with pytest.raises(IntegrationError):
        ShopDirectory().check_download("http://storage.example/x")
    with pytest.raises(SchemaError):
        to_gid("Order", "1 OR 1")


@pytest.mark.req("OB-02")
async def test_no_error_and_no_representation_shows_a_token(
    instance: Instance, tenant: TenantScope, shop: Shop, installed: Installation
) -> None:
    assert shop.tokens is not None
    credentials = await instance.tokens.credentials(tenant)
    shop.uninstall()

    with pytest.raises(Unavailable) as caught:
        await instance.client.query(tenant, SHOP, {})

    shown = json.dumps([str(caught.value), repr(credentials), repr(installed)])
    assert credentials.access_token not in shown
    assert "shprt_" not in shown
