"""The wait of a case for a person, and the sweeper that finds what a start, an event or a crash has missed."""

import asyncio
import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from orchestrators.names import ActivityName
from orchestrators.triggers.starting import case_instance_id
from orchestrators.triggers.sweeping import MAX_STARTS
from shared.adapters.records.cases import CaseRecords
from shared.adapters.records.tickets import Arrival, TicketRecords
from shared.domain.case import Case, CaseStatus
from shared.domain.errors import SchemaError, Unavailable
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import CaseId, ConversationId, MessageId, TenantId, case_id, turn_instance_id
from shared.domain.intents import CustomerIntent
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome, TurnRow
from shared.ports.clock import Clock
from shared.ports.documents import TenantScope
from tests.flows.running import SCOPE, Flows, Sent
from tests.flows.shop import ANA, GROUNDED, QUESTION, TENANT, TRUE_DRAFT, understood
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

WISH = "let me talk to a person"


@dataclass(frozen=True, slots=True)
class EarlierClock:
    """A clock that is behind by some minutes: what it stamps looks old to everybody else."""

    inner: Clock
    minutes: float

    def now(self) -> datetime:
        """Return the moment as it was."""
        return self.inner.now() - timedelta(minutes=self.minutes)


@dataclass(slots=True)
class WrittenPager:
    """A Pager that notes its pages, and fails first as often as it is told."""

    failures: int = 0
    pages: list[CaseId] = field(default_factory=list)

    async def page(self, tenant: TenantId, case: CaseId) -> None:
        """Note the page, or fail."""
        if self.failures:
            self.failures -= 1
            raise Unavailable("the pager is down")
        self.pages.append(case)


def waiting_case(flows: Flows, *, due_in_s: float) -> Case:
    """Build an open case that is due soon."""
    now = flows.base.clock.now()
    return Case(
        id=CaseId(f"c-{secrets.token_hex(8)}"),
        tenant_id=TENANT,
        conversation_id=ConversationId(f"c-{secrets.token_hex(6)}"),
        message_id=MessageId("m-1"),
        opened_at=now,
        due_at=now + timedelta(seconds=due_in_s),
    )


async def accepted_earlier(flows: Flows, text: str, *, minutes: float) -> TurnRow:
    """Accept a message as a trigger does that dies right after, some minutes ago."""
    conversation, message = ConversationId(f"c-{secrets.token_hex(6)}"), MessageId(f"m-{secrets.token_hex(6)}")
    arrival = Arrival(
        conversation_id=conversation,
        message_id=message,
        instance_id=turn_instance_id(TENANT, conversation, message),
        masked_text=MaskedText(text),
        body_hmac="h",
        channel="api",
        language="",
        trace_id="trace",
        customer_id=ANA,
        secret_hash="",
    )
    return (await earlier_tickets(flows, minutes).accept(SCOPE, arrival)).row


def earlier_tickets(flows: Flows, minutes: float) -> TicketRecords:
    """Return ticket records of some minutes ago."""
    return TicketRecords(flows.base.documents, EarlierClock(flows.base.clock, minutes))


def sent(row: TurnRow) -> Sent:
    """Return the row's message as the one who sent it knows it."""
    return Sent(row.conversation_id, row.message_id, 202, {})


def is_waiting(flows: Flows, case: CaseId) -> bool:
    """Tell whether the case's flow has set its timer."""
    instance = case_instance_id(case)
    live = flows.host.engine.lives.peek(instance)
    return live is not None and bool(live.timers)


def ended_with(flows: Flows, case: CaseId) -> object:
    """Return what the case's flow came to."""
    row = flows.host.operations.find(case_instance_id(case))
    assert row is not None
    return json.loads(row.output or "null")


@pytest.mark.req("PR-04", "ES-02", "HD-01")
async def test_fault_077_a_case_that_is_claimed_ends_its_wait_and_its_timer(flows: Flows) -> None:
    """The SLA is hours away; the claim ends the instance now, and no timer is left behind."""
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT))
    case = CaseId(str((await flows.send(WISH)).case_id))
    flows.host.poke("cases")
    await until(lambda: is_waiting(flows, case), "the flow waits for the case")

    assert (await flows.desk("claim", case)).status_code == 200

    assert await flows.case_flow(case) == "Completed"
    assert ended_with(flows, case) == {"ended": "claimed"}
    assert flows.host.store.messages_of(case_instance_id(case)) == []


@pytest.mark.req("PR-04", "ES-02", "HD-01")
async def test_fault_082_a_claim_before_the_flow_looks_is_seen_in_the_store(flows: Flows) -> None:
    """The event would be lost on an instance that is not there yet; the first look finds the claim."""
    case = waiting_case(flows, due_in_s=3_600)
    await flows.base.cases.open(SCOPE, case)
    await flows.base.cases.claim(SCOPE, case.id, "dana")

    await flows.wait_for(case.id)

    assert await flows.case_flow(case.id) == "Completed"
    assert ended_with(flows, case.id) == {"ended": "claimed"}


@pytest.mark.req("PR-04", "ES-02", "HD-01")
async def test_fault_082_a_claim_while_the_flow_starts_ends_the_wait_whichever_comes_first(flows: Flows) -> None:
    """The person is as quick as the starter: an event may be early or lost, the wait is over all the same."""
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT))
    case = CaseId(str((await flows.send(WISH)).case_id))

    _, claimed = await asyncio.gather(flows.wait_for(case), flows.desk("claim", case))

    assert claimed.status_code == 200
    assert await flows.case_flow(case) == "Completed"
    assert ended_with(flows, case) == {"ended": "claimed"}


@pytest.mark.req("PR-04", "ES-02")
async def test_fault_082_a_claim_whose_event_was_lost_pages_nobody_when_the_case_is_due(flows: Flows) -> None:
    """The timer is only a reason to look again: the store says that somebody has it."""
    pager, case = WrittenPager(), waiting_case(flows, due_in_s=1.0)
    flows.play_with(pager=pager)
    await flows.base.cases.open(SCOPE, case)
    await flows.wait_for(case.id)
    await until(lambda: is_waiting(flows, case.id), "the flow waits for the case")

    await flows.base.cases.claim(SCOPE, case.id, "dana")

    assert await flows.case_flow(case.id) == "Completed"
    assert ended_with(flows, case.id) == {"ended": "claimed"}
    assert pager.pages == []


@pytest.mark.req("PR-04")
async def test_a_case_nobody_claims_pages_on_call_once(flows: Flows) -> None:
    """Past its SLA: one page, whoever looks again, be it a repeated activity or the sweeper."""
    pager, case = WrittenPager(), waiting_case(flows, due_in_s=0.3)
    flows.play_with(pager=pager)
    await flows.base.cases.open(SCOPE, case)
    await flows.wait_for(case.id)

    status = await flows.case_flow(case.id)
    again = await flows.repeat(ActivityName.PAGE, {"tenant_id": TENANT, "case_id": case.id})
    await flows.sweep()

    assert (status, ended_with(flows, case.id)) == ("Completed", {"ended": "paged"})
    assert again is False
    assert pager.pages == [case.id]
    assert (await flows.case(case.id)).is_paged


@pytest.mark.req("PR-04")
async def test_a_pager_that_fails_is_asked_again(flows: Flows) -> None:
    """A page that did not go out must not be noted as one that did."""
    pager, case = WrittenPager(failures=2), waiting_case(flows, due_in_s=-1)
    flows.play_with(pager=pager)

    await flows.base.cases.open(SCOPE, case)
    flows.host.poke("cases")

    assert await flows.case_flow(case.id) == "Completed"
    assert pager.pages == [case.id]


@pytest.mark.req("PR-04", "RK-04")
async def test_fault_083_five_starters_of_one_case_page_once(flows: Flows) -> None:
    """The feed and four sweepers at once: one instance by its id, one effect by the case's own state."""
    pager, case = WrittenPager(), waiting_case(flows, due_in_s=-1)
    flows.play_with(pager=pager)
    await flows.base.cases.open(SCOPE, case)
    flows.host.poke("cases")

    await asyncio.gather(*(flows.sweep() for _ in range(4)))

    assert await flows.case_flow(case.id) == "Completed"
    await until(lambda: flows.is_quiet(), "nothing runs any more")
    assert pager.pages == [case.id]


@pytest.mark.req("RK-04", "GW-04")
async def test_fault_083_two_starters_of_one_turn_send_one_reply(flows: Flows) -> None:
    """The sender repeats the request while the first is under way: same row, same instance, one reply."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    conversation, message = f"c-{secrets.token_hex(6)}", f"m-{secrets.token_hex(6)}"

    posted = await asyncio.gather(*(flows.post(QUESTION, conversation=conversation, message=message) for _ in range(3)))
    result = await flows.result(posted[0])

    assert result.outcome is Outcome.ANSWERED
    assert len(await flows.outbox(conversation)) == 1
    assert len(await flows.chain(conversation)) == 1


@pytest.mark.req("DC-03", "RK-04")
async def test_the_sweeper_starts_a_turn_that_was_accepted_and_never_started(flows: Flows) -> None:
    """The starter died between the batch and the start: the row decides."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    row = await accepted_earlier(flows, QUESTION, minutes=1)

    await asyncio.gather(flows.sweep(), flows.sweep())

    assert (await flows.result(sent(row))).outcome is Outcome.ANSWERED
    assert len(await flows.outbox(row.conversation_id)) == 1


@pytest.mark.req("DC-03", "RK-04")
async def test_the_sweeper_leaves_a_message_alone_whose_starter_is_still_at_work(flows: Flows) -> None:
    """Thirty seconds are the starter's own."""
    row = await accepted_earlier(flows, QUESTION, minutes=0.1)

    await flows.sweep()

    assert flows.host.operations.find(row.instance_id) is None


@pytest.mark.req("ES-02", "HD-01", "PR-04")
async def test_fault_009_the_sweeper_finishes_a_handoff_whose_flow_died_half_way(flows: Flows) -> None:
    """The conversation is a person's, the queue does not know: the case is opened, then the customer told.

    The sweeper also revives the turn's flow, which may or may not get as far as asking a model.
    """
    flows.cast.classifier.always(understood(CustomerIntent.HUMAN_AGENT))
    row = await accepted_earlier(flows, WISH, minutes=5)
    tickets, case = earlier_tickets(flows, 5), case_id(TENANT, row.conversation_id, row.message_id)
    await tickets.mark_started(SCOPE, row)
    await tickets.begin_handoff(
        SCOPE,
        row.conversation_id,
        row.message_id,
        None,
        case=case,
        triggers=(HumanTrigger.EXPLICIT_WISH.value,),
        severity=Severity.HIGH.value,
    )

    await flows.sweep()

    await until(lambda: flows.is_quiet(), "nothing runs any more")
    opened = await flows.case(case)
    assert (opened.status, opened.severity, opened.triggers) == (CaseStatus.OPEN, Severity.HIGH, ("explicit_wish",))
    result = (await flows.turn(sent(row))).result
    assert result is not None
    assert (result.outcome, result.case_id) == (Outcome.ESCALATED, case)
    assert len(await flows.outbox(row.conversation_id)) == 1
    assert await flows.base.tickets.unprojected_handoffs(flows.base.clock.now(), 10) == ()


@pytest.mark.req("RK-04", "PR-04")
async def test_the_sweeper_revives_a_turn_whose_flow_died(flows: Flows) -> None:
    """The row says started and nothing runs: the flow begins again and answers once."""
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)
    row = await accepted_earlier(flows, QUESTION, minutes=5)
    await earlier_tickets(flows, 5).mark_started(SCOPE, row)

    await flows.sweep()

    assert (await flows.result(sent(row))).outcome is Outcome.ANSWERED
    assert len(await flows.outbox(row.conversation_id)) == 1


@pytest.mark.req("RK-03", "PR-04")
async def test_a_turn_that_keeps_dying_is_given_to_a_person(flows: Flows) -> None:
    """Poison: after three starts nobody tries a fourth."""
    row = await accepted_earlier(flows, QUESTION, minutes=5)
    for _ in range(MAX_STARTS):
        await earlier_tickets(flows, 5).mark_started(SCOPE, row)

    await flows.sweep()

    result = (await flows.turn(sent(row))).result
    assert result is not None
    assert result.outcome is Outcome.ESCALATED
    assert (await flows.case(result.case_id)).message_id == row.message_id
    assert len(await flows.outbox(row.conversation_id)) == 1
    assert [entry.message_id for entry in await flows.chain(row.conversation_id)] == [row.message_id]
    assert flows.host.operations.find(row.instance_id) is None


@dataclass(frozen=True, slots=True)
class LaterClock:
    """A clock that is ahead by some days."""

    inner: Clock
    days: float

    def now(self) -> datetime:
        """Return the moment as it will be."""
        return self.inner.now() + timedelta(days=self.days)


class OneBadCase(CaseRecords):
    """Case records that cannot open the case of one message."""

    bad: MessageId

    async def open(self, scope: TenantScope, case: Case) -> Case:
        """Fail for the one."""
        if case.message_id == self.bad:
            raise SchemaError("this case cannot be written")
        return await super().open(scope, case)


@pytest.mark.req("RK-03", "DC-03")
async def test_one_turn_that_cannot_be_helped_does_not_keep_the_sweeper_from_the_others(flows: Flows) -> None:
    """A sweep serves every tenant: what fails stays for the next one, what comes after it is done now."""
    turns = [await accepted_earlier(flows, QUESTION, minutes=5) for _ in range(2)]
    for row in turns:
        for _ in range(MAX_STARTS):
            await earlier_tickets(flows, 5).mark_started(SCOPE, row)
    bad, good = sorted(turns, key=lambda row: row.conversation_id)
    cases = OneBadCase(flows.base.documents, flows.base.clock)
    cases.bad = bad.message_id
    flows.play_with(cases=cases)

    await flows.sweep()
    while_bad = (await flows.turn(sent(bad))).result
    flows.play_with()
    await flows.sweep()

    assert while_bad is None
    assert [len(await flows.outbox(row.conversation_id)) for row in (bad, good)] == [1, 1]


@pytest.mark.req("PV-05")
async def test_fault_045_histories_of_ended_flows_are_purged_after_a_week(flows: Flows) -> None:
    """Nothing else removes them, and they hold what the customer wrote; what still runs is left alone."""
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT))
    turn = await flows.post(WISH)
    case = CaseId(str((await flows.result(turn)).case_id))
    flows.host.poke("cases")
    await until(lambda: is_waiting(flows, case), "the flow waits for the case")
    purge = flows.worker.fns["purge_expired"]

    await flows.host.run_once(purge)
    is_kept = flows.host.operations.find(turn.instance) is not None
    flows.play_with(clock=LaterClock(flows.base.clock, 8))
    await flows.host.run_once(purge)

    assert is_kept
    assert flows.host.operations.find(turn.instance) is None
    assert flows.host.store.episodes(turn.instance) == []
    assert is_waiting(flows, case)
