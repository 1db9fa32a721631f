"""Entities are found by shape and context, exactly as typed, and nothing private or numeric is taken for an order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.entities import MAX_EACH, extract_entities
from shared.domain.text import MaskedText

UUID = "550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.req("CL-03")
@pytest.mark.parametrize(
    ("text", "orders"),
    [
        ("where is order 1003?", ("1003",)),
        ("order no. W2611340 please", ("W2611340",)),
        ("where's #1001", ("1001",)),
        ("#1001 and #1002 are late", ("1001", "1002")),
        ("orders 1001, 1002 and 1003", ("1001", "1002", "1003")),
        ("where is 1001?", ("1001",)),
        ("is 300912 shipped", ("300912",)),
        ("cancel order #20-5567", ("20-5567",)),
        ("Bestellung 1003 und 1004 stornieren", ("1003", "1004")),
        ("mi pedido número 7781 no llega", ("7781",)),
        ("order 1003 cost me $120 on 12/03/2025", ("1003",)),
        ("my order is 3 weeks late", ()),
        ("I paid 1500 for it", ()),
        ("do you deliver to pincode 560034", ()),
        ("my order from 2023", ()),
        ("refund my card ending 4242", ()),
        (f"order status for [phone:{UUID}]", ()),
        (f"is {UUID} my order", ()),
    ],
)
def test_orders_are_told_from_other_numbers(text: str, orders: tuple[str, ...]) -> None:
    assert extract_entities(MaskedText(text)).order_refs == orders


@pytest.mark.req("CL-03")
@pytest.mark.parametrize(
    ("text", "skus"),
    [
        ("is SKU-4521 in stock", ("SKU-4521",)),
        ("do you have ABC/12-3 in red", ("ABC/12-3",)),
        ("item KT118 please", ("KT118",)),
        ("where is order A-1003", ()),
        ("size 42 please", ()),
    ],
)
def test_skus_are_kept_whole(text: str, skus: tuple[str, ...]) -> None:
    assert extract_entities(MaskedText(text)).skus == skus


@pytest.mark.req("CL-03", "PV-01")
def test_accounts_and_contact_tokens_are_named_as_typed() -> None:
    found = extract_entities(MaskedText(f"account id 88-771, mail me at [email:{UUID}] or [phone:{UUID}]"))

    assert found.account_ids == ("88-771",)
    assert found.contact_tokens == (f"[email:{UUID}]", f"[phone:{UUID}]")
    assert found.order_refs == ()


@pytest.mark.req("CL-03")
@given(st.text(max_size=400))
def test_extraction_is_total_bounded_and_invents_nothing(text: str) -> None:
    """Law: every entity is a piece of the text, and there are at most ten of a kind."""
    found = extract_entities(MaskedText(text))

    for kind in (found.order_refs, found.skus, found.account_ids, found.contact_tokens):
        assert len(kind) <= MAX_EACH
        assert all(value in text for value in kind)
        assert len(set(kind)) == len(kind)


@pytest.mark.req("CL-03")
@given(st.integers(1000, 10**9).filter(lambda n: not 1900 <= n < 2100))
def test_any_hashed_number_is_an_order_without_its_hash(number: int) -> None:
    assert extract_entities(MaskedText(f"what about #{number} then")).order_refs == (str(number),)
