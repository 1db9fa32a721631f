"""The proof is stored with the reply or not at all."""

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.tickets import Arrival, Settled, TicketRecords
from shared.domain.ids import CaseId, MessageId, turn_instance_id
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome, TurnResult
from shared.ports.documents import Container, Query, TenantScope, Where, conversation_partition
from shared.privacy.proof_seals import ProofSeals
from tests.conftest import FixedClock
from tests.unit.ledger.turns import C1, T1, proof_row

SCOPE = TenantScope(T1)
ANSWER = TurnResult(outcome=Outcome.ANSWERED, reply=MaskedText("Here you are."))


@pytest.fixture
def tickets(documents: SqliteDocuments, clock: FixedClock) -> TicketRecords:
    """Ticket records over a real store."""
    return TicketRecords(documents, clock)


async def send(tickets: TicketRecords, message: str) -> None:
    """Accept one message of an unknown visitor."""
    await tickets.accept(
        SCOPE,
        Arrival(
            conversation_id=C1,
            message_id=MessageId(message),
            instance_id=turn_instance_id(T1, C1, MessageId(message)),
            masked_text=MaskedText("hello"),
            body_hmac="h",
            channel="web",
            language="",
            trace_id="trace",
            customer_id=None,
            secret_hash="s",
        ),
    )


@pytest.mark.req("KB-10", "ME-06")
async def test_a_delivered_reply_and_its_proof_are_written_together_and_once(
    tickets: TicketRecords, seals: ProofSeals
) -> None:
    """A repeated activity seals anew and changes nothing: the first proof is the reply's."""
    await send(tickets, "m1")
    first, second = await proof_row(seals, "m1", None), await proof_row(seals, "m1", None)

    settled = [await tickets.deliver(SCOPE, C1, MessageId("m1"), 0, ANSWER, proof) for proof in (first, second)]

    assert settled == [Settled.DONE, Settled.DONE]
    assert first.sealed != second.sealed
    assert await tickets.proof(SCOPE, C1, MessageId("m1")) == first


@pytest.mark.req("ME-06")
async def test_a_reply_that_is_not_sent_leaves_no_proof(tickets: TicketRecords, seals: ProofSeals) -> None:
    """Superseded, or of an old version: nothing was told."""
    await send(tickets, "m1")
    await send(tickets, "m2")

    superseded = await tickets.deliver(SCOPE, C1, MessageId("m1"), 0, ANSWER, await proof_row(seals, "m1", None))
    stale = await tickets.deliver(SCOPE, C1, MessageId("m2"), 9, ANSWER, await proof_row(seals, "m2", None))

    assert (superseded, stale) == (Settled.SUPERSEDED, Settled.STALE)
    assert await tickets.proof(SCOPE, C1, MessageId("m1")) is None
    assert await tickets.proof(SCOPE, C1, MessageId("m2")) is None


@pytest.mark.req("ME-06", "ES-02")
async def test_telling_of_a_handoff_is_proven_with_it(tickets: TicketRecords, seals: ProofSeals) -> None:
    """Once, however often the step is repeated."""
    await send(tickets, "m1")
    case, told = CaseId("k1"), ANSWER.model_copy(update={"outcome": Outcome.ESCALATED, "case_id": "k1"})
    await tickets.begin_handoff(SCOPE, C1, MessageId("m1"), 0, case=case, triggers=("wish",), severity="normal")
    first = await proof_row(seals, "m1", None)

    await tickets.finish_handoff(SCOPE, C1, MessageId("m1"), told, first)
    await tickets.finish_handoff(SCOPE, C1, MessageId("m1"), told, await proof_row(seals, "m1", None))

    assert await tickets.proof(SCOPE, C1, MessageId("m1")) == first


@pytest.mark.req("ME-05")
async def test_a_proof_is_no_line_of_the_thread(
    tickets: TicketRecords, seals: ProofSeals, documents: SqliteDocuments
) -> None:
    """Windows and threads read as many bytes with proofs as without."""
    await send(tickets, "m1")
    await tickets.deliver(SCOPE, C1, MessageId("m1"), 0, ANSWER, await proof_row(seals, "m1", None))

    assert len(await tickets.thread(SCOPE, C1)) == len(await tickets.latest(SCOPE, C1, 10)) == 1
    query = Query(conversation_partition(SCOPE, C1), where=(Where("kind", "=", "turn"),))
    (stored,) = (await documents.query(Container.TICKETS, SCOPE, query)).items
    assert "ciphertext" not in str(stored.body)
