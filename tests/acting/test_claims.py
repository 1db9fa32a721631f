"""The single use of a grant, and what came of a call, in the store. Source: AX-02…04, design §9."""

import asyncio
from dataclasses import replace

import pytest

from shared.adapters.records.actions import ActionRecords
from shared.domain.actions import ActionOp, ActionState, Effect, LineRef, RefundProposal
from shared.domain.errors import AuthorityError, NotFound, SchemaError, StalenessError
from shared.domain.grants import MAX_GRANT_TTL_S
from shared.domain.intents import ActionType
from shared.domain.lanes import LEASE_S
from tests.acting.stage import ANA, BEN, ORDER, PERSON, PROPOSALS, Stage, usd
from tests.acting.yielding import YieldingDocuments
from tests.conftest import FixedClock

REFUND = PROPOSALS[ActionType.REFUND]
KETTLE = RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=1),))


@pytest.mark.req("AX-02", "AX-03")
async def test_a_grant_is_consumed_by_the_write_that_begins_the_action(stage: Stage, clock: FixedClock) -> None:
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)

    started = await stage.claimed(signed, action)

    assert (started.state, started.starts, started.started_at) == (ActionState.EXECUTING, 1, clock.now())
    assert (started.grant_id, started.fence) == (signed.grant.grant_id, signed.grant.fence)
    with pytest.raises(AuthorityError):
        await stage.claimed(signed, action)


@pytest.mark.req("AX-02")
async def test_a_consumed_grant_never_begins_the_action_again(stage: Stage) -> None:
    """Undone, the action is free to start; the spent grant is not (replay of a token that still verifies)."""
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    await stage.claimed(signed, action)
    await stage.actions.finish(ANA, action.action_id, ActionOp.UNDO_START, grant_id=signed.grant.grant_id)

    with pytest.raises(AuthorityError, match="consumed"):
        await stage.claimed(signed, action)

    assert (await stage.stands(action)).state is ActionState.APPROVED


@pytest.mark.req("AX-02")
async def test_of_many_that_hold_the_same_grant_at_once_one_begins(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    racing = replace(stage, actions=ActionRecords(YieldingDocuments(stage.documents), stage.clock))  # type: ignore[arg-type]

    ended = await asyncio.gather(*(racing.claimed(signed, action) for _ in range(8)), return_exceptions=True)

    assert sum(not isinstance(e, BaseException) for e in ended) == 1
    assert all(isinstance(e, AuthorityError) for e in ended if isinstance(e, BaseException))
    assert (await stage.stands(action)).starts == 1


@pytest.mark.req("AX-02", "AX-04")
@pytest.mark.parametrize("flaw", ["expired", "lane given on", "lane running out", "amount changed", "not approved"])
async def test_a_grant_is_not_consumed_for_an_action_that_has_changed(
    stage: Stage, clock: FixedClock, flaw: str
) -> None:
    """What was true when the grant was verified is held against the store once more, in the consuming write."""
    # A note needs no lane: nothing but the grant's own life is in its way.
    action = await stage.approved(ANA, PROPOSALS[ActionType.CRM_NOTE] if flaw == "expired" else REFUND)
    verified = await stage.verified(await stage.granted(action), action)
    match flaw:
        case "expired":
            clock.forward(seconds=MAX_GRANT_TTL_S)
        case "lane given on":
            clock.forward(seconds=LEASE_S)
            await stage.take(await stage.approved(ANA, KETTLE), "other")
        case "lane running out":
            clock.forward(seconds=LEASE_S - 20)
        case "amount changed":
            back = {"reason": "", "amount": usd(1500)}
            await stage.actions.decide(ANA, action.action_id, ActionOp.RETURN_TO_DESK, **back)  # type: ignore[arg-type]
            await stage.actions.decide(ANA, action.action_id, ActionOp.APPROVE, reason="", by=PERSON)
        case "not approved":
            await stage.actions.decide(ANA, action.action_id, ActionOp.RETURN_TO_DESK, reason="")

    with pytest.raises(AuthorityError):
        await stage.actions.start(ANA, verified)

    assert (await stage.stands(action)).starts == 0


@pytest.mark.req("AX-02", "ME-07")
async def test_a_grant_is_not_consumed_for_another_account(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    verified = await stage.verified(await stage.granted(action), action)

    with pytest.raises(AuthorityError):
        await stage.actions.start(BEN, verified)


@pytest.mark.req("AX-03")
@pytest.mark.parametrize("op", [ActionOp.CONFIRM, ActionOp.REFUSE, ActionOp.UNDO_START, ActionOp.DOUBT])
async def test_what_came_of_a_call_may_be_written_again(stage: Stage, clock: FixedClock, op: ActionOp) -> None:
    """A crash between the write and its acknowledgement repeats it."""
    action = await stage.approved(ANA, REFUND)
    signed = await stage.granted(action)
    await stage.claimed(signed, action)
    effect = Effect(reference="r1", amount=usd(4000), at=clock.now()) if op is ActionOp.CONFIRM else None

    first, second = [
        await stage.actions.finish(
            ANA, action.action_id, op, grant_id=signed.grant.grant_id, effect=effect, reason="why"
        )
        for _ in range(2)
    ]

    assert first == second == await stage.stands(action)
    assert first.effect == effect


@pytest.mark.req("AX-03")
async def test_what_the_shop_did_counts_after_its_start_was_undone(stage: Stage, clock: FixedClock) -> None:
    action = await stage.approved(ANA, REFUND)
    started = await stage.claimed(await stage.granted(action), action)
    await stage.actions.finish(ANA, action.action_id, ActionOp.UNDO_START, grant_id=started.grant_id)
    late = Effect(reference="r1", amount=usd(4000), at=clock.now())

    ended = await stage.actions.finish(ANA, action.action_id, ActionOp.CONFIRM, grant_id=started.grant_id, effect=late)

    assert (ended.state, ended.effect) == (ActionState.EXECUTED, late)


@pytest.mark.req("AX-03")
@pytest.mark.parametrize("op", [ActionOp.REFUSE, ActionOp.UNDO_START, ActionOp.DOUBT])
async def test_the_end_of_an_earlier_start_leaves_a_later_one_alone(stage: Stage, op: ActionOp) -> None:
    """Whoever looked at the first start says nothing about the second, whose call may be under way."""
    action = await stage.approved(ANA, REFUND)
    first = await stage.claimed(await stage.granted(action), action)
    await stage.actions.finish(ANA, action.action_id, ActionOp.UNDO_START, grant_id=first.grant_id)
    second = await stage.claimed(await stage.granted(await stage.stands(action)), action)

    after = await stage.actions.finish(ANA, action.action_id, op, grant_id=first.grant_id, reason="late")

    assert after == second


@pytest.mark.req("AX-03")
async def test_an_end_that_cannot_be_is_refused(stage: Stage) -> None:
    action = await stage.approved(ANA, REFUND)
    done = await stage.perform(action)

    with pytest.raises(StalenessError):
        await stage.actions.finish(ANA, action.action_id, ActionOp.REFUSE, grant_id=done.grant_id)
    with pytest.raises(SchemaError):
        await stage.actions.finish(ANA, action.action_id, ActionOp.CONFIRM, grant_id=done.grant_id)
    with pytest.raises(SchemaError):
        await stage.actions.finish(ANA, action.action_id, ActionOp.APPROVE, grant_id=done.grant_id)
    with pytest.raises(NotFound):
        await stage.actions.finish(ANA, "nothing", ActionOp.UNDO_START, grant_id="")
