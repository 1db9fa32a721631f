"""Bad input over real HTTP: a 4xx problem document, and nothing written. Source: GW-06."""

import json
import time
from typing import Any

import httpx
import pytest

from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem, visitor
from tests.surface.api.test_messages import path

MIB = 1024 * 1024

BODIES: dict[str, bytes] = {
    "empty": b"",
    "one megabyte": json.dumps({"text": "a" * MIB}).encode(),
    "one megabyte of brackets": b"[" * MIB,
    "not JSON": b"text=hello",
    "an array": b'["hello"]',
    "null": b"null",
    "a number": b"5",
    "text of the wrong type": b'{"text": ["hello"]}',
    "an object for text": b'{"text": {"$gt": ""}}',
    "null text": b'{"text": null}',
    "no text": b'{"message_id": "m"}',
    "blank text": b'{"text": "  \\n "}',
    "text above the limit": json.dumps({"text": "a" * 8001}).encode(),
    "an unknown field": b'{"text": "hello", "tenant_id": "other"}',
    "invalid UTF-8": b'{"text": "caf\xe9"}',
    "half a surrogate pair": b'{"text": "\\ud800"}',
    "NUL": b'{"text": "a\\u0000b"}',
    "a backspace": b'{"text": "a\\u0008b"}',
    "deep": b'{"text": ' + b'{"a":' * 100 + b"1" + b"}" * 100 + b"}",
    "a key twice": b'{"text": "a", "text": "b"}',
    "NaN": b'{"text": NaN}',
    "an id with a slash": b'{"text": "a", "message_id": "../../etc"}',
    "an id with a control character": b'{"text": "a", "message_id": "a\\u0007"}',
    "an id that is a number": b'{"text": "a", "message_id": 5}',
    "a channel nobody knows": b'{"text": "a", "channel": "pigeon"}',
    "a language that is none": b'{"text": "a", "language": "; drop table"}',
}


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_bad_body_is_a_problem_and_writes_nothing(shop: Shop, api: Api, body: bytes) -> None:
    """Nothing is lost or half-written, and nothing is a 5xx."""
    before = api.row_counts()

    headers = {**visitor(), "Content-Type": "application/json"}
    refused = shop.call("POST", path(conversation_id()), key="publishable", headers=headers, content=body)

    assert 400 <= refused.status_code < 500
    assert is_problem(refused)
    assert api.row_counts() == before


PATH_IDS = [
    "a%2Fb",
    "a%00b",
    "a%0Ab",
    "%F0%9F%98%80",
    "a%20b",
    "a" * 65,
    "%2e%2e%2fetc",
    "a%5Cb",
    "a;b",
    "%ff%fe",
    "~head",
]


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("hostile", PATH_IDS)
def test_a_hostile_id_in_a_path_is_a_problem_and_writes_nothing(shop: Shop, api: Api, hostile: str) -> None:
    """Ids match [A-Za-z0-9._-]{1,64}; nothing else reaches a store."""
    article = {"type": "faq", "title": "t", "content": "c"}
    before = api.row_counts()

    answers = [
        shop.call("POST", path(hostile), key="publishable", headers=visitor(), json={"text": "hello"}),
        shop.call("GET", path(hostile, ""), key="publishable", headers=visitor()),
        shop.call("GET", path("c", f"turns/{hostile}"), key="publishable", headers=visitor()),
        shop.call("PUT", f"/api/v1/articles/{hostile}", key="admin", json=article),
        shop.call("DELETE", f"/api/v1/articles/{hostile}", key="admin"),
        shop.call("GET", f"/api/v1/tenants/{hostile}/keys", key="admin"),
        shop.call("POST", f"/api/v1/desk/cases/{hostile}/claim", key="desk"),
        shop.call("POST", f"/api/v1/agents/{hostile}", key="admin", json={}),
    ]

    assert all(answer.status_code in (400, 404) and is_problem(answer) for answer in answers)
    assert api.row_counts() == before


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("hostile", ["a/b/c/d/e", "..", "a/../../v1/tenants", ""])
def test_a_path_outside_the_table_is_a_problem(shop: Shop, api: Api, hostile: str) -> None:
    """The host's own 404 is empty; ours says what it is."""
    answer = shop.call("GET", f"/api/v2/conversations/{hostile}", key="publishable")

    assert (answer.status_code, is_problem(answer, "not-found")) == (404, True)


@pytest.mark.req("GW-06", "GW-07")
def test_a_wrong_method_is_405_and_says_which_are_right(shop: Shop, api: Api) -> None:
    """Every method is mapped, so none meets the host's 404."""
    for method in ("GET", "PUT", "PATCH", "DELETE", "HEAD"):
        answer = shop.call(method, path(conversation_id()), key="publishable", headers=visitor())

        assert answer.status_code == 405
        assert answer.headers["allow"] == "POST, OPTIONS"
        assert method == "HEAD" or is_problem(answer, "method-not-allowed")


@pytest.mark.req("GW-06")
def test_head_answers_like_get_without_a_body(api: Api) -> None:
    """RFC 9110 §9.3.2."""
    answer = api.http.head("/api/health/live")

    assert (answer.status_code, answer.content) == (200, b"")


QUERIES = [
    "after_seq=-1",
    "after_seq=x",
    "after_seq=" + "9" * 400,
    "after_seq=1&after_seq=2",
    "other=1",
    "after_seq=%ff",
]


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("query", QUERIES)
def test_a_bad_query_is_a_problem(shop: Shop, query: str) -> None:
    """Unknown parameters are told, numbers are bounded."""
    answer = shop.call("GET", path(conversation_id(), f"?{query}"), key="publishable", headers=visitor())

    assert (answer.status_code, is_problem(answer, "invalid-query")) == (400, True)


HEADERS: dict[str, dict[str, str]] = {
    "a secret that is short": {"X-Conversation-Secret": "abc"},
    "a secret that is endless": {"X-Conversation-Secret": "a" * 5000},
    "a token that is none": {"X-Customer-Token": "eyJ.eyJ.x"},
    "a customer id with a slash": {"X-Customer-Id": "a/b"},
}


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS.keys())
@pytest.mark.parametrize("key", ["publishable", "secret"])
def test_a_bad_identity_header_is_a_problem_and_writes_nothing(
    shop: Shop, api: Api, headers: dict[str, str], key: str
) -> None:
    """Whatever key it comes with."""
    before = api.row_counts()

    refused = shop.call("POST", path(conversation_id()), key=key, headers=headers, json={"text": "hello"})

    assert 400 <= refused.status_code < 500
    assert is_problem(refused)
    assert api.row_counts() == before


@pytest.mark.req("GW-06")
@pytest.mark.parametrize(
    "prefer", ["wait=", "wait=-1", "wait=abc", "wait=99999999999999999999", "; ; ,", "respond-async; wait", "wait=0"]
)
def test_a_preference_that_says_nothing_changes_nothing(shop: Shop, prefer: str) -> None:
    """RFC 7240: what cannot be understood is ignored."""
    where, who = path(conversation_id()), visitor()
    body = {"text": "hello", "message_id": "m-1"}

    answer = shop.call("POST", where, key="publishable", headers={**who, "Prefer": prefer}, json=body)
    ended = shop.call("POST", where, key="publishable", headers=who, json=body)

    assert answer.status_code in (200, 202)
    assert ended.status_code == 200


ARTICLE: dict[str, Any] = {"type": "faq", "title": "Sizes", "content": "They run small."}
BAD_ARTICLES: dict[str, dict[str, Any]] = {
    "no title": ARTICLE | {"title": ""},
    "a blank title": ARTICLE | {"title": "  "},
    "a title of a kilometre": ARTICLE | {"title": "a" * 301},
    "a kind nobody knows": ARTICLE | {"type": "rumour"},
    "content above the limit": ARTICLE | {"content": "a" * 100_001},
    "tags of the wrong type": ARTICLE | {"tags": "a,b"},
    "an empty tag": ARTICLE | {"tags": [""]},
    "attributes that are numbers": ARTICLE | {"attributes": {"price": 5}},
    "an id in the body": ARTICLE | {"article_id": "x"},
    "NUL in the content": ARTICLE | {"content": "a\0b"},
}


@pytest.mark.req("GW-06", "KB-01")
@pytest.mark.parametrize("article", BAD_ARTICLES.values(), ids=BAD_ARTICLES.keys())
def test_a_bad_article_is_a_problem_and_publishes_nothing(shop: Shop, api: Api, article: dict[str, Any]) -> None:
    """A half-valid article is no article."""
    before = api.row_counts()

    refused = shop.call("PUT", "/api/v1/articles/bad", key="admin", json=article)

    assert (refused.status_code, is_problem(refused, "invalid-request")) == (422, True)
    assert api.row_counts() == before


@pytest.mark.req("GW-06")
def test_a_hostile_body_is_refused_faster_than_it_could_hurt(shop: Shop) -> None:
    """Reading is linear in the body: quotes and backslashes without end cost no more than text."""
    body = b'{"text": "' + b'\\"' * 30_000
    started = time.perf_counter()

    refused: httpx.Response = shop.call(
        "POST",
        path(conversation_id()),
        key="publishable",
        headers={**visitor(), "Content-Type": "application/json"},
        content=body,
    )

    assert refused.status_code == 400
    assert time.perf_counter() - started < 2
