"""Tenants, policies, articles, search, single agents and health over HTTP."""

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.domain.agents import AgentName
from tests.surface.api.conftest import Api, Shop, is_problem


@pytest.mark.req("GW-02")
def test_an_operator_creates_lists_reads_and_changes_tenants(api: Api) -> None:
    """And a second tenant of one id is a conflict."""
    shop = api.new_shop()
    base = f"/api/v1/tenants/{shop.tenant_id}"

    listed = api.operator("GET", "/api/v1/tenants?limit=200").json()["tenants"]
    changed = api.operator("PATCH", base, json={"tier": "enterprise"})
    again = api.operator("POST", "/api/v1/tenants", json={"tenant_id": shop.tenant_id, "name": "x"})

    assert shop.tenant_id in [tenant["tenant_id"] for tenant in listed]
    assert changed.json()["tier"] == "enterprise"
    assert changed.json() == shop.call("GET", base, key="admin").json()
    assert (again.status_code, is_problem(again, "conflict")) == (409, True)
    assert "identity_secret" not in changed.json()


@pytest.mark.req("ES-03")
def test_fault_038_a_policy_change_says_who_when_and_what(api: Api) -> None:
    """The change log names the key's owner and the settings that differ."""
    shop = api.new_shop()
    before = datetime.now(UTC)

    saved = shop.put_policy(greeting="Hi!")
    log = shop.call("GET", f"/api/v1/tenants/{shop.tenant_id}/policy/changes", key="admin").json()["changes"]

    assert saved.json()["changed"] == ["greeting"]
    assert log[0]["changed"] == ["greeting"]
    assert log[0]["author"].startswith("admin (")
    assert datetime.fromisoformat(log[0]["saved_at"]) >= before
    assert [change["version"] for change in log] == sorted((change["version"] for change in log), reverse=True)


@pytest.mark.req("ES-03")
def test_a_dry_run_judges_a_policy_and_saves_nothing(api: Api) -> None:
    """Same verdict as saving, without the effect."""
    shop = api.new_shop()
    where = f"/api/v1/tenants/{shop.tenant_id}/policy"
    before = shop.call("GET", where, key="admin").json()

    good = shop.call("PUT", f"{where}?dry_run=true", key="admin", json={"sign_off": "Bye"})
    bad = shop.call("PUT", f"{where}?dry_run=true", key="admin", json={"phone_regions": ["UK"]})

    assert good.json()["is_dry_run"] is True
    assert "sign_off" in good.json()["changed"]
    assert (bad.status_code, is_problem(bad, "invalid-request")) == (422, True)
    assert shop.call("GET", where, key="admin").json() == before


BAD_POLICIES: dict[str, dict[str, Any]] = {
    "an unknown phone region": {"phone_regions": ["UK"]},
    "a default language it does not speak": {"default_language": "de", "languages": ["en"]},
    "safety switched off": {"disabled_triggers": ["safety"]},
    "the wish for a person switched off": {"disabled_triggers": ["explicit_wish"]},
    "no phone region at all": {"phone_regions": []},
    "a banned phrase that stands in every reply": {"banned_phrases": [""]},
    "more banned phrases than one can check": {"banned_phrases": ["never"] * 201},
    "a greeting longer than any reply": {"greeting": "x" * 1_001},
    "a sign-off with a control character": {"sign_off": "Yours\x1b[2J"},
    "an unknown setting": {"autopilot": True},
    "a rate of nothing": {"rate_per_minute": 0},
    "more rules than one can check": {"escalation_rules": [{"name": f"r{n}"} for n in range(51)]},
}


@pytest.mark.req("ES-03")
@pytest.mark.parametrize("policy", BAD_POLICIES.values(), ids=BAD_POLICIES.keys())
def test_fault_041_a_policy_that_cannot_hold_is_refused_when_saved(
    api: Api, shop: Shop, policy: dict[str, Any]
) -> None:
    """Rules are validated when saved, with the limit up front (fault 110)."""
    before = api.row_counts()

    refused = shop.call("PUT", f"/api/v1/tenants/{shop.tenant_id}/policy", key="admin", json=policy)

    assert (refused.status_code, is_problem(refused, "invalid-request")) == (422, True)
    assert api.row_counts() == before


@pytest.mark.req("ES-03")
def test_a_policy_saved_over_an_old_version_is_a_conflict(api: Api) -> None:
    """Two administrators do not overwrite each other unseen."""
    shop = api.new_shop()
    where = f"/api/v1/tenants/{shop.tenant_id}/policy"
    mine = shop.call("GET", where, key="admin").json()["policy"]

    first = shop.call("PUT", where, key="admin", json=mine | {"greeting": "A"})
    second = shop.call("PUT", where, key="admin", json=mine | {"greeting": "B"})

    assert (first.status_code, second.status_code) == (200, 409)


ARTICLE = {
    "type": "policy",
    "title": "Returns",
    "content": "You can return unworn shoes within 45 days of delivery.",
    "tags": ["returns"],
    "attributes": {"audience": "everyone"},
}


@pytest.mark.req("KB-01", "KB-10")
def test_an_article_is_published_versioned_listed_and_deleted(api: Api) -> None:
    """The same content again is the same version; deleting twice is 404."""
    shop = api.new_shop()
    where = "/api/v1/articles/returns"

    first = shop.call("PUT", where, key="admin", json=ARTICLE).json()
    same = shop.call("PUT", where, key="admin", json=ARTICLE).json()
    second = shop.call("PUT", where, key="admin", json=ARTICLE | {"title": "Returning"}).json()
    listed = shop.call("GET", "/api/v1/articles", key="admin").json()
    deleted = [shop.call("DELETE", where, key="admin").status_code for _ in range(2)]

    assert (first["version"], same["version"], second["version"]) == (1, 1, 2)
    assert second["ref"] == "article:returns@2"
    assert [article["article_id"] for article in listed["articles"]] == ["returns"]
    assert deleted == [204, 404]
    assert shop.call("GET", where, key="admin").status_code == 404


@pytest.mark.req("KB-01")
def test_articles_are_listed_page_by_page(api: Api) -> None:
    """A continuation of this list is taken, any other is a problem."""
    shop = api.new_shop()
    for n in range(5):
        shop.call("PUT", f"/api/v1/articles/a{n}", key="admin", json=ARTICLE)

    first = shop.call("GET", "/api/v1/articles?limit=3", key="admin").json()
    rest = shop.call("GET", "/api/v1/articles", key="admin", params={"limit": 3, "continuation": first["continuation"]})
    broken = shop.call("GET", "/api/v1/articles", key="admin", params={"continuation": "hello"})

    ids = [article["article_id"] for page in (first, rest.json()) for article in page["articles"]]
    assert ids == ["a0", "a1", "a2", "a3", "a4"]
    assert rest.json()["continuation"] is None
    assert (broken.status_code, is_problem(broken)) == (422, True)


@pytest.mark.req("KB-05", "KB-09", "ME-07")
def test_search_finds_the_tenants_own_articles_and_says_how(api: Api) -> None:
    """Results with relevance, confidence, path and cache; another tenant finds nothing."""
    shop, other = api.new_shop(), api.new_shop()
    shop.call("PUT", "/api/v1/articles/returns", key="admin", json=ARTICLE)

    found = shop.call("POST", "/api/v1/search", json={"query": "how long can I return shoes?"}).json()
    foreign = other.call("POST", "/api/v1/search", json={"query": "how long can I return shoes?"}).json()

    assert set(found) == {"results", "confidence", "path", "cache"}
    assert found["results"][0]["ref"] == "article:returns@1"
    assert set(found["results"][0]) == {"ref", "title", "relevance", "strong"}
    assert found["path"] in ("hybrid", "keyword_only")
    assert foreign["results"] == []
    assert foreign["confidence"] == 0


def snapshot(shop: Shop, **more: Any) -> dict[str, Any]:
    """Return a pipeline message of the tenant."""
    return {
        "conversation_id": "c-1",
        "tenant_id": shop.tenant_id,
        "message": "Where is my order 1001? Write to eve.canary@mail.example",
        "metadata": {"language": "en", "timestamp": "2026-03-01T12:00:00Z"},
        "message_id": "m-1",
        "instance_id": "t-1",
    } | more


DRAFT = {"sentences": [{"text": "Hello!", "kind": "social"}], "language": "en", "confidence": 0.9}


@pytest.mark.req("PR-05")
@pytest.mark.parametrize("agent", AgentName, ids=str)
def test_each_agent_runs_alone_and_leaves_no_trace(shop: Shop, api: Api, agent: AgentName) -> None:
    """Source: PR-05 (each agent can be called alone with the pipeline message, without side effects)."""
    before = api.row_counts()
    body: dict[str, Any] = {"snapshot": snapshot(shop, intent="order_status")}
    if agent is AgentName.SUPERVISOR:
        body["draft"] = DRAFT

    answer = shop.call("POST", f"/api/v1/agents/{agent.value}", key="admin", json=body)

    assert answer.status_code == 200, answer.text
    assert answer.json()["agent"] == agent.value
    assert answer.json()["delta"]
    assert "eve.canary" not in answer.text
    assert "seal" not in answer.text
    assert api.row_counts() == before
    assert b"eve.canary" not in api.stored_bytes()


@pytest.mark.req("PR-05", "SU-03")
def test_a_supervisor_called_without_a_draft_approves_nothing(shop: Shop) -> None:
    """Fail closed: each check is there and none has passed."""
    answer = shop.call("POST", "/api/v1/agents/supervisor", key="admin", json={"snapshot": snapshot(shop)}).json()

    verdicts = answer["delta"]["review"]["verdicts"]
    assert {verdict["check"] for verdict in verdicts} == {"grounding", "policy", "safety", "tone", "language"}
    assert not any(verdict["is_passed"] for verdict in verdicts)


@pytest.mark.req("PR-05", "AX-02", "AX-05")
def test_an_executor_called_alone_executes_nothing(shop: Shop) -> None:
    """No verified grant, no write."""
    body = {"snapshot": snapshot(shop, customer_id="ana", intent="refund")}

    answer = shop.call("POST", "/api/v1/agents/action_executor", key="admin", json=body).json()

    assert answer["delta"]["actions"] == []


@pytest.mark.req("PR-05", "ME-07")
def test_an_agent_takes_no_snapshot_of_another_tenant(shop: Shop) -> None:
    """A key speaks for its own tenant."""
    foreign = shop.call(
        "POST", "/api/v1/agents/account_context", key="admin", json={"snapshot": snapshot(shop, tenant_id="another")}
    )
    unknown = shop.call("POST", "/api/v1/agents/oracle", key="admin", json={"snapshot": snapshot(shop)})

    assert (foreign.status_code, unknown.status_code) == (403, 404)


@pytest.mark.req("GW-05")
def test_liveness_and_readiness_name_each_dependency_and_its_state(api: Api) -> None:
    """Readiness says on what serving rests."""
    live, ready = api.http.get("/api/health/live"), api.http.get("/api/health/ready")

    states = {dependency["name"]: dependency["state"] for dependency in ready.json()["dependencies"]}
    assert (live.status_code, live.json()) == (200, {"status": "live"})
    assert states["documents"] == states["embedder"] == states["keys"] == "up"
    assert {"functions", "retrieval_confidence"} <= set(states)
    assert ready.status_code == (503 if "down" in states.values() else 200)


@pytest.mark.req("KB-08")
def test_an_operator_reads_how_search_and_its_caches_did(api: Api) -> None:
    """Counts of one process over all tenants: the operator's alone."""
    shop = api.new_shop()
    article = {"type": "policy", "title": "Returns", "content": "You may keep it for 30 days."}
    shop.call("PUT", "/api/v1/articles/returns", key="admin", json=article)
    before = api.operator("GET", "/api/v1/figures").json()["search"]["searches"]
    for _ in range(2):
        shop.call("POST", "/api/v1/search", key="admin", json={"query": "how long may I keep it"})

    search = api.operator("GET", "/api/v1/figures").json()["search"]

    assert search["searches"] == before + 2
    assert sum(share for cache, share in search["hit_rates"].items() if cache != "miss") > 0, search
    assert shop.call("GET", "/api/v1/figures", key="admin").status_code == 403
