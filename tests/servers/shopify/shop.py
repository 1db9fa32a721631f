"""One shop of the server: its records, how tests seed them, and every effect the product had on it."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tests.servers.shopify.state import (
    BulkOperation,
    CreditAccount,
    CreditTransaction,
    Customer,
    FulfilledLine,
    Fulfillment,
    Job,
    Line,
    Order,
    Product,
    Refund,
    Return,
    ScanEvent,
    Thing,
    Transaction,
    Variant,
)

ALL_SCOPES = (
    "read_products", "read_inventory", "read_orders", "write_orders", "read_customers", "read_returns", "write_returns",
    "read_store_credit_accounts", "read_store_credit_account_transactions", "write_store_credit_account_transactions",
)  # fmt: skip
"""What the product asks for."""
ACCESS_TOKEN_S = 3600
"""Seconds an access token holds."""
REFRESH_TOKEN_S = 90 * 24 * 3600
"""Seconds a refresh token holds."""
RECOVERY_S = 30 * 24 * 3600
"""Seconds a used refresh token may be used again, unless its replacement is."""


@dataclass
class Tokens:
    """A pair of tokens."""

    access: str
    access_until: datetime | None
    refresh: str = ""
    refresh_until: datetime | None = None


@dataclass
class Effect:
    """Something the product changed in the shop."""

    kind: str
    """refund, cancel, address, return_request, store_credit"""
    order: str
    """Name of the order; empty for store credit."""
    amount: Decimal
    details: dict[str, Any]


@dataclass
class UsedKey:
    """An idempotency key that was seen."""

    fingerprint: str
    at: datetime
    result: Thing | None = None
    is_running: bool = True


@dataclass
class Shop:
    """A shop. Change its attributes at any time; the next request sees it."""

    domain: str
    now: Callable[[], datetime]
    currency: str = "USD"
    name: str = "Test shop"
    scopes: tuple[str, ...] = ALL_SCOPES
    protected_data_level: int = 2
    """0: no customer and no order's customer; 1: without name, e-mail, telephone, address; 2: all."""
    maximum_points: float = 2_000.0
    points_per_second: float = 100.0
    refund_status: str = "SUCCESS"
    """How the payments of a refund end: SUCCESS, PENDING, or FAILURE, which moves nothing."""
    jobs_fail: bool = False
    """Cancellations end without having cancelled."""
    job_takes_s: float = 0.0
    """Seconds until a cancellation is carried out; 0 is before the next request."""
    retains_used_refresh_token: bool = True
    """Since 2026-08-28 a used refresh token works until its replacement is used; False is how it was before."""
    bulk_polls: int = 1
    """Looks at a bulk operation before it is completed."""
    bulk_order: str = "shuffled"
    """Order of a result's lines: parents_first, children_first or shuffled."""
    bulk_fails_after: int | None = None
    """Lines after which a bulk operation fails, leaving partial data."""
    ignored_search_fields: tuple[str, ...] = ()
    """Conditions of a search the shop does not heed, as an index that lags behind may not."""
    bulk_line: Callable[[str], str] = str
    """What becomes of a result's line on its way."""
    customers: list[Customer] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    bulk_operations: list[BulkOperation] = field(default_factory=list)
    subscriptions: list[dict[str, str]] = field(default_factory=list)
    """Webhook subscriptions made through the API: topic as GraphQL spells it, and uri."""
    effects: list[Effect] = field(default_factory=list)
    """Everything the product changed, oldest first."""
    keys: dict[str, UsedKey] = field(default_factory=dict)
    tokens: Tokens | None = None
    retired: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    """Used refresh token → (its replacement, when it was first used)."""
    refreshes: int = 0
    """Refreshes that issued tokens."""
    points: float = 0.0
    points_at: datetime | None = None
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1001))

    # — seeding —

    def number(self) -> int:
        """Return a number no thing of this shop has."""
        return next(self._numbers) * 1_000_003 % 10**12

    def add_customer(self, first_name: str | None = "Ana", **more: Any) -> Customer:
        """Add a customer."""
        customer = Customer(self.number(), created_at=self.now(), first_name=first_name, **more)
        self.customers.append(customer)
        return customer

    def add_product(
        self,
        title: str,
        variants: Sequence[dict[str, Any]] = ({"title": "Default Title", "price": "10.00"},),
        **more: Any,
    ) -> Product:
        """Add a product; a variant is a dict of `title`, `price` and any other attribute of Variant."""
        product = Product(self.number(), title=title, updated_at=more.pop("updated_at", self.now()), **more)
        product.handle = product.handle or title.lower().replace(" ", "-")
        for given in variants:
            amounts = {k: Decimal(v) for k, v in given.items() if k in ("price", "compare_at_price") and v is not None}
            rest = {k: v for k, v in given.items() if k not in amounts}
            variant = Variant(self.number(), product=product, **{"title": "Default Title", **rest, **amounts})
            variant.item_number = self.number()
            product.variants.append(variant)
        self.products.append(product)
        return product

    def add_order(
        self,
        customer: Customer | None,
        name: str,
        lines: Sequence[tuple[str, int, str]] = (("Kettle", 1, "50.00"),),
        *,
        shipping: str = "0.00",
        placed_at: datetime | None = None,
        is_paid: bool = True,
        presentment: tuple[str, str] | None = None,
        **more: Any,
    ) -> Order:
        """Add an order; a line is (title, quantity, unit price), paid by one sale unless `is_paid` is False.

        `presentment` is (currency, units of it for one unit of the shop's currency).
        """
        at = placed_at or self.now()
        made = [
            Line(self.number(), title, quantity, Decimal(price), Decimal(price), sku=f"SKU-{title.upper()[:12]}")
            for title, quantity, price in lines
        ]
        order = Order(
            self.number(),
            name=name,
            customer=customer,
            created_at=at,
            updated_at=at,
            lines=made,
            shipping=Decimal(shipping),
            currency=self.currency,
            presentment_currency=presentment[0] if presentment else self.currency,
            rate=Decimal(presentment[1]) if presentment else Decimal(1),
            **more,
        )
        if is_paid:
            order.transactions.append(Transaction(self.number(), "SALE", order.total, at, gateway=order.gateway))
        self.orders.append(order)
        return order

    def fulfil(self, order: Order, *, quantities: dict[str, int] | None = None, **more: Any) -> Fulfillment:
        """Ship lines by title (all that is left when none are named); `more` are attributes of Fulfillment."""
        packed = []
        for line in order.lines:
            left = line.quantity - line.fulfilled - line.removed
            count = left if quantities is None else quantities.get(line.title, 0)
            if count:
                line.fulfilled += count
                packed.append(FulfilledLine(self.number(), line, count))
        parcel = Fulfillment(self.number(), created_at=self.now(), lines=packed, **more)
        order.fulfillments.append(parcel)
        return parcel

    def scan(self, parcel: Fulfillment, status: str, at: datetime) -> None:
        """Let the carrier report a parcel."""
        parcel.events.append(ScanEvent(self.number(), status, at))
        parcel.display_status = status
        if status == "DELIVERED":
            parcel.delivered_at = at

    def pay_back(self, order: Order, amount: Decimal, *, note: str | None = None) -> Refund:
        """Let the merchant refund money in the admin."""
        moved = [
            Transaction(self.number(), "REFUND", share, self.now(), gateway=paid.gateway, parent=paid)
            for paid, share in order.spread(amount)
        ]
        refund = Refund(self.number(), order, self.now(), [], moved, note=note)
        order.transactions += moved
        order.refunds.append(refund)
        return refund

    # — tokens —

    def issue_tokens(self, *, is_expiring: bool = True) -> Tokens:
        """Install the app: return a fresh pair, or a token that never ends."""
        access = f"shpat_{secrets.token_hex(16)}"
        if not is_expiring:
            self.tokens = Tokens(access, None)
            return self.tokens
        now = self.now()
        self.tokens = Tokens(
            access,
            now + timedelta(seconds=ACCESS_TOKEN_S),
            f"shprt_{secrets.token_hex(16)}",
            now + timedelta(seconds=REFRESH_TOKEN_S),
        )
        return self.tokens

    def uninstall(self) -> None:
        """Remove the app: every token is refused from now on."""
        self.tokens = None
        self.retired.clear()

    def accepts(self, access_token: str) -> bool:
        """Tell whether the access token holds."""
        held = self.tokens
        if held is None or access_token != held.access:
            return False
        return held.access_until is None or self.now() < held.access_until

    def refresh(self, refresh_token: str) -> Tokens | None:
        """Return new tokens for a refresh token that holds, or None; the access token before is refused at once."""
        held, now = self.tokens, self.now()
        if held is None or held.refresh_until is None:
            return None
        used = self.retired.get(refresh_token)
        is_current = refresh_token == held.refresh and now < held.refresh_until
        is_recovering = (
            self.retains_used_refresh_token
            and used is not None
            and used[0] == held.refresh
            and now < used[1] + timedelta(seconds=RECOVERY_S)
        )
        if not (is_current or is_recovering):
            return None
        first_used = used[1] if used is not None and is_recovering else now
        issued = self.issue_tokens()
        # Using a replacement retires everything before it.
        self.retired = {refresh_token: (issued.refresh, first_used)}
        self.refreshes += 1
        return issued

    # — what happened —

    def effects_of(self, kind: str) -> list[Effect]:
        """Return the effects of one kind."""
        return [effect for effect in self.effects if effect.kind == kind]

    @property
    def refunds(self) -> list[Refund]:
        """Every refund of every order."""
        return [refund for order in self.orders for refund in order.refunds]

    @property
    def returns(self) -> list[Return]:
        """Every return of every order."""
        return [found for order in self.orders for found in order.returns]

    @property
    def store_credits(self) -> list[CreditTransaction]:
        """Every credit given to a customer."""
        accounts: list[CreditAccount] = [a for customer in self.customers for a in customer.credits]
        return [transaction for account in accounts for transaction in account.transactions]

    def settle_jobs(self) -> None:
        """Carry out what is due."""
        for job in self.jobs:
            if not job.is_done and self.now() >= job.due_at:
                job.work()
                job.is_done = True

    def find(self, gid: object) -> Any:
        """Return the thing of that global id, or None."""
        if not isinstance(gid, str) or not gid.startswith("gid://shopify/"):
            return None
        kind, _, number = gid.removeprefix("gid://shopify/").partition("/")
        if kind == "InventoryItem":
            return next((v for p in self.products for v in p.variants if str(v.item_number) == number), None)
        return next((thing for thing in self._things(kind) if str(thing.number) == number), None)

    def _things(self, kind: str) -> list[Any]:
        match kind:
            case "Order":
                return list(self.orders)
            case "Customer":
                return list(self.customers)
            case "Product":
                return list(self.products)
            case "Job":
                return list(self.jobs)
            case "BulkOperation":
                return list(self.bulk_operations)
            case "StoreCreditAccount":
                return [account for customer in self.customers for account in customer.credits]
            case _:
                return []
