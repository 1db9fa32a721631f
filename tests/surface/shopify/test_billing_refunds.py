"""Refunds and store credit at a Shopify shop: exactly the grant's amount, once, the way it came.

Source: AX-01…03, SH-03, faults 070, 072, apis.md §1.10.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from agents.action_executor import PATIENCE
from shared.adapters.shopify.marks import bears_mark, is_marked, to_key, to_mark
from shared.adapters.shopify.money_orders import MAX_REFUNDS
from shared.authority.verify import verify_grant
from shared.domain.actions import ActionState, CreditProposal, RefundProposal
from shared.domain.errors import IntegrationError, OutcomeUnknown
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.ports.integrations import Declined, NotCalled
from tests.acting.stage import ORDER, PROPOSALS, usd
from tests.contracts.billing import ShopifyUnderTest, call
from tests.servers.shopify import Trouble
from tests.servers.shopify.state import Transaction
from tests.surface.shopify.billing_steps import granted, play_out, sent
from tests.waiting import until

REFUND, CREDIT = RefundProposal(order_id=ORDER), CreditProposal(order_id=ORDER)


@pytest.mark.req("SH-03", "AX-02", "AX-03")
async def test_a_whole_refund_names_lines_shipping_payment_amount_mark_and_key(billed: ShopifyUnderTest) -> None:
    """Everything the shop needs to do it once, and we to find it again; what is restocked is the merchant's."""
    await billed.seed("delivered")
    billed.order.shipping = Decimal("5.00")
    billed.order.transactions[0].amount = Decimal("45.00")
    action, verified = await granted(billed, REFUND)

    await billed.billing.refund(verified, REFUND)

    (variables,) = sent(billed, "refundCreate")
    kettle, mug = billed.order.lines
    assert variables == {
        "key": to_key(action.action_id),
        "input": {
            "orderId": billed.order.gid,
            "currency": "USD",
            "note": to_mark(action.action_id),
            "notify": True,
            "allowOverRefunding": False,
            "refundLineItems": [
                {"lineItemId": kettle.gid, "quantity": 1, "restockType": "NO_RESTOCK"},
                {"lineItemId": mug.gid, "quantity": 2, "restockType": "NO_RESTOCK"},
            ],
            "shipping": {"amount": "5.00"},
            "transactions": [
                {
                    "orderId": billed.order.gid,
                    "kind": "REFUND",
                    "gateway": "shopify_payments",
                    "parentId": billed.order.transactions[0].gid,
                    "amount": "45.00",
                }
            ],
        },
    }


@pytest.mark.req("AX-02")
async def test_less_than_all_of_an_order_is_money_alone(billed: ShopifyUnderTest) -> None:
    """Which goods it is for, nobody has said: none counts as settled."""
    part = REFUND.model_copy(update={"amount": usd(500)})
    _, verified = await granted(billed, part)

    effect = await billed.billing.refund(verified, part)

    given = sent(billed, "refundCreate")[0]["input"]
    assert effect.amount == usd(500)
    assert not {"refundLineItems", "shipping"} & set(given)
    assert [line.refundable for line in billed.order.lines] == [1, 2]


@pytest.mark.req("AX-02", "AX-05")
@pytest.mark.parametrize("granted_minor", [501, 4000])
async def test_no_grant_moves_more_than_was_asked_for(billed: ShopifyUnderTest, granted_minor: int) -> None:
    """The order holds it, the seal is good, the proposal names less."""
    await billed.seed("delivered")
    part = REFUND.model_copy(update={"amount": usd(500)})
    action = await billed.stage.approved(billed.ana, part)
    raised = action.model_copy(update={"amount": usd(granted_minor)})
    keys, signed = billed.stage.seals.ring(), billed.stage.seal(raised, fence=1)
    verified = verify_grant(signed, raised, now=billed.clock.now(), keys=keys)

    with pytest.raises(Declined):
        await billed.billing.refund(verified, part)

    assert await billed.effects() == 0


@pytest.mark.req("AX-02")
async def test_a_refund_is_shared_out_among_the_payments_and_never_above_the_grant(billed: ShopifyUnderTest) -> None:
    await billed.seed("delivered")
    card = billed.order.transactions[0]
    card.amount = Decimal("30.00")
    gift = Transaction(billed.shop.number(), "SALE", Decimal("10.00"), billed.clock.now(), gateway="gift_card")
    billed.order.transactions.append(gift)
    part = REFUND.model_copy(update={"amount": usd(3501)})
    _, verified = await granted(billed, part)

    effect = await billed.billing.refund(verified, part)

    shares = [(p["parentId"], p["amount"]) for p in sent(billed, "refundCreate")[0]["input"]["transactions"]]
    assert shares == [(card.gid, "30.00"), (gift.gid, "5.01")]
    assert effect.amount == usd(3501)


@pytest.mark.req("AX-02", "SH-03")
@pytest.mark.parametrize(
    ("currency", "rate", "minor", "text"),
    [("EUR", "0.5", 2000, "20.00"), ("JPY", "100", 4000, "4000"), ("KWD", "0.25", 10000, "10.000")],
)
@pytest.mark.parametrize("proposal", [REFUND, CREDIT], ids=["refund", "credit"])
async def test_amounts_are_in_the_money_the_customer_paid_with(
    billed: ShopifyUnderTest, currency: str, rate: str, minor: int, text: str, proposal: RefundProposal | CreditProposal
) -> None:
    await billed.seed("delivered")
    billed.order.presentment_currency, billed.order.rate = currency, Decimal(rate)
    amount = Money(amount_minor=minor, currency=currency)
    action, verified = await granted(billed, proposal)

    effect = await call(billed, verified, proposal)

    assert action.amount == amount
    assert effect == await billed.billing.find_effect(billed.ana, action)
    given = sent(billed, "refundCreate")[0]["input"]
    assert given["currency"] == currency
    moved = given.get("transactions") or [method["storeCreditRefund"]["amount"] for method in given["refundMethods"]]
    assert [payment["amount"] for payment in moved] == [text]
    assert effect.amount == amount  # type: ignore[attr-defined]
    assert billed.shop.refunds[0].amount == Decimal("40.00")


@pytest.mark.req("AX-01", "SH-03")
async def test_store_credit_is_a_refund_of_the_order_and_moves_no_payment(billed: ShopifyUnderTest) -> None:
    """Only so it has a key, a mark and the order's own limit."""
    action, verified = await granted(billed, CREDIT)

    effect = await billed.billing.credit(verified, CREDIT)

    assert [(c.amount, c.account.owner) for c in billed.shop.store_credits] == [
        (Decimal("40.00"), billed.people[billed.ana])
    ]
    assert billed.server.calls["storeCreditAccountCredit"] == 0
    assert "transactions" not in sent(billed, "refundCreate")[0]["input"]
    assert effect == await billed.billing.find_effect(billed.ana, action)


@pytest.mark.req("AX-02")
async def test_what_was_paid_outside_the_shop_is_paid_back_by_a_person(billed: ShopifyUnderTest) -> None:
    """Cash on delivery: the shop would only write it down. Store credit it can give."""
    await billed.seed("delivered")
    billed.order.transactions[0].manual_payment_gateway = True

    refund = await billed.billing.quote(billed.ana, REFUND)
    credit = await billed.billing.quote(billed.ana, CREDIT)

    assert refund is not None
    assert credit is not None
    assert (refund.is_possible, credit.is_possible) == (False, True)


@pytest.mark.req("AX-02", "AX-03")
async def test_a_refund_whose_payment_failed_is_nobodys_success(billed: ShopifyUnderTest) -> None:
    """It is on the order and no money moved: not told as done, not tried again, a person looks."""
    billed.shop.refund_status = "FAILURE"
    await billed.seed("delivered")
    action = await billed.stage.approved(billed.ana, REFUND)

    ended = await play_out(billed, action, rounds=int(PATIENCE / timedelta(seconds=20)) + 2)

    assert (ended.state, ended.effect) == (ActionState.UNCLEAR, None)
    assert billed.server.calls["refundCreate"] == 1


@pytest.mark.req("AX-03")
async def test_a_refund_the_bank_has_not_finished_counts_as_made(billed: ShopifyUnderTest) -> None:
    billed.shop.refund_status = "PENDING"
    action, verified = await granted(billed, REFUND)

    effect = await billed.billing.refund(verified, REFUND)

    assert effect.amount == usd(4000)
    assert await billed.billing.find_effect(billed.ana, action) == effect


@pytest.mark.req("AX-02", "AX-03")
async def test_fault_070_every_try_of_an_action_bears_one_key_and_the_same_variables(billed: ShopifyUnderTest) -> None:
    """Cut off twice before it was done, then done: three calls, one key, one refund."""
    await billed.seed("delivered")
    action = await billed.stage.approved(billed.ana, REFUND)
    billed.server.faults.next("refundCreate", Trouble.ERROR_BEFORE)
    billed.server.faults.next("refundCreate", Trouble.INTERNAL_AFTER)

    ended = await play_out(billed, action)

    calls = sent(billed, "refundCreate")
    assert ended.state is ActionState.EXECUTED
    assert (len(calls), calls[0], await billed.effects()) == (2, calls[1], 1)


@pytest.mark.req("AX-02", "AX-03")
async def test_fault_070_a_key_under_way_is_doubt_and_ends_as_one_refund(billed: ShopifyUnderTest) -> None:
    """The first call is still at the shop when the second comes: neither says that nothing was done."""
    action, verified = await granted(billed, REFUND)
    gate = billed.server.faults.hold("refundCreate")
    first = asyncio.create_task(billed.billing.refund(verified, REFUND))
    await until(lambda: billed.server.calls["refundCreate"] == 1, "the first call arrives")

    with pytest.raises(OutcomeUnknown):
        await billed.billing.refund(verified, REFUND)
    gate.set()

    effect = await first
    assert await billed.billing.find_effect(billed.ana, action) == effect
    assert await billed.effects() == 1


@pytest.mark.req("AX-02", "AX-03")
async def test_fault_070_a_key_that_was_used_for_something_else_is_doubt(billed: ShopifyUnderTest) -> None:
    """The order changed while the first call was under way: its refusal of the second does not say "not done"."""
    await billed.seed("delivered")
    billed.order.transactions[0].amount = Decimal("30.00")
    gift = Transaction(billed.shop.number(), "SALE", Decimal("10.00"), billed.clock.now(), gateway="gift_card")
    billed.order.transactions.append(gift)
    part = REFUND.model_copy(update={"amount": usd(500)})
    _, verified = await granted(billed, part)
    gate = billed.server.faults.hold("refundCreate")
    first = asyncio.create_task(billed.billing.refund(verified, part))
    await until(lambda: billed.server.calls["refundCreate"] == 1, "the first call arrives")
    billed.shop.pay_back(billed.order, Decimal("30.00"))

    with pytest.raises(OutcomeUnknown):
        await billed.billing.refund(verified, part)

    gate.set()
    with pytest.raises(Declined):
        await first
    assert await billed.effects() == 0


@pytest.mark.req("AX-02", "AX-03")
async def test_fault_070_after_a_day_the_shop_has_forgotten_the_key_and_we_have_not(billed: ShopifyUnderTest) -> None:
    """The shop would pay again for the very same call; the order's own refunds keep us from sending it."""
    part = REFUND.model_copy(update={"amount": usd(500)})
    action, verified = await granted(billed, part)
    first = await billed.billing.refund(verified, part)
    billed.clock.forward(hours=24, seconds=1)

    again = await billed.billing.refund(verified, part)
    made_by_us = await billed.effects()
    del billed.shop.refunds[:]
    billed.shop.orders[0].refunds.clear()
    unread = await billed.billing.refund(verified, part)

    assert (again, made_by_us) == (first, 1)
    assert await billed.billing.find_effect(billed.ana, action) == unread
    assert await billed.effects() == 2, "the key alone would not have kept the shop from paying twice"


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("proposal", [REFUND, CREDIT], ids=["refund", "credit"])
async def test_too_much_by_the_time_it_arrives_is_declined_by_the_shop(
    billed: ShopifyUnderTest, proposal: RefundProposal | CreditProposal
) -> None:
    """The merchant pays back between our reading and our writing: over-refunding is not allowed, nothing is done."""
    _, verified = await granted(billed, proposal)
    gate = billed.server.faults.hold("refundCreate")
    writing = asyncio.create_task(call(billed, verified, proposal))
    await until(lambda: billed.server.calls["refundCreate"] == 1, "the call arrives")
    billed.shop.pay_back(billed.order, Decimal("0.01"))
    gate.set()

    with pytest.raises(Declined):
        await writing

    assert await billed.effects() == 0


@pytest.mark.req("AX-02", "AX-04")
@pytest.mark.parametrize("trouble", [Trouble.THROTTLE, Trouble.TOO_MANY])
async def test_a_throttled_write_is_known_not_to_have_happened(billed: ShopifyUnderTest, trouble: Trouble) -> None:
    action, _ = await granted(billed, REFUND)
    billed.server.faults.next("refundCreate", trouble)

    held = await billed.stage.perform(action)
    waited = await play_out(billed, action)

    assert (held.state, waited.state) == (ActionState.APPROVED, ActionState.EXECUTED)
    assert await billed.effects() == 1


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("field", ["orders", "order"])
@pytest.mark.parametrize(
    "trouble",
    [Trouble.DROP_BEFORE, Trouble.ERROR_BEFORE, Trouble.INTERNAL_BEFORE, Trouble.HANG_BEFORE, Trouble.THROTTLE],
    ids=lambda t: t.name,
)
async def test_nothing_is_written_to_a_shop_that_cannot_be_read(
    billed: ShopifyUnderTest, field: str, trouble: Trouble
) -> None:
    _, verified = await granted(billed, REFUND)
    billed.server.faults.next(field, trouble)

    with pytest.raises(NotCalled):
        await billed.billing.refund(verified, REFUND)

    assert billed.server.calls["refundCreate"] == 0


@pytest.mark.req("AX-02")
async def test_a_missing_scope_is_a_refusal_and_unseen_owners_are_no_owners(billed: ShopifyUnderTest) -> None:
    _, verified = await granted(billed, REFUND)
    scopes = billed.shop.scopes
    billed.shop.scopes = ("read_orders", "read_customers")

    with pytest.raises(Declined):
        await billed.billing.refund(verified, REFUND)
    billed.shop.scopes = tuple(scope for scope in scopes if scope != "read_customers")

    assert await billed.billing.quote(billed.ana, REFUND) is None
    assert await billed.effects() == 0


@pytest.mark.req("AX-03")
async def test_only_the_shop_that_shows_the_order_can_say_that_nothing_was_done(billed: ShopifyUnderTest) -> None:
    """Gone, given to somebody else, or out of the window: doubt, never "not done"."""
    action, _ = await granted(billed, REFUND)

    billed.order.customer = billed.people[billed.ben]
    with pytest.raises(IntegrationError):
        await billed.billing.find_effect(billed.ana, action)
    billed.order.customer = billed.people[billed.ana]
    billed.clock.forward(days=61)
    with pytest.raises(IntegrationError):
        await billed.billing.find_effect(billed.ana, action)


@pytest.mark.req("AX-03")
async def test_more_refunds_than_are_read_are_doubt(billed: ShopifyUnderTest) -> None:
    action, verified = await granted(billed, REFUND.model_copy(update={"amount": usd(1)}))
    for _ in range(MAX_REFUNDS):
        billed.shop.pay_back(billed.order, Decimal("0.01"))

    with pytest.raises(IntegrationError):
        await billed.billing.find_effect(billed.ana, action)
    with pytest.raises(IntegrationError):
        await billed.billing.refund(verified, REFUND.model_copy(update={"amount": usd(1)}))

    assert billed.server.calls["refundCreate"] == 0


@pytest.mark.req("AX-03")
def test_a_mark_is_a_word_of_its_own_and_a_key_never_changes() -> None:
    """Another action's mark, a longer one and one inside a word are not ours; the key is pinned."""
    ours, other = "a" * 40, "b" * 40

    assert bears_mark(f"agreed {to_mark(ours)} in chat", ours)
    for note in (None, "", to_mark(other), to_mark(ours) + "0", "x" + to_mark(ours), ours):
        assert not bears_mark(note, ours)
    assert (is_marked(to_mark(other)), is_marked("vouched"), is_marked(None)) == (True, False, False)
    assert to_key(ours) == "ae6baf1d-466a-5a98-97f1-c59fcc454b36"
    assert to_key(ours) != to_key(other)


@pytest.mark.req("AX-04")
async def test_fault_072_two_equal_refunds_of_two_lines_bear_two_keys(billed: ShopifyUnderTest) -> None:
    await billed.seed("delivered")
    for name in ("Kettle", "Mug"):
        proposal = REFUND.model_copy(update={"lines": billed.line(name), "amount": usd(1250)})
        done = await billed.stage.perform(await billed.stage.approved(billed.ana, proposal))
        assert done.state is ActionState.EXECUTED

    first, second = sent(billed, "refundCreate")
    assert first["key"] != second["key"]
    assert await billed.paid_minor() == 2500


@pytest.mark.req("AX-03")
@pytest.mark.parametrize("type_", [ActionType.REFUND, ActionType.CREDIT])
async def test_a_second_process_finds_what_the_first_has_done(billed: ShopifyUnderTest, type_: ActionType) -> None:
    """Killed after the call and before the record: whoever comes next reads it back."""
    action, verified = await granted(billed, PROPOSALS[type_], state="delivered")
    signed = billed.stage.seal(await billed.stage.stands(action), fence=1)
    await billed.stage.claimed(signed, action)
    await call(billed, verified, PROPOSALS[type_])

    elsewhere = replace(billed.stage, actions=billed.stage.elsewhere().actions)
    ended = await elsewhere.execute(signed, action)

    assert ended.state is ActionState.EXECUTED
    assert await billed.effects() == 1
