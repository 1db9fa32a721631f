"""What `ask` prints and as whom it knocks. Source: design §7, §8."""

from pathlib import Path

import pytest

from local.ask import find_door, show
from local.client import CallFailed, read_demo

DEMO: dict[str, object] = {
    "url": "http://127.0.0.1:7071",
    "operator_key": "vk_operator_o_x",
    "tenants": [
        {
            "tenant_id": name,
            "keys": {"publishable": f"p-{name}", "secret": f"s-{name}", "desk": "d", "admin": "a"},
            "identity_secret": f"i-{name}",
        }
        for name in ("first", "second")
    ],
}


@pytest.mark.req("GW-02", "GW-03")
def test_a_named_customer_is_vouched_for_by_the_secret_key() -> None:
    """X-Customer-Id counts with a secret key only."""
    door = find_door(DEMO, "c1", tenant="second", customer="ana", url=None)

    assert door.headers == {"X-Api-Key": "s-second", "X-Customer-Id": "ana"}


@pytest.mark.req("GW-03")
def test_an_anonymous_visitor_holds_the_secret_of_one_conversation() -> None:
    """The publishable key proves nothing; the conversation's own secret opens that conversation again, no other."""
    first, again, other = (
        find_door(DEMO, conversation, tenant=None, customer=None, url=None).headers
        for conversation in ("c1", "c1", "c2")
    )

    assert first["X-Api-Key"] == "p-first"
    assert "X-Customer-Id" not in first
    assert first == again
    assert first["X-Conversation-Secret"] != other["X-Conversation-Secret"]
    assert len(first["X-Conversation-Secret"]) == 43


@pytest.mark.req("GW-01")
def test_an_unknown_tenant_and_a_missing_demo_file_say_what_to_do(tmp_path: Path) -> None:
    """A newcomer's first errors."""
    with pytest.raises(CallFailed, match="known: first, second"):
        find_door(DEMO, "c1", tenant="third", customer=None, url=None)
    with pytest.raises(CallFailed, match="make run"):
        read_demo(tmp_path)


@pytest.mark.req("CO-03")
def test_a_turn_is_printed_with_its_sources_and_its_case() -> None:
    """The reply first, then what vouches for it."""
    turn: dict[str, object] = {
        "conversation_id": "c1",
        "message_id": "m1",
        "outcome": "answered",
        "reply": "Within 30 days.",
        "intent": "return_exchange",
        "confidence": 0.91,
        "sources": [{"ref": "article:returns-policy@1", "title": "Returns policy", "relevance": 1.0}],
        "actions": [{"type": "refund", "amount_minor": 5200, "currency": "USD", "status": "pending_approval"}],
        "escalation": {"case_id": "c-1", "triggers": ["legal"]},
        "took_ms": 12,
    }

    text = show(turn)

    lines = text.splitlines()
    assert lines[0] == "Within 30 days."
    assert lines[2] == "outcome     answered"
    assert "return_exchange (confidence 0.91)" in text
    assert "Returns policy  [article:returns-policy@1]" in text
    assert "refund 5200 USD (minor units): pending_approval" in text
    assert "case c-1 (legal)" in text
