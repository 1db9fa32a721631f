"""The embedded shop's billing: what it quotes, what it does once, and what its records show afterwards.

Source: AX-01…03, SH-03, AC-01, faults 046, 069, 070.
"""

import asyncio
from datetime import datetime

import pytest

from shared.adapters.records.shop_billing import KEYED, ShopBilling
from shared.domain.actions import (
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    LineRef,
    OrderProposal,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
)
from shared.domain.errors import AuthorityError
from shared.domain.ids import OrderId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import Shipment
from shared.domain.verified import VerifiedGrant
from shared.ports.integrations import Declined
from tests.acting.stage import ANA, BEN, BOUND_TO, ORDER, PROPOSALS, Stage, order_for, status_for, usd
from tests.acting.yielding import YieldingDocuments

KETTLE = (LineRef(line_id="KT-1", quantity=1),)
MUG = (LineRef(line_id="MG-2", quantity=1),)
MUGS = (LineRef(line_id="MG-2", quantity=2),)
REFUND, CREDIT = RefundProposal(order_id=ORDER), CreditProposal(order_id=ORDER)

QUOTES: dict[str, tuple[str, OrderProposal, int | None]] = {
    "all of it": ("delivered", REFUND, 4000),
    "one line": ("delivered", RefundProposal(order_id=ORDER, lines=KETTLE), 1500),
    "part of a line": ("delivered", RefundProposal(order_id=ORDER, lines=MUG), 1250),
    "less than there is": ("delivered", RefundProposal(order_id=ORDER, amount=usd(500)), 500),
    "credit for lines": ("delivered", CreditProposal(order_id=ORDER, lines=MUGS), 2500),
    "a return": ("delivered", RequestReturnProposal(order_id=ORDER), None),
    "cancelling": ("processing", CancelOrderProposal(order_id=ORDER), 4000),
    "cancelling what waits for stock": ("Awaiting-Stock", CancelOrderProposal(order_id=ORDER), 4000),
    "another address": ("open", ChangeAddressProposal(order_id=ORDER), None),
    "sending it again": ("in_transit", ResendProposal(order_id=ORDER), 4000),
    "sending a part again": ("delivered", ResendProposal(order_id=ORDER, lines=MUG), 1250),
}
REFUSALS: dict[str, tuple[str, OrderProposal]] = {
    "more than there is": ("delivered", RefundProposal(order_id=ORDER, amount=usd(4001))),
    "nothing": ("delivered", RefundProposal(order_id=ORDER, amount=usd(0))),
    "less than nothing": ("delivered", CreditProposal(order_id=ORDER, amount=usd(-1))),
    "another currency": ("delivered", RefundProposal(order_id=ORDER, amount=Money(amount_minor=1, currency="EUR"))),
    "more than the line": ("delivered", RefundProposal(order_id=ORDER, lines=KETTLE, amount=usd(1501))),
    "no such line": ("delivered", RefundProposal(order_id=ORDER, lines=(LineRef(line_id="ZZ", quantity=1),))),
    "more than ordered": ("delivered", RefundProposal(order_id=ORDER, lines=(LineRef(line_id="KT-1", quantity=2),))),
    "a line twice": ("delivered", RequestReturnProposal(order_id=ORDER, lines=KETTLE + KETTLE)),
    "refunding what was cancelled": ("cancelled", REFUND),
    "refunding what was never paid": ("awaiting_payment", REFUND),
    "cancelling what was shipped": ("shipped", CancelOrderProposal(order_id=ORDER)),
    "cancelling what was shipped in part": ("partially_fulfilled", CancelOrderProposal(order_id=ORDER)),
    "cancelling a part": ("processing", CancelOrderProposal(order_id=ORDER, lines=KETTLE)),
    "cancelling in a state nobody knows": ("quantum", CancelOrderProposal(order_id=ORDER)),
    "an address after shipment": ("shipped", ChangeAddressProposal(order_id=ORDER)),
    "a return before delivery": ("shipped", RequestReturnProposal(order_id=ORDER)),
    "a return of what is coming back": ("return_requested", RequestReturnProposal(order_id=ORDER)),
    "sending again what was never sent": ("processing", ResendProposal(order_id=ORDER)),
    "sending again what was cancelled": ("cancelled", ResendProposal(order_id=ORDER)),
}


@pytest.mark.req("SH-03", "AX-02")
@pytest.mark.parametrize("name", QUOTES)
async def test_a_quote_says_what_would_move(stage: Stage, name: str) -> None:
    status, proposal, minor = QUOTES[name]
    await stage.seed(ANA, status)

    quote = await stage.billing_records.quote(ANA, proposal)

    assert quote is not None
    assert (quote.is_possible, quote.owner, quote.reason) == (True, ANA.customer_id, "")
    assert quote.amount == (usd(minor) if minor is not None else None)


@pytest.mark.req("SH-03", "AX-02")
@pytest.mark.parametrize("name", REFUSALS)
async def test_a_quote_says_what_the_shop_would_not_do(stage: Stage, name: str) -> None:
    """Fails closed: a state the shop does not know lets nothing through."""
    status, proposal = REFUSALS[name]
    await stage.seed(ANA, status)

    quote = await stage.billing_records.quote(ANA, proposal)

    assert quote is not None
    assert (quote.is_possible, quote.amount) == (False, None)
    assert quote.reason


@pytest.mark.req("AC-01", "GO-01")
@pytest.mark.parametrize("number", ["1002", "9999", "", "a/b", "1001\x00"])
async def test_fault_069_a_foreign_order_and_no_order_are_quoted_alike(stage: Stage, number: str) -> None:
    await stage.seed(BEN, number="1002")

    assert await stage.billing_records.quote(ANA, RefundProposal(order_id=OrderId(number))) is None


async def test_a_parcel_on_its_way_keeps_an_open_order_from_being_cancelled(stage: Stage) -> None:
    """The order's word may be behind its parcels'."""
    order = order_for(ANA, "processing")
    for parcel in (Shipment(status="in_transit"), Shipment(delivered_at=datetime.fromisoformat("2026-03-01T00:00Z"))):
        await stage.shop.put_order(ANA, order.model_copy(update={"shipments": (parcel,)}))

        quote = await stage.billing_records.quote(ANA, CancelOrderProposal(order_id=ORDER))

        assert quote is not None
        assert not quote.is_possible


@pytest.mark.req("AX-01", "AX-03")
@pytest.mark.parametrize("type_", sorted(KEYED))
async def test_the_order_and_the_bill_show_what_was_done(stage: Stage, type_: ActionType) -> None:
    await stage.seed(ANA, status_for(type_))

    done = await stage.perform(await stage.approved(ANA, PROPOSALS[type_]))

    order = await stage.shop.order(ANA, ORDER)
    events = await stage.shop.billing_events(ANA, datetime.fromisoformat("2026-01-01T00:00Z"))
    assert order is not None
    assert done.effect is not None
    bill = [(e.kind, e.amount, e.event_id) for e in events if e.kind != "charge"]
    shown = (order.status, order.refunded, len(order.shipments), bill)
    reference = done.effect.reference
    assert (
        shown
        == {
            ActionType.REFUND: ("refunded", usd(4000), 0, [("refund", usd(4000), reference)]),
            ActionType.CREDIT: ("delivered", None, 0, [("credit", usd(4000), reference)]),
            ActionType.CANCEL_ORDER: ("cancelled", usd(4000), 0, [("refund", usd(4000), reference)]),
            ActionType.REQUEST_RETURN: ("return_requested", None, 0, []),
            ActionType.CHANGE_ADDRESS: ("processing", None, 0, []),
            ActionType.RESEND: ("delivered", None, 1, []),
        }[type_]
    )
    assert await stage.billing_records.find_effect(ANA, done) == done.effect


@pytest.mark.req("AX-03")
@pytest.mark.parametrize("type_", sorted(KEYED))
async def test_fault_070_the_same_key_is_done_once_however_often_and_at_once_it_is_asked(
    stage: Stage, type_: ActionType
) -> None:
    """The key is the action's id: eight calls at once and one later find one effect."""
    await stage.seed(ANA, status_for(type_))
    action = await stage.approved(ANA, PROPOSALS[type_])
    verified = await stage.verified(await stage.granted(action), action)
    shop = ShopBilling(YieldingDocuments(stage.documents), stage.clock)  # type: ignore[arg-type]

    effects = await asyncio.gather(*(call(shop, verified, PROPOSALS[type_]) for _ in range(8)))
    again = await call(shop, verified, PROPOSALS[type_])

    assert effects == [again] * 8
    assert await stage.effects() == 1


@pytest.mark.req("AX-02")
async def test_what_is_settled_is_not_paid_again_under_another_key(stage: Stage) -> None:
    """The order's own books: lines used up, credit beside refund, and never more than was paid."""
    await stage.perform(await stage.approved(ANA, RefundProposal(order_id=ORDER, lines=KETTLE)))
    await stage.perform(await stage.approved(ANA, CreditProposal(order_id=ORDER, lines=MUG)))

    async def left(proposal: OrderProposal) -> int | None:
        quote = await stage.billing_records.quote(ANA, proposal)
        assert quote is not None
        return quote.amount.amount_minor if quote.amount is not None else None

    assert await left(RefundProposal(order_id=ORDER, lines=KETTLE)) is None
    assert await left(RefundProposal(order_id=ORDER, lines=MUGS)) is None
    assert await left(RefundProposal(order_id=ORDER, lines=MUG)) == 1250
    assert await left(REFUND) == 1250
    assert await left(CREDIT) == 1250


async def test_after_a_part_the_rest_can_still_come_back_or_be_sent_again_once(stage: Stage) -> None:
    for kind in (RequestReturnProposal, ResendProposal):
        await stage.perform(await stage.approved(ANA, kind(order_id=ORDER, lines=MUG)))
        quote = await stage.billing_records.quote(ANA, kind(order_id=ORDER))
        assert quote is not None
        rest = {line.line_id: line.quantity for line in quote.lines}
        assert rest == ({"KT-1": 1, "MG-2": 1} if quote.is_possible else {})
        await stage.seed(ANA)  # the shop's word goes back to delivered; its books stay

    await stage.perform(await stage.approved(ANA, ResendProposal(order_id=ORDER)))
    quote = await stage.billing_records.quote(ANA, ResendProposal(order_id=ORDER))
    assert quote is not None
    assert not quote.is_possible


@pytest.mark.req("AX-02")
async def test_the_shop_declines_what_has_changed_since_the_grant(stage: Stage) -> None:
    """Shipped meanwhile, refunded meanwhile at the till: nothing is done, and it says so."""
    action = await stage.approved(ANA, REFUND)
    verified = await stage.verified(await stage.granted(action), action)
    order = order_for(ANA).model_copy(update={"refunded": usd(1000)})
    await stage.shop.put_order(ANA, order)

    with pytest.raises(Declined):
        await call(stage.billing, verified, REFUND)

    assert await stage.effects() == 0
    assert await stage.shop.order(ANA, ORDER) == order


@pytest.mark.req("AX-01")
async def test_no_address_no_change(stage: Stage) -> None:
    await stage.seed(ANA, "processing")
    blank = ChangeAddressProposal(order_id=ORDER)
    action = await stage.approved(ANA, blank)
    assert await stage.take(action) == 1
    unsafe = stage.seal(action, fence=1)

    with pytest.raises(Declined):
        await call(stage.billing, await stage.verified(unsafe, action), blank)


@pytest.mark.req("AX-02")
async def test_a_verified_grant_writes_nothing_but_its_own_proposal(stage: Stage) -> None:
    """Another address, another note or another order needs another grant."""
    await stage.seed(ANA, "processing")
    action = await stage.approved(ANA, PROPOSALS[ActionType.CHANGE_ADDRESS])
    verified = await stage.verified(await stage.granted(action), action)
    elsewhere = BOUND_TO.model_copy(update={"line1": "2 Other Street"})

    with pytest.raises(AuthorityError):
        await call(stage.billing, verified, ChangeAddressProposal(order_id=ORDER, address=elsewhere))
    with pytest.raises(AuthorityError):
        await call(stage.billing, verified, REFUND)

    assert await stage.effects() == 0


async def call(billing: object, verified: VerifiedGrant, proposal: object) -> object:
    """Call the method of the proposal's kind."""
    method = getattr(billing, PROPOSAL_METHODS[type(proposal)])
    return await method(verified, proposal)


PROPOSAL_METHODS = {
    RefundProposal: "refund",
    CreditProposal: "credit",
    RequestReturnProposal: "request_return",
    CancelOrderProposal: "cancel_order",
    ChangeAddressProposal: "change_address",
    ResendProposal: "resend",
}
