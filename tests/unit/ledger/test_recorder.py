"""What the recorder keeps of a turn: nobody's name, nobody's words, and a proof it cannot read."""

from pathlib import Path

import pytest

from agents.analytics_recorder import record_turn
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.ledger import AnalyticsRecords, LedgerRecords
from shared.domain.envelope import EnvelopeHeader
from shared.domain.errors import AuthorityError
from shared.domain.ids import CustomerId, MessageId
from shared.domain.ledger import LedgerEntry, is_intact
from shared.domain.routing_facts import RoutingFacts
from shared.domain.ticket import ProofRow, TurnRow
from shared.domain.turns import StepTimes
from shared.ports.documents import Container, CustomerScope, Query, TenantScope
from shared.privacy.keys import KeyRing
from shared.privacy.proof_seals import ProofSeals
from tests.unit.ledger.conftest import bytes_on_disk
from tests.unit.ledger.turns import ANA, BODY, C1, NOW, ORDER, REPLY, RETURNS, T1, proof_row, row, scope, trail

SCOPE = TenantScope(T1)
BEN = CustomerId("ben-11aa")


class Recording:
    """The recorder with its ports."""

    def __init__(self, ledger: LedgerRecords, analytics: AnalyticsRecords, seals: ProofSeals) -> None:
        self.ledger, self.analytics, self.seals = ledger, analytics, seals

    async def record(
        self,
        turn: TurnRow,
        proof: ProofRow | None,
        *,
        times: StepTimes = StepTimes(),  # noqa: B008 - frozen
        messages: tuple[EnvelopeHeader, ...] = (),
    ) -> bool:
        """Record one turn."""
        return await record_turn(
            turn,
            times,
            messages,
            proof,
            at=NOW,
            pseudonyms=self.seals,
            ledger=self.ledger,
            analytics=self.analytics,
        )

    async def entry(self, message: str = "m1") -> LedgerEntry:
        """Return what was kept."""
        found = (await self.ledger.chain(SCOPE, C1)).entry(MessageId(message))
        assert found is not None
        return found


@pytest.fixture
def recording(ledger: LedgerRecords, analytics: AnalyticsRecords, seals: ProofSeals) -> Recording:
    """The recorder with its ports."""
    return Recording(ledger, analytics, seals)


@pytest.mark.req("PR-01", "ME-06")
async def test_the_turns_exchange_of_messages_is_kept_in_order(recording: Recording, seals: ProofSeals) -> None:
    """Who asked whom what, following from what; the payload stands behind its hash."""
    await recording.record(row(), await proof_row(seals), messages=trail())

    asked, answer = (await recording.entry()).messages
    assert (asked.msg_id, answer.parent_msg_id) == ("msg-1", "msg-1")
    assert (answer.sender_agent.value, answer.intent.value) == ("account_context", "result")
    assert (answer.timestamp, answer.confidence) == (NOW, 0.1)


@pytest.mark.req("ME-06", "PV-01")
async def test_the_ledger_holds_neither_the_customers_id_nor_their_records_nor_their_words(
    recording: Recording, seals: ProofSeals, documents: SqliteDocuments
) -> None:
    """Every document of the container, as stored. Source: design §6 ("pseudonymous")."""
    await recording.record(row(), await proof_row(seals), messages=trail())

    page = await documents.query(Container.LEDGER, SCOPE, Query(None, reason="all of it"))
    stored = str([dict(item.body) for item in page.items])
    for secret in (ANA, "1001", REPLY, "where is it", "all of it"):
        assert secret not in stored
    entry = await recording.entry()
    assert entry.refs[0] == RETURNS
    assert entry.refs[1].startswith("order:~")
    assert entry.refs[2].startswith("profile:~")
    assert entry.messages[1].source_refs == (entry.refs[1], entry.refs[2], RETURNS)


@pytest.mark.req("ME-06")
async def test_entries_of_one_customer_can_be_told_to_belong_together(recording: Recording, seals: ProofSeals) -> None:
    """Equal under one key, different from another customer's, and none for an unknown visitor."""
    await recording.record(row("m1"), await proof_row(seals, "m1"))
    await recording.record(row("m2"), await proof_row(seals, "m2"))
    await recording.record(row("m3", customer=BEN), await proof_row(seals, "m3", BEN))
    await recording.record(row("m4", customer=None), await proof_row(seals, "m4", None))

    first, second, bens, nobodys = [await recording.entry(m) for m in ("m1", "m2", "m3", "m4")]
    assert first.customer_hash == second.customer_hash
    assert first.refs == second.refs
    assert first.reply_hash == second.reply_hash
    assert len({first.customer_hash, bens.customer_hash, nobodys.customer_hash}) == 3
    assert nobodys.customer_hash == ""
    assert len({first.refs[1], bens.refs[1], nobodys.refs[1]}) == 3


@pytest.mark.req("ME-06", "PR-01")
async def test_the_hash_of_a_message_cannot_be_guessed_without_the_key(recording: Recording, seals: ProofSeals) -> None:
    """A short text is found by trying all short texts; under a key it is not. Source: design §6 ("keyed hashes")."""
    await recording.record(row("m1"), await proof_row(seals, "m1"), messages=trail())
    await recording.record(row("m2", customer=BEN), await proof_row(seals, "m2", BEN), messages=trail())

    anas, bens = await recording.entry("m1"), await recording.entry("m2")
    plain, ours, theirs = ([m.text_hash for m in messages] for messages in (trail(), anas.messages, bens.messages))
    assert len({*plain, *ours, *theirs}) == 6


@pytest.mark.req("ME-06", "AX-05")
async def test_the_recorder_copies_the_seal_it_was_given(recording: Recording, seals: ProofSeals) -> None:
    """It cannot make or open one: its ports are pseudonyms and two writers."""
    proof = await proof_row(seals)

    await recording.record(row(), proof)

    entry = await recording.entry()
    assert entry.sealed == proof.sealed
    assert await seals.open(scope(), MessageId("m1"), proof.sealed) == BODY


@pytest.mark.req("ME-06", "AX-03")
async def test_recording_twice_keeps_one_entry(recording: Recording, seals: ProofSeals) -> None:
    """A repeated activity."""
    proof = await proof_row(seals)

    assert await recording.record(row(), proof)
    assert not await recording.record(row(), proof)

    chain = await recording.ledger.chain(SCOPE, C1)
    assert len(chain.entries) == 1
    assert is_intact(chain)


@pytest.mark.req("ME-06")
async def test_a_turn_that_told_nothing_is_kept_without_a_seal(recording: Recording) -> None:
    """Superseded, or a person's: there is nothing to vouch for, and still an entry."""
    await recording.record(row(told=False), None)

    entry = await recording.entry()
    assert (entry.outcome, entry.sealed, entry.reply_hash) == ("superseded", None, "")
    assert entry.customer_hash


@pytest.mark.req("ME-06")
async def test_a_turn_that_has_not_ended_is_not_recorded(recording: Recording) -> None:
    """There is no result."""
    assert not await recording.record(row().model_copy(update={"result": None}), None)

    assert (await recording.ledger.chain(SCOPE, C1)).entries == ()


@pytest.mark.req("SC-02")
async def test_what_routing_decided_on_is_kept_with_the_figures(
    recording: Recording, seals: ProofSeals, documents: SqliteDocuments
) -> None:
    """A dry run decides again from stored facts."""
    facts = RoutingFacts(is_classified=True, confidence=0.7)
    times = StepTimes(took_ms={"a": 3}, facts=facts, has_widened=True, is_first=True, shadow="agree", is_audited=True)

    await recording.record(row(), await proof_row(seals), times=times)

    stored = await documents.read(Container.ANALYTICS, SCOPE, T1, f"turn:{C1}:m1")
    assert stored is not None
    assert RoutingFacts.model_validate(stored.body["facts"]) == facts
    kept = ("has_widened", "is_first", "shadow", "is_audited")
    assert [stored.body[name] for name in kept] == [True, True, "agree", True]


@pytest.mark.req("PV-04", "ME-06")
async def test_destroying_the_customers_key_makes_the_sealed_part_unreadable_and_breaks_no_link(
    recording: Recording, seals: ProofSeals, keys: KeyRing
) -> None:
    """Append-only and erasure agree. Source: design §6."""
    for message in ("m1", "m2", "m3"):
        customer = BEN if message == "m2" else ANA
        await recording.record(row(message, customer=customer), await proof_row(seals, message, customer))
    before = await recording.ledger.chain(SCOPE, C1)

    await keys.destroy(CustomerScope(T1, ANA))

    after = await recording.ledger.chain(SCOPE, C1)
    opened = [
        await seals.open(scope(owner), e.message_id, e.sealed)
        for e, owner in zip(after.entries, (ANA, BEN, ANA), strict=True)
        if e.sealed is not None
    ]
    assert after == before
    assert is_intact(after)
    assert opened == [None, BODY, None]


@pytest.mark.req("PV-04")
async def test_nothing_ties_an_erased_customer_to_their_entries_any_more(
    recording: Recording, seals: ProofSeals, keys: KeyRing
) -> None:
    """The same person comes back under another key: their name does not hash to what it did."""
    await recording.record(row("m1"), await proof_row(seals, "m1"))
    await keys.destroy(CustomerScope(T1, ANA))

    await recording.record(row("m2"), await proof_row(seals, "m2"))

    first, second = await recording.entry("m1"), await recording.entry("m2")
    assert first.customer_hash != second.customer_hash
    assert not set(first.refs[1:]) & set(second.refs[1:])


@pytest.mark.req("PV-04")
async def test_a_customer_erased_between_reply_and_record_gets_no_key_and_no_lasting_name(
    recording: Recording, seals: ProofSeals, keys: KeyRing
) -> None:
    """Recording goes on, and makes nothing that would have to be erased again."""
    proof = await proof_row(seals)
    await keys.destroy(CustomerScope(T1, ANA))

    await recording.record(row(), proof, messages=trail())

    entry = await recording.entry()
    assert await keys.existing_key(CustomerScope(T1, ANA)) is None
    assert entry.sealed is not None
    assert await seals.open(scope(), MessageId("m1"), entry.sealed) is None
    assert is_intact(await recording.ledger.chain(SCOPE, C1))


@pytest.mark.req("PV-04", "ME-06")
async def test_a_sealed_proof_opens_only_for_its_own_turn(seals: ProofSeals) -> None:
    """Put beside another message or conversation it is worth nothing."""
    proof = await proof_row(seals, "m1")

    with pytest.raises(AuthorityError):
        await seals.open(scope(), MessageId("m2"), proof.sealed)
    with pytest.raises(AuthorityError):
        await seals.open(scope(conversation=type(C1)("c2")), MessageId("m1"), proof.sealed)


@pytest.mark.req("ME-06")
async def test_a_proof_opens_for_whoever_the_reader_is(seals: ProofSeals) -> None:
    """Sealed for a visitor who became a customer, or read when the ticket is gone: the seal names its key."""
    visitors = await proof_row(seals, "m1", None)
    anas = await proof_row(seals, "m2", ANA)

    assert await seals.open(scope(ANA), MessageId("m1"), visitors.sealed) == BODY
    assert await seals.open(scope(None), MessageId("m2"), anas.sealed) == BODY


@pytest.mark.req("PV-04")
async def test_an_unknown_visitors_conversation_is_erased_alone(seals: ProofSeals, keys: KeyRing) -> None:
    """It has a key of its own, so that it can go with the customer it became; others stay readable."""
    visitors = await proof_row(seals, "m1", None)
    other = scope(None, type(C1)("c2"))
    others = await seals.seal(other, MessageId("m1"), BODY)

    assert await keys.destroy(scope(None))

    assert await seals.open(scope(None), MessageId("m1"), visitors.sealed) is None
    assert await seals.open(other, MessageId("m1"), others) == BODY


@pytest.mark.req("ME-06", "PV-05")
async def test_no_word_of_a_proof_is_on_disk(seals: ProofSeals, recording: Recording, tmp_path: Path) -> None:
    """Bytes of the database, its log included."""
    await recording.record(row(), await proof_row(seals), messages=trail())

    stored = bytes_on_disk(tmp_path)
    assert b"all of it" not in stored
    assert ORDER.encode() not in stored
