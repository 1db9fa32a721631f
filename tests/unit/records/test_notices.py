"""Notices on a real store: told once, never over a person, never opening what is closed. Source: design §9."""

import asyncio

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.tickets import Settled, TicketRecords
from shared.domain.ids import CaseId, ConversationId, MessageId
from shared.domain.text import MaskedText
from shared.domain.thread import to_lines
from shared.domain.ticket import Owner, Ticket, TicketStatus, TurnStatus
from shared.domain.transitions import TicketOp
from shared.ports.documents import Container, Query, TenantScope, Where, conversation_partition
from tests.conftest import FixedClock
from tests.unit.records.test_tickets import C1, answer, rows, send

TOLD = MaskedText("We have refunded $42.00 for your order #1001.")


@pytest.fixture
def tickets(documents: SqliteDocuments, clock: FixedClock) -> TicketRecords:
    """Ticket records over a real store."""
    return TicketRecords(documents, clock)


async def ticket_of(tickets: TicketRecords, tenant: TenantScope) -> Ticket:
    """Return the conversation's ticket."""
    ticket = await tickets.ticket(tenant, C1)
    assert ticket is not None
    return ticket


async def outbox(documents: SqliteDocuments, tenant: TenantScope) -> list[str]:
    """Return the ids of outgoing messages."""
    query = Query(partition=conversation_partition(tenant, C1), where=(Where("kind", "=", "outbox"),))
    return [str(stored.body["id"]) for stored in (await documents.query(Container.TICKETS, tenant, query)).items]


@pytest.mark.req("AX-03")
async def test_fault_110_the_same_news_is_one_outgoing_message_however_often_it_is_told(
    tickets: TicketRecords, documents: SqliteDocuments, tenant: TenantScope
) -> None:
    """Sweeper and flow may both tell it, at the same moment or later."""
    await send(tickets, tenant, "m1")
    await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer())

    told = await asyncio.gather(*(tickets.add_notice(tenant, C1, TOLD, "a-1") for _ in range(5)))
    again = await tickets.add_notice(tenant, C1, TOLD, "a-1")
    other = await tickets.add_notice(tenant, C1, MaskedText("Something else."), "a-2")

    thread = await tickets.thread(tenant, C1)
    assert (set(told), again, other) == ({True}, True, True)
    assert [type(row).__name__ for row in thread] == ["TurnRow", "NoticeRow", "NoticeRow"]
    assert await outbox(documents, tenant) == ["out:1", "out:n3", "out:n4"]
    assert [line.role for line in to_lines(thread[1])] == ["assistant"]
    assert (await tickets.latest(tenant, C1, 1))[0].seq == 4


@pytest.mark.req("ES-02")
async def test_fault_005_no_notice_is_given_while_a_person_has_the_conversation(
    tickets: TicketRecords, documents: SqliteDocuments, tenant: TenantScope
) -> None:
    """The person tells it, or leaves it: nothing is written, and nothing afterwards by itself."""
    await send(tickets, tenant, "m1")
    await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, case=CaseId("k1"), triggers=("vip",), severity="high")
    before = await ticket_of(tickets, tenant)

    told = await tickets.add_notice(tenant, C1, TOLD, "a-1")

    assert told is False
    assert await ticket_of(tickets, tenant) == before
    assert await rows(documents, tenant, "notice") == await rows(documents, tenant, "outbox") == 0


@pytest.mark.req("ES-02")
@pytest.mark.parametrize("op", [TicketOp.CLOSE, TicketOp.RESOLVE], ids=str)
async def test_an_ended_conversation_is_told_and_stays_ended(
    tickets: TicketRecords, tenant: TenantScope, op: TicketOp
) -> None:
    """The customer was promised to hear here; news is no reason to open an issue again."""
    await send(tickets, tenant, "m1")
    await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer())
    ended = await tickets.move(tenant, C1, op)

    told = await tickets.add_notice(tenant, C1, TOLD, "a-1")

    after = await ticket_of(tickets, tenant)
    assert told is True
    assert (after.owner, after.status, after.closed_at) == (Owner.BOT, ended.status, ended.closed_at)
    assert after.status in (TicketStatus.CLOSED, TicketStatus.RESOLVED)
    assert (after.last_seq, after.version) == (ended.last_seq + 1, ended.version + 1)


@pytest.mark.req("PV-04")
async def test_a_conversation_that_is_gone_is_told_nothing(tickets: TicketRecords, tenant: TenantScope) -> None:
    """An erased customer's action may still end."""
    assert await tickets.add_notice(tenant, ConversationId("gone"), TOLD, "a-1") is False


@pytest.mark.req("PR-03")
async def test_a_turn_under_way_takes_a_fresh_snapshot_after_a_notice_and_is_not_superseded(
    tickets: TicketRecords, tenant: TenantScope
) -> None:
    """Only a newer customer message supersedes (design §3)."""
    sent = await send(tickets, tenant, "m1")

    await tickets.add_notice(tenant, C1, TOLD, "a-1")
    stale = await tickets.deliver(tenant, C1, MessageId("m1"), sent.ticket.version, answer())
    fresh = await tickets.deliver(tenant, C1, MessageId("m1"), sent.ticket.version + 1, answer())

    assert (stale, fresh) == (Settled.STALE, Settled.DONE)


@pytest.mark.req("RK-03")
async def test_turns_still_owed_begin_anew_when_a_person_releases_the_conversation(
    tickets: TicketRecords, tenant: TenantScope
) -> None:
    """What died during the quarantine does not count against the next try; what has ended is left alone."""
    await send(tickets, tenant, "m1")
    await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, case=CaseId("k1"), triggers=("poison",), severity="low")
    await tickets.finish_handoff(tenant, C1, MessageId("m1"), answer().model_copy(update={"case_id": "k1"}))
    owed = await send(tickets, tenant, "m2")
    for _ in range(3):
        row = await tickets.turn(tenant, C1, owed.row.message_id)
        assert row is not None
        await tickets.mark_started(tenant, row)

    await tickets.move(tenant, C1, TicketOp.RELEASE)

    starts = {r.message_id: (r.status, r.starts) for r in await tickets.thread(tenant, C1) if hasattr(r, "starts")}
    assert starts == {"m1": (TurnStatus.DONE, 0), "m2": (TurnStatus.STARTED, 0)}
