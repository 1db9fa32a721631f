"""The policy document over HTTP: named errors, limits up front, warnings, rehearsal, rollback, and who may change it.

Source: SC-02, ES-03, faults 038, 110.
"""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.adapters.records.tickets import Arrival
from shared.domain.governance import ActionFacts
from shared.domain.ids import ConversationId, MessageId, TenantId, turn_instance_id
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.ledger import TurnRecord
from shared.domain.money import Money
from shared.domain.routing_facts import RoutingFacts
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome, TurnResult
from shared.ports.documents import TenantScope
from shared.ports.vault import ConversationScope
from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem


@pytest.fixture
def shop(api: Api) -> Shop:
    """A tenant of the test."""
    return api.new_shop()


def policy_path(shop: Shop, rest: str = "") -> str:
    """Return the path of the tenant's policy."""
    return f"/api/v1/tenants/{shop.tenant_id}/policy{rest}"


def rules(n: int) -> list[dict[str, Any]]:
    """Return as many rules that have nothing in common."""
    return [{"name": f"rule {k}", "phrases": [f"word{k}"]} for k in range(n)]


@pytest.mark.req("ES-03", "GW-02")
def test_fault_038_only_an_admin_or_the_operator_changes_the_policy(api: Api, shop: Shop) -> None:
    """A desk key of either role, a secret or a publishable one: 403, and nothing is saved or brought back."""
    for role in ("agent", "approver"):
        body = {"scope": "desk", "owner": role, "role": role}
        issued = shop.call("POST", f"/api/v1/tenants/{shop.tenant_id}/keys", key="admin", json=body)
        shop.keys[role] = issued.json()["key"]
    before = shop.call("GET", policy_path(shop), key="admin").json()["policy"]

    refused = [
        shop.call(method, policy_path(shop, rest), key=key, json=body)
        for key in ("agent", "approver", "secret", "publishable", "desk")
        for method, rest, body in (
            ("PUT", "", {"greeting": "Mine"}),
            ("PUT", "?dry_run=true", {"greeting": "Mine"}),
            ("POST", "/rollback", {"version": 1}),
            ("GET", "/changes", None),
        )
    ]

    assert {answer.status_code for answer in refused} == {403}
    assert all(is_problem(answer, "scope-not-allowed") for answer in refused)
    assert shop.call("GET", policy_path(shop), key="admin").json()["policy"] == before


@pytest.mark.req("ES-03", "SC-02")
def test_fault_038_the_change_log_says_who_when_and_both_values(api: Api, shop: Shop) -> None:
    """Each setting by name, down to the single value."""
    earlier = datetime.now(UTC)

    shop.put_policy(greeting="Hi!", governance={"phase": "consolidation"})
    log = shop.call("GET", policy_path(shop, "/changes"), key="admin").json()["changes"]

    assert log[0]["diff"] == [
        {"setting": "greeting", "before": "", "after": "Hi!"},
        {"setting": "governance.phase", "before": "foundation", "after": "consolidation"},
    ]
    assert (log[0]["author"].startswith("admin ("), log[0]["restores"]) == (True, None)
    assert datetime.fromisoformat(log[0]["saved_at"]) >= earlier
    assert {change["setting"] for change in log[-1]["diff"]} == {"rate_per_minute", "conversation_rate_per_minute"}


@pytest.mark.req("ES-03")
def test_fault_110_two_hundred_rules_are_refused_with_the_limit_and_fifty_are_saved(shop: Shop) -> None:
    """The limit is told before it is met, and named when it is."""
    limits = shop.call("GET", policy_path(shop), key="admin").json()["limits"]

    refused = shop.call("PUT", policy_path(shop), key="admin", json={"escalation_rules": rules(200)})
    saved = shop.put_policy(escalation_rules=rules(limits["escalation_rules"]))

    assert limits["escalation_rules"] == 50
    assert (refused.status_code, is_problem(refused, "invalid-request")) == (422, True)
    (error,) = refused.json()["errors"]
    assert error["field"] == "escalation_rules"
    assert "50" in error["message"]
    assert (saved.status_code, saved.json()["warnings"]) == (200, [])


@pytest.mark.req("ES-03", "SC-02")
def test_fault_110_rules_in_conflict_and_settings_without_effect_are_listed_when_saved(shop: Shop) -> None:
    """Saved all the same, and told again whenever the policy is read."""
    twice = [*rules(1), {"name": "rule 0", "phrases": ["word0"]}]

    saved = shop.put_policy(escalation_rules=twice, governance={"single_ceiling_minor": 500})
    read = shop.call("GET", policy_path(shop), key="admin")

    told = [(warning["setting"], warning["message"]) for warning in saved.json()["warnings"]]
    assert [setting for setting, _ in told] == [
        "escalation_rules.1",
        "escalation_rules.1",
        "governance.single_ceiling_minor",
    ]
    assert "same conditions" in told[1][1]
    assert read.json()["warnings"] == saved.json()["warnings"]


@pytest.mark.req("ES-03", "SC-02")
def test_every_setting_that_cannot_hold_is_named_with_its_reason(shop: Shop) -> None:
    """Own rules, telephone regions, origins and the shape of single fields; nothing is saved."""
    wrong = {
        "disabled_triggers": ["safety"],
        "phone_regions": ["UK"],
        "origins": ["https://shop.example/path"],
        "escalation_rules": [{"name": "never says when"}],
    }
    shapes = {
        "sla_minutes": {"high": 0},
        "routing": {"retrieval_floor": 0.1},
        "governance": {"single_ceiling_minor": -1},
        "desk_hours": {"timezone": "Mars/Olympus"},
    }

    whole = shop.call("PUT", policy_path(shop), key="admin", json=wrong)
    shaped = shop.call("PUT", policy_path(shop), key="admin", json=shapes)

    assert [answer.status_code for answer in (whole, shaped)] == [422, 422]
    assert [error["field"] for error in whole.json()["errors"]] == [
        "disabled_triggers",
        "escalation_rules.0",
        "phone_regions",
        "origins.0",
    ]
    fields = {error["field"] for error in shaped.json()["errors"]}
    assert {field.partition(".")[0] for field in fields} == set(shapes)
    assert "Mars" not in shaped.text


@pytest.mark.req("SC-02")
def test_a_rollback_saves_an_earlier_versions_content_as_a_new_version(shop: Shop) -> None:
    """Nothing is lost: the version in between stays in the log, and the log says what was brought back."""
    first = shop.put_policy(greeting="One").json()["policy"]
    shop.put_policy(greeting="Two", governance={"phase": "federation"})

    back = shop.call("POST", policy_path(shop, "/rollback"), key="admin", json={"version": first["version"]})
    default = shop.call("POST", policy_path(shop, "/rollback"), key="admin", json={"version": 1})
    unknown = shop.call("POST", policy_path(shop, "/rollback"), key="admin", json={"version": 99})
    log = shop.call("GET", policy_path(shop, "/changes"), key="admin").json()["changes"]

    assert back.json()["policy"] == first | {"version": first["version"] + 2}
    assert set(back.json()["changed"]) == {"greeting", "governance"}
    assert default.json()["policy"]["greeting"] == ""
    assert (unknown.status_code, is_problem(unknown, "not-found")) == (404, True)
    assert [(line["version"], line["restores"]) for line in log[:3]] == [
        (first["version"] + 3, 1),
        (first["version"] + 2, first["version"]),
        (first["version"] + 1, None),
    ]


def remember(api: Api, shop: Shop, n: int, **more: Any) -> None:
    """Store the record of a turn as the recorder does."""
    scope = TenantScope(TenantId(shop.tenant_id))
    conversation = more.pop("conversation", "c1")
    record = TurnRecord(
        id=f"turn:{conversation}:m{n}",
        tenant_id=scope.tenant_id,
        conversation_id=ConversationId(conversation),
        message_id=MessageId(f"m{n}"),
        outcome="answered",
        at=datetime(2026, 3, 2, 9, n, tzinfo=UTC),
        **more,
    )
    assert asyncio.run(api.services.analytics.record(scope, record))


ANSWERED = RoutingFacts(
    is_classified=True,
    is_watched=True,
    intent=CustomerIntent.SHIPPING_INFO,
    confidence=0.9,
    retrieval_confidence=0.6,
)
PAID = ActionFacts(
    type=ActionType.REFUND,
    intent=CustomerIntent.REFUND,
    amount=Money(amount_minor=2_000, currency="USD"),
    is_possible=True,
    is_owner=True,
    is_unusual=False,
    is_screened=True,
)


@pytest.mark.req("SC-02")
def test_a_dry_run_decides_the_last_turns_again_and_saves_nothing(api: Api, shop: Shop) -> None:
    """Which decisions would change, with counts; the newest turn first, as many turns as asked."""
    shop.put_policy(governance={"phase": "consolidation"})
    for n in range(4):
        remember(api, shop, n, facts=ANSWERED, has_widened=True, action_facts=(PAID,) if n == 3 else ())
    before = shop.call("GET", policy_path(shop), key="admin").json()
    stricter = {"routing": {"retrieval_floor": 0.8}, "greeting": "Hello"}

    found = shop.call("PUT", policy_path(shop, "?dry_run=true&turns=2"), key="admin", json=stricter).json()
    without = shop.call("PUT", policy_path(shop, "?dry_run=true&turns=0"), key="admin", json=stricter).json()
    saved = shop.put_policy(**stricter).json()

    rehearsal = found["rehearsal"]
    assert found["is_dry_run"] is True
    assert (rehearsal["turns"], rehearsal["actions"]) == (2, 1)
    assert (rehearsal["routes_changed"], rehearsal["actions_changed"]) == (2, 1)
    assert [(c["message_id"], c["before"], c["after"]) for c in rehearsal["changes"]] == [
        ("m3", "answer", "person:low_retrieval_confidence"),
        ("m3", "refund:allow", "refund:ask"),
        ("m2", "answer", "person:low_retrieval_confidence"),
    ]
    assert all(change["reason"] for change in rehearsal["changes"])
    assert "greeting" in rehearsal["not_rehearsed"]
    assert without["rehearsal"]["changes"] == []
    assert saved["rehearsal"] is None
    assert saved["policy"]["version"] == before["policy"]["version"] + 1


@pytest.mark.req("SC-02", "SU-06")
def test_fault_110_the_governance_in_force_is_shown_with_its_own_figures(api: Api, shop: Shop) -> None:
    """Phase, ceilings after the tenant's own, drift, audited share, and first-contact errors by themselves."""
    shop.put_policy(governance={"phase": "consolidation", "single_ceiling_minor": 1_000, "audit_sample": 0.5})
    remember(api, shop, 0, is_first=True, shadow="agree")
    remember(api, shop, 1, is_first=True, triggers=("grounding_failure",), shadow="differ")
    remember(api, shop, 2, is_audited=True)
    where = f"/api/v1/tenants/{shop.tenant_id}/governance"

    shown = shop.call("GET", where, key="admin").json()
    foreign = api.new_shop().call("GET", where, key="admin")
    refused = [shop.call("GET", where, key=key).status_code for key in ("desk", "secret", "publishable")]

    assert (shown["phase"], shown["tier"], shown["open_approvals"], shown["turns"]) == (
        "consolidation",
        "starter",
        0,
        3,
    )
    assert shown["ceilings"] == {
        "single_minor": 1_000,
        "rolling_minor": 5_000,
        "rolling_days": 30,
        "currency": "USD",
    }
    assert shown["shadow"] == {"share": 0.05, "checked": 2, "differed": 1, "drift_rate": 0.5}
    assert (shown["audit"]["share"], shown["audit"]["drawn"]) == (0.5, 1)
    assert shown["first_contact"] == {"turns": 2, "errors": 1, "error_rate": 0.5}
    assert foreign.status_code == 404
    assert refused == [403, 403, 403]


async def answer_one(api: Api, shop: Shop, text: str) -> str:
    """Store a message and its answer as they are after a turn; return the conversation."""
    services, scope = api.services, TenantScope(TenantId(shop.tenant_id))
    talk = ConversationId(conversation_id())
    masked = await services.vault.mask_message(
        ConversationScope(scope.tenant_id, talk, None), text, regions=("US",), exempt=frozenset()
    )
    message = MessageId("m2")
    arrival = Arrival(
        conversation_id=talk,
        message_id=message,
        instance_id=turn_instance_id(scope.tenant_id, talk, message),
        masked_text=masked.text,
        body_hmac="h",
        channel="api",
        language="en",
        trace_id="t",
        customer_id=None,
        secret_hash="s",
    )
    await services.tickets.accept(scope, arrival)
    result = TurnResult(outcome=Outcome.ANSWERED, reply=MaskedText(f"You wrote: {masked.text}"))
    await services.tickets.deliver(scope, talk, message, 0, result)
    return talk


@pytest.mark.req("SC-02", "PV-01")
def test_turns_drawn_for_an_audit_are_listed_with_what_was_said_newest_first(api: Api, shop: Shop) -> None:
    """Values are restored for the person; a turn that is no longer kept is listed without its words."""
    text = "Write to audit.canary@mail.example"
    talk = asyncio.run(answer_one(api, shop, text))
    remember(api, shop, 0, conversation="plain")
    remember(api, shop, 1, conversation="gone", is_audited=True)
    remember(api, shop, 2, conversation=talk, is_audited=True)
    where = "/api/v1/desk/audits"

    first = shop.call("GET", f"{where}?limit=1", key="desk").json()
    rest = shop.call("GET", where, key="desk", params={"limit": 1, "continuation": first["continuation"]}).json()

    (newest,) = first["turns"]
    assert (newest["conversation_id"], newest["message_id"]) == (talk, "m2")
    assert (newest["message"], newest["reply"]) == (text, f"You wrote: {text}")
    assert [(t["conversation_id"], t["message"], t["reply"]) for t in rest["turns"]] == [("gone", None, None)]
    assert rest["continuation"] is None
    assert b"audit.canary" not in api.stored_bytes()


@pytest.mark.req("SC-02", "ME-07", "GW-02")
def test_audits_are_the_desks_own_and_a_foreign_continuation_is_refused(api: Api, shop: Shop) -> None:
    """Another tenant's desk sees nothing of them; other scopes may not ask."""
    for n in range(2):
        remember(api, shop, n, is_audited=True)
    where, other = "/api/v1/desk/audits", api.new_shop()
    token = shop.call("GET", f"{where}?limit=1", key="desk").json()["continuation"]

    foreign = [other.call("GET", where, key="desk", params={"continuation": text}) for text in (token, "x")]

    assert [answer.status_code for answer in foreign] == [422, 422]
    assert other.call("GET", where, key="desk").json()["turns"] == []
    assert [shop.call("GET", where, key=key).status_code for key in ("admin", "secret", "publishable")] == [403] * 3


@pytest.mark.req("ES-03", "SC-02")
def test_an_empty_document_says_what_it_resets(shop: Shop) -> None:
    """Saved as asked, and every setting that was somebody's is named."""
    shop.put_policy(greeting="Hi!", currency="EUR")

    saved = shop.call("PUT", policy_path(shop), key="admin", json={})

    assert saved.status_code == 200
    told = {warning["setting"] for warning in saved.json()["warnings"]}
    assert {"greeting", "currency"} <= told <= set(saved.json()["changed"])


@pytest.mark.req("ES-03", "SU-01", "AX-05")
@pytest.mark.parametrize(
    "text",
    [
        "We have refunded $500.",
        "Your refund has been sent.",
        "All orders have been refunded.",
        "We will refund you.",
        "A colleague will reply within the hour.",
    ],
)
@pytest.mark.parametrize("setting", ["greeting", "sign_off"])
def test_no_greeting_claims_a_deed(shop: Shop, setting: str, text: str) -> None:
    """It would stand in every reply, whatever happened."""
    refused = shop.call("PUT", policy_path(shop), key="admin", json={setting: text})

    assert is_problem(refused, "invalid-request")
    assert [error["field"] for error in refused.json()["errors"]] == [setting]


@pytest.mark.req("ES-03")
@pytest.mark.parametrize("text", ["Hello from Hollin & Rye.", "Warmly, your team", "Let us know if we can help!"])
def test_a_greeting_that_only_greets_is_saved(shop: Shop, text: str) -> None:
    assert shop.put_policy(greeting=text).status_code == 200
