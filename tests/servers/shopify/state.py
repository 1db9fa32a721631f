"""What a shop knows: plain mutable records, seeded by tests in Python. Amounts are decimals in the shop's currency.

Numbers are what the REST side calls an id; `gid` is what GraphQL calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, ClassVar

DIGITS = {"JPY": 0, "KWD": 3}


@dataclass(eq=False)
class Thing:
    """Anything with a number."""

    KIND: ClassVar[str] = "Node"
    number: int

    @property
    def gid(self) -> str:
        """The global id."""
        return f"gid://shopify/{self.KIND}/{self.number}"


@dataclass(eq=False)
class Variant(Thing):
    """One thing that can be bought."""

    KIND: ClassVar[str] = "ProductVariant"
    product: Product
    title: str
    price: Decimal
    sku: str = ""
    barcode: str | None = None
    compare_at_price: Decimal | None = None
    is_tracked: bool = True
    available: int = 0
    item_number: int = 0


@dataclass(eq=False)
class Product(Thing):
    """A product with its variants."""

    KIND: ClassVar[str] = "Product"
    title: str
    updated_at: datetime
    description_html: str = ""
    vendor: str = ""
    product_type: str = ""
    handle: str = ""
    status: str = "ACTIVE"
    tags: list[str] = field(default_factory=list)
    variants: list[Variant] = field(default_factory=list)


@dataclass(eq=False)
class CreditAccount(Thing):
    """A customer's store credit in one currency."""

    KIND: ClassVar[str] = "StoreCreditAccount"
    owner: Customer
    currency: str
    balance: Decimal = Decimal(0)
    transactions: list[CreditTransaction] = field(default_factory=list)


@dataclass(eq=False)
class CreditTransaction(Thing):
    """One credit."""

    KIND: ClassVar[str] = "StoreCreditAccountCreditTransaction"
    account: CreditAccount
    amount: Decimal
    balance_after: Decimal
    created_at: datetime
    expires_at: str | None = None


@dataclass(eq=False)
class Customer(Thing):
    """A shopper."""

    KIND: ClassVar[str] = "Customer"
    created_at: datetime
    first_name: str | None = None
    last_name: str | None = None
    email: str | None = None
    phone: str | None = None
    locale: str = "en"
    tags: list[str] = field(default_factory=list)
    credits: list[CreditAccount] = field(default_factory=list)


@dataclass(eq=False)
class Line(Thing):
    """One line of an order."""

    KIND: ClassVar[str] = "LineItem"
    title: str
    quantity: int
    unit_price: Decimal
    discounted_unit_price: Decimal
    sku: str = ""
    variant_title: str | None = None
    variant: Variant | None = None
    refunded: int = 0
    fulfilled: int = 0
    removed: int = 0
    """Taken off the order by a cancel or an edit."""

    @property
    def refundable(self) -> int:
        """How many can still be refunded."""
        return max(0, self.quantity - self.refunded - self.removed)


@dataclass(eq=False)
class FulfilledLine(Thing):
    """What a parcel holds of one line."""

    KIND: ClassVar[str] = "FulfillmentLineItem"
    line: Line
    quantity: int
    returned: int = 0


@dataclass(eq=False)
class ScanEvent(Thing):
    """What the carrier reported."""

    KIND: ClassVar[str] = "FulfillmentEvent"
    status: str
    happened_at: datetime


@dataclass(eq=False)
class Fulfillment(Thing):
    """A parcel."""

    KIND: ClassVar[str] = "Fulfillment"
    created_at: datetime
    lines: list[FulfilledLine]
    display_status: str | None = "FULFILLED"
    status: str = "SUCCESS"
    company: str | None = None
    tracking_number: str | None = None
    tracking_url: str | None = None
    estimated_delivery_at: datetime | None = None
    in_transit_at: datetime | None = None
    delivered_at: datetime | None = None
    events: list[ScanEvent] = field(default_factory=list)


@dataclass(eq=False)
class Transaction(Thing):
    """Money moved, or tried to be."""

    KIND: ClassVar[str] = "OrderTransaction"
    kind: str
    amount: Decimal
    created_at: datetime
    gateway: str = "shopify_payments"
    status: str = "SUCCESS"
    parent: Transaction | None = None
    manual_payment_gateway: bool = False
    """Paid outside the shop: cash on delivery, a bank transfer."""


@dataclass(eq=False)
class RefundedLine:
    """What a refund says of one line."""

    line: Line
    quantity: int
    restock_type: str


@dataclass(eq=False)
class Refund(Thing):
    """A refund, with or without money."""

    KIND: ClassVar[str] = "Refund"
    order: Order
    created_at: datetime
    lines: list[RefundedLine]
    transactions: list[Transaction]
    store_credit: Decimal = Decimal(0)
    note: str | None = None

    @property
    def amount(self) -> Decimal:
        """What was paid back, in money and store credit."""
        return sum((t.amount for t in self.transactions if t.status != "FAILURE"), self.store_credit)


@dataclass(eq=False)
class ReturnedLine(Thing):
    """What a return asks of one parcel's line."""

    KIND: ClassVar[str] = "ReturnLineItem"
    fulfilled: FulfilledLine
    quantity: int
    reason: str
    note: str


@dataclass(eq=False)
class Return(Thing):
    """A return, asked for or accepted."""

    KIND: ClassVar[str] = "Return"
    order: Order
    name: str
    created_at: datetime
    lines: list[ReturnedLine]
    status: str = "REQUESTED"


@dataclass(eq=False)
class Order(Thing):
    """An order."""

    KIND: ClassVar[str] = "Order"
    name: str
    customer: Customer | None
    created_at: datetime
    updated_at: datetime
    lines: list[Line]
    shipping: Decimal
    currency: str
    presentment_currency: str
    rate: Decimal = Decimal(1)
    """Presentment units of one unit of the shop's currency."""
    email: str | None = None
    note: str | None = None
    tags: list[str] = field(default_factory=list)
    shipping_address: dict[str, Any] | None = None
    gateway: str = "shopify_payments"
    fulfillment_status: str | None = None
    """Overrides what follows from the parcels."""
    cancelled_at: datetime | None = None
    cancel_reason: str | None = None
    staff_note: str | None = None
    fulfillments: list[Fulfillment] = field(default_factory=list)
    transactions: list[Transaction] = field(default_factory=list)
    refunds: list[Refund] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)

    @property
    def total(self) -> Decimal:
        """What was to be paid when it was placed."""
        return sum((line.discounted_unit_price * line.quantity for line in self.lines), self.shipping)

    @property
    def received(self) -> Decimal:
        """What was paid."""
        paid = (t for t in self.transactions if t.kind in ("SALE", "CAPTURE") and t.status == "SUCCESS")
        return sum((t.amount for t in paid), Decimal(0))

    @property
    def refunded(self) -> Decimal:
        """What was paid back."""
        return sum((refund.amount for refund in self.refunds), Decimal(0))

    @property
    def refundable(self) -> Decimal:
        """What can still be paid back."""
        return max(Decimal(0), self.received - self.refunded)

    def tenders(self) -> list[tuple[Transaction, Decimal]]:
        """Every payment with what can still be paid back to it, gift cards last."""
        left: list[tuple[Transaction, Decimal]] = []
        for paid in self.transactions:
            if paid.kind in ("SALE", "CAPTURE") and paid.status == "SUCCESS":
                back = (t.amount for t in self.transactions if t.parent is paid and t.status != "FAILURE")
                left.append((paid, paid.amount - sum(back, Decimal(0))))
        return sorted(left, key=lambda tender: tender[0].gateway == "gift_card")

    def spread(self, amount: Decimal) -> list[tuple[Transaction, Decimal]]:
        """Share what is paid back out among the payments."""
        shares: list[tuple[Transaction, Decimal]] = []
        for paid, left in self.tenders():
            share = min(left, amount)
            amount -= share
            if share:
                shares.append((paid, share))
        return shares

    def financial_status(self) -> str:
        """What the admin shows."""
        if self.refunded and self.refunded >= self.received:
            return "REFUNDED"
        if self.refunded:
            return "PARTIALLY_REFUNDED"
        if self.received >= self.total:
            return "PAID" if self.received or self.cancelled_at is None else "VOIDED"
        if self.cancelled_at is not None:
            return "VOIDED"
        if any(t.kind == "AUTHORIZATION" and t.status == "SUCCESS" for t in self.transactions):
            return "AUTHORIZED"
        return "PARTIALLY_PAID" if self.received else "PENDING"

    def delivery_status(self) -> str:
        """What the admin shows of its parcels."""
        if self.fulfillment_status is not None:
            return self.fulfillment_status
        sent = sum(line.fulfilled for line in self.lines)
        wanted = sum(line.quantity - line.removed for line in self.lines)
        return "UNFULFILLED" if not sent else "FULFILLED" if sent >= wanted else "PARTIALLY_FULFILLED"

    def return_status(self) -> str:
        """What the admin shows of its returns."""
        found = {r.status for r in self.returns}
        if "REQUESTED" in found:
            return "RETURN_REQUESTED"
        if "OPEN" in found:
            return "IN_PROGRESS"
        return "RETURNED" if "CLOSED" in found else "NO_RETURN"


@dataclass(eq=False)
class Job(Thing):
    """Work the shop does later."""

    KIND: ClassVar[str] = "Job"
    due_at: datetime
    work: Callable[[], None]
    is_done: bool = False


@dataclass(eq=False)
class BulkOperation(Thing):
    """A bulk query."""

    KIND: ClassVar[str] = "BulkOperation"
    query: str
    created_at: datetime
    status: str = "CREATED"
    error_code: str | None = None
    polls: int = 0
    lines: list[str] = field(default_factory=list)
    root_count: int = 0
    completed_at: datetime | None = None


def to_amount(amount: Decimal, currency: str) -> str:
    """Return the amount as the API writes it: trailing zeros cut to one decimal."""
    exact = amount.quantize(Decimal(1).scaleb(-DIGITS.get(currency, 2)), ROUND_HALF_UP)
    text = f"{exact.normalize():f}"
    return text if "." in text else f"{text}.0"


def money(amount: Decimal, currency: str) -> dict[str, str]:
    """Return a MoneyV2."""
    return {"amount": to_amount(amount, currency), "currencyCode": currency}


def bag(amount: Decimal, order: Order) -> dict[str, dict[str, str]]:
    """Return a MoneyBag of an amount in the shop's currency."""
    return {
        "shopMoney": money(amount, order.currency),
        "presentmentMoney": money(amount * order.rate, order.presentment_currency),
    }
