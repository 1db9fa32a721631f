"""Generated requests against the running app: whatever is sent, never a 5xx, and always a described answer.

Source: GW-06, GW-07.
"""

import re
from collections import Counter
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from orchestrators.triggers.openapi import build_document
from orchestrators.triggers.operations import OPERATIONS
from tests.surface.api.conftest import OPERATOR_KEY, Api, Shop, is_problem
from tests.surface.api.generated import Generator, Made

DOCUMENT: dict[str, Any] = build_document(OPERATIONS)
CI_REQUESTS = 1_500
"""Requests of every run."""
SOAK_REQUESTS = 5_000
"""Requests of `make soak`."""

MANAGED = "managed"
"""A tenant whose settings the requests may change; the keys that send them belong to another."""

KNOWN = {
    "tenant": [MANAGED],
    "case": ["CASE"],
    "cid": ["known-conversation"],
    "mid": ["m-1"],
    "article": ["known-article"],
    "agent": ["intake_classifier", "knowledge_retriever", "account_context", "response_composer", "supervisor"],
}
GENERATOR = Generator(DOCUMENT, KNOWN, pinned={("Snapshot", "tenant_id"): "SHOP"})
DESCRIBED = {o["operationId"]: o for methods in DOCUMENT["paths"].values() for o in methods.values()}
PERSON = {"text": "Let me talk to a human being, please."}
WHO = {"X-Conversation-Secret": "fitting-secret-" + "s" * 43}
UNHURT = settings(
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.fixture(scope="module")
def target(api: Api) -> Shop:
    """A tenant with something of everything."""
    made = api.operator("POST", "/api/v1/tenants", json={"tenant_id": MANAGED, "name": "Changed at will"})
    assert made.status_code == 201
    shop = api.new_shop(rate_per_minute=100_000, conversation_rate_per_minute=10_000)
    article = {"type": "faq", "title": "Sizes", "content": "Our shoes run small."}
    shop.call("PUT", "/api/v1/articles/known-article", key="admin", json=article)
    hello = {"text": "hello", "message_id": "m-1"}
    shop.call("POST", "/api/v1/conversations/known-conversation/messages", key="publishable", headers=WHO, json=hello)
    wish = shop.call("POST", "/api/v1/conversations/wish/messages", headers={"X-Customer-Id": "ana"}, json=PERSON)
    shop.keys["case"] = wish.json()["escalation"]["case_id"]
    return shop


def send(shop: Shop, made: Made, scope: str) -> httpx.Response:
    """Send a request with the key of a scope."""
    key = OPERATOR_KEY if scope == "operator" else shop.keys[scope]
    headers = {"Content-Type": "application/json", "Prefer": "respond-async", **made.headers, "X-Api-Key": key}
    path = made.path.replace("CASE", shop.keys["case"])
    body = made.body and made.body.replace(b'"SHOP"', f'"{shop.tenant_id}"'.encode())
    return shop.api.http.request(made.method, path, params=made.query, headers=headers, content=body)


def scope_of(made: Made, draw: st.DataObject) -> str:
    """Choose a key: mostly one the operation takes."""
    fitting = [role for need in DESCRIBED[made.operation]["security"] for role in need.get("apiKey", ())]
    every = ["publishable", "secret", "desk", "admin", "operator"]
    return draw.draw(st.sampled_from(fitting * 20 + every))


def is_described(made: Made, answer: httpx.Response) -> bool:
    """Tell whether the document announces this status for this operation; a path that no longer is one gets 404."""
    return str(answer.status_code) in DESCRIBED[made.operation]["responses"]


def check(shop: Shop, made: Made, draw: st.DataObject, seen: Counter[int]) -> None:
    """Send one request and hold its answer to the document."""
    answer = send(shop, made, scope_of(made, draw))

    seen[answer.status_code] += 1
    said = f"{made} → {answer.status_code} {answer.text[:300]}"
    assert answer.status_code < 500 or made.operation == "ready", said
    assert is_described(made, answer), said
    assert answer.status_code < 400 or made.operation == "ready" or is_problem(answer), said
    assert re.fullmatch(r"[0-9a-f]{32}", answer.headers["x-trace-id"]), said


@pytest.mark.req("GW-06", "GW-07")
def test_1500_generated_requests_never_meet_a_5xx(target: Shop) -> None:
    """Valid, broken and hostile requests made from the served document."""
    seen: Counter[int] = Counter()

    @settings(UNHURT, max_examples=CI_REQUESTS)
    @given(made=GENERATOR.requests(), draw=st.data())
    def run(made: Made, draw: st.DataObject) -> None:
        check(target, made, draw, seen)

    run()

    assert sum(seen.values()) >= CI_REQUESTS * 0.9
    assert sum(count for status, count in seen.items() if status < 300) > CI_REQUESTS * 0.15, seen


@pytest.mark.soak
@pytest.mark.req("GW-06", "GW-07")
def test_5000_generated_requests_never_meet_a_5xx(target: Shop) -> None:
    """The same, longer and differently each time."""
    seen: Counter[int] = Counter()

    @settings(UNHURT, derandomize=False, max_examples=SOAK_REQUESTS)
    @given(made=GENERATOR.requests(), draw=st.data())
    def run(made: Made, draw: st.DataObject) -> None:
        check(target, made, draw, seen)

    run()

    assert sum(seen.values()) >= SOAK_REQUESTS * 0.9
