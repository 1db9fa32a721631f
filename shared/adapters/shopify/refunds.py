"""Money back, the way it came or as store credit: one `refundCreate` under one key.

The grant says how much; the shop says how it is shared out among the order's payments, and never gets to move another
sum. Goods stay where they are: what is restocked is the merchant's decision. Store credit goes the same way, because
only a refund has a key, a note to be found by and the order's own limit (`storeCreditAccountCredit` has none of them).
Source: SH-03, AX-02, AX-03, faults 070, 072, apis.md §1.10.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from shared.adapters.shopify.amounts import to_decimal_text, to_seen_money
from shared.adapters.shopify.marks import bears_mark, to_key, to_mark
from shared.adapters.shopify.money_orders import (
    MONEY,
    REFUND_FIELDS,
    MoneyOrder,
    RefundNode,
    SuggestionNode,
    TenderNode,
)
from shared.adapters.shopify.operations import Answer, Operation, Variables
from shared.adapters.shopify.shops import from_gid, is_number, to_gid
from shared.adapters.shopify.writing import Impossible, ShopWriting, demand, unseen
from shared.domain.actions import Action, CreditProposal, Effect, LineRef, OrderProposal, Quote, RefundProposal
from shared.domain.errors import OutcomeUnknown
from shared.domain.grants import Grant
from shared.domain.money import Money
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope
from shared.ports.integrations import Declined

MoneyProposal = RefundProposal | CreditProposal
"""What asks for money back."""


class _Payload(Answer):
    refund: RefundNode | None = None


class _RefundAnswer(Answer):
    refund_create: _Payload


REFUND: Final = Operation(
    "refundCreate",
    "mutation Refund($input: RefundInput!, $key: String!) { refundCreate(input: $input) @idempotent(key: $key)"
    f" {{ refund {{ {REFUND_FIELDS} }} userErrors {{ field message }} }} }}",
    _RefundAnswer,
    cost=40.0,
    effect="refund",
)


class Refunds:
    """Refunds and store credit of one customer's order."""

    def __init__(self, shop: ShopWriting, clock: Clock) -> None:
        self._shop = shop
        self._clock = clock

    async def quote(self, scope: CustomerScope, proposal: MoneyProposal) -> Quote | None:
        """Return what could be paid back now; None when the order is not this customer's. Raises: Impossible."""
        order = await read_money(self._shop, scope, proposal, proposal.lines)
        if order is None:
            return None
        amount, suggestion = weigh(order, proposal)
        return Quote(
            order_id=proposal.order_id,
            owner=scope.customer_id,
            amount=amount,
            is_possible=True,
            lines=proposal.lines or suggestion.lines(),
        )

    async def find(self, scope: CustomerScope, proposal: MoneyProposal, action: Action) -> Effect | None:
        """Return the action's refund; None when it is certain that there is none. Raises: IntegrationError."""
        order = await read_money(self._shop, scope, proposal, ())
        if order is None:
            raise unseen(action.action_id)
        return self._made(order, action.action_id)

    async def do(self, scope: CustomerScope, grant: Grant, proposal: MoneyProposal) -> Effect:
        """Pay exactly the grant's amount back, once. Raises: Declined, NotCalled, OutcomeUnknown, IntegrationError."""
        order = await self._shop.before(read_money(self._shop, scope, proposal, proposal.lines))
        if order is None:
            raise Declined("there is no such order of this customer")
        done = self._made(order, grant.action_id)
        if done is not None:
            return done
        try:
            variables = to_variables(order, grant, proposal)
        except Impossible as no:
            raise Declined(str(no)) from None
        answer = await self._shop.write(scope, REFUND, variables)
        refund = answer.refund_create.refund
        if refund is None or not bears_mark(refund.note, grant.action_id):
            raise OutcomeUnknown("refundCreate: the answer shows another refund")
        return self._effect(refund)

    def _made(self, order: MoneyOrder, action_id: str) -> Effect | None:
        found = next((refund for refund in order.all_refunds() if bears_mark(refund.note, action_id)), None)
        return None if found is None else self._effect(found)

    def _effect(self, refund: RefundNode) -> Effect:
        total, paid = to_seen_money(refund.total_refunded_set), refund.paid()
        # What was given as store credit may be in the total only.
        amount = paid if paid.amount_minor > 0 else total
        if amount.amount_minor <= 0:
            raise OutcomeUnknown(f"refund {from_gid(refund.id)!r} is recorded and shows no money")
        return Effect(reference=from_gid(refund.id), amount=amount, at=refund.created_at or self._clock.now())


async def read_money(
    shop: ShopWriting, scope: CustomerScope, proposal: OrderProposal, lines: Sequence[LineRef]
) -> MoneyOrder | None:
    """Return the order with what the shop suggests for the lines, or for all that is left; None if it is not theirs."""
    gid = await shop.order_gid(scope, proposal.order_id)
    if gid is None:
        return None
    variables: Variables = {"id": gid, "lines": _line_inputs(lines) or None, "isWhole": not lines}
    order = (await shop.query(scope, MONEY, variables)).order
    return order if order is not None and order.is_owned_by(scope.customer_id) else None


def weigh(order: MoneyOrder, proposal: MoneyProposal) -> tuple[Money, SuggestionNode]:
    """Return what the proposal would pay back now, and what the shop suggests for it. Raises: Impossible."""
    demand(order.cancelled_at is None, "the shop holds no money for it")
    check_lines(order, proposal.lines)
    suggestion = suggestion_of(order)
    most = suggestion.most()
    demand(most.amount_minor > 0, "nothing of it can be paid back any more")
    amount = most if proposal.amount is None else proposal.amount
    demand(amount.currency == most.currency, "the order was paid in another currency")
    demand(0 < amount.amount_minor <= most.amount_minor, "that is more than can be paid back")
    if isinstance(proposal, RefundProposal):
        demand(not suggestion.is_paid_outside, "it was paid outside the shop: a person pays it back")
        share_out(amount, suggestion.suggested_transactions)
    return amount, suggestion


def suggestion_of(order: MoneyOrder) -> SuggestionNode:
    """Return what the shop suggests. Raises: Impossible."""
    if order.suggested_refund is None:
        raise Impossible("the shop suggests no refund")
    return order.suggested_refund


def check_lines(order: MoneyOrder, lines: Sequence[LineRef]) -> None:
    """Raises: Impossible unless the order has the lines, and as many of each left."""
    left = {from_gid(line.id): line.refundable_quantity for line in order.line_items.nodes}
    for name, quantity in merge(lines).items():
        demand(name in left, "the order has no such line")
        demand(quantity <= left[name], "that many were not ordered, or were settled before")


def merge(lines: Sequence[LineRef]) -> dict[str, int]:
    """Return how many of each line are asked for, in the order asked."""
    asked: dict[str, int] = {}
    for line in lines:
        asked[line.line_id] = asked.get(line.line_id, 0) + line.quantity
    return asked


def share_out(amount: Money, tenders: Sequence[TenderNode]) -> list[tuple[TenderNode, Money]]:
    """Return what goes back to each payment: in the shop's order, none above what the shop suggests, in sum the amount.

    Raises: Impossible when they do not hold that much together.
    """
    shares: list[tuple[TenderNode, Money]] = []
    left = amount.amount_minor
    for tender in tenders:
        held = to_seen_money(tender.amount_set)
        demand(held.currency == amount.currency, "its amounts are in several currencies")
        share = min(left, held.amount_minor)
        if share > 0:
            shares.append((tender, Money(amount_minor=share, currency=amount.currency)))
            left -= share
    demand(left == 0, "not all of it can go back the way it came")
    return shares


def to_variables(order: MoneyOrder, grant: Grant, proposal: MoneyProposal) -> Variables:
    """Return the variables of the one write; the same order and grant give the same ones. Raises: Impossible."""
    quoted, suggestion = weigh(order, proposal)
    amount = grant.amount
    if amount is None or amount.currency != quoted.currency or not 0 < amount.amount_minor <= quoted.amount_minor:
        raise Impossible("it would move another amount than was granted")
    given: dict[str, JsonValue] = {
        "orderId": order.id,
        "currency": amount.currency,
        "note": to_mark(grant.action_id),
        "notify": True,
        "allowOverRefunding": False,
    }
    is_all = amount == suggestion.most()
    # Less than all of a whole order is money alone: which goods it is for, nobody has said.
    lines = proposal.lines or (suggestion.lines() if is_all else ())
    if lines:
        given["refundLineItems"] = _line_inputs(lines)
    shipping = to_seen_money(suggestion.shipping.amount_set)
    if is_all and not proposal.lines and shipping.amount_minor > 0:
        given["shipping"] = {"amount": to_decimal_text(shipping)}
    if isinstance(proposal, CreditProposal):
        credit: JsonValue = {"amount": to_decimal_text(amount), "currencyCode": amount.currency}
        given["refundMethods"] = [{"storeCreditRefund": {"amount": credit}}]
    else:
        shares = share_out(amount, suggestion.suggested_transactions)
        given["transactions"] = [_to_payment(order.id, tender, share) for tender, share in shares]
    return {"input": given, "key": to_key(grant.action_id)}


def _to_payment(order_gid: str, tender: TenderNode, share: Money) -> JsonValue:
    assert tender.parent_transaction is not None
    return {
        "orderId": order_gid,
        "kind": "REFUND",
        "gateway": tender.gateway or "",
        "parentId": tender.parent_transaction.id,
        "amount": to_decimal_text(share),
    }


def _line_inputs(lines: Sequence[LineRef]) -> list[JsonValue]:
    return [
        {"lineItemId": to_gid("LineItem", name), "quantity": quantity, "restockType": "NO_RESTOCK"}
        for name, quantity in merge(lines).items()
        if is_number(name)
    ]
