"""The judges of the real-input run see what they must: a wrong figure anywhere is found by both. Source: fault 019."""

from datetime import UTC, datetime

import pytest

from tests.surface.product.oracle import Evidence, unsupported_by_expressions, unsupported_by_reader

EVIDENCE = Evidence(
    texts=(
        "You can return items within 30 days. We deduct $6.50 and refund 10 % within 5 to 7 business days.",
        "Write to help@shop.example or see https://shop.example/returns.",
        "order W1234567",
        "536.65 USD",
    ),
    moments=(datetime(2026, 3, 4, 12, 0, tzinfo=UTC),),
)

SUPPORTED = [
    "You can return it within 30 days for $6.50.",
    "Order W1234567 cost 536.65 USD.",
    "It should arrive on 4 March 2026.",
    "It should arrive on March 4.",
    "Your money comes in 5 to 7 business days, less 10 %.",
    "See https://shop.example/returns or write to help@shop.example.",
]

CHANGED = [
    "You can return it within 60 days.",
    "We deduct $7.50.",
    "Order W7654321 is on its way.",
    "It should arrive on 5 March 2026.",
    "You get 15 % back.",
    "See https://shop.example/refunds.",
    "Write to hello@shop.example.",
    "Your money comes in 3 to 7 business days.",
]


@pytest.mark.req("SU-01")
@pytest.mark.parametrize("reply", SUPPORTED)
def test_a_reply_of_supported_values_passes_both_judges(reply: str) -> None:
    """No false alarm on values that are there, in another notation too."""
    assert unsupported_by_reader(reply, EVIDENCE) == []
    assert unsupported_by_expressions(reply, EVIDENCE) == []


@pytest.mark.req("SU-01")
@pytest.mark.parametrize("reply", CHANGED)
def test_a_changed_value_is_found_by_both_judges(reply: str) -> None:
    """One digit is enough."""
    assert unsupported_by_reader(reply, EVIDENCE)
    assert unsupported_by_expressions(reply, EVIDENCE)
