"""Keys, scopes, customers: who may do and see what."""

import logging

import pytest

from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem, visitor
from tests.surface.api.test_messages import path

HELLO = {"text": "hello"}


@pytest.fixture(scope="module")
def other(api: Api) -> Shop:
    """Another tenant."""
    return api.new_shop()


@pytest.mark.req("GW-01", "GW-02")
@pytest.mark.parametrize(
    "key",
    [
        "",
        "hello",
        "vk_publishable_0000000000000000_" + "a" * 43,
        "vk_operator_0000000000000000_" + "a" * 43,
        "vk_secret_" + "f" * 16 + "_" + "-" * 43,
        "' or 1=1 --",
        "k" * 4000,
    ],
)
def test_fault_046_no_key_in_force_no_answer(api: Api, key: str) -> None:
    """401 for every text that is not a key, on every path that needs one."""
    headers = {"X-Api-Key": key, **visitor()}
    before = api.row_counts()

    answers = [
        api.http.post(path(conversation_id()), headers=headers, json=HELLO),
        api.http.get("/api/v1/articles", headers=headers),
        api.http.get("/api/v1/tenants", headers=headers),
    ]

    assert all(answer.status_code == 401 and is_problem(answer, "unauthenticated") for answer in answers)
    assert all("www-authenticate" in answer.headers for answer in answers)
    assert api.row_counts() == before


@pytest.mark.req("GW-02")
def test_a_revoked_key_is_refused_at_once_and_a_rotated_one_when_its_overlap_ends(api: Api) -> None:
    """Rotation overlaps, revocation does not."""
    shop = api.new_shop()
    keys = f"/api/v1/tenants/{shop.tenant_id}/keys"
    listed = {row["scope"]: row["key_id"] for row in shop.call("GET", keys, key="admin").json()["keys"]}

    rotated = shop.call("POST", f"{keys}/{listed['secret']}/rotate", key="admin", json={"overlap_s": 60})
    old = shop.call("POST", "/api/v1/search", json={"query": "size"})
    new = api.http.post("/api/v1/search", headers={"X-Api-Key": rotated.json()["key"]}, json={"query": "size"})
    revoked = shop.call("DELETE", f"{keys}/{listed['secret']}", key="admin")
    ended = shop.call("POST", "/api/v1/search", json={"query": "size"})

    assert rotated.status_code == 201
    assert (old.status_code, new.status_code) == (200, 200)
    assert (revoked.status_code, ended.status_code) == (204, 401)


@pytest.mark.req("GW-02")
def test_no_secret_of_a_key_is_stored_or_shown_again(api: Api) -> None:
    """Salted digests only."""
    shop = api.new_shop()

    listed = shop.call("GET", f"/api/v1/tenants/{shop.tenant_id}/keys", key="admin")
    stored = api.stored_bytes()

    for key in shop.keys.values():
        secret = key.rpartition("_")[2] if key.count("_") == 3 else key[-43:]
        assert secret not in listed.text
        assert secret.encode() not in stored
    assert shop.identity_secret.encode() not in stored


SCOPES = {
    "desk key writes the policy": ("PUT", "/api/v1/tenants/{tenant}/policy", "desk", {}),
    "desk key sends a message": ("POST", "/api/v1/conversations/c/messages", "desk", HELLO),
    "desk key reads articles": ("GET", "/api/v1/articles", "desk", None),
    "publishable key searches": ("POST", "/api/v1/search", "publishable", {"query": "x"}),
    "publishable key reads the queue": ("GET", "/api/v1/desk/cases", "publishable", None),
    "publishable key issues keys": ("POST", "/api/v1/tenants/{tenant}/keys", "publishable", {"scope": "admin"}),
    "secret key publishes": ("PUT", "/api/v1/articles/a", "secret", {"type": "faq", "title": "t", "content": "c"}),
    "secret key writes the policy": ("PUT", "/api/v1/tenants/{tenant}/policy", "secret", {}),
    "secret key reads the queue": ("GET", "/api/v1/desk/cases", "secret", None),
    "admin key lists tenants": ("GET", "/api/v1/tenants", "admin", None),
    "admin key creates a tenant": ("POST", "/api/v1/tenants", "admin", {"tenant_id": "x", "name": "x"}),
    "admin key changes its tier": ("PATCH", "/api/v1/tenants/{tenant}", "admin", {"tier": "enterprise"}),
    "admin key claims a case": ("POST", "/api/v1/desk/cases/c/claim", "admin", None),
}


@pytest.mark.req("GW-02")
@pytest.mark.parametrize(("method", "where", "key", "body"), SCOPES.values(), ids=SCOPES.keys())
def test_fault_038_no_scope_includes_another(shop: Shop, method: str, where: str, key: str, body: object) -> None:
    """A staff key cannot change the bot; 403."""
    refused = shop.call(method, where.format(tenant=shop.tenant_id), key=key, json=body)

    assert refused.status_code == 403
    assert is_problem(refused, "scope-not-allowed")


@pytest.mark.req("GW-02", "ME-07")
def test_an_admin_key_sees_no_other_tenant(shop: Shop, other: Shop) -> None:
    """What belongs to another tenant reads as absent."""
    base = f"/api/v1/tenants/{other.tenant_id}"

    answers = [
        shop.call("GET", base, key="admin"),
        shop.call("GET", f"{base}/keys", key="admin"),
        shop.call("POST", f"{base}/keys", key="admin", json={"scope": "admin"}),
        shop.call("GET", f"{base}/policy", key="admin"),
        shop.call("PUT", f"{base}/policy", key="admin", json={}),
        shop.call("POST", f"{base}/identity-secret", key="admin"),
    ]

    assert [answer.status_code for answer in answers] == [404] * len(answers)


@pytest.mark.req("GW-02")
def test_an_admin_key_issues_no_operator_key(shop: Shop) -> None:
    """A tenant's administrator stays one."""
    refused = shop.call("POST", f"/api/v1/tenants/{shop.tenant_id}/keys", key="admin", json={"scope": "operator"})

    assert refused.status_code == 403


@pytest.mark.req("GW-03")
def test_fault_046_a_foreign_conversation_and_an_absent_one_are_the_same_answer(shop: Shop, other: Shop) -> None:
    """Nobody learns from an answer whether a conversation exists."""
    mine, who = conversation_id(), visitor()
    assert shop.call("POST", path(mine), key="publishable", headers=who, json=HELLO).status_code == 200

    def seen(caller: Shop, key: str, headers: dict[str, str], conversation: str) -> list[tuple[object, ...]]:
        calls = (
            ("GET", path(conversation, ""), None),
            ("GET", path(conversation, "turns/m-1"), None),
            ("POST", path(conversation, "feedback"), {"rating": 1}),
            ("POST", path(conversation, "close"), None),
        )
        answers = [caller.call(method, where, key=key, headers=headers, json=body) for method, where, body in calls]
        return [(a.status_code, {k: v for k, v in a.json().items() if k != "trace_id"}) for a in answers]

    strangers = {
        "another visitor": (shop, "publishable", visitor()),
        "another customer": (shop, "publishable", shop.as_customer("ben")),
        "another tenant's server": (other, "secret", {}),
        "another tenant's visitor with the secret": (other, "publishable", who),
        "an admin key": (shop, "admin", {}),
    }
    for name, (caller, key, headers) in strangers.items():
        foreign, absent = seen(caller, key, headers, mine), seen(caller, key, headers, conversation_id())
        assert foreign == absent, name
        assert {status for status, _ in foreign} <= {403, 404}, name


@pytest.mark.req("GW-03")
def test_posting_into_a_foreign_conversation_is_404_and_appends_nothing(shop: Shop, api: Api) -> None:
    """Neither a stranger's secret nor a stranger's identity gets a message in."""
    conversation, who = conversation_id(), visitor()
    shop.call("POST", path(conversation), key="publishable", headers=who, json=HELLO)
    before = api.row_counts()

    answers = [
        shop.call("POST", path(conversation), key="publishable", headers=headers, json=HELLO)
        for headers in (visitor(), shop.as_customer("ben"))
    ]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert api.row_counts() == before


@pytest.mark.req("GW-03")
def test_an_anonymous_visitor_needs_a_secret_of_256_bits(shop: Shop, api: Api) -> None:
    """Without any proof there is no conversation."""
    before = api.row_counts()

    nothing = shop.call("POST", path(conversation_id()), key="publishable", json=HELLO)
    short = shop.call(
        "POST", path(conversation_id()), key="publishable", headers={"X-Conversation-Secret": "a" * 42}, json=HELLO
    )

    assert (nothing.status_code, is_problem(nothing, "conversation-secret-required")) == (401, True)
    assert (short.status_code, is_problem(short, "conversation-secret-invalid")) == (400, True)
    assert api.row_counts() == before


@pytest.mark.req("GW-03")
def test_a_publishable_key_names_no_customer(shop: Shop, api: Api) -> None:
    """X-Customer-Id is a server's word."""
    before = api.row_counts()

    refused = shop.call(
        "POST", path(conversation_id()), key="publishable", headers={**visitor(), "X-Customer-Id": "ana"}, json=HELLO
    )

    assert (refused.status_code, is_problem(refused, "identity-not-allowed")) == (403, True)
    assert api.row_counts() == before


@pytest.mark.req("GW-03")
@pytest.mark.parametrize("claims", [{"exp": 1_000_000}, {"aud": "another"}, {"exp": 99_999_999_999}, {"sub": "a/b"}])
def test_a_token_that_does_not_hold_is_refused_even_beside_a_good_secret(
    shop: Shop, api: Api, claims: dict[str, object]
) -> None:
    """A broken proof is not the same as none."""
    before = api.row_counts()

    refused = shop.call(
        "POST",
        path(conversation_id()),
        key="publishable",
        headers={**visitor(), **shop.as_customer("ana", **claims)},
        json=HELLO,
    )

    assert (refused.status_code, is_problem(refused, "customer-token-invalid")) == (401, True)
    assert api.row_counts() == before


@pytest.mark.req("GW-03")
def test_a_foreign_tenants_token_is_refused(shop: Shop, other: Shop) -> None:
    """Each tenant has its own identity secret."""
    refused = shop.call(
        "POST", path(conversation_id()), key="publishable", headers=other.as_customer("ana"), json=HELLO
    )

    assert refused.status_code == 401


@pytest.mark.req("GW-03")
def test_a_renewed_identity_secret_ends_the_old_ones_tokens(api: Api) -> None:
    """The merchant can shut a leaked secret out."""
    shop = api.new_shop()
    old = shop.as_customer("ana")

    renewed = shop.call("POST", f"/api/v1/tenants/{shop.tenant_id}/identity-secret", key="admin")
    refused = shop.call("POST", path(conversation_id()), key="publishable", headers=old, json=HELLO)
    shop.identity_secret = renewed.json()["identity_secret"]
    taken = shop.call("POST", path(conversation_id()), key="publishable", headers=shop.as_customer("ana"), json=HELLO)

    assert (refused.status_code, taken.status_code) == (401, 200)


@pytest.mark.req("GW-03")
def test_an_anonymous_conversation_becomes_its_customers_once_proving_both(shop: Shop) -> None:
    """anonymous → identified once; then the secret alone opens nothing."""
    conversation, who = conversation_id(), visitor()
    ana = shop.as_customer("ana")
    shop.call("POST", path(conversation), key="publishable", headers=who, json=HELLO)

    def read(headers: dict[str, str]) -> int:
        return shop.call("GET", path(conversation, ""), key="publishable", headers=headers).status_code

    before = read(ana)
    bound = shop.call("POST", path(conversation), key="publishable", headers={**who, **ana}, json=HELLO)
    after = (read(ana), read(who), read({**who, **shop.as_customer("ben")}))

    assert before == 404
    assert bound.status_code == 200
    assert after == (200, 404, 404)


@pytest.mark.req("GW-03")
def test_a_server_reads_any_conversation_of_its_tenant_and_acts_for_whom_it_names(shop: Shop) -> None:
    """A secret key acts for the tenant; naming a customer, it is held to that customer."""
    conversation = conversation_id()
    ana, ben = {"X-Customer-Id": "ana"}, {"X-Customer-Id": "ben"}
    sent = shop.call("POST", path(conversation), headers=ana, json=HELLO)

    seen = [shop.call("GET", path(conversation, ""), headers=headers).status_code for headers in ({}, ana, ben)]
    browser = shop.call("GET", path(conversation, ""), key="publishable", headers=shop.as_customer("ana"))

    assert sent.status_code == 200
    assert seen == [200, 200, 404]
    assert browser.status_code == 200


@pytest.mark.req("GW-02")
def test_a_suspended_tenant_is_not_served(api: Api) -> None:
    """403 until the operator resumes it."""
    shop = api.new_shop()

    api.operator("PATCH", f"/api/v1/tenants/{shop.tenant_id}", json={"status": "suspended"})
    refused = shop.call("GET", "/api/v1/articles", key="admin")
    api.operator("PATCH", f"/api/v1/tenants/{shop.tenant_id}", json={"status": "active"})

    assert (refused.status_code, is_problem(refused, "tenant-suspended")) == (403, True)
    assert shop.call("GET", "/api/v1/articles", key="admin").status_code == 200


@pytest.mark.req("PV-05")
def test_fault_046_no_log_line_holds_what_the_customer_wrote(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """Logs carry ids; contacts, words and keys never."""
    caplog.set_level(logging.DEBUG)
    contact, word = "cleo.canary@mail.example", "xylophonic"

    shop.call(
        "POST",
        path(conversation_id()),
        key="publishable",
        headers=visitor(),
        json={"text": f"{word} {contact} +1 212 555 0199"},
    )
    shop.call("POST", path(conversation_id()), key="publishable", headers=visitor(), json={"text": {word: contact}})

    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore")))
    for hidden in (contact, word, "555 0199", shop.keys["publishable"]):
        assert hidden not in ours


@pytest.mark.req("GW-03", "AC-01")
def test_fault_069_an_order_number_opens_nothing_to_who_does_not_own_the_order(api: Api, shop: Shop) -> None:
    """ "Not yours" and "no such order" read the same; a typed e-mail proves nothing; the owner is told."""
    api.give_order(shop, "ana", "1001")
    api.give_order(shop, "ben", "1002")

    def ask(text: str, headers: dict[str, str]) -> str:
        answer = shop.call("POST", path(conversation_id()), key="publishable", headers=headers, json={"text": text})
        return str(answer.json()["reply"]).replace("1001", "#").replace("7777", "#")

    foreign, absent = (ask(f"where is my order {n}?", shop.as_customer("ben")) for n in ("1001", "7777"))
    typed = ask("where is my order 1001? my e-mail is ana@mail.example", shop.as_customer("ben"))
    anonymous, anonymous_absent = (ask(f"where is my order {n}?", visitor()) for n in ("1001", "7777"))
    own = ask("where is my order 1001?", shop.as_customer("ana"))

    assert foreign == absent
    assert anonymous == anonymous_absent
    assert all("shipped" not in reply.lower() for reply in (foreign, typed, anonymous))
    assert "shipped" in own.lower() or "on its way" in own.lower()
