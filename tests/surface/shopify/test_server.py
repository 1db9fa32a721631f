"""The test server keeps the vendor's rules, so that a test that passes here says something about the vendor."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer, Trouble, send_webhook
from tests.servers.shopify.state import Customer, Order
from tests.waiting import until

Ask = Callable[..., Awaitable[dict[str, Any]]]
USER_ERRORS = "userErrors { field message }"


@pytest.fixture
async def ask(server: ShopifyServer, shop: Shop) -> AsyncIterator[Ask]:
    """Send a document to the shop and return the whole answer."""
    token = shop.issue_tokens().access
    async with httpx.AsyncClient(base_url=server.base_url, timeout=5) as http:

        async def send(text: str, **variables: Any) -> dict[str, Any]:
            answer = await http.post(
                "/admin/api/2026-10/graphql.json",
                json={"query": text, "variables": variables},
                headers={"Host": shop.domain, "X-Shopify-Access-Token": token},
            )
            assert answer.status_code == 200
            body: dict[str, Any] = answer.json()
            return body

        yield send


@pytest.fixture
def ana(shop: Shop) -> Customer:
    """A customer."""
    return shop.add_customer("Ana")


@pytest.fixture
def order(shop: Shop, ana: Customer) -> Order:
    """An order of 105.00, paid."""
    return shop.add_order(ana, "#1001", [("Kettle", 2, "50.00")], shipping="5.00")


CANCEL = (
    "mutation($id: ID!, $method: OrderCancelRefundMethodInput)"
    " { orderCancel(orderId: $id, reason: CUSTOMER, restock: true, refundMethod: $method)"
    " { job { id done } orderCancelUserErrors { code field message } userErrors { field message } } }"
)


@pytest.mark.req("SH-03")
async def test_a_cancellation_is_a_job_and_cannot_be_repeated(
    ask: Ask, shop: Shop, order: Order, clock: FixedClock
) -> None:
    """apis.md §1.10: asynchronous, irreversible, refused if already cancelled."""
    shop.job_takes_s = 5
    method = {"originalPaymentMethodsRefund": True}

    started = (await ask(CANCEL, id=order.gid, method=method))["data"]["orderCancel"]
    look = "query($id: ID!) { job(id: $id) { done } }"
    early = (await ask(look, id=started["job"]["id"]))["data"]["job"]
    clock.forward(seconds=5)
    late = (await ask(look, id=started["job"]["id"]))["data"]["job"]
    again = (await ask(CANCEL, id=order.gid, method=method))["data"]["orderCancel"]

    assert (started["job"]["done"], early["done"], late["done"]) == (False, False, True)
    assert order.cancelled_at == clock.now()
    assert (order.refunded, order.financial_status()) == (Decimal("105.00"), "REFUNDED")
    assert again["job"] is None
    assert again["orderCancelUserErrors"][0]["code"] == "INVALID"
    assert len(shop.effects_of("cancel")) == 1


@pytest.mark.req("SH-03")
async def test_a_shipped_order_is_not_cancelled(ask: Ask, shop: Shop, order: Order) -> None:
    shop.fulfil(order)

    refused = (await ask(CANCEL, id=order.gid))["data"]["orderCancel"]

    assert refused["orderCancelUserErrors"][0]["code"] == "INVALID"
    assert not shop.jobs


@pytest.mark.req("SH-03")
async def test_a_cancellation_whose_answer_is_lost_still_happens(
    ask: Ask, server: ShopifyServer, shop: Shop, order: Order
) -> None:
    server.faults.next("orderCancel", Trouble.DROP_AFTER)
    with pytest.raises(httpx.HTTPError):
        await ask(CANCEL, id=order.gid)

    seen = (await ask("query($id: ID!) { order(id: $id) { cancelledAt } }", id=order.gid))["data"]["order"]

    assert seen["cancelledAt"] is not None


@pytest.mark.req("SH-03")
async def test_a_cancellation_may_pay_back_store_credit(ask: Ask, shop: Shop, order: Order, ana: Customer) -> None:
    await ask(CANCEL, id=order.gid, method={"storeCreditRefund": {}})
    text = (
        "query($id: ID!) { customer(id: $id) { storeCreditAccounts(first: 1) { nodes { balance { amount currencyCode }"
        " transactions(first: 5)"
        " { nodes { ... on StoreCreditAccountCreditTransaction { id amount { amount } } } } } } } }"
    )

    found = (await ask(text, id=ana.gid))["data"]["customer"]["storeCreditAccounts"]["nodes"][0]

    assert found["balance"] == {"amount": "105.0", "currencyCode": "USD"}
    assert [t["amount"]["amount"] for t in found["transactions"]["nodes"]] == ["105.0"]


REFUND = (
    "mutation($input: RefundInput!, $key: String!) { refundCreate(input: $input) @idempotent(key: $key)"
    " { order { displayFinancialStatus } refund { id note totalRefundedSet { shopMoney { amount } } } "
    + USER_ERRORS
    + " } }"
)


def money_back(order: Order, amount: str, **more: Any) -> dict[str, Any]:
    """Return a RefundInput that moves money."""
    paid = order.transactions[0]
    moved = {"orderId": order.gid, "gateway": paid.gateway, "kind": "REFUND", "amount": amount, "parentId": paid.gid}
    return {"orderId": order.gid, "transactions": [moved], **more}


@pytest.mark.req("SH-03")
async def test_fault_072_two_partial_refunds_of_one_sum_are_two_and_the_third_is_too_much(
    ask: Ask, shop: Shop, order: Order
) -> None:
    """Fault 072 and apis.md §1.10: allowOverRefunding is false by default."""
    line = order.lines[0]
    lines = [{"lineItemId": line.gid, "quantity": 1, "restockType": "NO_RESTOCK"}]

    first = await ask(REFUND, input=money_back(order, "50.00", refundLineItems=lines, note="a1"), key="k1")
    second = await ask(REFUND, input=money_back(order, "50.00", refundLineItems=lines), key="k2")
    third = await ask(REFUND, input=money_back(order, "5.01"), key="k3")
    no_line = await ask(REFUND, input=money_back(order, "1.00", refundLineItems=lines), key="k4")

    assert first["data"]["refundCreate"]["order"]["displayFinancialStatus"] == "PARTIALLY_REFUNDED"
    assert first["data"]["refundCreate"]["refund"]["note"] == "a1"
    assert second["data"]["refundCreate"]["userErrors"] == []
    assert third["data"]["refundCreate"]["refund"] is None
    assert third["data"]["refundCreate"]["userErrors"][0]["field"] == ["transactions"]
    assert no_line["data"]["refundCreate"]["userErrors"]
    assert [effect.amount for effect in shop.effects_of("refund")] == [Decimal("50.00"), Decimal("50.00")]
    assert line.refundable == 0


@pytest.mark.req("SH-03")
async def test_a_refund_without_transactions_moves_no_money_and_one_to_store_credit_does(
    ask: Ask, shop: Shop, order: Order, ana: Customer
) -> None:
    credit = {"storeCreditRefund": {"amount": {"amount": "30.00", "currencyCode": "USD"}}}

    await ask(REFUND, input={"orderId": order.gid}, key="k1")
    await ask(REFUND, input={"orderId": order.gid, "refundMethods": [credit]}, key="k2")

    assert [refund.amount for refund in shop.refunds] == [Decimal(0), Decimal("30.00")]
    assert ana.credits[0].balance == Decimal("30.00")


@pytest.mark.req("SH-03")
async def test_what_may_be_refunded_is_told_before(ask: Ask, shop: Shop, order: Order) -> None:
    text = (
        "query($id: ID!, $lines: [RefundLineItemInput!]) { order(id: $id) { suggestedRefund(refundLineItems: $lines)"
        " { amountSet { shopMoney { amount } } maximumRefundableSet { shopMoney { amount } }"
        " suggestedTransactions { kind gateway amountSet { shopMoney { amount } } parentTransaction { id } } } } }"
    )

    answer = await ask(text, id=order.gid, lines=[{"lineItemId": order.lines[0].gid, "quantity": 1}])

    suggested = answer["data"]["order"]["suggestedRefund"]
    (moved,) = suggested["suggestedTransactions"]
    assert suggested["amountSet"]["shopMoney"]["amount"] == "50.0"
    assert suggested["maximumRefundableSet"]["shopMoney"]["amount"] == "105.0"
    assert (moved["kind"], moved["parentTransaction"]["id"]) == ("SUGGESTED_REFUND", order.transactions[0].gid)


@pytest.mark.req("SH-03")
async def test_a_return_is_asked_for_once_a_piece_and_waits_for_the_merchant(
    ask: Ask, shop: Shop, order: Order
) -> None:
    """apis.md §1.10: returnRequest creates REQUESTED."""
    look = (
        "query($id: ID!) { returnableFulfillments(orderId: $id, first: 5)"
        " { nodes { returnableFulfillmentLineItems(first: 5)"
        " { nodes { quantity fulfillmentLineItem { id lineItem { id } } } } } } }"
    )
    request = (
        "mutation($input: ReturnRequestInput!) { returnRequest(input: $input)"
        " { return { name status } userErrors { code field message } } }"
    )
    assert (await ask(look, id=order.gid))["data"]["returnableFulfillments"]["nodes"] == []
    shop.fulfil(order)
    (parcel,) = (await ask(look, id=order.gid))["data"]["returnableFulfillments"]["nodes"]
    (line,) = parcel["returnableFulfillmentLineItems"]["nodes"]
    wanted = {"fulfillmentLineItemId": line["fulfillmentLineItem"]["id"], "quantity": 2, "returnReason": "UNWANTED"}
    given = {"orderId": order.gid, "returnLineItems": [wanted]}

    first = (await ask(request, input=given))["data"]["returnRequest"]
    again = (await ask(request, input=given))["data"]["returnRequest"]

    assert line["quantity"] == 2
    assert first["return"] == {"name": "#1001-R1", "status": "REQUESTED"}
    assert again["userErrors"][0]["code"] == "INVALID"
    assert order.return_status() == "RETURN_REQUESTED"
    assert len(shop.effects_of("return_request")) == 1


@pytest.mark.req("SH-03")
async def test_store_credit_has_no_idempotency_and_an_address_is_overwritten(
    ask: Ask, shop: Shop, order: Order, ana: Customer
) -> None:
    """apis.md §1.10: no directive is listed for either, so a repeat is a second effect."""
    credit = (
        "mutation($id: ID!, $in: StoreCreditAccountCreditInput!) { storeCreditAccountCredit(id: $id, creditInput: $in)"
        " { storeCreditAccountTransaction { balanceAfterTransaction { amount } account { owner { legacyResourceId } } }"
        " userErrors { code field message } } }"
    )
    given = {"creditAmount": {"amount": "10.00", "currencyCode": "USD"}}
    update = (
        "mutation($in: OrderInput!) { orderUpdate(input: $in)"
        f" {{ order {{ shippingAddress {{ city }} }} {USER_ERRORS} }} }}"
    )
    address = {"address1": "Gasse 1", "city": "Wien", "countryCode": "AT"}

    await ask(credit, id=ana.gid, **{"in": given})
    second = (await ask(credit, id=ana.gid, **{"in": given}))["data"]["storeCreditAccountCredit"]
    none = (await ask(credit, id="gid://shopify/Customer/1", **{"in": given}))["data"]["storeCreditAccountCredit"]
    moved = (await ask(update, **{"in": {"id": order.gid, "shippingAddress": address}}))["data"]["orderUpdate"]
    partial = (await ask(update, **{"in": {"id": order.gid, "shippingAddress": {"city": "x"}}}))["data"]["orderUpdate"]

    made = second["storeCreditAccountTransaction"]
    assert (made["balanceAfterTransaction"]["amount"], made["account"]["owner"]["legacyResourceId"]) == (
        "20.0",
        str(ana.number),
    )
    assert none["userErrors"][0]["code"] == "OWNER_NOT_FOUND"
    assert moved["order"]["shippingAddress"]["city"] == "Wien"
    assert partial["userErrors"]
    assert [effect.kind for effect in shop.effects] == ["store_credit", "store_credit", "address"]


async def test_what_the_schema_does_not_know_and_pages_too_large_are_refused(ask: Ask, shop: Shop) -> None:
    """apis.md §1.9: at most 250 a page."""
    unknown = await ask("{ shop { nonsense } }")
    too_many = await ask("{ orders(first: 251) { nodes { id } } }")
    unbounded = await ask("{ orders { nodes { id } } }")

    assert "data" not in unknown
    assert unknown["errors"][0]["extensions"]["code"] == "undefinedField"
    assert too_many["errors"][0]["extensions"]["code"] == "BAD_REQUEST"
    assert unbounded["errors"]


@pytest.mark.req("SH-02")
async def test_the_bucket_leaks_and_refills(ask: Ask, shop: Shop, clock: FixedClock) -> None:
    """apis.md §1.11: reserved, difference refunded, restored by the second, THROTTLED with status 200."""
    shop.maximum_points, shop.points_per_second = 40.0, 4.0
    text = "{ orders(first: 250) { nodes { id customer { id } } } }"

    answers = [await ask(text) for _ in range(40)]
    throttled = [a for a in answers if a.get("errors")]
    wait = throttled[-1]["extensions"]["cost"]
    missing = wait["requestedQueryCost"] - wait["throttleStatus"]["currentlyAvailable"]
    clock.forward(seconds=missing / 4)
    after = await ask(text)

    assert throttled
    assert throttled[0]["errors"][0]["extensions"]["code"] == "THROTTLED"
    assert "data" not in throttled[0]
    assert after["data"]["orders"]["nodes"] == []


@pytest.mark.req("SH-02")
@pytest.mark.parametrize(
    "query",
    [
        "{ shop { name } }",
        "{ orders { edges { node { id returns { nodes { id returnLineItems { nodes { id } } } } } } } }",
        "{ orders { edges { node { nonsense } } } }",
    ],
    ids=["no connection", "three deep", "invalid"],
)
async def test_a_bulk_query_outside_the_rules_is_refused(ask: Ask, query: str) -> None:
    """apis.md §1.12: at least one connection, nesting ≤ 2."""
    run = f"mutation($q: String!) {{ bulkOperationRunQuery(query: $q) {{ bulkOperation {{ id }} {USER_ERRORS} }} }}"

    answer = (await ask(run, q=query))["data"]["bulkOperationRunQuery"]

    assert answer["bulkOperation"] is None
    assert answer["userErrors"]


@pytest.mark.req("SH-02")
async def test_a_sixth_bulk_query_at_once_is_refused(ask: Ask, shop: Shop) -> None:
    """apis.md §1.12: up to five."""
    run = f"mutation($q: String!) {{ bulkOperationRunQuery(query: $q) {{ bulkOperation {{ id }} {USER_ERRORS} }} }}"

    answers = [(await ask(run, q="{ products { edges { node { id } } } }")) for _ in range(6)]

    assert [bool(a["data"]["bulkOperationRunQuery"]["userErrors"]) for a in answers] == [False] * 5 + [True]


async def test_refunds_can_be_held_under_way(ask: Ask, server: ShopifyServer, shop: Shop, order: Order) -> None:
    gate = server.faults.hold("refundCreate")
    held = asyncio.create_task(ask(REFUND, input=money_back(order, "5.00"), key="k1"))  # type: ignore[arg-type]
    await until(lambda: server.calls["refundCreate"] == 1, "the refund arrives")

    assert not shop.refunds
    gate.set()
    await held
    assert len(shop.refunds) == 1


@pytest.mark.req("SH-01")
async def test_a_webhook_is_signed_over_its_raw_body(server: ShopifyServer) -> None:
    """apis.md §1.3. The server itself answers 404; its record of the request is what is looked at."""
    raw = b'{"id": 1,   "title": "K\xc3\xa4nnchen"}'

    await send_webhook(f"{server.base_url}/hook", "products/update", "a.myshopify.com", raw, "hush", event_id="e1")

    said = server.headers[-1]
    expected = base64.b64encode(hmac.new(b"hush", raw, hashlib.sha256).digest()).decode()
    assert said["x-shopify-hmac-sha256"] == expected
    assert (said["x-shopify-topic"], said["x-shopify-event-id"]) == ("products/update", "e1")
