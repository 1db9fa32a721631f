"""Sending and reading messages over real HTTP."""

import json
import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem, visitor

CANARY = "ana.canary@mail.example"
CANARY_PHONE = "+44 20 7946 0958"


def path(conversation: str, rest: str = "messages") -> str:
    """Return a path below a conversation."""
    return f"/api/v1/conversations/{conversation}/{rest}".rstrip("/")


TURN_FIELDS = {
    "conversation_id", "message_id", "outcome", "reply", "language", "intent", "severity", "confidence", "sources",
    "escalation", "actions", "memory_used", "trace_id", "took_ms",
}  # fmt: skip


@pytest.mark.req("GW-01", "GW-04", "CO-05", "DC-03")
def test_a_message_gets_a_turn_of_the_published_shape(shop: Shop) -> None:
    """Source: design §7 Turn."""
    conversation = conversation_id()

    answer = shop.call("POST", path(conversation), key="publishable", headers=visitor(), json={"text": "hello"})

    turn = answer.json()
    assert answer.status_code == 200
    assert set(turn) == TURN_FIELDS
    assert turn["conversation_id"] == conversation
    assert turn["outcome"] == "answered"
    assert turn["reply"]
    assert turn["escalation"] is None
    assert len(turn["trace_id"]) == 32
    assert answer.headers["x-trace-id"] == turn["trace_id"]


@pytest.mark.req("CO-05")
@pytest.mark.parametrize("text", ["hello", "Hallo zusammen", "¡Hola! Buenos días"])
def test_the_first_reply_says_that_an_ai_answers_and_the_second_does_not(shop: Shop, text: str) -> None:
    """Source: CO-05 (EU AI Act, article 50)."""
    conversation, who = conversation_id(), visitor()

    first = shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": text}).json()
    second = shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": text}).json()

    assert len(first["reply"]) > len(second["reply"])
    assert first["language"] == second["language"]


@pytest.mark.req("GW-04")
def test_fault_106_the_same_message_twice_is_one_turn(shop: Shop) -> None:
    """Same id and same body give the same turn, once."""
    conversation, who = conversation_id(), visitor()
    body = {"text": "hello", "message_id": "m-1"}

    first = shop.call("POST", path(conversation), key="publishable", headers=who, json=body)
    again = shop.call("POST", path(conversation), key="publishable", headers=who, json=body)
    thread = shop.call("GET", path(conversation, ""), key="publishable", headers=who).json()

    assert first.json() == again.json()
    assert [line["role"] for line in thread["messages"]] == ["customer", "assistant"]


@pytest.mark.req("GW-04")
def test_twenty_senders_of_one_message_at_once_make_one_turn(shop: Shop) -> None:
    """A browser that retries, a proxy that repeats: still one."""
    conversation, who = conversation_id(), visitor()
    body = {"text": "hello", "message_id": "m-1"}

    def send(_: int) -> dict[str, object]:
        return dict(shop.call("POST", path(conversation), key="publishable", headers=who, json=body).json())

    with ThreadPoolExecutor(20) as pool:
        turns = list(pool.map(send, range(20)))
    thread = shop.call("GET", path(conversation, ""), key="publishable", headers=who).json()

    assert all(turn == turns[0] for turn in turns)
    assert len(thread["messages"]) == 2


@pytest.mark.req("GW-04")
def test_the_same_id_with_another_body_is_refused_and_writes_nothing(shop: Shop, api: Api) -> None:
    """409 message-id-reused; even a contact in the second body leaves no mapping."""
    conversation, who = conversation_id(), visitor()
    shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "hello", "message_id": "m-1"})
    before = api.row_counts()

    other = {"text": f"mail {CANARY}", "message_id": "m-1"}
    refused = shop.call("POST", path(conversation), key="publishable", headers=who, json=other)

    assert refused.status_code == 409
    assert is_problem(refused, "message-id-reused")
    assert api.row_counts() == before


@pytest.mark.req("GW-04")
def test_a_message_without_id_gets_one(shop: Shop) -> None:
    """The id comes back, so that the turn can be read."""
    conversation, who = conversation_id(), visitor()

    sent = shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "hello"}).json()
    read = shop.call("GET", path(conversation, f"turns/{sent['message_id']}"), key="publishable", headers=who)

    assert read.json() == sent


@pytest.mark.req("GW-04")
def test_fault_106_who_does_not_wait_gets_202_and_a_place_to_look(shop: Shop) -> None:
    """Prefer: respond-async answers at once; the turn can be read where Location says, and asking again waits."""
    where, who = path(conversation_id()), visitor()
    body = {"text": "hello", "message_id": "m-1"}

    sent = shop.call("POST", where, key="publishable", headers={**who, "Prefer": "respond-async"}, json=body)
    again = shop.call("POST", where, key="publishable", headers=who, json=body)
    read = shop.call("GET", sent.headers["location"], key="publishable", headers=who)

    assert sent.status_code == 202
    assert sent.headers["location"] == sent.json()["status_url"]
    assert sent.json()["status"] in ("accepted", "started")
    assert (again.status_code, read.json()) == (200, again.json())


@pytest.mark.req("PV-01")
def test_fault_045_a_contact_is_nowhere_on_disk_and_comes_back_to_its_owner(shop: Shop, api: Api) -> None:
    """Ids and tokens pass through orchestration and rows; values only through the answer (design §3)."""
    conversation, who = conversation_id(), visitor()
    text = f"please write to {CANARY} or call {CANARY_PHONE}"

    shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": text})
    thread = shop.call("GET", path(conversation, ""), key="publishable", headers=who).json()
    stored = api.stored_bytes()

    assert thread["messages"][0]["text"] == text
    assert CANARY.encode() not in stored
    assert CANARY_PHONE.encode() not in stored
    assert CANARY_PHONE[-9:].encode() not in stored
    assert conversation.encode() in stored


@pytest.mark.req("GW-04")
def test_a_thread_is_read_on_from_a_sequence_and_cached_by_its_etag(shop: Shop) -> None:
    """after_seq gives what is new; the ETag spares what is known."""
    conversation, who = conversation_id(), visitor()
    shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "hello"})

    whole = shop.call("GET", path(conversation, ""), key="publishable", headers=who)
    etag = {"If-None-Match": whole.headers["etag"]}
    known = shop.call("GET", path(conversation, ""), key="publishable", headers={**who, **etag})
    last = whole.json()["last_seq"]
    rest = shop.call("GET", path(conversation, f"?after_seq={last}"), key="publishable", headers=who)
    shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "thanks"})
    changed = shop.call("GET", path(conversation, ""), key="publishable", headers={**who, **etag})

    assert (known.status_code, known.content) == (304, b"")
    assert (rest.json()["messages"], rest.json()["last_seq"]) == ([], last)
    assert changed.status_code == 200
    assert [line["seq"] for line in changed.json()["messages"]] == sorted(
        line["seq"] for line in changed.json()["messages"]
    )


@pytest.mark.req("AN-01")
def test_a_rating_is_kept_once_a_conversation_and_the_last_one_counts(shop: Shop, api: Api) -> None:
    """Idempotent; only for who may read the conversation."""
    conversation, who = conversation_id(), visitor()
    shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "hello"})
    rate = path(conversation, "feedback")

    first = shop.call("POST", rate, key="publishable", headers=who, json={"rating": 2, "resolved": False})
    before = api.row_counts()["analytics/feedback"]
    second = shop.call("POST", rate, key="publishable", headers=who, json={"rating": 5})
    stranger = shop.call("POST", rate, key="publishable", headers=visitor(), json={"rating": 1})

    assert first.json() == {"conversation_id": conversation, "rating": 2, "resolved": False}
    assert second.json() == {"conversation_id": conversation, "rating": 5, "resolved": None}
    assert api.row_counts()["analytics/feedback"] == before
    assert stranger.status_code == 404


@pytest.mark.req("ME-05")
def test_a_conversation_closes_twice_and_opens_again_with_a_message(shop: Shop) -> None:
    """Closing is idempotent; a message within 24 h reopens."""
    conversation, who = conversation_id(), visitor()
    shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "hello"})

    closed = [shop.call("POST", path(conversation, "close"), key="publishable", headers=who) for _ in range(2)]
    again = shop.call("POST", path(conversation), key="publishable", headers=who, json={"text": "hello again"})

    assert [answer.json()["status"] for answer in closed] == ["closed", "closed"]
    assert again.status_code == 200


@pytest.mark.req("LA-01")
def test_opening_a_conversation_creates_nothing(shop: Shop, api: Api) -> None:
    """It warms the search; the first message creates the conversation."""
    conversation, who = conversation_id(), visitor()
    before = api.row_counts()

    opened = shop.call("POST", path(conversation, "open"), key="publishable", headers=who)

    assert opened.json() == {"conversation_id": conversation, "is_known": False, "last_seq": 0}
    assert api.row_counts() == before


@pytest.mark.req("CL-01")
def test_the_admin_channel_and_the_admin_key_go_together(shop: Shop) -> None:
    """admin_assistance is reachable only through an admin-authenticated flow."""
    conversation = conversation_id()
    text = {"text": "how do I set a greeting?"}

    by_admin = shop.call("POST", path(conversation), key="admin", json=text | {"channel": "admin"})
    read_back = shop.call("GET", path(conversation, ""), key="admin")
    refused = [
        shop.call("POST", path(conversation_id()), key="admin", json=text),
        shop.call("POST", path(conversation_id()), key="secret", json=text | {"channel": "admin"}),
        shop.call(
            "POST", path(conversation_id()), key="publishable", headers=visitor(), json=text | {"channel": "admin"}
        ),
    ]

    assert by_admin.json()["intent"] == "admin_assistance"
    assert read_back.status_code == 200
    assert [answer.status_code for answer in refused] == [403, 403, 403]


@pytest.mark.req("OB-03")
def test_the_trace_a_caller_brings_is_the_turns_trace(shop: Shop) -> None:
    """One trace from HTTP to reply."""
    trace = secrets.token_hex(16)
    headers = {**visitor(), "traceparent": f"00-{trace}-{secrets.token_hex(8)}-01"}

    turn = shop.call("POST", path(conversation_id()), key="publishable", headers=headers, json={"text": "hello"}).json()

    assert turn["trace_id"] == trace


@pytest.mark.req("GW-06")
def test_the_longest_message_of_the_widest_characters_is_answered(shop: Shop) -> None:
    """8,000 characters are promised."""
    body = json.dumps({"text": "🙂" * 8000}, ensure_ascii=False).encode()

    answer = shop.call(
        "POST",
        path(conversation_id()),
        key="publishable",
        headers={**visitor(), "Content-Type": "application/json"},
        content=body,
    )

    assert answer.status_code == 200
