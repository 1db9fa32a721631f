"""The quarantine at the desk: a message whose work kept dying waits for a person, alone, until it is released.

Source: RK-03 (attempt ceiling, quarantine queue), fault 005.
"""

import asyncio
from typing import Any

import pytest

from orchestrators.activities.turn import hand_over_lost_turn
from orchestrators.triggers.sweeping import MAX_STARTS
from shared.adapters.records.tickets import Arrival
from shared.domain.ids import ConversationId, CustomerId, MessageId, TenantId, turn_instance_id
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from tests.surface.api.conftest import Api, Shop, conversation_id
from tests.surface.api.test_messages import path

ANA = CustomerId("ana")


@pytest.fixture
def shop(api: Api) -> Shop:
    """A tenant of the test, so that its queue is empty."""
    return api.new_shop()


class Talk:
    """A conversation of ana's, some of whose messages kill whatever works on them."""

    def __init__(self, api: Api, shop: Shop) -> None:
        self.api, self.shop = api, shop
        self.scope = TenantScope(TenantId(shop.tenant_id))
        self.conversation = ConversationId(conversation_id())

    def say(self, text: str) -> dict[str, Any]:
        """Send a message that is worked on as usual."""
        who = {"X-Customer-Id": ANA}
        return dict(self.shop.call("POST", path(self.conversation), headers=who, json={"text": text}).json())

    def die_of(self, message: str) -> None:
        """Let a message arrive and its flow die as often as it is tried; then the sweep comes by."""
        asyncio.run(self._die_of(MessageId(message)))

    async def _die_of(self, message: MessageId) -> None:
        services = self.api.services
        arrival = Arrival(
            conversation_id=self.conversation,
            message_id=message,
            instance_id=turn_instance_id(self.scope.tenant_id, self.conversation, message),
            masked_text=MaskedText("boom"),
            body_hmac="h",
            channel="api",
            language="",
            trace_id="t",
            customer_id=ANA,
            secret_hash="",
        )
        row = (await services.tickets.accept(self.scope, arrival)).row
        for _ in range(MAX_STARTS):
            row = await services.tickets.turn(self.scope, self.conversation, message) or row
            await services.tickets.mark_started(self.scope, row)
        await hand_over_lost_turn(row, services)

    def quarantine(self) -> list[dict[str, Any]]:
        """Return the cases the quarantine lists."""
        return list(self.shop.call("GET", "/api/v1/desk/cases?trigger=poison", key="desk").json()["cases"])

    def release(self, case: str) -> int:
        """Give the conversation back."""
        self.shop.call("POST", f"/api/v1/desk/cases/{case}/claim", key="desk")
        return self.shop.call("POST", f"/api/v1/desk/cases/{case}/release", key="desk").status_code


@pytest.mark.req("RK-03")
def test_a_quarantined_conversation_is_answered_by_nobody_until_it_is_released(api: Api, shop: Shop) -> None:
    """Listed apart from other cases; later messages are only appended; after the release the bot answers again."""
    talk = Talk(api, shop)
    other = shop.call(
        "POST", path(conversation_id()), headers={"X-Customer-Id": "ben"}, json={"text": "I want to talk to a human"}
    ).json()
    talk.die_of("m-1")

    listed = talk.quarantine()
    meanwhile = talk.say("hello")
    released = talk.release(listed[0]["case_id"])
    after = talk.say("hello")

    assert [case["triggers"] for case in listed] == [["poison"]]
    assert other["escalation"]["case_id"] not in [case["case_id"] for case in listed]
    assert (meanwhile["outcome"], meanwhile["reply"]) == ("human_owned", None)
    assert released == 200
    assert (after["outcome"], bool(after["reply"])) == ("answered", True)
    assert talk.quarantine() == []


@pytest.mark.req("RK-03")
def test_a_message_that_kills_again_after_the_release_is_quarantined_again(api: Api, shop: Shop) -> None:
    """Releasing clears the past, not the rule: a case of its own for each."""
    talk = Talk(api, shop)
    talk.die_of("m-1")
    first = talk.quarantine()[0]["case_id"]
    talk.release(first)

    talk.die_of("m-2")

    (again,) = talk.quarantine()
    assert again["case_id"] != first
    assert talk.say("hello")["outcome"] == "human_owned"


@pytest.mark.req("RK-03", "GW-06")
def test_a_trigger_the_queue_does_not_know_is_a_malformed_query(shop: Shop) -> None:
    """Not an empty list, which would read as an empty quarantine."""
    assert shop.call("GET", "/api/v1/desk/cases?trigger=posion", key="desk").status_code == 400
