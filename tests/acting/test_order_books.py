"""One book an order: goods and money count against the same lines, and nothing goes back that was never taken.

Source: AX-02, AX-03, SH-03.
"""

from datetime import datetime, timedelta

import pytest

from shared.adapters.records.shop_quotes import quote_order
from shared.adapters.records.shop_rows import EffectRow
from shared.domain.actions import (
    CancelOrderProposal,
    CreditProposal,
    LineRef,
    OrderProposal,
    Quote,
    RefundProposal,
    ResendProposal,
)
from shared.domain.ids import OrderId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import BillingEvent
from tests.acting.stage import ANA, ORDER, Stage, charge_of, order_for, usd

NOON = datetime.fromisoformat("2026-03-01T12:00Z")
KETTLE = (LineRef(line_id="KT-1", quantity=1),)
MUGS = (LineRef(line_id="MG-2", quantity=2),)
REFUND, CREDIT, RESEND = RefundProposal(order_id=ORDER), CreditProposal(order_id=ORDER), ResendProposal(order_id=ORDER)


def done(kind: ActionType, *lines: LineRef, minor: int | None = None, after_h: int = 0) -> EffectRow:
    """Build what was done to the order."""
    return EffectRow(
        id=f"effect:{kind.value}-{after_h}",
        tenant_id=ANA.tenant_id,
        customer_id=ANA.customer_id,
        action_id=f"{kind.value}-{after_h}",
        order_key=f"order:{ORDER}",
        order_id=ORDER,
        type=kind,
        reference=f"{kind.value}-{after_h}",
        amount=usd(minor) if minor is not None else None,
        lines=lines,
        at=NOON + timedelta(hours=after_h),
    )


def minor_of(quote: Quote) -> int | None:
    """Return what the quote would move; None where the shop would not do it."""
    return quote.amount.amount_minor if quote.is_possible and quote.amount is not None else None


RESENT_KETTLE = done(ActionType.RESEND, *KETTLE, minor=1500)
AFTER_RESEND: dict[str, tuple[OrderProposal, int | None]] = {
    "the same line": (RefundProposal(order_id=ORDER, lines=KETTLE), None),
    "the same line as credit": (CreditProposal(order_id=ORDER, lines=KETTLE), None),
    "the other line": (RefundProposal(order_id=ORDER, lines=MUGS), 2500),
    "all there is": (REFUND, 2500),
    "all there is as credit": (CREDIT, 2500),
    "a sum above the rest": (RefundProposal(order_id=ORDER, amount=usd(2501)), None),
    "the line once more": (ResendProposal(order_id=ORDER, lines=KETTLE), None),
    "the rest once more": (RESEND, 2500),
}


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("name", AFTER_RESEND)
def test_goods_that_were_sent_again_are_not_also_paid_back(name: str) -> None:
    """A free replacement and then the money would be twice the line's worth."""
    proposal, minor = AFTER_RESEND[name]

    quote = quote_order(order_for(ANA), (RESENT_KETTLE,), proposal)

    assert minor_of(quote) == minor


@pytest.mark.req("AX-02", "AX-03")
def test_goods_sent_again_that_came_back_can_be_paid_back() -> None:
    """The shop's own word that they are back counts; a return that is only asked for does not."""
    past = (RESENT_KETTLE, done(ActionType.REQUEST_RETURN, *KETTLE, after_h=1))
    line = RefundProposal(order_id=ORDER, lines=KETTLE)

    assert minor_of(quote_order(order_for(ANA, "return_requested"), past, line)) is None
    assert minor_of(quote_order(order_for(ANA, "returned"), past, line)) == 1500


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("kind", [ActionType.REFUND, ActionType.CREDIT])
def test_lines_that_were_paid_back_are_not_also_sent_again(kind: ActionType) -> None:
    past = (done(kind, *KETTLE, minor=1500),)
    order = order_for(ANA)
    if kind is ActionType.REFUND:
        order = order.model_copy(update={"refunded": usd(1500)})

    assert not quote_order(order, past, ResendProposal(order_id=ORDER, lines=KETTLE)).is_possible
    assert minor_of(quote_order(order, past, RESEND)) == 2500


@pytest.mark.req("AX-02", "AX-03")
def test_money_that_names_no_line_counts_against_goods_sent_again() -> None:
    """Paid back whole, at the till or as credit: no line is named and none is left to send."""
    credited = (done(ActionType.CREDIT, minor=4000),)
    at_the_till = order_for(ANA).model_copy(update={"refunded": usd(3000)})

    assert not quote_order(order_for(ANA), credited, ResendProposal(order_id=ORDER, lines=KETTLE)).is_possible
    assert not quote_order(at_the_till, (), RESEND).is_possible


@pytest.mark.req("AX-02")
def test_a_reduced_order_is_sent_again_whole_and_then_worth_nothing_more() -> None:
    """What its goods cost is what was paid for them, not their list price."""
    reduced = order_for(ANA).model_copy(update={"total": usd(3000)})
    whole = quote_order(reduced, (), RESEND)
    past = (done(ActionType.RESEND, *whole.lines, minor=4000),)

    assert whole.is_possible
    assert minor_of(quote_order(reduced, (), RefundProposal(order_id=ORDER, lines=KETTLE))) == 1125
    assert not quote_order(reduced, past, REFUND).is_possible


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("status", ["processing", "on_hold", "delayed", "awaiting_payment", "quantum"])
@pytest.mark.parametrize("proposal", [REFUND, CREDIT], ids=["refund", "credit"])
def test_what_was_never_charged_is_not_paid_back(status: str, proposal: OrderProposal) -> None:
    """A state that does not say that money was taken, and a bill without a charge: there is nothing to give back."""
    assert not quote_order(order_for(ANA, status), (), proposal).is_possible


@pytest.mark.req("AX-02", "AX-03")
@pytest.mark.parametrize("status", ["delivered", "processing"])
def test_no_more_goes_back_than_was_charged(status: str) -> None:
    order = order_for(ANA, status)
    bill = (event("charge", 2500), event("refund", 500), event("credit", 400))

    assert minor_of(quote_order(order, (), REFUND, bill=bill)) == 1600


@pytest.mark.req("AX-02")
def test_what_stands_on_the_bill_and_on_the_order_is_counted_once() -> None:
    order = order_for(ANA).model_copy(update={"refunded": usd(1500)})
    past = (done(ActionType.REFUND, *KETTLE, minor=1500), done(ActionType.CREDIT, minor=500))
    bill = (charge_of(order, NOON), event("refund", 1500), event("credit", 500))

    assert minor_of(quote_order(order, past, REFUND, bill=bill)) == 2000


@pytest.mark.req("AX-02")
def test_a_charge_in_another_currency_is_no_charge_of_the_order() -> None:
    foreign = event("charge", 4000).model_copy(update={"amount": Money(amount_minor=4000, currency="EUR")})

    assert not quote_order(order_for(ANA, "processing"), (), REFUND, bill=(foreign,)).is_possible


@pytest.mark.req("AX-01", "AX-03")
async def test_cancelling_what_was_never_charged_moves_no_money(stage: Stage) -> None:
    """The order is over and its bill stays empty; without an amount nothing can say that money goes back."""
    fresh = OrderId("1077")
    await stage.shop.put_order(ANA, order_for(ANA, "processing", fresh))

    action = await stage.perform(await stage.approved(ANA, CancelOrderProposal(order_id=fresh)))

    order = await stage.shop.order(ANA, fresh)
    assert order is not None
    assert action.effect is not None
    assert (order.status, order.refunded, action.effect.amount, await stage.paid_minor()) == (
        "cancelled",
        None,
        None,
        0,
    )


@pytest.mark.req("AX-03")
async def test_the_bill_of_another_order_pays_for_nothing(stage: Stage) -> None:
    """Both orders are the customer's; only one was charged."""
    fresh = OrderId("1077")
    await stage.shop.put_order(ANA, order_for(ANA, "processing", fresh))

    quote = await stage.billing_records.quote(ANA, RefundProposal(order_id=fresh))

    assert quote is not None
    assert not quote.is_possible


def event(kind: str, minor: int) -> BillingEvent:
    """Build an event on the order's bill."""
    return BillingEvent(event_id=f"{kind}-{minor}", kind=kind, amount=usd(minor), order_id=ORDER, at=NOON)
