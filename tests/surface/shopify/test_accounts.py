"""A customer's records over the Admin API: only their own, whole where the shop tells, absent where it does not."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from shared.adapters.shopify.accounts import BILLING_PAGE, NAMESAKES, ShopifyAccounts
from shared.domain.errors import Refused, Unavailable
from shared.domain.ids import CustomerId, OrderId
from shared.domain.money import Money
from shared.domain.phrases import canonical_status
from shared.ports.documents import CustomerScope, TenantScope
from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer, Trouble
from tests.servers.shopify.state import CreditAccount, CreditTransaction, Customer, Order, Refund, Return, Transaction
from tests.surface.shopify.conftest import Instance

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture
def accounts(instance: Instance) -> ShopifyAccounts:
    """The reader under test."""
    return ShopifyAccounts(instance.client)


@pytest.fixture
def ana(shop: Shop) -> Customer:
    """A customer."""
    return shop.add_customer("Ana", last_name="Lindqvist", email="ana@x.example", locale="de-AT", tags=["VIP", "new"])


@pytest.fixture
def ben(shop: Shop) -> Customer:
    """Another customer."""
    return shop.add_customer("Ben")


@pytest.fixture
def scope(tenant: TenantScope, ana: Customer) -> CustomerScope:
    """Ana's scope."""
    return of(tenant, ana)


def of(tenant: TenantScope, customer: Customer) -> CustomerScope:
    """Return the scope of a customer."""
    return CustomerScope(tenant.tenant_id, CustomerId(str(customer.number)))


@pytest.mark.req("AC-01", "SH-03")
async def test_an_order_tells_what_where_and_when(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, clock: FixedClock
) -> None:
    """Status, last scan, expected date: what a question about an order is answered from."""
    placed, scanned, expected = clock.now() - timedelta(days=4), clock.now(), clock.now() + timedelta(days=2)
    order = shop.add_order(
        ana, "#1001", [("Kettle", 2, "50.00"), ("Spoon", 1, "4.50")], shipping="5.00", placed_at=placed
    )
    parcel = shop.fulfil(
        order,
        company="UPS",
        tracking_number="1Z1",
        tracking_url="https://ups.example/1Z1",
        estimated_delivery_at=expected,
    )
    shop.scan(parcel, "IN_TRANSIT", scanned - timedelta(days=1))
    shop.scan(parcel, "OUT_FOR_DELIVERY", scanned)

    found = await accounts.order(scope, OrderId("1001"))

    assert found is not None
    assert (found.order_id, found.customer_id, found.status) == ("1001", scope.customer_id, "out_for_delivery")
    assert (found.placed_at, found.total, found.refunded, found.payment) == (placed, usd(10950), None, "card")
    kettle, spoon = found.lines
    assert (kettle.line_id, kettle.quantity, kettle.unit_price) == (str(order.lines[0].number), 2, usd(5000))
    assert (kettle.refundable_quantity, spoon.refundable_quantity) == (2, 1)
    (shipment,) = found.shipments
    assert (shipment.carrier, shipment.tracking_number, shipment.status) == ("UPS", "1Z1", "out_for_delivery")
    assert (shipment.last_scan_at, shipment.expected_on, shipment.delivered_at) == (scanned, expected, None)


@pytest.mark.req("AC-01", "GW-03", "ME-07")
async def test_fault_069_a_foreign_order_and_no_order_read_the_same(
    accounts: ShopifyAccounts, tenant: TenantScope, shop: Shop, ana: Customer, ben: Customer
) -> None:
    """Fault 069: anyone with an order number can read it. Here only its owner can."""
    shop.add_order(ana, "#1001")
    shop.add_order(ben, "#1002")
    shop.add_order(None, "#1003")

    assert (await accounts.order(of(tenant, ana), OrderId("1001"))) is not None
    for number in ("1002", "1003", "9999"):
        assert await accounts.order(of(tenant, ana), OrderId(number)) is None
    assert await accounts.order(of(tenant, ben), OrderId("1001")) is None


@pytest.mark.req("AC-01", "GW-03")
async def test_fault_069_an_order_the_shop_returns_for_somebody_else_is_not_shown(
    accounts: ShopifyAccounts, tenant: TenantScope, shop: Shop, ana: Customer, ben: Customer
) -> None:
    """The search is not trusted alone: a shop that ignores a condition returns orders of others."""
    shop.add_order(ben, "#1002")
    shop.ignored_search_fields = ("customer_id",)

    assert await accounts.order(of(tenant, ana), OrderId("1002")) is None
    assert await accounts.recent_orders(of(tenant, ana), 5) == ()
    assert await accounts.billing_events(of(tenant, ana), shop.now() - timedelta(days=90)) == ()
    assert await accounts.order(of(tenant, ben), OrderId("1002")) is not None


@pytest.mark.req("AC-01")
async def test_fault_069_orders_of_others_by_the_same_name_do_not_hide_ones_own(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, ben: Customer, clock: FixedClock
) -> None:
    """The owner is part of the search too, so that what others have never fills the page."""
    shop.add_order(ana, "#1001", placed_at=clock.now() - timedelta(days=1))
    for _ in range(NAMESAKES + 1):
        shop.add_order(ben, "1001")

    assert await accounts.order(scope, OrderId("1001")) is not None
    assert len(await accounts.recent_orders(scope, 3)) == 1


@pytest.mark.req("AC-01")
async def test_fault_069_an_order_whose_owner_may_not_be_seen_belongs_to_nobody(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer
) -> None:
    """apis.md §1.15: without the approval `customer` is null; then no order can be anybody's."""
    shop.add_order(ana, "#1001")
    shop.protected_data_level = 0

    assert await accounts.order(scope, OrderId("1001")) is None
    assert await accounts.recent_orders(scope, 3) == ()


@pytest.mark.parametrize("typed", ["1001", "#1001", " # 1001", "1001 "])
async def test_an_order_is_found_however_its_number_is_typed(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, typed: str
) -> None:
    shop.add_order(ana, "#1001")

    found = await accounts.order(scope, OrderId(typed))

    assert found is not None
    assert found.order_id == "1001"


@pytest.mark.parametrize("name", ["EN1001", "1001-A", "#HR.1001", "en1001"])
async def test_an_order_is_found_by_a_shops_own_pattern(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, name: str
) -> None:
    shop.add_order(ana, name)

    assert await accounts.order(scope, OrderId(name.upper().lstrip("#"))) is not None


@pytest.mark.parametrize(
    "typed",
    ['1001" OR name:"1002', "1001) OR (name:1002", "*", "", "#", "10\n01", "customer_id:1", "1" * 65, "\ud800", "१००१"],
)
async def test_a_hostile_order_number_is_never_sent(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, server: ShopifyServer, ana: Customer, typed: str
) -> None:
    shop.add_order(ana, "#1001")
    before = server.calls["orders"]

    assert await accounts.order(scope, OrderId(typed)) is None
    assert server.calls["orders"] == before


@pytest.mark.parametrize("customer", ["ana", "1 OR customer_id:2", "", "gid://shopify/Customer/1"])
async def test_a_customer_the_shop_cannot_name_has_no_records(
    accounts: ShopifyAccounts, tenant: TenantScope, server: ShopifyServer, customer: str
) -> None:
    scope = CustomerScope(tenant.tenant_id, CustomerId(customer))

    assert await accounts.order(scope, OrderId("1001")) is None
    assert await accounts.recent_orders(scope, 3) == ()
    assert await accounts.billing_events(scope, datetime.fromisoformat("2026-01-01T00:00:00Z")) == ()
    assert await accounts.profile(scope) is None
    assert not server.calls


@pytest.mark.req("AC-02")
async def test_recent_orders_are_the_newest_of_this_customer(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, ben: Customer, clock: FixedClock
) -> None:
    for days in (1, 5, 3, 70):
        shop.add_order(ana, f"#A{days}", placed_at=clock.now() - timedelta(days=days))
    shop.add_order(ben, "#B1")

    found = await accounts.recent_orders(scope, 2)

    assert [order.order_id for order in found] == ["A1", "A3"]


@pytest.mark.req("AC-02")
async def test_ninety_days_of_charges_and_refunds_that_moved_money(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, ben: Customer, clock: FixedClock
) -> None:
    """AC-02; an authorisation, a failed charge and a refund without money are no events."""
    shop.scopes += ("read_all_orders",)
    now = clock.now()
    order = shop.add_order(ana, "#1001", placed_at=now - timedelta(days=20))
    refund(shop, order, "20.00", now - timedelta(days=2))
    order.transactions.append(Transaction(shop.number(), "AUTHORIZATION", Decimal(50), now))
    order.transactions.append(Transaction(shop.number(), "SALE", Decimal(50), now, status="FAILURE"))
    shop.add_order(ana, "#0900", placed_at=now - timedelta(days=100))
    shop.add_order(ben, "#1002")

    events = await accounts.billing_events(scope, now - timedelta(days=90))

    assert [(e.kind, e.amount, e.order_id) for e in events] == [
        ("refund", usd(2000), "1001"),
        ("charge", usd(5000), "1001"),
    ]


@pytest.mark.req("AC-02")
async def test_store_credit_counts_where_the_shop_lets_us_see_it(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, clock: FixedClock
) -> None:
    account = CreditAccount(shop.number(), ana, "USD")
    ana.credits.append(account)
    for days in (100, 3):
        at = clock.now() - timedelta(days=days)
        account.transactions.append(CreditTransaction(shop.number(), account, Decimal(7), Decimal(7), at))
    since = clock.now() - timedelta(days=90)

    seen = await accounts.billing_events(scope, since)
    shop.scopes = tuple(s for s in shop.scopes if "store_credit" not in s)
    unseen = await accounts.billing_events(scope, since)

    assert [(event.kind, event.amount, event.order_id) for event in seen] == [("credit", usd(700), None)]
    assert unseen == ()


async def test_a_customer_with_very_many_payments_has_their_newest(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, clock: FixedClock
) -> None:
    for minutes in range(300):
        shop.add_order(ana, f"#{minutes}", placed_at=clock.now() - timedelta(minutes=minutes))

    events = await accounts.billing_events(scope, clock.now() - timedelta(days=90))

    assert len(events) == BILLING_PAGE
    assert events[0].order_id == "0"


@pytest.mark.req("AC-02", "ME-01")
async def test_a_profile_holds_a_name_a_language_and_flags_and_no_contact(
    accounts: ShopifyAccounts, scope: CustomerScope, tenant: TenantScope, shop: Shop
) -> None:
    nameless = shop.add_customer(None, email="carl@x.example")

    profile = await accounts.profile(scope)
    unnamed = await accounts.profile(of(tenant, nameless))

    assert profile is not None
    assert unnamed is not None
    assert (profile.name, profile.language, profile.is_vip, profile.is_churn_risk) == (
        "Ana Lindqvist",
        "de",
        True,
        False,
    )
    assert unnamed.name == ""


@pytest.mark.req("AC-01")
async def test_without_the_second_approval_the_name_is_missing_and_the_order_is_there(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer
) -> None:
    """apis.md §1.15: level 2 covers name, address, telephone and e-mail."""
    shop.add_order(ana, "#1001")
    shop.protected_data_level = 1

    profile = await accounts.profile(scope)

    assert profile is not None
    assert profile.name == ""
    assert await accounts.order(scope, OrderId("1001")) is not None


async def test_a_customer_nobody_knows_has_no_profile(accounts: ShopifyAccounts, tenant: TenantScope) -> None:
    assert await accounts.profile(CustomerScope(tenant.tenant_id, CustomerId("77"))) is None


async def test_a_missing_scope_is_a_refusal_and_trouble_is_trouble(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, server: ShopifyServer
) -> None:
    """Not to be told from an absent order by the caller alone: an answer "no such order" would be untrue."""
    server.faults.next("orders", Trouble.ERROR_BEFORE)
    with pytest.raises(Unavailable):
        await accounts.order(scope, OrderId("1001"))

    shop.scopes = ("read_products",)
    with pytest.raises(Refused):
        await accounts.order(scope, OrderId("1001"))


async def test_orders_beyond_the_sixty_days_the_app_may_see_read_as_absent(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, clock: FixedClock
) -> None:
    """apis.md §1.9: read_orders covers 60 days."""
    shop.add_order(ana, "#1001", placed_at=clock.now() - timedelta(days=61))
    assert await accounts.order(scope, OrderId("1001")) is None

    shop.scopes += ("read_all_orders",)
    assert await accounts.order(scope, OrderId("1001")) is not None


@pytest.mark.parametrize(
    ("currency", "rate", "minor"), [("JPY", "150", 7500), ("KWD", "0.3077", 15385), ("EUR", "0.91", 4550)]
)
async def test_amounts_are_those_the_customer_saw_in_minor_units_of_their_currency(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, currency: str, rate: str, minor: int
) -> None:
    shop.add_order(ana, "#1001", presentment=(currency, rate))

    found = await accounts.order(scope, OrderId("1001"))

    assert found is not None
    assert found.total == found.lines[0].unit_price == Money(amount_minor=minor, currency=currency)


def shipped(*states: str) -> Callable[[Shop, Order], None]:
    """Ship everything in as many parcels as there are states."""

    def change(shop: Shop, order: Order) -> None:
        for line, state in zip(order.lines, states, strict=False):
            shop.fulfil(order, quantities={line.title: line.quantity}, display_status=state)

    return change


def refunded(shop: Shop, order: Order) -> None:
    """Pay everything back."""
    refund(shop, order, str(order.total), shop.now())


def refund(shop: Shop, order: Order, amount: str, at: datetime) -> None:
    """Pay something back."""
    paid = order.transactions[0]
    moved = Transaction(shop.number(), "REFUND", Decimal(amount), at, parent=paid)
    order.transactions.append(moved)
    order.refunds.append(Refund(shop.number(), order, at, [], [moved]))
    order.updated_at = at


def cancelled(shop: Shop, order: Order) -> None:
    """Cancel it."""
    order.cancelled_at = shop.now()


def set_status(status: str) -> Callable[[Shop, Order], None]:
    """Let the shop say where it stands."""
    return lambda shop, order: setattr(order, "fulfillment_status", status)


def returning(status: str) -> Callable[[Shop, Order], None]:
    """Ship it and let a return be in that state."""

    def change(shop: Shop, order: Order) -> None:
        shop.fulfil(order, display_status="DELIVERED", delivered_at=shop.now())
        order.returns.append(Return(shop.number(), order, "R1", shop.now(), [], status=status))

    return change


def unpaid(shop: Shop, order: Order) -> None:
    """Take the payment back out."""
    order.transactions.clear()


STATES = {
    "nothing yet": (lambda shop, order: None, "open"),
    "not paid": (unpaid, "awaiting_payment"),
    "being packed": (set_status("IN_PROGRESS"), "processing"),
    "on hold": (set_status("ON_HOLD"), "on_hold"),
    "label only": (shipped("LABEL_PRINTED", "LABEL_PURCHASED"), "processing"),
    "all under way": (shipped("IN_TRANSIT", "FULFILLED"), "shipped"),
    "one parcel late": (shipped("IN_TRANSIT", "DELAYED"), "delayed"),
    "one parcel failed": (shipped("DELIVERED", "FAILURE"), "not_delivered"),
    "half sent": (shipped("IN_TRANSIT"), "partially_shipped"),
    "half arrived, half not sent": (shipped("DELIVERED"), "partially_delivered"),
    "all arrived": (shipped("DELIVERED", "PICKED_UP"), "delivered"),
    "cancelled": (cancelled, "cancelled"),
    "refunded": (refunded, "refunded"),
    "return asked for": (returning("REQUESTED"), "return_requested"),
    "return over": (returning("CLOSED"), "returned"),
    "return declined": (returning("DECLINED"), "delivered"),
    "restocked": (set_status("RESTOCKED"), "returned"),
}


@pytest.mark.req("AC-01", "RT-04")
@pytest.mark.parametrize("name", STATES)
async def test_where_an_order_stands(
    accounts: ShopifyAccounts, scope: CustomerScope, shop: Shop, ana: Customer, name: str
) -> None:
    change, status = STATES[name]
    order = shop.add_order(ana, "#1001", [("Kettle", 1, "50.00"), ("Spoon", 2, "5.00")])
    change(shop, order)

    found = await accounts.order(scope, OrderId("1001"))

    assert found is not None
    assert found.status == status
    assert canonical_status(found.status)


def usd(minor: int) -> Money:
    """Return dollars."""
    return Money(amount_minor=minor, currency="USD")
