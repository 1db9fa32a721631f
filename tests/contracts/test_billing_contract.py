"""What every billing system owes the executor: honest quotes, one effect for one action, and the truth afterwards.

Runs against each system in `tests/contracts/billing.py`, over a real store of actions and the real executor.
Source: AX-01…04, SH-03, AC-01, faults 069, 070, 072.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest

from shared.domain.actions import (
    ActionState,
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    OrderProposal,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
)
from shared.domain.errors import AuthorityError
from shared.domain.ids import OrderId
from shared.domain.intents import ActionType
from shared.domain.lanes import CALL_DEADLINE_S, CALL_MARGIN_S
from shared.domain.money import Money
from shared.ports.integrations import Declined
from tests.acting.stage import BOUND_TO, ORDER, PROPOSALS, status_for, usd
from tests.contracts.billing import BILLING_SYSTEMS, METHODS, BillingUnderTest, call

Build = Callable[[BillingUnderTest], OrderProposal]
REFUND, CREDIT = RefundProposal(order_id=ORDER), CreditProposal(order_id=ORDER)
CANCEL, RETURN = CancelOrderProposal(order_id=ORDER), RequestReturnProposal(order_id=ORDER)
RESEND, ADDRESS = ResendProposal(order_id=ORDER), ChangeAddressProposal(order_id=ORDER, address=BOUND_TO)
SETTLING_S: Final = 150.0
"""Longest time after which a system must be able to tell what became of a call."""

QUOTES: dict[str, tuple[str, Build, int | None]] = {
    "all of it": ("delivered", lambda s: REFUND, 4000),
    "all of what was not sent": ("processing", lambda s: REFUND, 4000),
    "one line": ("delivered", lambda s: REFUND.model_copy(update={"lines": s.line("Kettle")}), 1500),
    "part of a line": ("delivered", lambda s: REFUND.model_copy(update={"lines": s.line("Mug")}), 1250),
    "a line in two parts": (
        "delivered",
        lambda s: REFUND.model_copy(update={"lines": s.line("Mug") + s.line("Mug")}),
        2500,
    ),
    "less than there is": ("delivered", lambda s: REFUND.model_copy(update={"amount": usd(500)}), 500),
    "less than a line": (
        "delivered",
        lambda s: REFUND.model_copy(update={"lines": s.line("Kettle"), "amount": usd(1)}),
        1,
    ),
    "all as credit": ("delivered", lambda s: CREDIT, 4000),
    "credit for lines": ("delivered", lambda s: CREDIT.model_copy(update={"lines": s.line("Mug", 2)}), 2500),
    "a return": ("delivered", lambda s: RETURN, None),
    "a return of a part": ("delivered", lambda s: RETURN.model_copy(update={"lines": s.line("Mug")}), None),
    "cancelling": ("processing", lambda s: CANCEL, 4000),
    "another address": ("processing", lambda s: ADDRESS, None),
    "another address, still to be written": ("processing", lambda s: ChangeAddressProposal(order_id=ORDER), None),
}
REFUSALS: dict[str, tuple[str, Build]] = {
    "more than there is": ("delivered", lambda s: REFUND.model_copy(update={"amount": usd(4001)})),
    "nothing": ("delivered", lambda s: REFUND.model_copy(update={"amount": usd(0)})),
    "less than nothing": ("delivered", lambda s: CREDIT.model_copy(update={"amount": usd(-1)})),
    "another currency": (
        "delivered",
        lambda s: REFUND.model_copy(update={"amount": Money(amount_minor=1, currency="EUR")}),
    ),
    "more than the line": (
        "delivered",
        lambda s: REFUND.model_copy(update={"lines": s.line("Kettle"), "amount": usd(1501)}),
    ),
    "no such line": ("delivered", lambda s: REFUND.model_copy(update={"lines": s.line("ZZ")})),
    "no such line, by number": ("delivered", lambda s: CREDIT.model_copy(update={"lines": s.line("999")})),
    "more than ordered": ("delivered", lambda s: REFUND.model_copy(update={"lines": s.line("Kettle", 2)})),
    "a line twice": ("delivered", lambda s: REFUND.model_copy(update={"lines": s.line("Kettle") * 2})),
    "what was cancelled": ("cancelled", lambda s: REFUND),
    "what was never paid": ("unpaid", lambda s: REFUND),
    "credit for what was never paid": ("unpaid", lambda s: CREDIT),
    "cancelling what was shipped": ("shipped", lambda s: CANCEL),
    "cancelling what was shipped in part": ("part_shipped", lambda s: CANCEL),
    "cancelling a part": ("processing", lambda s: CANCEL.model_copy(update={"lines": s.line("Kettle")})),
    "cancelling twice": ("cancelled", lambda s: CANCEL),
    "cancelling what nobody paid for": ("unpaid", lambda s: CANCEL),
    "cancelling in a state nobody knows": ("strange", lambda s: CANCEL),
    "an address after shipment": ("shipped", lambda s: ADDRESS),
    "an address of what is cancelled": ("cancelled", lambda s: ADDRESS),
    "an address in a state nobody knows": ("strange", lambda s: ADDRESS),
    "a return before delivery": ("shipped", lambda s: RETURN),
    "a return of a line twice": ("delivered", lambda s: RETURN.model_copy(update={"lines": s.line("Kettle") * 2})),
    "a return of no such line": ("delivered", lambda s: RETURN.model_copy(update={"lines": s.line("ZZ")})),
    "sending again what was never sent": ("processing", lambda s: RESEND),
    "sending again what was cancelled": ("cancelled", lambda s: RESEND),
}


def each_row(rows: Iterable[tuple[str, ActionType]]) -> pytest.MarkDecorator:
    """Run a test for each system and row; the ids name system, action and row."""
    table = list(rows)
    params = [
        pytest.param(system, row, id=f"{system}-{type_}-{row}") for system in BILLING_SYSTEMS for row, type_ in table
    ]
    return pytest.mark.parametrize(("system", "row"), params, indirect=["system"])


def each_action(*, does: bool = True) -> pytest.MarkDecorator:
    """Run a test for each system and each kind of action it does, or does not."""
    params = [
        pytest.param(system, type_, id=f"{system}-{type_}")
        for system, (_, done) in BILLING_SYSTEMS.items()
        for type_ in sorted(ActionType)
        if (type_ in done) is does and type_ in METHODS
    ]
    return pytest.mark.parametrize(("system", "type_"), params, indirect=["system"])


def type_of(build: Build) -> ActionType:
    """Return the kind of action a row is about."""

    class Lines:
        def line(self, name: str, quantity: int = 1) -> tuple[Any, ...]:
            return ()

    return build(Lines()).type  # type: ignore[arg-type]


@pytest.mark.req("SH-03", "AX-02")
@each_row((name, type_of(build)) for name, (_, build, _) in QUOTES.items())
async def test_a_quote_says_what_would_move(system: BillingUnderTest, row: str) -> None:
    state, build, minor = QUOTES[row]
    await system.seed(state)

    quote = await system.stage.billing_records.quote(system.ana, build(system))

    assert quote is not None
    assert (quote.is_possible, quote.owner, quote.reason) == (True, system.ana.customer_id, "")
    assert quote.amount == (usd(minor) if minor is not None else None)


@pytest.mark.req("SH-03", "AX-02")
@each_row((name, type_of(build)) for name, (_, build) in REFUSALS.items())
async def test_a_quote_says_what_would_not_be_done(system: BillingUnderTest, row: str) -> None:
    """Fails closed: a state nobody knows lets nothing through."""
    state, build = REFUSALS[row]
    await system.seed(state)

    quote = await system.stage.billing_records.quote(system.ana, build(system))

    assert quote is not None
    assert (quote.is_possible, quote.amount) == (False, None)
    assert quote.reason


@pytest.mark.req("AC-01", "GO-01")
@each_action()
async def test_fault_069_a_foreign_order_and_no_order_are_quoted_alike(
    system: BillingUnderTest, type_: ActionType
) -> None:
    await system.seed("delivered", owner=system.ben, number="1002")

    for number in ("1002", "9999", "", "a/b", "1001\x00", '1002" OR name:"1002'):
        proposal = PROPOSALS[type_].model_copy(update={"order_id": OrderId(number)})
        assert await system.stage.billing_records.quote(system.ana, proposal) is None  # type: ignore[arg-type]


@pytest.mark.req("AC-01", "AX-02")
@each_action()
async def test_a_grant_for_somebody_elses_order_does_nothing(system: BillingUnderTest, type_: ActionType) -> None:
    """No supervisor mints one; whoever did would find that the shop's own word on whose it is counts."""
    await system.seed(status_for(type_), owner=system.ben)
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    assert await system.stage.take(action) == 1
    verified = await system.stage.verified(system.stage.seal(action, fence=1), action)

    with pytest.raises(Declined):
        await call(system, verified, PROPOSALS[type_])

    assert await system.effects() == 0


@pytest.mark.req("AX-01", "AX-03")
@each_action()
async def test_what_was_done_is_done_once_and_found_again(system: BillingUnderTest, type_: ActionType) -> None:
    """The executor's own round, and the same grant once more, later than any key is remembered."""
    await system.seed(status_for(type_))
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    verified = await system.stage.verified(await system.stage.granted(action), action)

    done = await system.stage.perform(action)
    again = await call(system, verified, PROPOSALS[type_])
    system.clock.forward(hours=25)
    much_later = await call(system, verified, PROPOSALS[type_])

    assert (done.state, again, much_later) == (ActionState.EXECUTED, done.effect, done.effect)
    assert await system.stage.billing_records.find_effect(system.ana, done) == done.effect
    assert await system.effects() == 1
    assert done.effect is not None
    moved = {ActionType.REFUND: 4000, ActionType.CREDIT: 4000, ActionType.CANCEL_ORDER: 4000}.get(type_, 0)
    assert await system.paid_minor() == moved
    if moved:
        assert done.effect.amount == usd(moved)


@pytest.mark.req("AX-03")
@each_action()
async def test_fault_070_twins_with_one_grant_make_one_effect(system: BillingUnderTest, type_: ActionType) -> None:
    """Two executors at once, and a third that comes later."""
    await system.seed(status_for(type_))
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    signed = await system.stage.granted(action)

    await asyncio.gather(*(system.stage.execute(signed, action) for _ in range(2)), return_exceptions=True)
    await settle(system)

    assert (await system.stage.stands(action)).state is ActionState.EXECUTED
    assert await system.effects() == 1


@pytest.mark.req("AX-02", "AX-03")
@each_action()
async def test_fault_070_a_lost_answer_is_read_back_and_nothing_is_done_twice(
    system: BillingUnderTest, type_: ActionType
) -> None:
    """Accepted, and the connection cut before the answer: one effect, and the record says so."""
    await system.seed(status_for(type_))
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    system.trouble(type_, after=True)

    await system.stage.perform(action)
    await settle(system)
    ended = await system.stage.perform(action)

    assert (ended.state, ended.starts, await system.effects()) == (ActionState.EXECUTED, 1, 1)
    assert await system.paid_minor() in (0, 4000)


@pytest.mark.req("AX-02", "AX-03")
@each_action()
async def test_what_was_cut_off_before_it_was_done_is_done_once_in_the_end(
    system: BillingUnderTest, type_: ActionType
) -> None:
    await system.seed(status_for(type_))
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    system.trouble(type_, after=False)

    await system.stage.perform(action)
    before = await system.effects()
    await settle(system)
    ended = await system.stage.perform(action)

    assert (before, ended.state, ended.starts) == (0, ActionState.EXECUTED, 2)
    assert await system.effects() == 1


@pytest.mark.req("AX-02")
@each_action()
async def test_a_grant_writes_nothing_but_its_own_proposal(system: BillingUnderTest, type_: ActionType) -> None:
    await system.seed(status_for(type_))
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    verified = await system.stage.verified(await system.stage.granted(action), action)

    with pytest.raises(AuthorityError):
        await call(system, verified, PROPOSALS[type_].model_copy(update={"order_id": OrderId("1002")}))

    assert await system.effects() == 0


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("type_", [ActionType.REFUND, ActionType.CREDIT, ActionType.CANCEL_ORDER])
@pytest.mark.parametrize("system", BILLING_SYSTEMS, indirect=True)
async def test_what_has_changed_since_the_grant_is_declined(system: BillingUnderTest, type_: ActionType) -> None:
    """The merchant paid a part back meanwhile: nothing is done, and it says so."""
    await system.seed("processing")
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    verified = await system.stage.verified(await system.stage.granted(action), action)
    await system.pay_back_elsewhere(1000)

    with pytest.raises(Declined):
        await call(system, verified, PROPOSALS[type_])

    assert await system.effects() == 0


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("type_", [ActionType.REFUND])
@pytest.mark.parametrize("system", BILLING_SYSTEMS, indirect=True)
async def test_fault_072_two_refunds_of_one_sum_are_both_paid_and_a_third_is_too_much(
    system: BillingUnderTest, type_: ActionType
) -> None:
    """Kettle 15.00, and next day 15.00 again for what is left: two approved actions, two refunds, one order's limit."""
    await system.seed("delivered")
    first = REFUND.model_copy(update={"lines": system.line("Kettle"), "amount": usd(1500)})
    second = REFUND.model_copy(update={"lines": system.line("Mug", 2), "amount": usd(1500)})

    ended = []
    for proposal in (first, second):
        ended.append(await system.stage.perform(await system.stage.approved(system.ana, proposal)))
        system.clock.forward(days=1)
    third = await system.stage.billing_records.quote(system.ana, REFUND.model_copy(update={"amount": usd(1001)}))

    assert [action.state for action in ended] == [ActionState.EXECUTED] * 2
    assert (await system.effects(), await system.paid_minor()) == (2, 3000)
    assert third is not None
    assert not third.is_possible


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("type_", [ActionType.REFUND])
@pytest.mark.parametrize("system", BILLING_SYSTEMS, indirect=True)
async def test_what_is_settled_is_not_paid_again_under_another_action(
    system: BillingUnderTest, type_: ActionType
) -> None:
    """The order's own books: lines used up, credit beside refund, and never more than was paid."""
    await system.seed("delivered")

    async def left(proposal: OrderProposal, **update: object) -> int | None:
        quote = await system.stage.billing_records.quote(system.ana, proposal.model_copy(update=update))
        assert quote is not None
        return quote.amount.amount_minor if quote.amount is not None else None

    for proposal in (
        REFUND.model_copy(update={"lines": system.line("Kettle")}),
        CREDIT.model_copy(update={"lines": system.line("Mug")}),
    ):
        await system.stage.perform(await system.stage.approved(system.ana, proposal))

    assert await left(REFUND, lines=system.line("Kettle")) is None
    assert await left(REFUND, lines=system.line("Mug", 2)) is None
    assert await left(REFUND, lines=system.line("Mug")) == 1250
    assert await left(REFUND) == 1250
    assert await left(CREDIT) == 1250


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("type_", [ActionType.REQUEST_RETURN])
@pytest.mark.parametrize("system", BILLING_SYSTEMS, indirect=True)
async def test_after_a_part_only_the_rest_can_come_back(system: BillingUnderTest, type_: ActionType) -> None:
    await system.seed("delivered")
    part = RETURN.model_copy(update={"lines": system.line("Mug")})

    await system.stage.perform(await system.stage.approved(system.ana, part))
    rest = await system.stage.billing_records.quote(system.ana, RETURN)
    await system.stage.perform(await system.stage.approved(system.ana, RETURN))
    nothing = await system.stage.billing_records.quote(system.ana, RETURN)

    assert rest is not None
    assert nothing is not None
    assert set(rest.lines) == {*system.line("Kettle"), *system.line("Mug")}
    assert not nothing.is_possible


@pytest.mark.req("AX-01")
@pytest.mark.parametrize("type_", [ActionType.CHANGE_ADDRESS])
@pytest.mark.parametrize("system", BILLING_SYSTEMS, indirect=True)
async def test_no_address_no_change(system: BillingUnderTest, type_: ActionType) -> None:
    await system.seed("processing")
    blank = ChangeAddressProposal(order_id=ORDER)
    action = await system.stage.approved(system.ana, blank)
    assert await system.stage.take(action) == 1
    unsafe = system.stage.seal(action, fence=1)

    with pytest.raises(Declined):
        await call(system, await system.stage.verified(unsafe, action), blank)


@pytest.mark.req("AX-02", "SH-03")
@each_action(does=False)
async def test_what_a_system_does_not_do_is_left_to_a_person(system: BillingUnderTest, type_: ActionType) -> None:
    """Quoted as impossible, declined all the same, and certain never to have been done."""
    await system.seed("delivered")
    quote = await system.stage.billing_records.quote(system.ana, PROPOSALS[type_])  # type: ignore[arg-type]
    action = await system.stage.approved(system.ana, PROPOSALS[type_])
    assert await system.stage.take(action) == 1
    verified = await system.stage.verified(system.stage.seal(action, fence=1), action)

    with pytest.raises(Declined):
        await call(system, verified, PROPOSALS[type_])

    assert quote is not None
    assert (quote.is_possible, quote.owner, bool(quote.reason)) == (False, system.ana.customer_id, True)
    assert await system.stage.billing_records.find_effect(system.ana, action) is None
    assert await system.effects() == 0


async def settle(system: BillingUnderTest) -> None:
    """Let everything that can still land, land, and let somebody find out what became of it."""
    for seconds in (CALL_DEADLINE_S + CALL_MARGIN_S, SETTLING_S):
        system.clock.forward(seconds=seconds)
        for action in await system.stage.actions.under_way(system.ana):
            await system.stage.reconcile(action)
