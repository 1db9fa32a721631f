"""A store that does not answer for a while: the turn waits it out and ends once, the customer is told once."""

import pytest

from orchestrators.names import ActivityName
from shared.adapters.records.cases import CaseRecords
from shared.adapters.records.ledger import LedgerRecords
from shared.adapters.records.tickets import Settled, TicketRecords
from shared.domain.case import Case
from shared.domain.errors import Unavailable, VersionConflict
from shared.domain.ids import ConversationId, MessageId
from shared.domain.intents import CustomerIntent
from shared.domain.ledger import LedgerEntry
from shared.domain.ticket import Outcome, ProofRow, TurnResult
from shared.ports.documents import TenantScope
from tests.flows.running import Flows
from tests.flows.scripted import CALLS_UP_THE_LADDER
from tests.flows.shop import GROUNDED, QUESTION, TRUE_DRAFT, understood

A_WHILE = 3
"""Calls that fail: more than one, and fewer than take long."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


class TroubledTickets(TicketRecords):
    """Ticket records whose store fails for the first deliveries, and answers late to one of them."""

    trouble: list[Exception]

    async def deliver(
        self,
        scope: TenantScope,
        conversation: ConversationId,
        message: MessageId,
        version: int,
        result: TurnResult,
        proof: ProofRow | None = None,
    ) -> Settled:
        """Fail as long as there is trouble; the last failure comes after the write."""
        if not self.trouble:
            return await super().deliver(scope, conversation, message, version, result, proof)
        failure = self.trouble.pop()
        if not self.trouble:
            await super().deliver(scope, conversation, message, version, result, proof)
        raise failure


class TroubledQueue(CaseRecords):
    """Case records whose store fails for the first writes."""

    trouble: list[Exception]

    async def open(self, scope: TenantScope, case: Case) -> Case:
        """Fail as long as there is trouble."""
        if self.trouble:
            raise self.trouble.pop()
        return await super().open(scope, case)


class TroubledLedger(LedgerRecords):
    """A ledger whose store fails for the first writes."""

    trouble: list[Exception]

    async def append(self, scope: TenantScope, entry: LedgerEntry) -> bool:
        """Fail as long as there is trouble."""
        if self.trouble:
            raise self.trouble.pop()
        return await super().append(scope, entry)


@pytest.mark.req("PR-04", "GO-02", "SU-03")
@pytest.mark.parametrize("failure", [Unavailable("down"), VersionConflict("too fast")], ids=["down", "conflict"])
async def test_a_reply_that_cannot_be_stored_for_a_while_is_sent_once_all_the_same(
    flows: Flows, failure: Exception
) -> None:
    """The last of the failures comes after a write that succeeded without saying so."""
    tickets = TroubledTickets(flows.base.documents, flows.base.clock)
    tickets.trouble = [failure] * A_WHILE
    flows.play_with(tickets=tickets)
    flows.cast.classifier.then(understood())
    flows.cast.composer.then(TRUE_DRAFT)
    flows.cast.reviewer.then(GROUNDED)

    sent = await flows.post(QUESTION)
    result = await flows.result(sent)

    assert result.outcome is Outcome.ANSWERED
    assert tickets.trouble == []
    assert len(await flows.outbox(sent.conversation)) == 1


@pytest.mark.req("ES-02", "PR-04")
async def test_fault_001_while_the_queue_is_down_nobody_is_told_and_afterwards_both_happen(flows: Flows) -> None:
    """Queue first, then tell: both or neither, and in the end both."""
    cases = TroubledQueue(flows.base.documents, flows.base.clock)
    cases.trouble = [Unavailable("down")] * A_WHILE
    flows.play_with(cases=cases)
    flows.cast.classifier.then(understood(CustomerIntent.HUMAN_AGENT))

    sent = await flows.post("let me talk to a person")
    await flows.called(sent, ActivityName.HAND_OVER, times=1)
    told_meanwhile = await flows.outbox(sent.conversation)
    result = await flows.result(sent)

    assert told_meanwhile == ()
    assert result.outcome is Outcome.ESCALATED
    assert (await flows.case(result.case_id)).message_id == sent.message
    assert len(await flows.outbox(sent.conversation)) == 1


@pytest.mark.req("ME-06", "AN-01")
async def test_a_turn_is_recorded_even_when_the_ledger_was_down_at_its_end(flows: Flows) -> None:
    """An audit entry is not given up with the ladder's last rung."""
    ledger = TroubledLedger(flows.base.documents)
    ledger.trouble = [Unavailable("down")] * CALLS_UP_THE_LADDER
    flows.play_with(ledger=ledger)
    flows.cast.classifier.then(understood(is_social=True))

    sent = await flows.post("hello")
    await flows.result(sent)

    assert [entry.message_id for entry in await flows.chain(sent.conversation)] == [sent.message]
