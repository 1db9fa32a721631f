"""What of an order concerns its money: what is left to pay back, how, and what was paid back already. Pure.

One read tells both what a write would move and what an earlier try has moved, so that the two cannot contradict each
other. Amounts are those the customer saw. Source: SH-03, apis.md §1.9, §1.10.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from shared.adapters.shopify.amounts import MoneyBagNode, to_seen_money
from shared.adapters.shopify.operations import Answer, Connection, Operation
from shared.adapters.shopify.orders import MONEY_FIELDS
from shared.adapters.shopify.shops import from_gid
from shared.adapters.shopify.standing import ParcelNode
from shared.domain.actions import LineRef
from shared.domain.errors import IntegrationError, Unavailable
from shared.domain.ids import CustomerId
from shared.domain.money import Money

MAX_LINES: Final = 100
"""Lines read of one order; lines beyond them are a person's. Value ours: below an operation's 1,000 points."""
MAX_REFUNDS: Final = 25
"""Refunds read of one order; with more of them nobody but a person knows what was done. Value ours."""
MAX_PAYMENTS: Final = 5
"""Payments read of one refund: a gift card, a card, store credit. Value ours."""
_MOVED: Final = frozenset({"SUCCESS", "PENDING"})
"""States of a payment the shop has accepted. Source: shopify.dev OrderTransactionStatus, 2026-10."""

REFUND_FIELDS: Final = (
    f"id note createdAt totalRefundedSet {MONEY_FIELDS}"
    f" transactions(first: {MAX_PAYMENTS})"
    f" {{ nodes {{ kind status amountSet {MONEY_FIELDS} }} pageInfo {{ hasNextPage endCursor }} }}"
)
"""Fields of a refund."""


class OwnerNode(Answer):
    """An order's customer."""

    legacy_resource_id: str


class _PaymentNode(Answer):
    kind: str
    status: str
    amount_set: MoneyBagNode


class RefundNode(Answer):
    """A refund that was made, by us or by anybody."""

    id: str
    note: str | None = None
    created_at: datetime | None = None
    total_refunded_set: MoneyBagNode
    transactions: Connection[_PaymentNode]

    def paid(self) -> Money:
        """Return what goes back to the payments it came from.

        Raises: Unavailable while a payment is open, or failed: then a person has to look before long; IntegrationError
        when not all of them were read.
        """
        payments = [payment for payment in self.transactions.nodes if payment.kind == "REFUND"]
        if self.transactions.page_info.has_next_page:
            raise IntegrationError(f"refund {from_gid(self.id)!r} has more than {MAX_PAYMENTS} payments")
        if any(payment.status not in _MOVED for payment in payments):
            raise Unavailable(f"refund {from_gid(self.id)!r} is recorded, and not all of it is paid")
        nothing = Money(amount_minor=0, currency=self.total_refunded_set.presentment_money.currency_code)
        return sum((to_seen_money(payment.amount_set) for payment in payments), nothing)


class _SourceNode(Answer):
    id: str
    manual_payment_gateway: bool = False


class TenderNode(Answer):
    """A payment of the order, and what the shop would pay back to it."""

    gateway: str | None = None
    amount_set: MoneyBagNode
    parent_transaction: _SourceNode | None = None


class _NamedLine(Answer):
    id: str


class _SuggestedLine(Answer):
    line_item: _NamedLine
    quantity: int


class _ShippingNode(Answer):
    amount_set: MoneyBagNode


class SuggestionNode(Answer):
    """What the shop would pay back for the lines asked about, or for all that is left."""

    amount_set: MoneyBagNode
    maximum_refundable_set: MoneyBagNode
    refund_line_items: tuple[_SuggestedLine, ...] = ()
    shipping: _ShippingNode
    suggested_transactions: tuple[TenderNode, ...] = ()

    @property
    def is_paid_outside(self) -> bool:
        """Whether any of it was paid in a way the shop cannot pay back by itself."""
        sources = [tender.parent_transaction for tender in self.suggested_transactions]
        return any(source is None or source.manual_payment_gateway for source in sources)

    def most(self) -> Money:
        """Return the most that could be paid back for it. Raises: IntegrationError when its currencies differ."""
        amount, held = to_seen_money(self.amount_set), self.held()
        if amount.currency != held.currency:
            raise IntegrationError("a suggested refund is in several currencies")
        return amount if amount.amount_minor < held.amount_minor else held

    def held(self) -> Money:
        """Return all that could be paid back of the order."""
        return to_seen_money(self.maximum_refundable_set)

    def lines(self) -> tuple[LineRef, ...]:
        """Return the lines it is for."""
        found = ((from_gid(line.line_item.id), line.quantity) for line in self.refund_line_items)
        return tuple(LineRef(line_id=name, quantity=n) for name, n in found if n > 0)


class _LineNode(Answer):
    id: str
    refundable_quantity: int


class _CancellationNode(Answer):
    staff_note: str | None = None


class MoneyOrder(Answer):
    """An order, read for its money."""

    id: str
    customer: OwnerNode | None = None
    cancelled_at: datetime | None = None
    cancellation: _CancellationNode | None = None
    display_fulfillment_status: str = ""
    return_status: str = ""
    presentment_currency_code: str
    """What the customer paid in, and every amount here is in."""
    fulfillments: tuple[ParcelNode, ...] = ()
    line_items: Connection[_LineNode]
    suggested_refund: SuggestionNode | None = None
    refunds: tuple[RefundNode, ...] = ()

    def is_owned_by(self, customer: CustomerId) -> bool:
        """Tell whether the shop says that it is this customer's."""
        return self.customer is not None and self.customer.legacy_resource_id == customer

    def all_refunds(self) -> Iterator[RefundNode]:
        """Yield every refund. Raises: IntegrationError at the end when there may be more than were read."""
        yield from self.refunds
        if len(self.refunds) >= MAX_REFUNDS:
            raise IntegrationError(f"order {from_gid(self.id)!r} has {MAX_REFUNDS} refunds or more")


class MoneyAnswer(Answer):
    """No order where there is none, or it may not be seen."""

    order: MoneyOrder | None = None


MONEY: Final = Operation(
    "orderMoney",
    "query OrderMoney($id: ID!, $lines: [RefundLineItemInput!], $isWhole: Boolean!) { order(id: $id) {"
    " id customer { legacyResourceId } cancelledAt cancellation { staffNote } displayFulfillmentStatus returnStatus"
    " presentmentCurrencyCode fulfillments(first: 10) { status }"
    f" lineItems(first: {MAX_LINES}) {{ nodes {{ id refundableQuantity }} }}"
    " suggestedRefund(refundLineItems: $lines, suggestFullRefund: $isWhole) {"
    f" amountSet {MONEY_FIELDS} maximumRefundableSet {MONEY_FIELDS} shipping {{ amountSet {MONEY_FIELDS} }}"
    " refundLineItems { lineItem { id } quantity }"
    f" suggestedTransactions {{ gateway amountSet {MONEY_FIELDS} parentTransaction {{ id manualPaymentGateway }} }} }}"
    f" refunds(first: {MAX_REFUNDS}) {{ {REFUND_FIELDS} }} }} }}",
    MoneyAnswer,
    cost=200.0,
)
