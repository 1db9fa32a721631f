"""Handing over to a person: told and queued, or neither; and never a bot that talks over them. Source: faults.md."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.case import Case
from shared.domain.ids import CaseId, ConversationId, MessageId
from shared.domain.ticket import Owner, Ticket, TicketStatus, TurnStatus
from shared.ports.documents import Container, TenantScope, conversation_partition
from tests.surface.product.product import HOLLIN, RunningProduct
from tests.surface.product.storefront import Storefront
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCOPE = TenantScope(HOLLIN)
QUESTION = "How do gift cards work?"


async def queued(shop: Storefront, conversation: str) -> list[dict[str, Any]]:
    """Return the desk's cases of one conversation."""
    response = await shop.desk("GET", "cases")
    assert response.status_code == 200, response.text
    return [case for case in response.json()["cases"] if case["conversation_id"] == conversation]


@pytest.mark.req("ES-02", "HD-01")
async def test_fault_001_handing_over_tells_the_visitor_and_queues_the_case(
    product: RunningProduct, hollin: Storefront
) -> None:
    """One message saying that a person takes over, and one queue entry with the same case."""
    sent = await hollin.send("let me talk to a person please", customer="maya-lindqvist")

    assert sent.outcome == "escalated", sent.body
    assert sent.reply
    cases = await queued(hollin, sent.conversation)
    assert [case["case_id"] for case in cases] == [sent.body["escalation"]["case_id"]]
    rows = await product.rows(Container.TICKETS, HOLLIN, sent.conversation)
    assert len([row for row in rows if row["kind"] == "outbox"]) == 1


@pytest.mark.req("ES-02", "SU-03")
async def test_fault_001_while_the_queue_cannot_be_written_the_visitor_is_not_told(
    product: RunningProduct, hollin: Storefront
) -> None:
    """Queue first, then tell: a promise of a person nobody has called is worse than silence."""
    plan = product.plan({"port": "cases", "operation": "open", "fault": "error"})
    sending = asyncio.create_task(hollin.send("I want to speak to a human agent", customer="tom-okafor", wait_s=0))
    sent = await sending
    await until(lambda: plan.struck["cases.open"] >= 1, "the queue was written to")

    told = [row for row in await product.rows(Container.TICKETS, HOLLIN, sent.conversation) if row["kind"] == "outbox"]
    assert told == []
    assert await queued(hollin, sent.conversation) == []

    plan.detach()

    async def is_told() -> bool:
        return (await product.turn(HOLLIN, sent.conversation, sent.message)).status is TurnStatus.DONE

    await until(is_told, "the visitor was told once the queue could be written again")
    assert len(await queued(hollin, sent.conversation)) == 1


@pytest.mark.req("HD-01", "PR-03")
async def test_fault_004_a_late_draft_goes_to_the_person_who_took_over(
    product: RunningProduct, hollin: Storefront
) -> None:
    """The owner is read again right before sending; the reply that was being composed is attached, not sent."""
    plan = product.plan({"port": "composer", "operation": "compose", "fault": "delay", "delay_ms": 1_500})
    turn = {"conversation": "c-late-draft", "message": "m-late-draft"}
    sending = asyncio.create_task(hollin.send(QUESTION, customer="elena-sato", **turn))
    await until(lambda: plan.struck["composer.compose"] == 1, "the composer is thinking")
    case = await _take_over(product, **turn)

    sent = await sending

    assert sent.outcome == "human_owned", sent.body
    assert sent.reply == ""
    rows = await product.rows(Container.TICKETS, HOLLIN, sent.conversation)
    assert [row for row in rows if row["kind"] == "outbox"] == []
    kept = await product.services.cases.get(SCOPE, case)
    assert kept is not None
    assert kept.draft is not None
    assert "gift card" in kept.draft.value


@pytest.mark.req("HD-01", "PR-03")
async def test_fault_004_asking_for_a_person_stops_the_reply_that_is_being_composed(
    product: RunningProduct, hollin: Storefront
) -> None:
    """The customer loses patience while the model thinks: one message comes, and it is the person's."""
    plan = product.plan({"port": "composer", "operation": "compose", "fault": "delay", "delay_ms": 1_500})
    slow = asyncio.create_task(hollin.send(QUESTION, customer="elena-sato", conversation="c-impatient", message="m-1"))
    await until(lambda: plan.struck["composer.compose"] == 1, "the composer is thinking")

    wish = await hollin.send("let me talk to a person", customer="elena-sato", conversation="c-impatient")
    first = await slow

    assert wish.outcome == "escalated", wish.body
    assert first.outcome in {"superseded", "human_owned"}, first.body
    assert first.reply == ""
    rows = await product.rows(Container.TICKETS, HOLLIN, "c-impatient")
    assert len([row for row in rows if row["kind"] == "outbox"]) == 1


@pytest.mark.req("HD-01", "ES-02")
async def test_fault_005_the_bot_is_silent_until_the_person_lets_go(
    product: RunningProduct, hollin: Storefront
) -> None:
    """No bot message while a person owns the chat; the message is kept in the thread the person reads."""
    first = await hollin.send("I want to talk to a human", customer="tom-okafor")
    case = first.body["escalation"]["case_id"]
    assert (await hollin.desk("POST", f"cases/{case}/claim")).status_code == 200

    again = await hollin.send("thanks, one more thing", customer="tom-okafor", conversation=first.conversation)

    assert again.outcome == "human_owned", again.body
    assert again.reply == ""
    thread = (await hollin.thread(first.conversation, customer="tom-okafor")).json()
    assert [line["role"] for line in thread["messages"]] == ["customer", "assistant", "customer"]

    released = await hollin.desk("POST", f"cases/{case}/release")
    assert released.status_code == 200, released.text
    later = await hollin.send(QUESTION, customer="tom-okafor", conversation=first.conversation)
    assert later.outcome == "answered", later.body


@pytest.mark.req("HD-01", "ES-02")
async def test_fault_009_the_notification_commits_with_the_change_of_owner(
    product: RunningProduct, hollin: Storefront
) -> None:
    """The first message ever is the wish for a person: owner, notification row and queue entry, all there."""
    sent = await hollin.send("human")

    assert sent.outcome == "escalated", sent.body
    ticket = await product.ticket(HOLLIN, sent.conversation)
    rows = await product.rows(Container.TICKETS, HOLLIN, sent.conversation)
    notices = [row for row in rows if row["kind"] == "handoff"]
    assert ticket.owner is Owner.PERSON
    assert [notice["case_id"] for notice in notices] == [ticket.case_id]
    assert notices[0]["is_projected"] is True
    assert len(await queued(hollin, sent.conversation)) == 1


@pytest.mark.req("HD-01", "ES-02")
async def test_fault_010_a_chat_is_the_bots_before_the_desk_can_see_it(
    product: RunningProduct, hollin: Storefront
) -> None:
    """Ticket and message appear in one batch, owned by the bot; the queue holds nothing of it."""
    plan = product.plan({"port": "classifier", "operation": "classify", "fault": "delay", "delay_ms": 400})

    sent = await hollin.send(QUESTION, wait_s=0)
    await until(lambda: plan.struck["classifier.classify"] >= 1, "the gate is at work")

    ticket = await product.ticket(HOLLIN, sent.conversation)
    assert sent.status == 202
    assert ticket.owner is Owner.BOT
    assert ticket.case_id is None
    assert await queued(hollin, sent.conversation) == []


async def _take_over(product: RunningProduct, *, conversation: str, message: str) -> CaseId:
    """Set the owner to a person from outside the turn, with a case in the queue; the turn's sequence is untouched."""
    case, where = CaseId(f"c-{conversation}"), ConversationId(conversation)
    now = product.services.clock.now()
    await product.services.cases.open(
        SCOPE,
        Case(
            id=case,
            tenant_id=HOLLIN,
            conversation_id=where,
            message_id=MessageId(message),
            opened_at=now,
            due_at=now + timedelta(hours=4),
        ),
    )
    documents, partition = product.services.documents, conversation_partition(SCOPE, where)
    stored = await documents.read(Container.TICKETS, SCOPE, partition, "ticket")
    assert stored is not None
    ticket = from_stored(Ticket, stored)
    taken = ticket.model_copy(
        update={
            "owner": Owner.PERSON,
            "status": TicketStatus.NEEDS_REVIEW,
            "case_id": case,
            "version": ticket.version + 1,
        }
    )
    await documents.replace(Container.TICKETS, SCOPE, partition, to_document(taken), etag=stored.etag)
    return case
