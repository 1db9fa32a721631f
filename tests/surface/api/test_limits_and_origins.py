"""Rate limits and browser origins over HTTP. Source: GW-08."""

import pytest

from tests.surface.api.conftest import Api, conversation_id, is_problem, visitor
from tests.surface.api.test_messages import path

STORE = "https://store.example"


@pytest.mark.req("GW-08")
def test_a_spent_key_gets_429_with_retry_after_and_others_go_on(api: Api) -> None:
    """A flood on one key is that key's own."""
    shop = api.new_shop()
    shop.put_policy(rate_per_minute=5)

    statuses = [shop.call("POST", "/api/v1/search", json={"query": "size"}).status_code for _ in range(5)]
    spent = shop.call("POST", "/api/v1/search", json={"query": "size"})
    admin = shop.call("GET", "/api/v1/articles", key="admin")

    assert statuses == [200] * 5
    assert (spent.status_code, is_problem(spent, "rate-limited")) == (429, True)
    assert 1 <= int(spent.headers["retry-after"]) <= 12
    assert admin.status_code == 200


@pytest.mark.req("GW-08")
def test_a_spent_conversation_gets_429_and_another_one_goes_on(api: Api) -> None:
    """One visitor's loop does not silence the shop."""
    shop = api.new_shop()
    shop.put_policy(conversation_rate_per_minute=2)
    conversation, who = conversation_id(), visitor()
    before_count = api.row_counts

    def send(where: str, headers: dict[str, str]) -> int:
        answer = shop.call("POST", path(where), key="publishable", headers=headers, json={"text": "hello"})
        return answer.status_code

    statuses = [send(conversation, who) for _ in range(2)]
    before = before_count()
    refused = send(conversation, who)
    unchanged = before_count() == before
    calm = send(conversation_id(), visitor())

    assert (statuses, refused, unchanged, calm) == ([200, 200], 429, True, 200)


@pytest.mark.req("GW-08")
def test_a_listed_origin_is_told_so_and_another_is_refused(api: Api) -> None:
    """Origins are per tenant; a server has none."""
    shop = api.new_shop(origins=[STORE])

    def send(origin: str, key: str = "publishable") -> tuple[int, str | None]:
        answer = shop.call(
            "POST", path(conversation_id()), key=key, headers={**visitor(), "Origin": origin}, json={"text": "hello"}
        )
        return answer.status_code, answer.headers.get("access-control-allow-origin")

    assert send(STORE) == (200, STORE)
    assert send("https://evil.example") == (403, None)
    assert send("https://store.example.evil.example") == (403, None)
    assert send("null") == (403, None)
    assert send("http://[store.example") == (403, None)
    assert send("https://evil.example", key="secret") == (200, None)


@pytest.mark.req("GW-08")
def test_our_own_page_may_call_without_being_listed(api: Api) -> None:
    """The console and the widget come from this very host."""
    shop = api.new_shop()

    answer = shop.call(
        "POST",
        path(conversation_id()),
        key="publishable",
        headers={**visitor(), "Origin": api.url},
        json={"text": "hello"},
    )

    assert answer.status_code == 200


@pytest.mark.req("GW-08")
def test_a_problem_can_be_read_by_the_page_that_caused_it(api: Api) -> None:
    """CORS headers stand on errors too, once the tenant is known."""
    shop = api.new_shop(origins=[STORE])

    refused = shop.call(
        "POST", path(conversation_id()), key="publishable", headers={**visitor(), "Origin": STORE}, json={"text": ""}
    )

    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (422, STORE)


@pytest.mark.req("GW-08")
def test_a_preflight_is_granted_to_origins_of_tenants_only(api: Api) -> None:
    """A browser sends no key with it; the call that follows is held to its own tenant."""
    origin = f"https://{conversation_id()}.example"
    shop = api.new_shop(origins=[origin])
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}

    def preflight(from_: str, headers: dict[str, str] | None = None) -> tuple[int, str | None, str]:
        answer = api.http.options(path("c"), headers={"Origin": from_, **asks, **(headers or {})})
        granted = answer.headers.get("access-control-allow-origin")
        return answer.status_code, granted, answer.headers.get("access-control-allow-headers", "")

    with_key = preflight(origin, {"X-Api-Key": shop.keys["publishable"]})
    foreign_with_key = preflight("https://evil.example", {"X-Api-Key": shop.keys["publishable"]})
    unknown = preflight("https://evil.example")

    assert with_key[:2] == (204, origin)
    assert "X-Conversation-Secret" in with_key[2]
    assert foreign_with_key[:2] == (204, None)
    assert unknown[:2] == (204, None)


@pytest.mark.req("GW-08")
@pytest.mark.parametrize("origin", ["store.example", "https://store.example/", "*", "javascript:alert(1)", "null"])
def test_an_origin_that_is_none_is_refused_when_saved(api: Api, origin: str) -> None:
    """A typing error would lock the shop out of its own chat."""
    refused = api.new_shop().put_policy(origins=[origin])

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "origins.0")
