"""What a request means and what may be decided about it. Source: AX-02, AX-03, design §9 "Approvals", fault 072."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from shared.adapters.records.action_changes import BACK_AT_DESK, LATEST_RETELL, SOONEST_RETELL
from shared.adapters.records.action_rows import KEEP_S
from shared.adapters.records.actions import ActionRecords
from shared.domain.actions import MAX_ASKERS, ActionOp, ActionState, ChangeAddressProposal, LineRef, RefundProposal
from shared.domain.errors import AuthorityError, NotFound, SchemaError, StalenessError
from shared.domain.ids import CaseId, ConversationId, OrderId
from shared.domain.intents import ActionType
from tests.acting.stage import ANA, ANA_OF_T2, BEN, BOUND_TO, ORDER, PERSON, PROPOSALS, Stage, usd
from tests.acting.yielding import YieldingDocuments
from tests.conftest import FixedClock

REFUND = PROPOSALS[ActionType.REFUND]
KETTLE = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=1),))
MUG = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="MG-2", quantity=1),))


@pytest.mark.req("AX-03")
async def test_the_same_request_means_the_same_action_whatever_became_of_it(stage: Stage) -> None:
    """A repeated turn, a repeated activity: one message and place in it, one action, even after it ended."""
    first = await stage.asked(ANA, REFUND, message="m-1")

    again = await stage.asked(ANA, REFUND, message="m-1")
    await stage.actions.decide(ANA, first.action_id, ActionOp.REFUSE, reason="no")
    later = await stage.asked(ANA, REFUND, message="m-1")

    assert again == first
    assert (later.action_id, later.state) == (first.action_id, ActionState.REFUSED)


@pytest.mark.req("AX-03")
async def test_another_message_for_the_same_lines_meets_the_action_that_is_not_over(stage: Stage) -> None:
    """A second turn or another channel meets the same action; its own request is tied to it for ever."""
    first = await stage.asked(ANA, REFUND, message="m-1")

    second = await stage.asked(ANA, RefundProposal(order_id=ORDER), message="m-2")
    await stage.actions.decide(ANA, first.action_id, ActionOp.REFUSE, reason="no")
    again = await stage.asked(ANA, REFUND, message="m-2")

    assert second.action_id == first.action_id == again.action_id


@pytest.mark.req("AX-03")
async def test_a_request_after_the_end_is_a_new_action_with_the_next_ordinal(stage: Stage) -> None:
    first = await stage.asked(ANA, REFUND)
    await stage.actions.decide(ANA, first.action_id, ActionOp.REFUSE, reason="no")

    second = await stage.asked(ANA, REFUND)

    assert (first.ordinal, second.ordinal) == (1, 2)
    assert first.action_id != second.action_id


@pytest.mark.req("AX-03")
async def test_many_requests_at_once_for_the_same_lines_make_one_action(stage: Stage) -> None:
    """The series' row moves by its ETag in the batch that creates the action: never check-then-act (fault 083)."""
    racing = replace(stage, actions=ActionRecords(YieldingDocuments(stage.documents), stage.clock))  # type: ignore[arg-type]

    met = await asyncio.gather(*(racing.asked(ANA, REFUND, message=f"m-{n}") for n in range(8)))
    twins = await asyncio.gather(*(racing.asked(ANA, KETTLE, message="m-twin") for _ in range(8)))

    assert len({action.action_id for action in met}) == 1
    assert len({action.action_id for action in twins}) == 1


@pytest.mark.req("AX-03", "ME-07")
async def test_other_lines_another_place_in_the_turn_another_account_and_tenant_are_other_actions(stage: Stage) -> None:
    await stage.seed(BEN)
    await stage.seed(ANA_OF_T2)
    asked = [
        await stage.asked(ANA, REFUND, message="m-1"),
        await stage.asked(ANA, KETTLE, message="m-1", ordinal_of="1"),
        await stage.asked(ANA, PROPOSALS[ActionType.CREDIT], message="m-1", ordinal_of="2"),
        await stage.asked(BEN, REFUND, message="m-1"),
        await stage.asked(ANA_OF_T2, REFUND, message="m-1"),
    ]

    assert len({action.action_id for action in asked}) == len(asked)
    assert await stage.actions.get(BEN, asked[0].action_id) is None
    assert await stage.actions.get(ANA_OF_T2, asked[0].action_id) is None


@pytest.mark.req("AX-02", "AX-05")
async def test_an_approval_names_who_gave_it_and_is_given_once(stage: Stage, clock: FixedClock) -> None:
    """Compare-and-swap: the second approver changes nothing, and nobody approves anonymously."""
    action = await stage.asked(ANA, REFUND)
    with pytest.raises(AuthorityError):
        await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="")

    first = await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by=PERSON)
    second = await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by="person:max")

    assert (first.state, first.approved_by, first.approved_at) == (ActionState.APPROVED, PERSON, clock.now())
    assert second == first


@pytest.mark.req("AX-02")
async def test_approving_and_rejecting_at_once_has_one_winner(stage: Stage) -> None:
    """The loser hears of it: an approval and a rejection never both stand."""
    action = await stage.asked(ANA, REFUND)
    racing = ActionRecords(YieldingDocuments(stage.documents), stage.clock)  # type: ignore[arg-type]

    ended = await asyncio.gather(
        racing.decide(ANA, action.action_id, ActionOp.EXPIRE, reason="time"),
        racing.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by=PERSON),
        return_exceptions=True,
    )

    lost = [e for e in ended if isinstance(e, StalenessError)]
    assert len(lost) == 1
    assert (await stage.stands(action)).state in (ActionState.EXPIRED, ActionState.APPROVED)


@pytest.mark.req("AX-02")
async def test_an_approval_of_another_amount_than_the_one_that_waits_is_refused(stage: Stage) -> None:
    """A person's click that is repeated after the amount changed must not approve what nobody saw."""
    action = await stage.asked(ANA, REFUND)
    await stage.actions.decide(ANA, action.action_id, ActionOp.RETURN_TO_DESK, reason="changed", amount=usd(1500))

    with pytest.raises(StalenessError):
        await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by=PERSON, amount=usd(4000))

    assert (await stage.stands(action)).state is ActionState.PENDING


@pytest.mark.req("AX-02")
async def test_coming_back_to_the_desk_takes_the_approval_and_leaves_time_to_decide(
    stage: Stage, clock: FixedClock
) -> None:
    """Changed since the approval: somebody has to look again, in a case that is not the old one."""
    action = await stage.approved(ANA, REFUND)
    clock.at = action.expires_at - timedelta(minutes=1)

    back = await stage.actions.decide(
        ANA, action.action_id, ActionOp.RETURN_TO_DESK, reason="changed", amount=usd(1500)
    )
    noted = await stage.actions.decide(
        ANA, action.action_id, ActionOp.RETURN_TO_DESK, reason="changed", case=CaseId("ac-1")
    )

    assert (back.state, back.approved_by, back.approved_at, back.case_id) == (ActionState.PENDING, "", None, None)
    assert (back.amount, back.reason) == (usd(1500), "changed")
    assert back.expires_at == clock.now() + BACK_AT_DESK
    assert (noted.state, noted.case_id, noted.amount) == (ActionState.PENDING, "ac-1", usd(1500))


@pytest.mark.req("AX-01")
async def test_a_person_may_complete_a_proposal_and_not_exchange_it(stage: Stage) -> None:
    """Filling in the address keeps the action's id; another order's proposal is another request."""
    action = await stage.asked(ANA, ChangeAddressProposal(order_id=ORDER))
    complete = ChangeAddressProposal(order_id=ORDER, address=BOUND_TO)

    for other in (ChangeAddressProposal(order_id=OrderId("1002"), address=BOUND_TO), REFUND):
        with pytest.raises(SchemaError):
            await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by=PERSON, proposal=other)
    approved = await stage.actions.decide(
        ANA, action.action_id, ActionOp.APPROVE, reason="", by=PERSON, proposal=complete
    )

    assert (approved.action_id, approved.proposal) == (action.action_id, complete)


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("op", [ActionOp.REFUSE, ActionOp.RETURN_TO_DESK, ActionOp.EXPIRE])
async def test_nothing_is_decided_while_the_shop_may_be_at_it(stage: Stage, op: ActionOp) -> None:
    """`executing` is left only by what the shop says: a late refusal must not cover up a payment."""
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    await stage.claimed(signed, action)

    with pytest.raises(StalenessError):
        await stage.actions.decide(ANA, action.action_id, op, reason="late")

    assert (await stage.stands(action)).state is ActionState.EXECUTING


@pytest.mark.req("AX-02", "AX-03")
async def test_a_decision_prepared_before_a_start_is_stale_after_it(stage: Stage) -> None:
    """What looked like "nothing is refundable" may be what the start itself has done."""
    action = await stage.approved(ANA, REFUND)
    started = await stage.claimed(await stage.granted(action), action)
    await stage.actions.finish(ANA, action.action_id, ActionOp.UNDO_START, grant_id=started.grant_id)

    with pytest.raises(StalenessError):
        await stage.actions.decide(ANA, action.action_id, ActionOp.REFUSE, reason="late", starts=action.starts)
    refused = await stage.actions.decide(ANA, action.action_id, ActionOp.REFUSE, reason="now", starts=started.starts)

    assert refused.state is ActionState.REFUSED


async def test_an_action_that_does_not_exist_cannot_be_decided(stage: Stage) -> None:
    with pytest.raises(NotFound):
        await stage.actions.decide(ANA, "nothing", ActionOp.REFUSE, reason="")
    action = await stage.asked(ANA, REFUND)
    with pytest.raises(SchemaError):
        await stage.actions.decide(ANA, action.action_id, ActionOp.CONFIRM, reason="")


@pytest.mark.req("PV-05")
async def test_what_is_over_goes_after_400_days_and_an_ordinal_never_comes_back(
    stage: Stage, clock: FixedClock
) -> None:
    """Design §6; an ordinal used twice would be an idempotency key the shop still knows."""
    first = await stage.perform(await stage.approved(ANA, KETTLE))
    waiting = await stage.asked(ANA, MUG)
    await stage.actions.mark_told(ANA, first.action_id)

    clock.at += timedelta(seconds=KEEP_S + 1)

    assert await stage.actions.get(ANA, first.action_id) is None
    assert await stage.actions.get(ANA, waiting.action_id) is not None
    assert (await stage.asked(ANA, KETTLE)).ordinal == 2


@pytest.mark.req("AX-03")
async def test_who_asks_again_is_remembered_once_a_conversation_and_at_most_so_many(stage: Stage) -> None:
    """The newest message of a conversation stands for it; the one that asked longest ago makes room."""
    first = await stage.asked(ANA, REFUND, conversation="c-first")
    for place in range(MAX_ASKERS + 1):
        await stage.asked(ANA, REFUND, conversation=f"c-{place}")
    await stage.asked(ANA, REFUND, conversation="c-5", message="m-last")

    askers = (await stage.stands(first)).askers
    assert len(askers) == 1 + MAX_ASKERS
    assert (askers[0].conversation_id, askers[1].conversation_id) == ("c-first", "c-1")
    assert [a.message_id for a in askers if a.conversation_id == "c-5"] == ["m-last"]


@pytest.mark.req("AX-03", "AX-02")
async def test_who_asks_while_it_ends_is_remembered_or_asks_for_a_new_one(stage: Stage) -> None:
    """One batch with the row as it was read: nobody is promised to hear of an end that has been told already."""
    action = await stage.asked(ANA, REFUND, conversation="c-first")
    racing = replace(stage, actions=ActionRecords(YieldingDocuments(stage.documents), stage.clock))  # type: ignore[arg-type]

    met, _ = await asyncio.gather(
        racing.asked(ANA, REFUND, conversation="c-second"),
        racing.actions.decide(ANA, action.action_id, ActionOp.REFUSE, reason="no"),
    )

    remembered = {asker.conversation_id for asker in (await stage.stands(action)).askers}
    assert ("c-second" in remembered) is (met.action_id == action.action_id)


@pytest.mark.req("AX-03")
async def test_one_conversation_that_was_told_does_not_speak_for_another(stage: Stage, clock: FixedClock) -> None:
    """Told is told everywhere; what cannot be told yet is looked at later, ever more rarely, until it is."""
    action = await stage.asked(ANA, REFUND, conversation="c-first")
    await stage.asked(ANA, REFUND, conversation="c-second")
    await stage.actions.decide(ANA, action.action_id, ActionOp.REFUSE, reason="no")
    await stage.actions.mark_told(ANA, action.action_id, only=ConversationId("c-first"))
    assert not (await stage.stands(action)).is_told

    waits = []
    for _ in range(8):
        await stage.actions.hold(ANA, action.action_id)
        until = (await stage.stands(action)).held_until
        assert until is not None
        waits.append(until - clock.now())
        assert await stage.actions.untold(until, 10) == await stage.actions.held(until, 10) == ()
        clock.at = until + timedelta(seconds=1)
        assert [a.action_id for a in await stage.actions.held(clock.now(), 10)] == [action.action_id]
    await stage.actions.mark_told(ANA, action.action_id)

    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (SOONEST_RETELL, LATEST_RETELL)
    assert await stage.actions.held(clock.now(), 10) == ()
