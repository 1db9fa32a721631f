"""What an action is called and the life it has: named by what it is about, done once, over when it is over."""

import itertools
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.actions import (
    COUNTED,
    LIVES,
    PROPOSAL,
    RULES,
    SETTLED,
    Action,
    ActionOp,
    ActionState,
    Address,
    CancelOrderProposal,
    ChangeAddressProposal,
    CrmNoteProposal,
    LineRef,
    Proposal,
    RefundProposal,
    TicketUpdateProposal,
    after,
    new_action_id,
    payload_hash,
    series_id,
)
from shared.domain.errors import StalenessError
from shared.domain.ids import ConversationId, CustomerId, MessageId, OrderId, TenantId
from shared.domain.intents import ActionType
from shared.domain.money import Money

T1, ANA, ORDER = TenantId("t1"), CustomerId("ana"), OrderId("1001")
LINES = st.lists(st.builds(LineRef, line_id=st.sampled_from(["A", "B", "A×1", "C"]), quantity=st.integers(1, 3)))


def refund(*lines: str, order: str = "1001", minor: int | None = None) -> RefundProposal:
    amount = None if minor is None else Money(amount_minor=minor, currency="USD")
    refs = tuple(LineRef(line_id=line, quantity=1) for line in lines)
    return RefundProposal(order_id=OrderId(order), lines=refs, amount=amount)


def name(proposal: Proposal, *, tenant: TenantId = T1, account: CustomerId = ANA, ordinal: int = 1) -> str:
    return new_action_id(tenant, account, proposal, ordinal)


@pytest.mark.req("AX-03")
def test_fault_072_two_lines_of_equal_price_are_two_actions_and_the_same_line_again_is_a_third() -> None:
    """Refund line A, next day line B, then A's second piece: all three are legitimate."""
    a, b = refund("A", minor=1500), refund("B", minor=1500)

    assert len({name(a), name(b), name(a, ordinal=2)}) == 3
    assert name(a) == name(refund("A", minor=1500))


@pytest.mark.req("AX-03")
def test_fault_070_an_actions_name_knows_neither_turn_nor_conversation_nor_amount() -> None:
    """The key under which the shop is called is the same whichever turn, channel or instance asks."""
    at = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    proposal = refund("A", minor=1500)
    ids = {
        Action(
            id=f"action:{name(proposal)}",
            tenant_id=T1,
            customer_id=ANA,
            action_id=name(proposal),
            type=proposal.type,
            ordinal=1,
            proposal=proposal,
            state=ActionState.PENDING,
            policy_version=version,
            conversation_id=ConversationId(conversation),
            message_id=MessageId(message),
            requested_at=at,
            updated_at=at,
            expires_at=at,
        ).action_id
        for conversation, message, version in [("c1", "m1", 1), ("c2", "m9", 4)]
    }

    assert ids == {name(refund("A"))}


@pytest.mark.req("AX-03", "ME-07")
def test_what_differs_in_tenant_account_order_kind_or_extent_has_another_name() -> None:
    proposals: list[Proposal] = [
        refund(),
        refund("A"),
        refund("A", "B"),
        refund(order="1002"),
        CancelOrderProposal(order_id=ORDER),
        CrmNoteProposal(text="x"),
        TicketUpdateProposal(tags=("x",)),
        TicketUpdateProposal(note="x"),
        TicketUpdateProposal(tags=("x", "y")),
        TicketUpdateProposal(tags=("x",), note="y"),
    ]
    names = [name(p) for p in proposals]
    names += [name(refund(), tenant=TenantId("t2")), name(refund(), account=CustomerId("ben"))]

    assert len(set(names)) == len(names)


@pytest.mark.req("AX-03")
@given(lines=LINES, seed=st.randoms(use_true_random=False))
def test_the_order_of_lines_and_how_their_pieces_are_split_name_nothing(lines: list[LineRef], seed: Random) -> None:
    """Two pieces of one line are two pieces, written as one line or as two."""
    split = [LineRef(line_id=line.line_id, quantity=1) for line in lines for _ in range(line.quantity)]
    shuffled = list(split)
    seed.shuffle(shuffled)

    one, other = (RefundProposal(order_id=ORDER, lines=tuple(refs)) for refs in (lines, shuffled))

    assert series_id(T1, ANA, one) == series_id(T1, ANA, other)


@pytest.mark.req("AX-02")
def test_a_grants_payload_hash_sees_every_field_of_the_proposal() -> None:
    home = Address(recipient="Ana", line1="1 Elm St", city="Leeds", country="GB")
    proposals: list[Proposal] = [
        refund("A"),
        refund("A", minor=1),
        refund("A", minor=2),
        refund("B"),
        ChangeAddressProposal(order_id=ORDER),
        ChangeAddressProposal(order_id=ORDER, address=home),
        ChangeAddressProposal(order_id=ORDER, address=home.model_copy(update={"line1": "2 Elm St"})),
    ]

    assert len({payload_hash(p) for p in proposals}) == len(proposals)
    assert [payload_hash(PROPOSAL.validate_json(p.model_dump_json())) for p in proposals] == [
        payload_hash(p) for p in proposals
    ]


@pytest.mark.req("AX-02", "AX-03")
def test_nothing_leaves_a_settled_state() -> None:
    for op, state in itertools.product(ActionOp, SETTLED):
        with pytest.raises(StalenessError):
            after(op, state)


def _reachable(start: ActionState, *, without: frozenset[ActionOp]) -> set[ActionState]:
    seen, open_states = {start}, [start]
    while open_states:
        state = open_states.pop()
        for (op, before), to in LIVES.items():
            if before is state and op not in without and to not in seen:
                seen.add(to)
                open_states.append(to)
    return seen


@pytest.mark.req("AX-02", "AX-03")
def test_what_was_started_is_not_started_again_unless_the_shop_said_that_nothing_was_done() -> None:
    """Only UNDO_START leads from a started action back to where START is possible."""
    startable = {before for (op, before) in LIVES if op is ActionOp.START}
    once_started = _reachable(ActionState.EXECUTING, without=frozenset({ActionOp.UNDO_START}))

    assert startable == {ActionState.APPROVED}
    assert not once_started & startable
    assert ActionState.EXECUTING not in _reachable(ActionState.PENDING, without=frozenset({ActionOp.START}))
    assert {to for (op, _), to in LIVES.items() if op is ActionOp.UNDO_START} == {ActionState.APPROVED}


@pytest.mark.req("AX-02", "AX-04")
def test_only_a_decision_leads_to_a_start_and_what_the_shop_did_late_still_counts() -> None:
    """A call may arrive after the shop was read and nothing was found: its effect settles the approved action."""
    assert after(ActionOp.APPROVE, ActionState.PENDING) is ActionState.APPROVED
    assert after(ActionOp.CONFIRM, ActionState.APPROVED) is ActionState.EXECUTED
    for op in (ActionOp.START, ActionOp.CONFIRM):
        with pytest.raises(StalenessError):
            after(op, ActionState.PENDING)


@pytest.mark.req("AX-01")
def test_every_state_can_be_reached_and_every_open_one_left() -> None:
    assert _reachable(ActionState.PENDING, without=frozenset()) == set(ActionState)
    assert {state for _, state in LIVES} == set(ActionState) - SETTLED


@pytest.mark.req("AX-02")
def test_a_rolling_sum_holds_what_was_or_may_still_be_paid() -> None:
    assert {ActionState.APPROVED, ActionState.EXECUTING, ActionState.EXECUTED, ActionState.UNCLEAR} == COUNTED


@pytest.mark.req("AX-01", "AX-02")
def test_every_kind_of_action_has_its_rule_and_what_cannot_be_taken_back_needs_the_lane() -> None:
    assert set(RULES) == set(ActionType)
    assert all(rule.needs_lane for rule in RULES.values() if rule.is_billing or rule.is_destructive)
