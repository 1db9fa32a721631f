"""The embedded shop: only ever the customer's own records. Source: AC-01, AC-02, faults 046, 069."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.records.shop import ShopRecords
from shared.adapters.records.shop_rows import to_order_key
from shared.domain.errors import SchemaError, ScopeError
from shared.domain.ids import CustomerId, OrderId, TenantId
from shared.domain.money import Money
from shared.domain.sources import BillingEvent, Order, OrderLine, Profile
from shared.ports.documents import CustomerScope
from tests.conftest import FixedClock

ANA = CustomerScope(TenantId("t1"), CustomerId("ana"))
BEN = CustomerScope(TenantId("t1"), CustomerId("ben"))
ANA_OF_T2 = CustomerScope(TenantId("t2"), CustomerId("ana"))


def order(scope: CustomerScope, number: str, placed_at: datetime | None = None) -> Order:
    """Build an order of one line."""
    price = Money(amount_minor=1999, currency="USD")
    return Order(
        order_id=OrderId(number),
        customer_id=scope.customer_id,
        status="shipped",
        placed_at=placed_at,
        lines=(OrderLine(title="Kettle", sku="SKU-1", quantity=1, unit_price=price),),
        total=price,
    )


@pytest.mark.req("AC-01", "ME-07")
async def test_fault_046_an_order_is_found_by_its_owner_and_reads_as_absent_for_everyone_else(
    shop: ShopRecords,
) -> None:
    mine, theirs = order(ANA, "1001"), order(BEN, "1002")
    await shop.put_order(ANA, mine)
    await shop.put_order(BEN, theirs)

    assert await shop.order(ANA, OrderId("1001")) == mine
    foreign = await shop.order(ANA, OrderId("1002"))
    absent = await shop.order(ANA, OrderId("9999"))
    assert foreign is absent is None
    assert await shop.order(ANA_OF_T2, OrderId("1001")) is None


@pytest.mark.parametrize("typed", ["AB-1001", "ab-1001", "#AB-1001", " # Ab-1001 "])
async def test_an_order_is_found_however_its_number_is_typed(shop: ShopRecords, typed: str) -> None:
    await shop.put_order(ANA, order(ANA, "#Ab-1001"))

    assert await shop.order(ANA, OrderId(typed)) is not None


@pytest.mark.parametrize("typed", ["", "#", "a/b", "1001?x", "\ud800", "1" * 65, "1001\x00", "../1001", "1001\n1002"])
async def test_a_hostile_order_number_reads_as_absent(shop: ShopRecords, typed: str) -> None:
    await shop.put_order(ANA, order(ANA, "1001"))

    assert await shop.order(ANA, OrderId(typed)) is None


@given(st.text())
def test_an_order_key_is_stable_and_never_raises(text: str) -> None:
    key = to_order_key(text)

    assert key is None or to_order_key(f"#{key}") in (key, None)


@pytest.mark.req("AC-01")
async def test_recent_orders_come_newest_first_and_only_the_customers_own(shop: ShopRecords, clock: FixedClock) -> None:
    now = clock.now()
    for n, placed_at in enumerate([now - timedelta(days=2), now, None, now - timedelta(milliseconds=1)]):
        await shop.put_order(ANA, order(ANA, f"100{n}", placed_at))
    await shop.put_order(BEN, order(BEN, "2000", now))

    recent = await shop.recent_orders(ANA, 3)
    every = await shop.recent_orders(ANA, 10)

    assert [o.order_id for o in recent] == ["1001", "1003", "1000"]
    assert [o.order_id for o in every] == ["1001", "1003", "1000", "1002"]


@pytest.mark.req("AC-02")
async def test_billing_events_since_a_moment_come_newest_first(shop: ShopRecords, clock: FixedClock) -> None:
    now, ninety_days = clock.now(), timedelta(days=90)
    moments = {"old": now - ninety_days - timedelta(microseconds=1), "edge": now - ninety_days, "new": now}
    for name, at in moments.items():
        amount = Money(amount_minor=500, currency="USD")
        await shop.put_billing_event(ANA, BillingEvent(event_id=name, kind="charge", amount=amount, at=at))

    events = await shop.billing_events(ANA, now - ninety_days)

    assert [event.event_id for event in events] == ["new", "edge"]
    assert await shop.billing_events(BEN, now - ninety_days) == ()


@pytest.mark.req("AC-01")
async def test_putting_again_writes_over(shop: ShopRecords) -> None:
    await shop.put_customer(ANA, Profile(customer_id=ANA.customer_id, name="Ana"))
    await shop.put_customer(ANA, Profile(customer_id=ANA.customer_id, name="Ana", is_vip=True))

    profile = await shop.profile(ANA)

    assert profile is not None
    assert profile.is_vip
    assert await shop.profile(BEN) is None


@pytest.mark.req("ME-07")
async def test_nothing_of_one_customer_is_filed_with_another(shop: ShopRecords) -> None:
    with pytest.raises(ScopeError):
        await shop.put_customer(ANA, Profile(customer_id=BEN.customer_id))
    with pytest.raises(ScopeError):
        await shop.put_order(ANA, order(BEN, "1002"))
    with pytest.raises(SchemaError):
        await shop.put_order(ANA, order(ANA, "a/b"))
