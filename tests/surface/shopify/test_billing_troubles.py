"""The whole executor on top of a Shopify shop that fails in every way it can: one effect in the end, and it is known.

Real sockets, real store, the real lane, grants and reconciling.
Source: AX-02…04, SH-03, fault 070, apis.md §1.10.
"""

import asyncio
from dataclasses import replace

import pytest

from shared.domain.actions import ActionState
from shared.domain.intents import ActionType
from shared.ports.integrations import Declined
from tests.acting.stage import PROPOSALS, status_for
from tests.contracts.billing import MUTATIONS, ShopifyUnderTest, call
from tests.servers.shopify import Trouble
from tests.surface.shopify.billing_steps import UNDER_WAY_S, play_out, sent
from tests.waiting import until

AFTER = (
    Trouble.DROP_AFTER,
    Trouble.HANG_AFTER,
    Trouble.ERROR_AFTER,
    Trouble.INTERNAL_AFTER,
    Trouble.GARBAGE_AFTER,
    Trouble.CUT_AFTER,
)
BEFORE = (
    Trouble.DROP_BEFORE,
    Trouble.HANG_BEFORE,
    Trouble.ERROR_BEFORE,
    Trouble.INTERNAL_BEFORE,
    Trouble.GARBAGE_BEFORE,
    Trouble.HUGE,
)
SURELY_NOT = (Trouble.THROTTLE, Trouble.TOO_MANY)
KEYED_THERE = (ActionType.REFUND, ActionType.CREDIT)
"""Source: apis.md §1.10 (of what we write, refundCreate alone takes a key)."""
IRREVERSIBLE = (ActionType.REFUND, ActionType.CANCEL_ORDER)


@pytest.mark.req("AX-02", "AX-03", "SH-03")
@pytest.mark.parametrize("trouble", [*AFTER, *BEFORE, *SURELY_NOT], ids=lambda t: t.name)
@pytest.mark.parametrize("type_", sorted(MUTATIONS))
async def test_fault_070_whatever_goes_wrong_with_a_write_it_is_done_once_in_the_end(
    billed: ShopifyUnderTest, type_: ActionType, trouble: Trouble
) -> None:
    """Done and lost: never sent again. Not done: sent again once that is certain."""
    await billed.seed(status_for(type_))
    action = await billed.stage.approved(billed.ana, PROPOSALS[type_])
    billed.server.faults.next(MUTATIONS[type_], trouble)

    ended = await play_out(billed, action)

    assert ended.state is ActionState.EXECUTED
    assert await billed.effects() == 1
    assert len(sent(billed, MUTATIONS[type_])) == (1 if trouble in AFTER else 2)
    assert ended.effect is not None
    if ended.effect.amount is not None:
        assert (ended.effect.amount.amount_minor, await billed.paid_minor()) == (4000, 4000)


@pytest.mark.req("AX-02", "AX-03", "AX-04")
@pytest.mark.parametrize("type_", sorted(MUTATIONS))
async def test_fault_070_a_write_that_lands_after_its_caller_was_cut_off_is_the_only_one(
    billed: ShopifyUnderTest, type_: ActionType
) -> None:
    """Under way at the shop beyond our patience; the flow's next round, a second process and a sweep come meanwhile."""
    await billed.seed(status_for(type_))
    action = await billed.stage.approved(billed.ana, PROPOSALS[type_])
    gate = billed.server.faults.hold(MUTATIONS[type_])

    await billed.stage.perform(action)
    elsewhere = replace(billed.stage, actions=billed.stage.elsewhere().actions)
    await billed.stage.perform(action)
    await elsewhere.perform(action, "two")
    for other in await billed.stage.actions.under_way(billed.ana):
        await billed.stage.reconcile(other)
    calls = billed.server.calls[MUTATIONS[type_]]
    assert calls == 1 or type_ in KEYED_THERE, "only what the shop keys may be asked again while it may be under way"
    gate.set()
    await until(lambda: bool(billed.shop.effects or billed.shop.jobs), "the write lands")
    ended = await play_out(billed, action)

    assert ended.state is ActionState.EXECUTED
    assert await billed.effects() == 1
    assert billed.server.calls[MUTATIONS[type_]] == calls


@pytest.mark.req("AC-01", "AX-02")
@pytest.mark.parametrize("type_", sorted(MUTATIONS))
async def test_fault_069_an_order_that_changes_hands_between_two_looks_is_nobodys(
    billed: ShopifyUnderTest, type_: ActionType
) -> None:
    """Found as ana's, read as ben's: the answer the write would start from is the one that counts."""
    await billed.seed(status_for(type_))
    action = await billed.stage.approved(billed.ana, PROPOSALS[type_])
    verified = await billed.stage.verified(await billed.stage.granted(action), action)

    def change_hands(field: str) -> None:
        if field == "order":
            billed.order.customer = billed.people[billed.ben]

    billed.server.on_call = change_hands

    with pytest.raises(Declined):
        await call(billed, verified, PROPOSALS[type_])
    assert billed.server.calls[MUTATIONS[type_]] == 0
    billed.order.customer = billed.people[billed.ana]
    assert await billed.billing.quote(billed.ana, PROPOSALS[type_]) is None  # type: ignore[arg-type]


@pytest.mark.req("AX-02", "AX-03", "AX-04")
@pytest.mark.parametrize("type_", IRREVERSIBLE)
async def test_twins_in_two_processes_make_one_effect(billed: ShopifyUnderTest, type_: ActionType) -> None:
    """Both run the same action from the start, each with its own memory; the lane lets one of them call."""
    await billed.seed(status_for(type_))
    action = await billed.stage.approved(billed.ana, PROPOSALS[type_])
    twin = replace(billed.stage, actions=billed.stage.elsewhere().actions, handed={})

    await asyncio.gather(
        billed.stage.perform(action, "one"), twin.perform(action, "two"), billed.stage.perform(action, "three")
    )
    ended = await play_out(billed, action)

    assert ended.state is ActionState.EXECUTED
    assert await billed.effects() == 1
    assert len(sent(billed, MUTATIONS[type_])) == 1


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("type_", IRREVERSIBLE)
@pytest.mark.parametrize("days", [0, 2])
async def test_whoever_comes_back_days_after_a_crash_finds_what_was_done(
    billed: ShopifyUnderTest, type_: ActionType, days: int
) -> None:
    """The grant ran out, the key is forgotten; the shop's own records are not."""
    await billed.seed(status_for(type_))
    action = await billed.stage.approved(billed.ana, PROPOSALS[type_])
    signed = await billed.stage.granted(action)
    billed.server.faults.next(MUTATIONS[type_], Trouble.DROP_AFTER)
    verified = await billed.stage.verified(signed, action)
    await billed.stage.claimed(signed, action)
    await asyncio.gather(call(billed, verified, PROPOSALS[type_]), return_exceptions=True)
    billed.clock.forward(days=days, seconds=UNDER_WAY_S)

    ended = await billed.stage.execute(signed, action)

    assert ended.state is ActionState.EXECUTED
    assert await billed.effects() == 1


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("type_", IRREVERSIBLE)
async def test_an_unreadable_shop_after_a_lost_answer_is_doubt_and_then_a_persons(
    billed: ShopifyUnderTest, type_: ActionType
) -> None:
    """Nothing is repeated into the dark; when the shop can be read in time, the truth is written."""
    await billed.seed(status_for(type_))
    action = await billed.stage.approved(billed.ana, PROPOSALS[type_])
    signed = await billed.stage.granted(action)
    billed.server.faults.next(MUTATIONS[type_], Trouble.DROP_AFTER)
    before = billed.server.calls["orders"]

    def darken(field: str) -> None:
        if field == MUTATIONS[type_]:
            billed.server.faults.next("orders", Trouble.ERROR_BEFORE, times=10**6)
            billed.server.faults.next("order", Trouble.ERROR_BEFORE, times=10**6)

    billed.server.on_call = darken
    dark = await billed.stage.execute(signed, action)
    given_up = await play_out(billed, action, rounds=60)
    billed.server.faults.planned.clear()
    after = await billed.stage.perform(action)

    assert billed.server.calls["orders"] > before
    assert [a.state for a in (dark, given_up, after)] == [ActionState.EXECUTING] + [ActionState.UNCLEAR] * 2
    assert len(sent(billed, MUTATIONS[type_])) == 1
    assert await billed.effects() == 1
