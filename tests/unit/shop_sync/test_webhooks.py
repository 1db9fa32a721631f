"""Webhooks at the door: proven, taken in once, answered at once; nothing else happens in the request."""

import asyncio
import json
import logging
import time
from typing import Any

import pytest

from shared.domain.compliance import ComplianceRequest
from shared.domain.ids import CustomerId
from shared.ports.documents import Container, CustomerScope
from tests.unit.shop_sync.conftest import NEW_SECRET, OLD_SECRET, OTHER_DOMAIN, T1, Desk, signature
from tests.unit.shop_sync.small_shop import DOMAIN, product_payload, stock_payload

REDACT = {
    "shop_id": 954889,
    "shop_domain": DOMAIN,
    "customer": {"id": 191167, "email": "ana@mail.example", "phone": "555-625-1199"},
    "orders_to_redact": [299938],
}
DATA_REQUEST = {
    "shop_id": 954889,
    "shop_domain": DOMAIN,
    "customer": {"id": 191167, "email": "ana@mail.example", "phone": "555-625-1199"},
    "orders_requested": [299938],
    "data_request": {"id": 9999},
}
SHOP_REDACT = {"shop_id": 954889, "shop_domain": DOMAIN}
ORDER = {
    "id": 820982911946154508,
    "admin_graphql_api_id": "gid://shopify/Order/820982911946154508",
    "updated_at": "2026-03-01T09:00:00-05:00",
    "email": "canary-ana@mail.example",
    "customer": {"id": 191167, "email": "canary-ana@mail.example"},
    "line_items": [{"name": "CANARY-LINE"}],
}


def said(answer: Any) -> str:
    """Return the status a delivery got."""
    return str(json.loads(answer.get_body())["status"])


@pytest.mark.req("SH-01")
async def test_fault_057_privacy_webhooks_answer_401_to_a_bad_signature_and_queue_nothing(desk: Desk) -> None:
    """Wrong, missing, and valid for a secret that is not ours: 401; GET: 405."""
    raw = json.dumps(REDACT).encode()
    before = desk.rows()

    answers = [
        await desk.deliver("customers/redact", raw, X_Shopify_Hmac_Sha256=given)
        for given in ("d3Jvbmc=", None, signature(raw, "somebody else's"), "", "é", signature(raw + b" ", NEW_SECRET))
    ]
    read = await desk.post(b"", {}, method="GET")

    assert [answer.status_code for answer in answers] == [401] * 6
    assert {json.loads(answer.get_body())["type"] for answer in answers} == {"/problems/signature-invalid"}
    assert (read.status_code, read.headers["Allow"]) == (405, "POST, OPTIONS")
    assert desk.rows() == before


@pytest.mark.req("SH-01")
@pytest.mark.parametrize("secret", [OLD_SECRET, NEW_SECRET])
async def test_both_secrets_of_a_rotation_are_taken(desk: Desk, secret: str) -> None:
    """Shopify signs with the oldest one for up to an hour after the change."""
    raw = json.dumps(product_payload(desk.shop.put(1))).encode()

    answer = await desk.deliver("products/update", raw, X_Shopify_Hmac_Sha256=signature(raw, secret))

    assert (answer.status_code, said(answer)) == (200, "accepted")


@pytest.mark.req("SH-01")
@pytest.mark.parametrize("payload", [REDACT, DATA_REQUEST, SHOP_REDACT], ids=["redact", "data_request", "shop"])
async def test_fault_054_without_the_shop_header_the_signed_body_names_the_tenant(
    desk: Desk, payload: dict[str, Any]
) -> None:
    """January 2024: the privacy webhooks came without X-Shopify-Shop-Domain."""
    topic = "shop/redact" if payload is SHOP_REDACT else "customers/redact"
    topic = "customers/data_request" if payload is DATA_REQUEST else topic

    answer = await desk.deliver(topic, payload, X_Shopify_Shop_Domain=None)

    (row,) = desk.rows(kind="compliance")
    request = ComplianceRequest.model_validate(row)
    assert (answer.status_code, said(answer)) == (200, "accepted")
    assert (request.tenant_id, request.topic.value, request.shop_domain) == ("t1", topic, DOMAIN)
    assert (request.due_at - request.received_at).days == 30


@pytest.mark.req("SH-01")
async def test_fault_054_a_header_that_contradicts_the_signed_body_is_refused_with_an_alarm(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    """Never both tenants, never all."""
    answer = await desk.deliver("customers/redact", REDACT, X_Shopify_Shop_Domain=OTHER_DOMAIN)

    assert answer.status_code == 400
    assert desk.rows(kind="compliance") == []
    assert any(record.levelno == logging.ERROR for record in caplog.records)


@pytest.mark.req("SH-01", "PV-05")
async def test_a_privacy_request_is_kept_sealed_until_it_is_carried_out(desk: Desk) -> None:
    """It must name the person to whoever erases them, and to nobody who reads the store."""
    await desk.deliver("customers/redact", REDACT)
    desk.clock.forward(days=29)
    desk.documents.purge_expired(desk.clock.now(), 1_000)

    (row,) = desk.rows(kind="compliance")
    request = ComplianceRequest.model_validate(row)
    opened = await desk.services.inbox.open_request(T1, request)
    assert "ana@mail.example" not in str(row)
    assert json.loads(opened)["customer"]["email"] == "ana@mail.example"


@pytest.mark.req("SH-01")
async def test_privacy_requests_are_taken_after_the_app_was_removed(desk: Desk) -> None:
    """shop/redact comes 48 hours after app/uninstalled; a shop nobody ever had is acknowledged and keeps nothing."""
    shop = {"id": 548380009, "myshopify_domain": DOMAIN, "updated_at": "2020-01-01T00:00:00Z"}
    desk.clock.forward(minutes=1)
    await desk.deliver("app/uninstalled", shop)
    desk.clock.forward(hours=48)

    ours = await desk.deliver("shop/redact", SHOP_REDACT)
    nobodys = await desk.deliver(
        "shop/redact", {**SHOP_REDACT, "shop_domain": "x.myshopify.com"}, X_Shopify_Shop_Domain=None
    )

    assert (said(ours), said(nobodys)) == ("accepted", "ignored")
    assert len(desk.rows(kind="compliance")) == 1


@pytest.mark.req("SH-01")
async def test_a_persons_redaction_cannot_be_sent_on_as_the_shops(desk: Desk) -> None:
    """The topic is a header, and headers are not signed."""
    answers = [
        await desk.deliver("shop/redact", REDACT),
        await desk.deliver("customers/redact", SHOP_REDACT),
        await desk.deliver("customers/redact", DATA_REQUEST),
        await desk.deliver("shop/redact", product_payload(desk.shop.put(1))),
    ]

    assert [answer.status_code for answer in answers] == [400] * 4
    assert desk.rows(kind="compliance") == []


@pytest.mark.req("SH-01")
async def test_fault_061_two_deliveries_of_one_event_at_once_are_one(desk: Desk) -> None:
    """Parallel POSTs, one event id, other delivery ids; both answer 200."""
    payload = product_payload(desk.shop.put(1))

    answers = await asyncio.gather(
        *(desk.deliver("products/update", payload, X_Shopify_Event_Id="e1") for _ in range(5))
    )

    assert [answer.status_code for answer in answers] == [200] * 5
    assert sorted(map(said, answers)) == ["accepted", *["repeated"] * 4]
    assert len(desk.rows(kind="catalog_work")) == 1
    assert desk.rows(kind="catalog_work")[0]["hints"] == 1


@pytest.mark.req("SH-01")
async def test_a_delivery_that_comes_back_under_another_event_is_known_by_its_own_id(desk: Desk) -> None:
    """The platform's pages disagree on which of the two ids repeats (apis.md §1.5): both are remembered."""
    payload = product_payload(desk.shop.put(1))
    first = await desk.deliver("products/update", payload, X_Shopify_Event_Id="e1", X_Shopify_Webhook_Id="w1")

    again = await desk.deliver("products/update", payload, X_Shopify_Event_Id="e2", X_Shopify_Webhook_Id="w1")
    other_topic = await desk.deliver("products/create", payload, X_Shopify_Event_Id="e1", X_Shopify_Webhook_Id="w2")

    assert (said(first), said(again), said(other_topic)) == ("accepted", "repeated", "accepted")


@pytest.mark.req("SH-01")
async def test_without_any_id_the_body_itself_is_what_repeats(desk: Desk) -> None:
    """Headers may be lost on the way; the same body again is the same event."""
    payload = product_payload(desk.shop.put(1))
    no_ids = {"X_Shopify_Event_Id": None, "X_Shopify_Webhook_Id": None}

    answers = [await desk.deliver("products/update", payload, **no_ids) for _ in range(2)]

    assert [said(answer) for answer in answers] == ["accepted", "repeated"]


@pytest.mark.req("SH-01")
async def test_events_are_remembered_for_seven_days(desk: Desk) -> None:
    """The retry window is four hours; design §6 keeps seven days."""
    payload = product_payload(desk.shop.put(1))
    ids: dict[str, str | None] = {"X_Shopify_Event_Id": "e1", "X_Shopify_Webhook_Id": "w1"}
    await desk.deliver("products/update", payload, **ids)

    desk.clock.forward(days=6, hours=23)
    late = await desk.deliver("products/update", payload, **ids)
    desk.clock.forward(days=7)
    very_late = await desk.deliver("products/update", payload, **ids)

    assert (said(late), said(very_late)) == ("repeated", "accepted")


@pytest.mark.req("SH-01")
async def test_fault_062_a_delivery_is_answered_within_a_second_and_asks_nobody(desk: Desk) -> None:
    """No fetch, no embedding in the request; Shopify's retry a minute later is recognised."""
    payload = product_payload(desk.shop.put(1))
    payload["variants"] = [{"id": n, "title": "x" * 500, "price": "1.00"} for n in range(2_048)]
    raw = json.dumps(payload).encode()
    assert len(raw) > 1_000_000
    began = time.perf_counter()

    first = await desk.deliver("products/update", raw, X_Shopify_Event_Id="e1")

    took_s = time.perf_counter() - began
    desk.clock.forward(minutes=1)
    retry = await desk.deliver("products/update", raw, X_Shopify_Event_Id="e1")
    assert (said(first), said(retry)) == ("accepted", "repeated")
    assert took_s < 1.0
    assert (desk.shop.asked, desk.embedder.texts) == ([], [])


@pytest.mark.req("SH-01", "PV-05")
async def test_fault_060_of_an_order_or_customer_nothing_but_ids_is_kept(desk: Desk) -> None:
    """A late orders/updated cannot rebuild an erased person: there is nothing of them to rebuild from."""
    customer = {**ORDER, "admin_graphql_api_id": "gid://shopify/Customer/191167", "first_name": "CANARY-NAME"}
    for topic in ("orders/create", "orders/updated", "orders/cancelled"):
        assert said(await desk.deliver(topic, ORDER)) == "accepted"
    refund = {"id": 1, "order_id": 2, "note": "CANARY-NOTE", "admin_graphql_api_id": "gid://shopify/Refund/1"}
    await desk.deliver("refunds/create", refund)
    await desk.deliver("customers/update", customer)

    stored = str(desk.rows()).lower()
    assert "canary" not in stored
    events = [row for row in desk.rows(kind="shop_event") if row["topic"] != "refunds/create"]
    assert {row["customer_id"] for row in events} == {"191167"}


@pytest.mark.req("SH-01", "PV-04")
async def test_fault_060_of_an_erased_customer_not_even_ids_are_kept(desk: Desk) -> None:
    """Yesterday's orders/updated after today's erasure is acknowledged and dropped; another customer's is not."""
    erased = CustomerScope(T1.tenant_id, CustomerId("191167"))
    await desk.services.tombstones.bury(erased, desk.clock.now())

    late = await desk.deliver("orders/updated", ORDER)
    other = await desk.deliver("orders/updated", {**ORDER, "customer": {"id": 5}})
    redact = await desk.deliver("customers/redact", REDACT)

    assert (said(late), said(other), said(redact)) == ("ignored", "accepted", "accepted")
    assert [r["customer_id"] for r in desk.rows(kind="shop_event") if r["topic"] == "orders/updated"] == ["5", "5"]


@pytest.mark.req("SH-01")
async def test_removing_the_app_stops_its_work_until_it_is_installed_again(desk: Desk) -> None:
    """Tokens are gone at once; events that still come in are acknowledged and left."""
    await desk.deliver("products/update", product_payload(desk.shop.put(1)))
    desk.clock.forward(minutes=1)
    shop = {"id": 548380009, "myshopify_domain": DOMAIN, "updated_at": "2020-01-01T00:00:00Z"}

    removed = await desk.deliver("app/uninstalled", shop)
    after = await desk.deliver("products/update", product_payload(desk.shop.put(2)))

    assert (said(removed), said(after)) == ("accepted", "ignored")
    assert await desk.sync() == 0
    assert desk.shop.asked == []
    assert await desk.articles() == {}


@pytest.mark.req("SH-01")
async def test_a_late_removal_does_not_end_a_newer_installation(desk: Desk) -> None:
    """A reinstall can overtake the event (apis.md §1.7)."""
    shop = {"id": 548380009, "myshopify_domain": DOMAIN}

    await desk.deliver("app/uninstalled", shop, X_Shopify_Triggered_At="2026-03-01T00:00:00Z")

    assert await desk.services.installations.is_connected(T1)


@pytest.mark.req("SH-01")
async def test_what_a_shop_grants_is_recorded(desk: Desk) -> None:
    """app/scopes_update lists what holds now."""
    change = {"id": 1, "shop_id": 2, "previous": ["read_products"], "current": ["read_products", "read_orders"]}

    await desk.deliver("app/scopes_update", change)

    installation = await desk.services.installations.get(T1)
    assert installation is not None
    assert installation.scopes == ("read_orders", "read_products")


@pytest.mark.req("SH-01")
async def test_topics_nobody_needs_are_acknowledged_and_left(desk: Desk) -> None:
    """A refusal would cost the subscription."""
    before = desk.rows()

    answer = await desk.deliver("collections/update", {"id": 1})

    assert (answer.status_code, said(answer)) == (200, "ignored")
    assert desk.rows() == before


@pytest.mark.req("SH-01")
@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("products/update", {}),
        ("products/update", {"id": "../x"}),
        ("products/update", {"id": -1}),
        ("products/update", {"id": True}),
        ("inventory_levels/update", {}),
        ("inventory_levels/update", {"inventory_item_id": 1}),
        ("app/scopes_update", {"id": 1, "current": "everything"}),
    ],
)
async def test_an_event_nobody_can_read_becomes_a_dead_letter_not_a_refusal(
    desk: Desk, topic: str, payload: dict[str, Any]
) -> None:
    """It is signed, so it is Shopify's; eight refusals would delete the subscription (fault 068)."""
    answer = await desk.deliver(topic, payload)

    assert answer.status_code == 200
    assert [row["feed"] for row in desk.rows(Container.DEAD_LETTERS)] == ["shopify_webhook"]
    assert desk.rows(kind="catalog_work") == []


@pytest.mark.req("SH-01", "GW-06")
@pytest.mark.parametrize(
    "raw",
    [b"", b"null", b"[]", b"{", b"\xff\xfe", b'{"id": NaN}', b'{"a":' * 40 + b"1" + b"}" * 40],
    ids=["empty", "null", "array", "half", "bytes", "nan", "deep"],
)
async def test_a_signed_body_that_is_no_json_object_is_refused(desk: Desk, raw: bytes) -> None:
    """Whoever sent it, it is no event; the alarm says that somebody holds the secret."""
    answer = await desk.deliver("products/update", raw)

    assert answer.status_code == 400
    assert desk.rows(kind="catalog_work") == []


@pytest.mark.req("SH-01", "GW-06")
async def test_a_body_above_the_limit_is_not_even_hashed(desk: Desk) -> None:
    """8 MB."""
    answer = await desk.deliver("products/update", b" " * (8 * 1024 * 1024 + 1))

    assert answer.status_code == 413


@pytest.mark.req("SH-01")
async def test_an_unknown_shop_reads_like_a_wrong_signature(desk: Desk) -> None:
    """Nobody learns which shops there are."""
    payload = product_payload(desk.shop.put(1))

    unknown = await desk.deliver("products/update", payload, X_Shopify_Shop_Domain="nobody.myshopify.com")
    forged = await desk.deliver("products/update", payload, X_Shopify_Hmac_Sha256="d3Jvbmc=")
    nameless = await desk.deliver("products/update", payload, X_Shopify_Shop_Domain=None)
    evil = await desk.deliver("products/update", payload, X_Shopify_Shop_Domain="evil.example/.myshopify.com")

    shown = [{**json.loads(a.get_body()), "trace_id": ""} for a in (unknown, forged)]
    assert shown[0] == shown[1]
    assert (unknown.status_code, nameless.status_code, evil.status_code) == (401, 400, 400)


@pytest.mark.req("SH-01")
async def test_ids_are_taken_whole_from_the_global_id(desk: Desk) -> None:
    """Numbers above 2^53 lose their end in many readers; the gid is text."""
    payload = {**product_payload(desk.shop.put(1)), "id": 788032119674292900}
    payload["admin_graphql_api_id"] = "gid://shopify/Product/788032119674292922"

    await desk.deliver("products/update", payload)

    assert [row["subject_id"] for row in desk.rows(kind="catalog_work")] == ["788032119674292922"]


@pytest.mark.req("SH-01")
async def test_a_flood_of_deliveries_from_one_address_is_taken(desk: Desk) -> None:
    """Shopify's servers stand for every shop: their address is not limited once the signature is proven."""
    product = desk.shop.put(1)
    hops = {"X_Forwarded_For": "203.0.113.99"}

    statuses = {
        (await desk.deliver("inventory_levels/update", stock_payload(product, desk.clock.now()), **hops)).status_code
        for _ in range(1_300)
    }

    assert statuses == {200}


@pytest.mark.req("SH-01")
async def test_without_a_client_secret_nothing_is_taken(desk: Desk) -> None:
    """Fail closed: an empty secret signs nothing."""
    desk.services.settings = type(desk.services.settings)(data_dir=desk.services.settings.data_dir)
    raw = json.dumps(SHOP_REDACT).encode()

    answers = [
        await desk.deliver("shop/redact", raw, X_Shopify_Hmac_Sha256=given) for given in (signature(raw, ""), "")
    ]

    assert [answer.status_code for answer in answers] == [401, 401]
