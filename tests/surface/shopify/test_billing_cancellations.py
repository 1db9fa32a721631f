"""Cancelling at a Shopify shop: a job without a key, irreversible, told as done when the order and its money show it.

Source: AX-01…03, SH-03, fault 070, apis.md §1.10.
"""

from decimal import Decimal

import pytest

from shared.adapters.shopify.cancellations import JOB_S, LOOKS_S, MONEY_S
from shared.domain.actions import ActionState, CancelOrderProposal, RefundProposal
from shared.domain.errors import IntegrationError, OutcomeUnknown, Unavailable
from shared.domain.intents import ActionType
from shared.ports.integrations import Declined
from tests.acting.stage import ORDER, PROPOSALS, usd
from tests.contracts.billing import ShopifyUnderTest
from tests.servers.shopify import Trouble
from tests.servers.shopify.state import Order
from tests.surface.shopify.billing_steps import granted, play_out, sent

CANCEL = CancelOrderProposal(order_id=ORDER)


@pytest.mark.req("SH-03", "AX-02")
async def test_a_cancellation_pays_back_as_it_was_paid_and_says_whose_it_is(billed: ShopifyUnderTest) -> None:
    action, verified = await granted(billed, CANCEL)

    effect = await billed.billing.cancel_order(verified, CANCEL)

    assert (effect.amount, effect.reference) == (usd(4000), str(billed.order.number))
    assert billed.order.cancelled_at is not None
    assert effect.at == billed.order.cancelled_at.replace(microsecond=0)
    assert sent(billed, "orderCancel") == [{"id": billed.order.gid, "note": f"vouch:{action.action_id}"}]
    (done,) = billed.shop.effects_of("cancel")
    assert done.details == {"reason": "CUSTOMER", "restock": True, "staff_note": f"vouch:{action.action_id}"}


@pytest.mark.req("AX-03")
async def test_a_job_is_waited_for_and_a_longer_one_is_doubt_until_it_is_over(billed: ShopifyUnderTest) -> None:
    billed.shop.job_takes_s = sum(LOOKS_S) - 0.5
    _, verified = await granted(billed, CANCEL)
    assert (await billed.billing.cancel_order(verified, CANCEL)).amount == usd(4000)

    billed.shop.job_takes_s = 60
    await billed.seed("processing")
    billed.order.name = "#1001"
    action = await billed.stage.approved(billed.ana, CANCEL, message="again")
    slow = await billed.stage.perform(action)
    early = await billed.stage.reconcile(slow)
    billed.clock.forward(seconds=60)
    late = await billed.stage.reconcile(early)

    assert [a.state for a in (slow, early, late)] == [ActionState.EXECUTING] * 2 + [ActionState.EXECUTED]
    assert len(sent(billed, "orderCancel")) == 2


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("job_takes_s", [0, 30, JOB_S + 60])
@pytest.mark.parametrize("trouble", [Trouble.DROP_AFTER, Trouble.HANG_AFTER, Trouble.INTERNAL_AFTER, Trouble.CUT_AFTER])
async def test_fault_070_a_cancellation_whose_answer_is_lost_happens_once(
    billed: ShopifyUnderTest, trouble: Trouble, job_takes_s: float
) -> None:
    """Nobody knows of a job; even one that outlasts our patience ends as one cancellation, paid back once."""
    await billed.seed("processing")
    billed.shop.job_takes_s = job_takes_s
    action = await billed.stage.approved(billed.ana, CANCEL)
    billed.server.faults.next("orderCancel", trouble)

    ended = await play_out(billed, action)
    billed.clock.forward(seconds=JOB_S * 3)

    assert ended.state is ActionState.EXECUTED
    assert ended.effect is not None
    assert ended.effect.amount == usd(4000)
    assert (await billed.effects(), await billed.paid_minor()) == (1, 4000)


@pytest.mark.req("AX-03")
async def test_while_a_job_may_run_nothing_found_proves_nothing(billed: ShopifyUnderTest) -> None:
    action, _ = await granted(billed, CANCEL)
    signed = billed.stage.seal(await billed.stage.stands(action), fence=1)
    started = await billed.stage.claimed(signed, action)

    billed.clock.forward(seconds=JOB_S - 1)
    with pytest.raises(Unavailable):
        await billed.billing.find_effect(billed.ana, started)
    billed.clock.forward(seconds=1)

    assert await billed.billing.find_effect(billed.ana, started) is None


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("paid", ["40.00", "25.00", "0.00"])
async def test_what_the_merchant_cancelled_meanwhile_is_done_with_the_amount_as_read(
    billed: ShopifyUnderTest, paid: str
) -> None:
    """The wish is fulfilled and nothing of ours was sent; what is told is what went back, not what was granted."""
    await billed.seed("processing")
    action = await billed.stage.approved(billed.ana, CANCEL)
    signed = await billed.stage.granted(action)
    _cancel_by_hand(billed, billed.order, paid)

    ended = await billed.stage.execute(signed, action)
    billed.clock.forward(seconds=MONEY_S)
    ended = await billed.stage.reconcile(ended)

    assert ended.state is ActionState.EXECUTED
    assert ended.effect is not None
    assert ended.effect.amount == usd(int(Decimal(paid) * 100))
    assert billed.server.calls["orderCancel"] == 0


@pytest.mark.req("AX-02")
async def test_the_merchants_cancellation_in_the_same_moment_is_no_refusal(billed: ShopifyUnderTest) -> None:
    """Cancelled between our reading and our writing: the shop declines, and the order shows why."""
    await billed.seed("processing")
    action = await billed.stage.approved(billed.ana, CANCEL)
    signed = await billed.stage.granted(action)
    order = billed.order
    billed.server.on_call = lambda field: _cancel_by_hand(billed, order, "40.00") if field == "orderCancel" else None

    ended = await billed.stage.execute(signed, action)

    assert ended.state is ActionState.EXECUTED
    assert billed.server.calls["orderCancel"] == 1
    assert billed.shop.effects == []


@pytest.mark.req("AX-02")
async def test_a_refund_before_does_not_count_as_the_cancellations(billed: ShopifyUnderTest) -> None:
    """Ours bears its own action's mark, an old one of the merchant's its own time."""
    await billed.seed("processing")
    billed.shop.pay_back(billed.order, Decimal("5.00"))
    billed.clock.forward(hours=1)
    part = RefundProposal(order_id=ORDER, amount=usd(1000))
    await billed.stage.perform(await billed.stage.approved(billed.ana, part))

    done = await billed.stage.perform(await billed.stage.approved(billed.ana, CANCEL))

    assert done.effect is not None
    assert (done.amount, done.effect.amount) == (usd(2500), usd(2500))


@pytest.mark.req("AX-02", "AX-03")
async def test_a_cancellation_of_ours_without_its_money_is_a_persons_matter(billed: ShopifyUnderTest) -> None:
    billed.shop.refund_status = "FAILURE"
    await billed.seed("processing")
    action = await billed.stage.approved(billed.ana, CANCEL)

    ended = await play_out(billed, action, rounds=60)

    assert (ended.state, ended.effect) == (ActionState.UNCLEAR, None)
    assert billed.server.calls["orderCancel"] == 1


@pytest.mark.req("AX-02", "AX-03")
async def test_a_cancellation_of_ours_that_paid_nothing_back_is_never_told_as_done(billed: ShopifyUnderTest) -> None:
    action, _ = await granted(billed, CANCEL)
    signed = billed.stage.seal(await billed.stage.stands(action), fence=1)
    started = await billed.stage.claimed(signed, action)
    _cancel_by_hand(billed, billed.order, "0.00")
    billed.order.staff_note = f"vouch:{action.action_id}"

    with pytest.raises(Unavailable):
        await billed.billing.find_effect(billed.ana, started)
    billed.clock.forward(seconds=MONEY_S)
    with pytest.raises(IntegrationError) as caught:
        await billed.billing.find_effect(billed.ana, started)

    assert not isinstance(caught.value, Unavailable)


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("status", ["IN_PROGRESS", "PENDING_FULFILLMENT", "PARTIALLY_FULFILLED", "RESTOCKED"])
async def test_what_is_being_packed_is_not_cancelled_from_here(billed: ShopifyUnderTest, status: str) -> None:
    await billed.seed("processing")
    billed.order.fulfillment_status = status

    quote = await billed.billing.quote(billed.ana, CANCEL)

    assert quote is not None
    assert not quote.is_possible


@pytest.mark.req("AX-02")
async def test_an_order_with_goods_coming_back_or_paid_outside_is_not_cancelled_from_here(
    billed: ShopifyUnderTest,
) -> None:
    await billed.seed("delivered")
    await billed.stage.perform(await billed.stage.approved(billed.ana, PROPOSALS[ActionType.REQUEST_RETURN]))
    billed.order.fulfillment_status, billed.order.fulfillments = "UNFULFILLED", []
    returning = await billed.billing.quote(billed.ana, CANCEL)
    await billed.seed("processing")
    billed.order.transactions[0].manual_payment_gateway = True
    outside = await billed.billing.quote(billed.ana, CANCEL)

    assert returning is not None
    assert outside is not None
    assert (returning.is_possible, outside.is_possible) == (False, False)


@pytest.mark.req("AX-02")
async def test_what_the_shop_declines_is_declined(billed: ShopifyUnderTest) -> None:
    """Shipped between our reading and our writing."""
    _, verified = await granted(billed, CANCEL)
    order = billed.order
    billed.server.on_call = lambda field: billed.shop.fulfil(order) if field == "orderCancel" else None

    with pytest.raises(Declined):
        await billed.billing.cancel_order(verified, CANCEL)

    assert order.cancelled_at is None


@pytest.mark.req("AX-03")
async def test_a_refusal_that_cannot_be_looked_into_is_doubt(billed: ShopifyUnderTest) -> None:
    """An earlier try may be why the shop declines: without reading, that is not known."""
    _, verified = await granted(billed, CANCEL)
    order = billed.order

    def ship_and_fail(field: str) -> None:
        if field == "orderCancel":
            billed.shop.fulfil(order)
            billed.server.faults.next("order", Trouble.ERROR_BEFORE)

    billed.server.on_call = ship_and_fail

    with pytest.raises(IntegrationError) as caught:
        await billed.billing.cancel_order(verified, CANCEL)

    assert not isinstance(caught.value, Declined)


@pytest.mark.req("AX-03")
async def test_a_job_that_ends_without_a_cancellation_is_doubt(billed: ShopifyUnderTest) -> None:
    _, verified = await granted(billed, CANCEL)
    billed.shop.jobs_fail = True

    with pytest.raises(OutcomeUnknown):
        await billed.billing.cancel_order(verified, CANCEL)


def _cancel_by_hand(billed: ShopifyUnderTest, order: Order, paid: str) -> None:
    order.cancelled_at = billed.clock.now()
    if Decimal(paid):
        billed.shop.pay_back(order, Decimal(paid))
