"""Ticket records on a real store: accepting once, superseding, delivering once, handing over, racing."""

import asyncio
from dataclasses import replace

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.tickets import Accepted, Arrival, MessageIdReused, Settled, TicketRecords
from shared.domain.errors import NotFound, StalenessError
from shared.domain.ids import CaseId, ConversationId, MessageId, TenantId, turn_instance_id
from shared.domain.text import MaskedText
from shared.domain.ticket import SUPERSEDE_AT_MOST, Outcome, Owner, TicketStatus, TurnResult, TurnStatus
from shared.domain.transitions import TicketOp
from shared.ports.documents import Container, Query, TenantScope, Where, conversation_partition
from tests.conftest import FixedClock

C1 = ConversationId("c1")


@pytest.fixture
def tickets(documents: SqliteDocuments, clock: FixedClock) -> TicketRecords:
    """Ticket records over a real store."""
    return TicketRecords(documents, clock)


def arrival(message: str, text: str = "hello", *, body_hmac: str = "h") -> Arrival:
    """Build a message as the trigger accepts it."""
    mid = MessageId(message)
    return Arrival(
        conversation_id=C1,
        message_id=mid,
        instance_id=turn_instance_id(TenantId("t1"), C1, mid),
        masked_text=MaskedText(text),
        body_hmac=body_hmac,
        channel="web",
        language="",
        trace_id="trace",
        customer_id=None,
        secret_hash="s",
    )


async def send(tickets: TicketRecords, tenant: TenantScope, message: str, text: str = "hello") -> Accepted:
    """Accept one message."""
    return await tickets.accept(tenant, arrival(message, text))


def answer(text: str = "Here you are.", *, outcome: Outcome = Outcome.ANSWERED, issue: str = "") -> TurnResult:
    """Build a result."""
    return TurnResult(outcome=outcome, reply=MaskedText(text), issue=issue)


async def rows(documents: SqliteDocuments, tenant: TenantScope, kind: str) -> int:
    """Count the conversation's rows of a kind."""
    query = Query(partition=conversation_partition(tenant, C1), where=(Where("kind", "=", kind),))
    return len((await documents.query(Container.TICKETS, tenant, query)).items)


@pytest.mark.req("GW-04")
async def test_the_same_message_sent_twice_is_one_turn(tickets: TicketRecords, tenant: TenantScope) -> None:
    """Design §3: same id and same body → the same turn."""
    first = await send(tickets, tenant, "m1")
    second = await send(tickets, tenant, "m1")

    assert first.is_new
    assert not second.is_new
    assert second.row.instance_id == first.row.instance_id
    assert second.ticket.last_seq == 1


@pytest.mark.req("GW-04")
async def test_the_same_id_with_another_body_is_refused_and_changes_nothing(
    tickets: TicketRecords, tenant: TenantScope
) -> None:
    """Design §3: other body → 409."""
    await send(tickets, tenant, "m1")

    with pytest.raises(MessageIdReused):
        await tickets.accept(tenant, arrival("m1", "other", body_hmac="other"))

    ticket = await tickets.ticket(tenant, C1)
    assert ticket is not None
    assert ticket.last_seq == 1


@pytest.mark.req("GW-04", "PR-03")
async def test_twenty_messages_at_once_get_twenty_sequences(tickets: TicketRecords, tenant: TenantScope) -> None:
    """PR-03: no lost update under a race."""
    accepted = await asyncio.gather(*(send(tickets, tenant, f"m{i}") for i in range(20)))

    assert sorted(a.row.seq for a in accepted) == list(range(1, 21))


@pytest.mark.req("PR-03")
async def test_fault_012_a_burst_gets_one_delivered_reply_that_sees_all(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments
) -> None:
    """Three quick lines: the earlier turns end superseded, without effects; the last sees all three."""
    sent = [await send(tickets, tenant, f"m{i}", text) for i, text in enumerate(("hi", "my order", "1001 is late"))]
    version = sent[0].ticket.version

    first = await tickets.deliver(tenant, C1, MessageId("m0"), version, answer())
    pending = await tickets.unanswered(tenant, sent[-1].ticket, sent[-1].row.seq)
    last = await tickets.deliver(tenant, C1, MessageId("m2"), version, answer())
    second = await tickets.deliver(tenant, C1, MessageId("m1"), version, answer())

    assert (first, second, last) == (Settled.SUPERSEDED, Settled.SUPERSEDED, Settled.DONE)
    assert [p.masked_text.value for p in pending] == ["hi", "my order", "1001 is late"]
    assert await rows(documents, tenant, "outbox") == 1
    row = await tickets.turn(tenant, C1, MessageId("m0"))
    assert row is not None
    assert row.result is not None
    assert row.result.superseded_by == "m1"


@pytest.mark.req("PR-03")
async def test_superseding_stops_after_three_in_a_row(tickets: TicketRecords, tenant: TenantScope) -> None:
    """Design §3: after 3 supersessions the flow answers what it has."""
    for i in range(SUPERSEDE_AT_MOST + 2):
        await send(tickets, tenant, f"m{i}")
    version = 0

    settled = [
        await tickets.deliver(tenant, C1, MessageId(f"m{i}"), version, answer()) for i in range(SUPERSEDE_AT_MOST + 1)
    ]

    assert settled == [Settled.SUPERSEDED] * SUPERSEDE_AT_MOST + [Settled.DONE]


@pytest.mark.req("PR-03")
async def test_superseding_stops_when_the_customer_has_waited_twenty_seconds(
    tickets: TicketRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Design §3: or 20 s."""
    await send(tickets, tenant, "m1")
    clock.forward(seconds=21)
    await send(tickets, tenant, "m2")

    assert await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer()) is Settled.DONE


@pytest.mark.req("PR-03", "SU-03")
async def test_a_reply_from_an_old_version_is_refused(tickets: TicketRecords, tenant: TenantScope) -> None:
    """PR-03: a desk edit in between makes the draft stale; nothing is written."""
    accepted = await send(tickets, tenant, "m1")
    await tickets.begin_handoff(
        tenant, C1, MessageId("m1"), accepted.ticket.version, case=CaseId("k1"), triggers=("vip",), severity="high"
    )
    await tickets.move(tenant, C1, TicketOp.RELEASE)
    await send(tickets, tenant, "m2")

    assert await tickets.deliver(tenant, C1, MessageId("m2"), 0, answer()) is Settled.STALE


@pytest.mark.req("GW-04")
async def test_delivering_twice_writes_one_outbox_row(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments
) -> None:
    """A repeated activity after a crash changes nothing."""
    await send(tickets, tenant, "m1")

    first = await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer("one"))
    again = await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer("two"))

    assert (first, again) == (Settled.DONE, Settled.DONE)
    assert await rows(documents, tenant, "outbox") == 1
    row = await tickets.turn(tenant, C1, MessageId("m1"))
    assert row is not None
    assert row.result is not None
    assert row.result.reply == MaskedText("one")


@pytest.mark.req("ES-02", "HD-01")
async def test_fault_009_handing_over_writes_the_notification_with_the_state(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments, clock: FixedClock
) -> None:
    """Fault 009: the notification row commits with the state change and stays until acknowledged."""
    await send(tickets, tenant, "m1", "human")

    settled = await tickets.begin_handoff(
        tenant, C1, MessageId("m1"), 0, case=CaseId("k1"), triggers=("explicit_wish",), severity="normal"
    )
    clock.forward(minutes=1)
    waiting = await tickets.unprojected_handoffs(clock.now(), 10)
    await tickets.finish_handoff(
        tenant, C1, MessageId("m1"), answer(outcome=Outcome.ESCALATED).model_copy(update={"case_id": "k1"})
    )

    assert settled is Settled.DONE
    assert [h.case_id for h in waiting] == ["k1"]
    assert await tickets.unprojected_handoffs(clock.now(), 10) == ()
    assert await rows(documents, tenant, "outbox") == 1


@pytest.mark.req("ES-02")
async def test_fault_005_what_a_person_owns_the_bot_does_not_answer(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments
) -> None:
    """Fault 005: zero bot messages until release."""
    await send(tickets, tenant, "m1")
    await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, case=CaseId("k1"), triggers=("vip",), severity="high")
    await tickets.finish_handoff(tenant, C1, MessageId("m1"), answer(outcome=Outcome.ESCALATED))
    accepted = await send(tickets, tenant, "m2", "thanks, one more thing")

    opened = await tickets.open(tenant, C1, MessageId("m2"))

    assert accepted.ticket.owner is Owner.PERSON
    assert opened is None
    assert await rows(documents, tenant, "outbox") == 1


async def handed_over(tickets: TicketRecords, tenant: TenantScope) -> None:
    """Give the conversation of m1 to a person and tell the customer."""
    await send(tickets, tenant, "m1")
    await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, case=CaseId("k1"), triggers=("vip",), severity="high")
    told = answer(outcome=Outcome.ESCALATED).model_copy(update={"case_id": CaseId("k1")})
    await tickets.finish_handoff(tenant, C1, MessageId("m1"), told)


@pytest.mark.req("ES-02", "PR-03")
@pytest.mark.parametrize("op", [TicketOp.RELEASE, TicketOp.RESOLVE])
async def test_a_message_whose_turn_has_not_begun_when_the_person_leaves_is_answered(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments, op: TicketOp
) -> None:
    """It came while a person owned the conversation and nobody has dealt with it: nothing may fall silent."""
    await handed_over(tickets, tenant)
    late = [await send(tickets, tenant, message, message) for message in ("m2", "m3")]
    moved = await tickets.move(tenant, C1, op)

    first = await tickets.open(tenant, C1, MessageId("m2"))
    last = await tickets.open(tenant, C1, MessageId("m3"))
    pending = await tickets.unanswered(tenant, moved, late[-1].row.seq)
    settled = await tickets.deliver(tenant, C1, MessageId("m3"), moved.version, answer())

    assert first is None
    assert last is not None
    assert [row.message_id for row in pending] == ["m2", "m3"]
    assert settled is Settled.DONE
    superseded = await tickets.turn(tenant, C1, MessageId("m2"))
    assert superseded is not None
    assert superseded.result is not None
    assert superseded.result.superseded_by == "m3"
    assert await rows(documents, tenant, "outbox") == 2


@pytest.mark.req("ES-02", "HD-01")
async def test_a_message_the_person_answered_before_leaving_is_theirs(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments
) -> None:
    """Superseded by nothing would be a turn that ends in silence: it says whose it was, and the bot keeps out."""
    await handed_over(tickets, tenant)
    await send(tickets, tenant, "m2")
    await tickets.add_person_reply(tenant, C1, MaskedText("Done."), author="dana", reply_id="r1")
    await tickets.move(tenant, C1, TicketOp.RELEASE)

    opened = await tickets.open(tenant, C1, MessageId("m2"))

    row = await tickets.turn(tenant, C1, MessageId("m2"))
    assert opened is None
    assert row is not None
    assert row.result is not None
    assert (row.result.outcome, row.result.case_id) == (Outcome.HUMAN_OWNED, "k1")
    assert await rows(documents, tenant, "outbox") == 2


@pytest.mark.req("ES-02", "HD-01", "PR-03")
async def test_fault_001_a_case_that_ends_before_the_customer_is_told_is_told_all_the_same(
    tickets: TicketRecords, tenant: TenantScope, documents: SqliteDocuments, clock: FixedClock
) -> None:
    """Killed between case and telling; the desk answers and resolves; the repeat tells once and takes nothing back."""
    handoff = {"case": CaseId("k1"), "triggers": ("vip",), "severity": "high"}
    await send(tickets, tenant, "m1")
    await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, **handoff)  # type: ignore[arg-type]  # as below
    await send(tickets, tenant, "m2")
    await tickets.open(tenant, C1, MessageId("m2"))
    await tickets.add_person_reply(tenant, C1, MaskedText("Done."), author="dana", reply_id="r1")
    before = await tickets.move(tenant, C1, TicketOp.RESOLVE)

    again = await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, **handoff)  # type: ignore[arg-type]  # one call
    told = answer(outcome=Outcome.ESCALATED).model_copy(update={"case_id": CaseId("k1")})
    await tickets.finish_handoff(tenant, C1, MessageId("m1"), told)

    clock.forward(minutes=1)
    after = await tickets.ticket(tenant, C1)
    assert again is Settled.DONE
    assert after is not None
    assert (after.owner, after.status) == (Owner.BOT, TicketStatus.RESOLVED)
    assert after.answered_seq == before.answered_seq
    assert await tickets.unprojected_handoffs(clock.now(), 10) == ()
    assert await rows(documents, tenant, "outbox") == 2


@pytest.mark.req("RK-04")
async def test_a_clock_that_is_set_back_does_not_hold_the_conversation(
    tickets: TicketRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """The hold of a committed turn is twenty seconds, however the clock is set meanwhile."""
    await send(tickets, tenant, "m1")
    await tickets.commit(tenant, C1, 1, 0)
    await send(tickets, tenant, "m2")
    clock.forward(minutes=-60)

    assert await tickets.deliver(tenant, C1, MessageId("m2"), 0, answer()) is Settled.DONE


@pytest.mark.req("ES-02")
async def test_fault_010_a_conversation_begins_bot_owned(tickets: TicketRecords, tenant: TenantScope) -> None:
    """Fault 010: the state is bot-owned before any message is visible."""
    accepted = await send(tickets, tenant, "m1")

    assert (accepted.ticket.owner, accepted.ticket.status) == (Owner.BOT, TicketStatus.OPEN)


@pytest.mark.req("ME-05")
async def test_fault_011_a_message_after_close_reopens_the_conversation(
    tickets: TicketRecords, tenant: TenantScope
) -> None:
    """Fault 011: the reply wins; closing is by the table and conditional."""
    await send(tickets, tenant, "m1")
    await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer())
    await tickets.move(tenant, C1, TicketOp.CLOSE)

    accepted = await send(tickets, tenant, "m2")

    assert accepted.ticket.status is TicketStatus.OPEN
    assert accepted.ticket.closed_at is None


@pytest.mark.req("PR-03")
async def test_a_message_after_the_commit_waits_for_the_next_turn(
    tickets: TicketRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Design §3: the committed turn delivers; the later one is asked to wait, and no longer than the hold."""
    await send(tickets, tenant, "m1")
    await tickets.commit(tenant, C1, 1, 0)
    await send(tickets, tenant, "m2")

    waiting = await tickets.deliver(tenant, C1, MessageId("m2"), 0, answer())
    committed = await tickets.deliver(tenant, C1, MessageId("m1"), 0, answer())

    assert (waiting, committed) == (Settled.BUSY, Settled.DONE)


@pytest.mark.req("RK-04")
async def test_a_committed_turn_that_died_does_not_hold_the_conversation_for_ever(
    tickets: TicketRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """A hold ends by time, so that any instance can go on."""
    await send(tickets, tenant, "m1")
    await tickets.commit(tenant, C1, 1, 0)
    await send(tickets, tenant, "m2")
    clock.forward(seconds=30)

    assert await tickets.deliver(tenant, C1, MessageId("m2"), 0, answer()) is Settled.DONE


@pytest.mark.req("GO-03")
async def test_contacts_are_counted_by_issue(tickets: TicketRecords, tenant: TenantScope) -> None:
    """GO-03: the same issue counts up, another one starts again."""
    for i, issue in enumerate(("refund:", "refund:", "delivery_problem:")):
        accepted = await send(tickets, tenant, f"m{i}")
        await tickets.deliver(tenant, C1, MessageId(f"m{i}"), accepted.ticket.version, answer(issue=issue))
        ticket = await tickets.ticket(tenant, C1)
        assert ticket is not None
        assert ticket.contacts_on_issue == (1, 2, 1)[i]


@pytest.mark.req("HD-01")
async def test_a_persons_reply_is_appended_once_and_needs_an_owner(tickets: TicketRecords, tenant: TenantScope) -> None:
    """HD-01: a human's reply reaches the customer, once; the bot's conversations take none."""
    await send(tickets, tenant, "m1")
    with pytest.raises(StalenessError):
        await tickets.add_person_reply(tenant, C1, MaskedText("hi"), author="p", reply_id="r1")
    await tickets.begin_handoff(tenant, C1, MessageId("m1"), 0, case=CaseId("k1"), triggers=("vip",), severity="high")

    first = await tickets.add_person_reply(tenant, C1, MaskedText("hi"), author="p", reply_id="r1")
    again = await tickets.add_person_reply(tenant, C1, MaskedText("hi"), author="p", reply_id="r1")

    assert first == again
    thread = await tickets.thread(tenant, C1)
    assert [type(r).__name__ for r in thread] == ["TurnRow", "PersonRow"]


@pytest.mark.req("RK-04")
async def test_the_sweeper_sees_only_turns_that_nobody_started(
    tickets: TicketRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Design §3: accepted but not started within 30 s."""
    started = await send(tickets, tenant, "m1")
    await tickets.mark_started(tenant, started.row)
    await send(tickets, tenant, "m2")
    clock.forward(seconds=31)

    found = await tickets.accepted_not_started(clock.now(), 10)

    assert [r.message_id for r in found] == ["m2"]
    row = await tickets.turn(tenant, C1, MessageId("m1"))
    assert row is not None
    assert row.status is TurnStatus.STARTED


@pytest.mark.req("GW-03")
async def test_two_strangers_opening_one_id_at_once_do_not_share_a_conversation(
    tickets: TicketRecords, tenant: TenantScope
) -> None:
    """GW-03: the loser's message is not written into the winner's conversation; the winner's own second line is."""
    opening = replace(arrival("m1"), is_opening=True)
    await tickets.accept(tenant, opening)

    with pytest.raises(NotFound):
        await tickets.accept(tenant, replace(arrival("m2"), is_opening=True, secret_hash="another"))
    await tickets.accept(tenant, replace(arrival("m3"), is_opening=True))

    assert [r.id for r in await tickets.thread(tenant, C1)] == ["turn:m1", "turn:m3"]


@pytest.mark.req("PR-03", "ES-02")
async def test_a_person_who_leaves_while_turns_end_as_theirs_loses_none_to_a_race(
    tickets: TicketRecords, tenant: TenantScope
) -> None:
    """Whatever order they interleave in: a turn that ended as the person's is behind the mark."""
    await handed_over(tickets, tenant)
    messages = [MessageId(f"m{n}") for n in range(2, 8)]
    for message in messages:
        await send(tickets, tenant, message)

    await asyncio.gather(
        *(tickets.open(tenant, C1, m) for m in messages[:3]),
        tickets.move(tenant, C1, TicketOp.RELEASE),
        *(tickets.open(tenant, C1, m) for m in messages[3:]),
    )

    ticket = await tickets.ticket(tenant, C1)
    turns = [await tickets.turn(tenant, C1, m) for m in messages]
    assert ticket is not None
    theirs = [t.seq for t in turns if t and t.result and t.result.outcome is Outcome.HUMAN_OWNED]
    assert max(theirs, default=0) <= ticket.answered_seq
