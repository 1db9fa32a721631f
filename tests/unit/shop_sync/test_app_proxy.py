"""The App Proxy: Shopify's signature of the query is the visitor's identity, and nothing else of the request is."""

import hashlib
import hmac
import json
import os
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode

import azure.functions as func
import pytest

from orchestrators.triggers.dispatch import serve
from orchestrators.triggers.shopify_signatures import read_signed_query
from shared.domain.tenant import TenantStatus
from tests.conftest import FixedClock
from tests.unit.shop_sync.conftest import NEW_SECRET, OLD_SECRET, OTHER_DOMAIN, T1, Desk
from tests.unit.shop_sync.small_shop import DOMAIN
from tests.unit.triggers.test_dispatch import Client

MESSAGES = "proxy/shopify/v1/conversations/{cid}/messages"
THREAD = "proxy/shopify/v1/conversations/{cid}"
ANA, BEN = "7001", "7002"
VISITOR = {"X-Conversation-Secret": "s" * 43}


def sign(pairs: list[tuple[str, str]], secret: str) -> str:
    """Sign as the vendor's documentation says, written anew: group, join by commas, sort the pairs, join by nothing."""
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    text = "".join(sorted(name + "=" + ",".join(values) for name, values in grouped.items()))
    return hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


def proxied(
    clock: FixedClock,
    customer: str = ANA,
    *,
    shop: str = DOMAIN,
    extra: tuple[tuple[str, str], ...] = (),
    age_s: int = 0,
    secret: str = NEW_SECRET,
) -> str:
    """Return a query as Shopify sends it on: the visitor's parameters, its own, and the signature of them all."""
    pairs = [
        *extra,
        ("shop", shop),
        ("logged_in_customer_id", customer),
        ("path_prefix", "/apps/vouch"),
        ("timestamp", str(int(clock.now().timestamp()) - age_s)),
    ]
    return urlencode([*pairs, ("signature", sign(pairs, secret))])


async def read(desk: Desk, query: str, cid: str = "c1", **headers: str) -> func.HttpResponse:
    """GET the thread."""
    url = f"https://app.example/api/proxy/shopify/v1/conversations/{cid}?{query}"
    params = dict(parse_qsl(query, keep_blank_values=True))
    request = func.HttpRequest("GET", url, headers=headers, params=params, route_params={"cid": cid}, body=b"")
    return await serve(THREAD, request, desk.services)


async def send(desk: Desk, query: str, cid: str, message: str, text: str = "hi", **headers: str) -> func.HttpResponse:
    """POST a message; its turn is accepted and not run."""
    request = func.HttpRequest(
        "POST",
        f"https://app.example/api/proxy/shopify/v1/conversations/{cid}/messages?{query}",
        headers={"Content-Type": "application/json", "Prefer": "wait=0", **headers},
        params=dict(parse_qsl(query, keep_blank_values=True)),
        route_params={"cid": cid},
        body=json.dumps({"text": text, "message_id": message}).encode(),
    )
    return await serve(MESSAGES, request, desk.services, Client())


@pytest.mark.req("GW-03", "SH-01")
async def test_a_signed_customer_sends_and_reads_their_own_conversation_and_nobody_elses(desk: Desk) -> None:
    """The same operations as a publishable key, with a customer; anyone else gets the 404 of an absent one."""
    sent = await send(desk, proxied(desk.clock), "p1", "m1")

    mine = await read(desk, proxied(desk.clock), "p1")
    bens = await read(desk, proxied(desk.clock, BEN), "p1")
    nobodys = await read(desk, proxied(desk.clock, ""), "p1", **VISITOR)
    absent = await read(desk, proxied(desk.clock, BEN), "no-such")

    assert (sent.status_code, mine.status_code) == (202, 200)
    assert [line["text"] for line in json.loads(mine.get_body())["messages"]] == ["hi"]
    assert (bens.status_code, nobodys.status_code, absent.status_code) == (404, 404, 404)
    assert sent.headers["Location"] == "/apps/vouch/v1/conversations/p1/turns/m1"


@pytest.mark.req("GW-03")
async def test_a_visitor_who_is_not_logged_in_is_anonymous_and_needs_their_own_secret(desk: Desk) -> None:
    """An empty logged_in_customer_id proves nobody."""
    without = await send(desk, proxied(desk.clock, ""), "p2", "m1")
    sent = await send(desk, proxied(desk.clock, ""), "p2", "m1", **VISITOR)
    again = await read(desk, proxied(desk.clock, ""), "p2", **VISITOR)
    other = await read(desk, proxied(desk.clock, ""), "p2", **{"X-Conversation-Secret": "t" * 43})

    statuses = [answer.status_code for answer in (without, sent, again, other)]
    assert statuses == [401, 202, 200, 404]


@pytest.mark.req("GW-03")
async def test_a_customer_id_of_the_browsers_own_is_never_believed(desk: Desk) -> None:
    """Not as a header; not as a second value beside Shopify's, on either side, however it is spelled."""
    header = await read(desk, proxied(desk.clock), "p1", **{"X-Customer-Id": BEN})
    doubled = [
        await read(desk, proxied(desk.clock, ANA, extra=(("logged_in_customer_id", value),)), "p1")
        for value in (BEN, ANA, "")
    ]
    query = proxied(desk.clock, ANA, extra=(("logged_in_customer_id", BEN),))
    disguised = await read(desk, query.replace("logged_in_customer_id", "logged%5Fin_customer_id", 1), "p1")
    lists = await read(desk, proxied(desk.clock, f"{ANA},{BEN}"), "p1")
    words = await read(desk, proxied(desk.clock, "ana"), "p1")

    assert header.status_code == 403
    assert [answer.status_code for answer in (*doubled, disguised, lists, words)] == [401] * 6


@pytest.mark.req("GW-03")
@pytest.mark.parametrize("name", ["shop", "path_prefix", "timestamp", "signature"])
async def test_no_parameter_of_shopifys_may_stand_twice(desk: Desk, name: str) -> None:
    """What the visitor adds is signed with the rest, so only its being there twice gives it away."""
    answer = await read(desk, proxied(desk.clock, extra=((name, "x"),)))

    assert answer.status_code == 401


@pytest.mark.req("GW-03")
@pytest.mark.parametrize(("age_s", "status"), [(0, 404), (299, 404), (301, 401), (-299, 404), (-301, 401)])
async def test_a_signature_is_good_for_five_minutes(desk: Desk, age_s: int, status: int) -> None:
    """Later it is somebody's record of it; a clock may be ahead by as much."""
    assert (await read(desk, proxied(desk.clock, age_s=age_s), "no-such")).status_code == status


@pytest.mark.req("GW-03", "GW-04")
async def test_a_replay_repeats_the_message_it_repeats_and_ends_with_the_signature(desk: Desk) -> None:
    """The same address and body again are the same turn; with another body the message id gives it away."""
    query = proxied(desk.clock)
    first = await send(desk, query, "p3", "m1")

    again = await send(desk, query, "p3", "m1")
    altered = await send(desk, query, "p3", "m1", text="another text")
    desk.clock.forward(minutes=6)
    late = await send(desk, query, "p3", "m1")

    assert json.loads(first.get_body())["message_id"] == json.loads(again.get_body())["message_id"]
    assert [a.status_code for a in (first, again, altered, late)] == [202, 202, 409, 401]


@pytest.mark.req("GW-03")
async def test_another_shops_signature_opens_another_tenant(desk: Desk) -> None:
    """One app, one secret: the signed shop alone says whose visitor it is."""
    await send(desk, proxied(desk.clock), "p4", "m1")

    other_tenant = await read(desk, proxied(desk.clock, shop=OTHER_DOMAIN), "p4")
    renamed = proxied(desk.clock).replace(DOMAIN, OTHER_DOMAIN)
    unknown = await read(desk, proxied(desk.clock, shop="nobody.myshopify.com"), "p4")
    foreign = await read(desk, proxied(desk.clock, shop="evil.example"), "p4")

    assert other_tenant.status_code == 404
    assert [(await read(desk, renamed, "p4")).status_code, unknown.status_code, foreign.status_code] == [401] * 3


@pytest.mark.req("GW-03")
async def test_altered_missing_and_foreign_signatures_read_alike(desk: Desk) -> None:
    """Nobody learns what was wrong."""
    good = proxied(desk.clock)
    bad = [
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        good.replace(f"logged_in_customer_id={ANA}", f"logged_in_customer_id={BEN}"),
        good + "&more=1",
        good.partition("&signature")[0],
        proxied(desk.clock, secret="somebody else's"),
        good.replace("signature=", "signature=%C3%A9"),
        "%ff=1&" + good,
        "",
        "a=1&" * 60 + good,
    ]

    shown = []
    for query in bad:
        answer = await read(desk, query)
        shown.append((answer.status_code, {**json.loads(answer.get_body()), "trace_id": ""}))

    assert {status for status, _ in shown} == {401}
    assert len({str(document) for _, document in shown}) == 1


@pytest.mark.req("GW-03")
async def test_both_secrets_of_a_rotation_sign_and_the_visitors_own_parameters_pass(desk: Desk) -> None:
    """`after_seq` is the operation's; an unknown one and one that stands twice are refused like everywhere."""
    await send(desk, proxied(desk.clock, secret=OLD_SECRET), "p5", "m1")

    page = await read(desk, proxied(desk.clock, extra=(("after_seq", "1"),)), "p5")
    unknown = await read(desk, proxied(desk.clock, extra=(("surplus", "1"),)), "p5")
    doubled = await read(desk, proxied(desk.clock, extra=(("after_seq", "1"), ("after_seq", "2"))), "p5")

    assert (page.status_code, json.loads(page.get_body())["messages"]) == (200, [])
    assert (unknown.status_code, doubled.status_code) == (400, 400)


@pytest.mark.req("GW-03")
async def test_a_suspended_tenant_and_a_removed_app_are_not_served(desk: Desk) -> None:
    """403 as for a key; 401 once the shop is no longer connected."""
    await desk.services.tenants.patch(T1, status=TenantStatus.SUSPENDED)
    suspended = await read(desk, proxied(desk.clock))
    await desk.services.tenants.patch(T1, status=TenantStatus.ACTIVE)
    desk.clock.forward(seconds=1)
    await desk.services.installations.uninstall(T1, DOMAIN, at=desk.clock.now())

    removed = await read(desk, proxied(desk.clock))

    assert (suspended.status_code, removed.status_code) == (403, 401)


@pytest.mark.req("GW-03", "GW-08")
async def test_the_storefronts_origin_needs_no_entry_and_the_rate_is_the_tenants(desk: Desk) -> None:
    """The request came through the shop's own domain, or it would not be signed."""
    hops = {"X-Forwarded-For": "203.0.113.7", "Origin": "https://www.hollin-and-rye.example"}
    desk.clock.forward(minutes=2)

    statuses = [
        (await read(desk, proxied(desk.clock), "no-such", **hops)).status_code
        for _ in range((await desk.services.tenants.policy(T1)).rate_per_minute + 1)
    ]

    assert set(statuses[:-1]) == {404}
    assert statuses[-1] == 429


@pytest.mark.req("GW-03")
def test_the_documented_example_is_signed_as_documented(clock: FixedClock) -> None:
    """Multi-valued parameters are joined by commas; the pairs are sorted as text (apis.md §1.13)."""
    query = (
        "extra=1&extra=2&shop=shop-name.myshopify.com&logged_in_customer_id=1&path_prefix=%2Fapps%2Fawesome_reviews"
        "&timestamp=1317327555&signature=4c68c8624d737112c91818c11017d24d334b524cb5c2b8ba08daa056f7395ddb"
    )
    url = f"https://app.example/proxy?{query}"
    clock.at = clock.at.fromtimestamp(1317327555 + 60, tz=clock.at.tzinfo)

    signed = read_signed_query(url, ["hush"], clock.now())

    assert signed is not None
    assert (signed["extra"], signed["logged_in_customer_id"]) == (("1", "2"), ("1",))
    assert read_signed_query(url, ["hush"], clock.now().replace(year=2012)) is None
    assert read_signed_query(url, ["other"], clock.now()) is None


@pytest.mark.req("GW-03")
def test_pairs_are_sorted_as_pairs_not_by_name_alone(clock: FixedClock) -> None:
    """`a1=…` sorts before `a=…`, since 1 comes before the equals sign."""
    pairs = [("a", "x"), ("a1", "y"), ("timestamp", str(int(clock.now().timestamp())))]
    assert (
        sign(pairs, "hush") == hmac.new(b"hush", f"a1=ya=xtimestamp={pairs[2][1]}".encode(), hashlib.sha256).hexdigest()
    )

    query = urlencode([*pairs, ("signature", sign(pairs, "hush"))])

    assert read_signed_query(f"https://x.example/?{query}", ["hush"], clock.now()) is not None


@pytest.mark.req("GW-03")
def test_the_published_vector_of_the_query_digest_holds() -> None:
    """The digest is hex HMAC-SHA256, checked against a vector nobody here computed; not run without the data."""
    path = Path(os.environ.get("VOUCH_DATA", Path(__file__).parents[4] / "shared" / "data"))
    file = path / "shopify_oauth_hmac_vector.json"
    if not file.exists():
        pytest.skip(f"not run: the public data is not at {path} (VOUCH_DATA)")
    (vector,) = json.loads(file.read_text())

    digest = hmac.new(vector["secret"].encode(), vector["message"].encode(), hashlib.sha256).hexdigest()

    assert digest == vector["hexdigest"]
    assert quote(vector["message"], safe="=&.") == vector["message"]
