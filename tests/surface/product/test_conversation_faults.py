"""Bursts, closes, privacy and ownership as a customer meets them, over real HTTP. Source: faults.md."""

import asyncio
import logging

import pytest

from shared.domain.ids import ConversationId
from shared.domain.ticket import Outcome, TicketStatus
from shared.ports.documents import Container, TenantScope
from tests.surface.product.product import HOLLIN, TIDEWATER, RunningProduct
from tests.surface.product.storefront import Storefront

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = "How do gift cards work?"
EMAIL = "ana.canary.4711@postfach.example"
PHONE = "+1 207 555 0177"


@pytest.mark.req("PR-03", "GW-04")
async def test_fault_011_a_reply_beats_the_close_that_races_it(product: RunningProduct, hollin: Storefront) -> None:
    """Whichever arrives first, the customer's message is answered and nothing is lost."""
    for attempt in range(6):
        opened = await hollin.send(QUESTION, customer="carmen-ruiz")

        closed, sent = await asyncio.gather(
            hollin.close(opened.conversation, customer="carmen-ruiz"),
            hollin.send(
                "I forgot my password",
                customer="carmen-ruiz",
                conversation=opened.conversation,
            ),
        )

        assert closed.status_code in {200, 409}, (attempt, closed.text)
        assert sent.status == 200, (attempt, sent.body)
        assert sent.outcome == "answered", (attempt, sent.body)
        rows = await product.rows(Container.TICKETS, HOLLIN, opened.conversation)
        assert len([row for row in rows if row["kind"] == "outbox"]) == 2


@pytest.mark.req("ME-05")
async def test_fault_011_a_closed_chat_reopens_with_its_working_set(
    product: RunningProduct, hollin: Storefront
) -> None:
    """Within 24 hours a message reopens the conversation; what was said is still there."""
    first = await hollin.send(QUESTION, customer="carmen-ruiz")
    assert (await hollin.close(first.conversation, customer="carmen-ruiz")).status_code == 200
    assert (await product.ticket(HOLLIN, first.conversation)).status is TicketStatus.CLOSED

    again = await hollin.send("I forgot my password", customer="carmen-ruiz", conversation=first.conversation)

    assert again.outcome == "answered", again.body
    ticket = await product.ticket(HOLLIN, first.conversation)
    assert ticket.status is TicketStatus.OPEN
    thread = (await hollin.thread(first.conversation, customer="carmen-ruiz")).json()
    assert [line["role"] for line in thread["messages"]] == ["customer", "assistant"] * 2


@pytest.mark.req("PR-03", "GW-04")
async def test_fault_012_three_quick_lines_get_one_reply_that_sees_all(
    product: RunningProduct, hollin: Storefront
) -> None:
    """Only a newer message supersedes; the earlier turns end without effects and name their successor."""
    product.plan(
        {"port": "classifier", "operation": "classify", "fault": "delay", "delay_ms": 300},
        {"port": "composer", "operation": "compose", "fault": "delay", "delay_ms": 600},
    )
    conversation = "c-three-lines"
    ids = ("m-1", "m-2", "m-3")
    for message, text in zip(ids[:2], ("hi", "my order"), strict=True):
        await hollin.send(text, customer="maya-lindqvist", conversation=conversation, message=message, wait_s=0)

    last = await hollin.send("1003 is late", customer="maya-lindqvist", conversation=conversation, message=ids[2])

    turns = [await hollin.turn(conversation, message, customer="maya-lindqvist") for message in ids]
    rows = await product.rows(Container.TICKETS, HOLLIN, conversation)
    sent = [row for row in rows if row["kind"] == "outbox"]
    assert last.outcome in {"answered", "escalated"}, last.body
    assert [turn.outcome for turn in turns[:2]] == ["superseded", "superseded"]
    assert turns[0].body["superseded_by"] in ids[1:]
    assert turns[1].body["superseded_by"] == ids[2]
    assert [row["seq"] for row in sent] == [3]
    assert "1003" in last.reply


@pytest.mark.req("PV-01", "PV-05")
async def test_fault_045_no_stored_byte_holds_what_the_customer_would_not_publish(
    product: RunningProduct, hollin: Storefront
) -> None:
    """Durable history and every container hold tokens: the raw address is in no file of the data directory."""
    sent = await hollin.send(f"Mail me at {EMAIL} or call {PHONE}. {QUESTION}")

    assert sent.status == 200
    folder = product.services.settings.data_dir
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "durable.db" for path in files)
    for path in files:
        content = path.read_bytes()
        for secret in (EMAIL, "ana.canary.4711", PHONE, "2075550177", "207 555 0177"):
            assert secret.encode() not in content, path.name


@pytest.mark.req("GW-01", "GW-02", "GW-03")
async def test_fault_046_without_the_right_key_there_is_nothing_to_see(
    product: RunningProduct, hollin: Storefront, tidewater: Storefront
) -> None:
    """No key, a wrong key: 401; another tenant's or visitor's conversation: the 404 of one that is not there."""
    sent = await hollin.send(QUESTION, customer="maya-lindqvist")
    path = f"{product.url}/api/v1/conversations/{sent.conversation}"

    bare = await product.http.get(path)
    wrong = await product.http.get(path, headers={"X-Api-Key": "vk_secret_0000000000000000_" + "x" * 43})
    foreign = await tidewater.thread(sent.conversation, customer="maya-lindqvist")
    absent = await hollin.thread("c-never-opened", customer="maya-lindqvist")
    visitor = await hollin.thread(sent.conversation)

    assert (bare.status_code, wrong.status_code) == (401, 401)
    assert (foreign.status_code, absent.status_code, visitor.status_code) == (404, 404, 404)
    assert foreign.json()["detail"] == absent.json()["detail"] == visitor.json()["detail"]


@pytest.mark.req("PV-05", "OB-03")
async def test_fault_046_no_log_line_holds_personal_data(
    product: RunningProduct, hollin: Storefront, caplog: pytest.LogCaptureFixture
) -> None:
    """Every logger at its most talkative: ids, never what the customer wrote."""
    text = f"I am Ana Canary, {EMAIL}, {PHONE}; let me talk to a person about order 1003"
    with caplog.at_level(logging.DEBUG):
        sent = await hollin.send(text, customer="maya-lindqvist")

    assert sent.status == 200
    said = "\n".join(record.getMessage() for record in caplog.records) + caplog.text
    for secret in (EMAIL, "canary", "Canary", "207 555 0177", "talk to a person"):
        assert secret not in said


@pytest.mark.req("AC-01", "GW-03")
@pytest.mark.parametrize(
    ("customer", "text"),
    [
        ("tom-okafor", "Where is my order 1003?"),
        (None, "Where is my order 1003?"),
        ("tom-okafor", "Where is order 1003? My e-mail is maya.lindqvist@post.example"),
        (None, "I am maya-lindqvist, maya.lindqvist@post.example. Where is my order 1003?"),
    ],
    ids=["signed-in-as-another", "anonymous", "typed-e-mail", "typed-everything"],
)
async def test_fault_069_an_order_number_alone_opens_nothing(
    product: RunningProduct, hollin: Storefront, customer: str | None, text: str
) -> None:
    """The same neutral answer as for an order that does not exist; nothing of the order, nothing of its owner."""
    asked = await hollin.send(text, customer=customer)
    absent = await hollin.send(text.replace("1003", "7777"), customer=customer)

    assert asked.reply.replace("1003", "7777") == absent.reply
    assert asked.outcome == absent.outcome
    for secret in ("1Z84F6390358816027", "Kettle", "107.00", "UPS", "in transit", "Maya Lindqvist"):
        assert secret not in asked.reply
    assert "order:1003" not in str(asked.body["sources"])


@pytest.mark.req("AC-01", "RT-04")
async def test_fault_069_the_owner_is_told(product: RunningProduct, hollin: Storefront) -> None:
    """The other half of the rule: the same words of the proven owner are answered from the order."""
    sent = await hollin.send("Where is my order 1003?", customer="maya-lindqvist")

    assert sent.outcome == "answered", sent.body
    assert "1Z84F6390358816027" in sent.reply or "UPS" in sent.reply
    assert [source["ref"] for source in sent.body["sources"]] == ["order:1003"]


@pytest.mark.req("ME-07", "GW-01")
async def test_two_shops_with_the_same_shopper_and_order_number_stay_apart(
    product: RunningProduct, hollin: Storefront, tidewater: Storefront
) -> None:
    """Same customer id, same e-mail, order 1003 in both: each key opens its own shop only."""
    ours = await hollin.send("Where is my order 1003?", customer="maya-lindqvist")
    theirs = await tidewater.send("Where is my order 1003?", customer="maya-lindqvist")
    policy = await tidewater.send("What is your return policy?", customer="maya-lindqvist")

    assert "1003" in ours.reply
    for secret in ("fountain", "Fountain", "44.80", "1Z84F6390358816027"):
        assert secret not in theirs.reply
    assert policy.outcome == "answered", policy.body
    assert "14 days" in policy.reply
    assert "30 days" not in policy.reply
    ticket = await product.services.tickets.ticket(TenantScope(TIDEWATER), ConversationId(ours.conversation))
    assert ticket is None


@pytest.mark.req("GW-04", "AX-03")
async def test_fault_106_the_same_message_twice_is_one_turn_with_one_reply(
    product: RunningProduct, hollin: Storefront
) -> None:
    """A client that repeats itself gets the same turn; the same id with another body is refused."""
    first = await hollin.send(QUESTION, customer="priya-raman")
    again = await hollin.send(
        QUESTION,
        customer="priya-raman",
        conversation=first.conversation,
        message=first.message,
    )
    other = await hollin.send(
        "Another question", customer="priya-raman", conversation=first.conversation, message=first.message
    )

    assert again.body == first.body
    assert other.status == 409
    assert other.body["type"].endswith("message-id-reused")
    rows = await product.rows(Container.TICKETS, HOLLIN, first.conversation)
    assert len([row for row in rows if row["kind"] == "outbox"]) == 1
    assert first.outcome == Outcome.ANSWERED.value
