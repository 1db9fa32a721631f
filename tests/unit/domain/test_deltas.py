"""Deltas, envelopes, transitions, money: the pure rules everything stands on."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from shared.domain.agents import SPECS, AgentName
from shared.domain.deltas import (
    WRITERS,
    Classification,
    ClassificationDelta,
    Escalation,
    EscalationDelta,
    Metadata,
    Snapshot,
    TurnState,
    apply_batch,
)
from shared.domain.drafts import (
    REQUIRED_CHECKS,
    ApprovedReply,
    Check,
    CheckVerdict,
    Draft,
    Review,
    Sentence,
    SentenceKind,
    draft_hash,
)
from shared.domain.envelope import AnswerEnvelope, ReadEnvelope, WriteEnvelope
from shared.domain.errors import AuthorityError, SchemaError, StalenessError
from shared.domain.ids import ConversationId, InstanceId, MessageId, TenantId, turn_instance_id
from shared.domain.intents import CustomerIntent
from shared.domain.money import Money, from_decimal
from shared.domain.text import MaskedText
from shared.domain.ticket import Owner, TicketStatus
from shared.domain.transitions import TRANSITIONS, TicketOp, after
from shared.wire import decode, encode

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def a_state() -> TurnState:
    """Build an empty state."""
    return TurnState(
        snapshot=Snapshot(
            conversation_id=ConversationId("c"),
            tenant_id=TenantId("t"),
            message=MaskedText("where is it"),
            metadata=Metadata(timestamp=NOW),
            message_id=MessageId("m"),
            instance_id=InstanceId("i"),
        )
    )


def classified(version: int) -> ClassificationDelta:
    """Build a classification for a version."""
    found = Classification(customer_intent=CustomerIntent.ORDER_STATUS, confidence=0.9)
    return ClassificationDelta(base_version=version, classification=found)


@pytest.mark.req("PR-03")
def test_one_join_is_one_version_step() -> None:
    """Design §3: parallel deltas share a base version and move it once."""
    state = a_state()

    joined = apply_batch(state, (classified(0), EscalationDelta(base_version=0, escalation=Escalation())))

    assert joined.version == 1
    assert joined.classification is not None
    assert state.classification is None


@pytest.mark.req("PR-03")
def test_stale_delta_is_refused() -> None:
    """PR-03: a delta on an old version is rejected."""
    with pytest.raises(StalenessError):
        apply_batch(apply_batch(a_state(), ()), (classified(0),))


@pytest.mark.req("PR-03")
def test_two_deltas_writing_one_field_are_refused() -> None:
    """PR-03: disjoint write-sets."""
    with pytest.raises(SchemaError):
        apply_batch(a_state(), (classified(0), classified(0)))


@pytest.mark.req("PR-03", "AX-05")
def test_write_sets_of_the_agents_are_disjoint_and_total() -> None:
    """PR-03: each field of the state has exactly one agent that writes it."""
    written = [field for spec in SPECS.values() for field in spec.writes]

    assert len(written) == len(set(written))
    assert set(written) == set(TurnState.model_fields) - {"snapshot", "version"}
    assert {agent for agent, _ in WRITERS.values()} == set(AgentName) - {AgentName.ANALYTICS_RECORDER}
    assert all(field in SPECS[agent].writes for agent, field in WRITERS.values())


@pytest.mark.req("PR-03")
def test_snapshots_are_read_only_in_fact() -> None:
    """PR-03: agents get read-only snapshots."""
    with pytest.raises(ValidationError):
        a_state().snapshot.seq = 2  # type: ignore[misc]


@pytest.mark.req("PR-01")
def test_missing_confidence_is_zero() -> None:
    """PR-01."""
    assert classified(0).confidence == 0.0


@pytest.mark.req("PR-05")
def test_the_pipeline_message_has_the_published_fields() -> None:
    """S1 "Internal message format"."""
    message = encode(a_state().snapshot)

    assert {"conversation_id", "tenant_id", "message", "intent", "context", "metadata"} <= set(message)
    assert {"history", "customer_profile", "retrieved_knowledge"} <= set(message["context"])
    assert {"language", "timestamp"} <= set(message["metadata"])


def told(payload: dict[str, object], **other: object) -> dict[str, object]:
    """Build an envelope as it arrives."""
    return {
        "msg_id": "1",
        "trace_id": "t",
        "sender_agent": "supervisor",
        "recipient_agent": "action_executor",
        "intent": "request",
        "payload": payload,
        "timestamp": NOW,
        "conversation_id": "c",
        "tenant_id": "t",
        **other,
    }


@pytest.mark.req("PR-01", "PR-02", "AX-05")
@pytest.mark.parametrize(
    ("kind", "envelope"),
    [
        (ReadEnvelope, told({"kind": "read"}, authority_token="seal")),
        (WriteEnvelope, told({"kind": "write", "action": {}, "base_version": 0})),
        (ReadEnvelope, told({"kind": "read"}, sender_agent="response_composer")),
        (ReadEnvelope, told({"kind": "read"}, intent="result")),
        (AnswerEnvelope, told({"kind": "outcome", "outcome": {"ok": True}})),
        (ReadEnvelope, told({"kind": "read"}, schema_version=1)),
        (ReadEnvelope, told({"kind": "read"}, confidence=1.5)),
        (ReadEnvelope, told({"kind": "read"}, extra="field")),
    ],
    ids=[
        "a read with a token",
        "a write without one",
        "an agent asks",
        "an answer that asks",
        "a request that answers",
        "an old schema",
        "a belief above one",
        "an unknown field",
    ],
)
def test_what_is_no_message_of_ours_is_refused(kind: type[BaseModel], envelope: dict[str, object]) -> None:
    """PR-02: validated at each hop."""
    with pytest.raises(ValidationError):
        kind.model_validate(envelope)


@pytest.mark.req("PR-01")
def test_a_message_without_a_belief_has_none() -> None:
    """PR-01: a missing confidence is 0, an attempt is the first."""
    read = ReadEnvelope.model_validate(told({"kind": "read"}))

    assert (read.confidence, read.attempt_count, read.source_refs, read.authority_token) == (0.0, 1, (), None)


def a_draft(text: str = "Hello.") -> Draft:
    """Build a draft."""
    return Draft(sentences=(Sentence(text=MaskedText(text), kind=SentenceKind.SOCIAL),), language="en")


@pytest.mark.req("SU-03")
@pytest.mark.parametrize("missing", list(Check))
def test_without_every_verdict_there_is_no_approved_reply(missing: Check) -> None:
    """SU-03: no explicit approval, no delivery."""
    draft = a_draft()
    verdicts = tuple(CheckVerdict(check=c, is_passed=True) for c in REQUIRED_CHECKS if c is not missing)

    with pytest.raises(AuthorityError):
        ApprovedReply(draft=draft, review=Review(draft_hash=draft_hash(draft), verdicts=verdicts), scope="s", seal="x")


@pytest.mark.req("SU-03")
def test_an_approval_of_another_draft_is_none() -> None:
    """SU-03: the approval is tied to exactly these sentences."""
    verdicts = tuple(CheckVerdict(check=c, is_passed=True) for c in REQUIRED_CHECKS)
    review = Review(draft_hash=draft_hash(a_draft("Hello.")), verdicts=verdicts)

    with pytest.raises(AuthorityError):
        ApprovedReply(draft=a_draft("You get 500 EUR."), review=review, scope="s", seal="x")


@pytest.mark.req("ES-02")
def test_fault_005_no_transition_lets_the_bot_answer_what_a_person_owns() -> None:
    """Fault 005, as a property of the table."""
    person = (Owner.PERSON, TicketStatus.NEEDS_REVIEW)

    assert (TicketOp.ANSWER, person) not in TRANSITIONS
    with pytest.raises(StalenessError):
        after(TicketOp.ANSWER, *person)


@pytest.mark.req("PR-03")
@given(st.sampled_from(list(TicketOp)), st.sampled_from(list(Owner)), st.sampled_from(list(TicketStatus)))
def test_every_transition_leads_to_a_state_of_the_table(op: TicketOp, owner: Owner, status: TicketStatus) -> None:
    """No operation leads out of the table: whatever is reached can go on."""
    starts = {state for _, state in TRANSITIONS}
    try:
        reached = after(op, owner, status)
    except StalenessError:
        return

    assert reached in starts


@pytest.mark.req("GW-04")
@given(st.lists(st.text(alphabet="abc._-", min_size=1, max_size=5), min_size=6, max_size=6, unique=True))
def test_instance_ids_do_not_collide_across_borders(parts: list[str]) -> None:
    """Design §3: length-prefixed parts; moving a character over a border changes the id."""
    a, b, c = parts[:3]
    one = turn_instance_id(TenantId(a), ConversationId(b + c), MessageId("m"))
    other = turn_instance_id(TenantId(a + b), ConversationId(c), MessageId("m"))

    assert one != other
    assert len(one) <= 100


@pytest.mark.req("AX-02")
@given(st.integers(0, 10**9), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_money_round_trips_through_its_decimal(amount: int, currency: str) -> None:
    """AX-02: minor units, never floats."""
    money = Money(amount_minor=amount, currency=currency)

    assert from_decimal(money.to_decimal(), currency) == money


@pytest.mark.req("AX-02")
def test_money_of_two_currencies_does_not_add() -> None:
    """AX-02."""
    with pytest.raises(SchemaError):
        _ = Money(amount_minor=1, currency="EUR") + Money(amount_minor=1, currency="USD")


@pytest.mark.req("DC-03")
def test_fault_078_what_crosses_a_yield_comes_back_equal() -> None:
    """Fault 078: plain JSON across the border; datetime, enum and None round-trip."""
    state = apply_batch(a_state(), (classified(0),))

    assert decode(TurnState, encode(state)) == state


@pytest.mark.req("PV-05")
def test_a_malformed_payload_is_refused_without_quoting_it() -> None:
    """Conventions: customer text never enters an error."""
    with pytest.raises(SchemaError) as caught:
        decode(Snapshot, {"message": "my mail is ana@x.example"})

    assert "ana" not in str(caught.value)
