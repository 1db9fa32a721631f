"""The human side over HTTP: queue, claim, reply, release, resolve. Source: HD-01, faults 001, 005."""

from typing import Any

import pytest

from tests.surface.api.conftest import Api, Shop, conversation_id, is_problem, visitor
from tests.surface.api.test_messages import path

WISH = "I want to talk to a human being, please. You can write to cleo@mail.example"


@pytest.fixture
def shop(api: Api) -> Shop:
    """A tenant of the test, so that its queue is empty."""
    return api.new_shop()


class Handoff:
    """A conversation a person is wanted for, and the customer's and the desk's calls on it."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.conversation, self.who = conversation_id(), visitor()
        self.turn = self.say(WISH)
        self.case_id = self.turn["escalation"]["case_id"]

    def say(self, text: str) -> dict[str, Any]:
        """Send as the customer."""
        answer = self.shop.call(
            "POST", path(self.conversation), key="publishable", headers=self.who, json={"text": text}
        )
        return dict(answer.json())

    def thread(self) -> list[dict[str, Any]]:
        """Read as the customer."""
        answer = self.shop.call("GET", path(self.conversation, ""), key="publishable", headers=self.who)
        return list(answer.json()["messages"])

    def desk(self, verb: str, body: object = None, key: str = "desk") -> Any:
        """Call a verb on the case."""
        method, rest = ("POST", f"/{verb}") if verb else ("GET", "")
        return self.shop.call(method, f"/api/v1/desk/cases/{self.case_id}{rest}", key=key, json=body)


def second_person(shop: Shop) -> None:
    """Give the tenant a second person at the desk."""
    issued = shop.call(
        "POST", f"/api/v1/tenants/{shop.tenant_id}/keys", key="admin", json={"scope": "desk", "owner": "second"}
    )
    shop.keys["desk2"] = issued.json()["key"]


@pytest.mark.req("ES-02", "HD-01")
def test_fault_001_the_customer_is_told_and_the_case_is_in_the_queue(shop: Shop) -> None:
    """One message that a person takes over, and one queue entry: both or neither."""
    handoff = Handoff(shop)

    queue = shop.call("GET", "/api/v1/desk/cases", key="desk").json()["cases"]

    assert handoff.turn["outcome"] == "escalated"
    assert handoff.turn["reply"]
    assert [case["case_id"] for case in queue] == [handoff.case_id]
    assert queue[0]["status"] == "open"
    assert queue[0]["triggers"] == handoff.turn["escalation"]["triggers"]
    assert "explicit_wish" in queue[0]["triggers"]


@pytest.mark.req("HD-01", "PV-01")
def test_a_case_shows_the_person_what_the_customer_wrote(shop: Shop) -> None:
    """Transcript, reason and sources, values restored for the person."""
    handoff = Handoff(shop)

    case = handoff.desk("").json()

    assert case["thread"]["messages"][0]["text"] == WISH
    assert case["severity"]
    assert case["message_id"] == handoff.turn["message_id"]
    assert set(case) >= {"draft", "sources", "proposed", "triggers", "reason", "due_at"}


@pytest.mark.req("HD-01")
def test_fault_005_the_bot_is_silent_until_release(shop: Shop) -> None:
    """Later messages are only appended; the person answers; released, the bot answers again."""
    handoff = Handoff(shop)

    late = handoff.say("thanks, one more thing")
    claimed = handoff.desk("claim")
    replied = handoff.desk("reply", {"text": "I am Bo. Call me on +44 20 7946 0958."})
    released = handoff.desk("release")
    after = handoff.say("hello")
    thread = handoff.thread()

    assert (late["outcome"], late["reply"]) == ("human_owned", None)
    assert claimed.json()["status"] == "claimed"
    assert claimed.json()["claimed_by"] == "desk"
    assert replied.status_code == 200
    assert released.json()["status"] == "released"
    assert after["outcome"] == "answered"
    person = [line for line in thread if line["role"] == "person"]
    assert [line["text"] for line in person] == ["I am Bo. Call me on +44 20 7946 0958."]
    assert [line["role"] for line in thread] == ["customer", "assistant", "customer", "person", "customer", "assistant"]


@pytest.mark.req("HD-01", "PV-01")
def test_what_the_person_writes_is_masked_at_rest(shop: Shop, api: Api) -> None:
    """A person's words are stored like a customer's."""
    handoff = Handoff(shop)
    handoff.desk("claim")

    handoff.desk("reply", {"text": "write to desk.canary@mail.example"})

    assert b"desk.canary@mail.example" not in api.stored_bytes()


@pytest.mark.req("HD-01")
def test_only_the_claimer_answers_and_ends_a_case(shop: Shop) -> None:
    """409 before a claim, 403 for another's case."""
    handoff = Handoff(shop)
    second_person(shop)

    unclaimed = handoff.desk("reply", {"text": "hi"})
    handoff.desk("claim")
    again = handoff.desk("claim")
    taken = handoff.desk("claim", key="desk2")
    foreign = [
        handoff.desk(verb, body, key="desk2")
        for verb, body in (("reply", {"text": "x"}), ("release", None), ("resolve", None))
    ]

    assert (unclaimed.status_code, is_problem(unclaimed, "conflict")) == (409, True)
    assert again.status_code == 200
    assert (taken.status_code, is_problem(taken, "conflict")) == (409, True)
    assert [answer.status_code for answer in foreign] == [403, 403, 403]
    assert not [line for line in handoff.thread() if line["role"] == "person"]


@pytest.mark.req("HD-01")
def test_a_reply_sent_twice_appends_once(shop: Shop) -> None:
    """The reply id makes it idempotent; another text under it is a conflict."""
    handoff = Handoff(shop)
    handoff.desk("claim")

    replies = [handoff.desk("reply", {"text": "Hello, I am Bo.", "reply_id": "r-1"}) for _ in range(2)]
    other = handoff.desk("reply", {"text": "Something else.", "reply_id": "r-1"})

    assert replies[0].json() == replies[1].json()
    assert other.status_code == 409
    assert len([line for line in handoff.thread() if line["role"] == "person"]) == 1


@pytest.mark.req("HD-01")
def test_resolving_ends_the_case_and_the_ticket_once(shop: Shop) -> None:
    """Repeating changes nothing; the queue is empty; the next message is the bot's again."""
    handoff = Handoff(shop)
    handoff.desk("claim")

    resolved = [handoff.desk("resolve") for _ in range(2)]
    queue = shop.call("GET", "/api/v1/desk/cases", key="desk").json()["cases"]
    closed = shop.call("GET", "/api/v1/desk/cases?status=resolved", key="desk").json()["cases"]
    late = handoff.desk("reply", {"text": "too late"})

    assert [answer.json()["status"] for answer in resolved] == ["resolved", "resolved"]
    assert queue == []
    assert [case["case_id"] for case in closed] == [handoff.case_id]
    assert late.status_code == 409
    assert handoff.say("hello")["outcome"] == "answered"


@pytest.mark.req("HD-01", "ME-07")
def test_a_desk_sees_its_own_tenants_cases_only(shop: Shop, api: Api) -> None:
    """Another tenant's case reads as absent."""
    handoff, other = Handoff(shop), api.new_shop()

    answers = [
        other.call("GET", f"/api/v1/desk/cases/{handoff.case_id}", key="desk"),
        other.call("POST", f"/api/v1/desk/cases/{handoff.case_id}/claim", key="desk"),
        other.call("POST", f"/api/v1/desk/cases/{handoff.case_id}/resolve", key="desk"),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]
    assert other.call("GET", "/api/v1/desk/cases", key="desk").json()["cases"] == []


@pytest.mark.req("HD-01")
def test_a_customer_cannot_close_what_a_person_owns(shop: Shop) -> None:
    """The person ends it."""
    handoff = Handoff(shop)

    closed = shop.call("POST", path(handoff.conversation, "close"), key="publishable", headers=handoff.who)

    assert (closed.status_code, is_problem(closed, "conflict")) == (409, True)
