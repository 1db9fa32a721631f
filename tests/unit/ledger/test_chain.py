"""The chain finds every change of itself: an entry dropped, cut off, added, moved or edited, on disk too."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.codec import to_document
from shared.adapters.records.ledger import CHAIN_PAGE, LedgerRecords
from shared.domain.envelope import EnvelopeHeader
from shared.domain.ids import ConversationId, InstanceId, MessageId, TenantId
from shared.domain.ledger import GENESIS, Chain, ChainHead, LedgerEntry, is_intact
from shared.domain.proof_body import SealedProof
from shared.ports.documents import Container, TenantScope, conversation_partition
from tests.unit.ledger.turns import C1, NOW, T1, trail

SCOPE = TenantScope(T1)


def entry(message: str, *, conversation: ConversationId = C1, at: datetime = NOW) -> LedgerEntry:
    """Return an entry before it is linked."""
    return LedgerEntry(
        id=f"turn:{message}",
        tenant_id=T1,
        conversation_id=conversation,
        message_id=MessageId(message),
        instance_id=InstanceId(f"t-{message}"),
        customer_hash="c" * 64,
        seq=1,
        outcome="answered",
        verdicts={"grounding": True, "safety": True},
        messages=trail(),
        sealed=SealedProof(key_id="k1", ciphertext=f"v1.{message}"),
        at=at,
    )


def linked(*messages: str) -> Chain:
    """Return a chain of entries."""
    entries: list[LedgerEntry] = []
    for position, message in enumerate(messages, start=1):
        entries.append(entry(message).with_hash(position, entries[-1].entry_hash if entries else GENESIS))
    return Chain(tuple(entries), head(entries[-1]) if entries else None)


def head(last: LedgerEntry) -> ChainHead:
    """Return the head that ends a chain with the entry."""
    return ChainHead(tenant_id=T1, conversation_id=C1, position=last.position, entry_hash=last.entry_hash)


CHAIN = linked("m1", "m2", "m3")
E1, E2, E3 = CHAIN.entries


def edited(**update: object) -> LedgerEntry:
    """Return the middle entry with fields changed and its own hash made to fit."""
    changed = E2.model_copy(update=update)
    return changed.model_copy(update={"entry_hash": changed.computed_hash()})


TAMPERED = {
    "the first is dropped": replace(CHAIN, entries=(E2, E3)),
    "one in the middle is dropped": replace(CHAIN, entries=(E1, E3)),
    "the last is dropped": replace(CHAIN, entries=(E1, E2)),
    "all are dropped": replace(CHAIN, entries=()),
    "the head is dropped": replace(CHAIN, head=None),
    "two are swapped": replace(CHAIN, entries=(E2, E1, E3)),
    "two are swapped and renumbered": replace(
        CHAIN, entries=(E2.with_hash(1, GENESIS), E1.with_hash(2, E2.with_hash(1, GENESIS).entry_hash), E3)
    ),
    "one is there twice": replace(CHAIN, entries=(E1, E2, E2, E3)),
    "one is added behind the end": replace(CHAIN, entries=(*CHAIN.entries, entry("m4").with_hash(4, E3.entry_hash))),
    "an outcome is edited": replace(CHAIN, entries=(E1, E2.model_copy(update={"outcome": "escalated"}), E3)),
    "an outcome is edited and hashed anew": replace(CHAIN, entries=(E1, edited(outcome="escalated"), E3)),
    "a verdict is edited": replace(CHAIN, entries=(E1, E2.model_copy(update={"verdicts": {"safety": False}}), E3)),
    "a ciphertext is edited": replace(
        CHAIN, entries=(E1, E2.model_copy(update={"sealed": SealedProof(key_id="k1", ciphertext="v1.x")}), E3)
    ),
    "a ciphertext is taken out": replace(CHAIN, entries=(E1, E2.model_copy(update={"sealed": None}), E3)),
    "a message is taken out of the exchange": replace(
        CHAIN, entries=(E1, E2.model_copy(update={"messages": E2.messages[:1]}), E3)
    ),
    "the moment is edited": replace(
        CHAIN, entries=(E1, E2.model_copy(update={"at": NOW + timedelta(microseconds=1)}), E3)
    ),
    "the last is edited and hashed anew": replace(
        CHAIN, entries=(E1, E2, E3.model_copy(update={"seq": 9}).with_hash(3, E2.entry_hash))
    ),
    "a position is edited": replace(CHAIN, entries=(E1, edited(position=7), E3)),
}


@pytest.mark.req("ME-06", "PR-01")
def test_an_untouched_chain_is_intact() -> None:
    """So is the chain of a conversation nothing was recorded of."""
    assert is_intact(CHAIN)
    assert is_intact(linked("m1"))
    assert is_intact(Chain())


@pytest.mark.req("ME-06")
@pytest.mark.parametrize("name", TAMPERED)
def test_a_chain_that_was_tampered_with_is_not_intact(name: str) -> None:
    """Source: ME-06 "append-only, immutable"."""
    assert not is_intact(TAMPERED[name])


@pytest.mark.req("ME-06")
@pytest.mark.parametrize("name", sorted(set(LedgerEntry.model_fields) - {"entry_hash"}))
def test_every_field_of_an_entry_is_covered_by_its_hash(name: str) -> None:
    """A field added tomorrow is covered by construction; this says so for each."""
    others: dict[str, object] = {
        "verdicts": {"grounding": False},
        "messages": (),
        "sealed": None,
        "at": NOW + timedelta(seconds=1),
        "seq": 99,
        "position": 99,
        "refs": ("article:x@1",),
        "triggers": ("safety",),
    }
    changed = E2.model_copy(update={name: others.get(name, "other")})

    assert changed.computed_hash() != E2.computed_hash()


@pytest.mark.req("ME-06", "PR-02")
@given(
    hours=st.integers(-12, 12),
    microsecond=st.integers(0, 999_999),
    confidence=st.floats(0, 1),
    text=st.text(max_size=20),
)
def test_an_entry_hashes_after_reading_as_it_did_before_writing(
    hours: int, microsecond: int, confidence: float, text: str
) -> None:
    """Whatever zone a clock reports, and whatever a float looks like in JSON."""
    at = datetime(2026, 3, 2, 9, 0, microsecond=microsecond, tzinfo=timezone(timedelta(hours=hours)))
    header: EnvelopeHeader = trail()[0].model_copy(update={"confidence": confidence, "timestamp": at})
    written = entry("m1", at=at).model_copy(update={"messages": (header,), "trace_id": text}).with_hash(1, GENESIS)

    read = LedgerEntry.model_validate(json.loads(json.dumps(to_document(written))))

    assert read == written
    assert read.computed_hash() == written.entry_hash


@pytest.mark.req("ME-06")
def test_a_moment_without_a_zone_is_refused() -> None:
    """It would hash differently on another machine."""
    with pytest.raises(ValueError, match="time zone"):
        entry("m1", at=datetime(2026, 3, 2))  # noqa: DTZ001 - the case


@pytest.mark.req("ME-06")
async def test_entries_are_appended_once_and_linked(ledger: LedgerRecords) -> None:
    """The same turn twice is one entry; each conversation has a chain of its own."""
    appended = [await ledger.append(SCOPE, entry(m)) for m in ("m1", "m2", "m1")]
    await ledger.append(SCOPE, entry("m1", conversation=ConversationId("c2")))

    chain = await ledger.chain(SCOPE, C1)
    assert appended == [True, True, False]
    assert [e.message_id for e in chain.entries] == ["m1", "m2"]
    assert [e.position for e in chain.entries] == [1, 2]
    assert chain.entries[1].previous_hash == chain.entries[0].entry_hash
    assert is_intact(chain)
    assert is_intact(await ledger.chain(SCOPE, ConversationId("c2")))
    assert await ledger.chain(TenantScope(TenantId("t2")), C1) == Chain()


@pytest.mark.req("ME-06", "PR-03")
async def test_turns_recorded_at_once_make_one_chain_without_a_fork(ledger: LedgerRecords) -> None:
    """The head moves in the entry's own batch."""
    await asyncio.gather(*(ledger.append(SCOPE, entry(f"m{i}")) for i in range(6)))

    chain = await ledger.chain(SCOPE, C1)
    assert len(chain.entries) == 6
    assert is_intact(chain)


@pytest.mark.req("ME-06")
async def test_a_chain_longer_than_a_page_is_read_whole(ledger: LedgerRecords) -> None:
    """A conversation of many turns."""
    for i in range(CHAIN_PAGE + 1):
        await ledger.append(SCOPE, entry(f"m{i}"))

    chain = await ledger.chain(SCOPE, C1)

    assert len(chain.entries) == CHAIN_PAGE + 1
    assert is_intact(chain)


Body = dict[str, object]


def _set(**update: object) -> Callable[[Body], Body]:
    return lambda body: {**body, **update}


@pytest.mark.req("ME-06")
@pytest.mark.parametrize("message", ["m1", "m2", "m3"])
@pytest.mark.parametrize(
    "change",
    [
        _set(outcome="escalated"),
        _set(sealed=None),
        _set(position=9),
        _set(verdicts={}),
        _set(surplus="field"),
        _set(at="no moment"),
        None,
    ],
    ids=["outcome", "seal", "place", "verdicts", "surplus", "unreadable", "deleted"],
)
async def test_a_change_in_the_database_itself_is_found(
    ledger: LedgerRecords, documents: SqliteDocuments, message: str, change: Callable[[Body], Body] | None
) -> None:
    """Whoever can write the store can break the chain, not bend it unseen."""
    for m in ("m1", "m2", "m3"):
        await ledger.append(SCOPE, entry(m))
    partition, id = conversation_partition(SCOPE, C1), f"turn:{message}"
    stored = await documents.read(Container.LEDGER, SCOPE, partition, id)
    assert stored is not None
    assert is_intact(await ledger.chain(SCOPE, C1))

    if change is None:
        await documents.delete(Container.LEDGER, SCOPE, partition, id)
    else:
        changed = change(dict(stored.body))
        await documents.replace(Container.LEDGER, SCOPE, partition, changed, etag=stored.etag)  # type: ignore[arg-type]

    assert not is_intact(await ledger.chain(SCOPE, C1))


@pytest.mark.req("ME-06")
async def test_cutting_the_end_off_with_its_head_is_found(ledger: LedgerRecords, documents: SqliteDocuments) -> None:
    """Without a head, entries end nowhere."""
    await ledger.append(SCOPE, entry("m1"))
    await documents.delete(Container.LEDGER, SCOPE, conversation_partition(SCOPE, C1), "head")

    assert not is_intact(await ledger.chain(SCOPE, C1))


class LaterEntry(LedgerEntry):
    """The entry as code of another year may know it."""

    added: str = ""


@pytest.mark.req("ME-06")
def test_an_entry_written_before_a_field_existed_still_verifies() -> None:
    """A field at its default is as if it were not there; anything else in it is covered."""
    read_later = LaterEntry.model_validate(E2.model_dump())

    assert read_later.computed_hash() == E2.entry_hash
    assert read_later.model_copy(update={"added": "x"}).computed_hash() != E2.entry_hash
