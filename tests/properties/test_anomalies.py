"""Laws of the anomaly monitor: robust against what a few large payments do to a shop's past. Source: GO-01."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.anomalies import COLD_START, MAX_PER_ACCOUNT, is_unusual_amount, is_unusual_frequency

AMOUNTS = st.integers(min_value=1, max_value=10**7)
PAST = st.lists(AMOUNTS, min_size=COLD_START, max_size=80)


@pytest.mark.req("GO-01")
@given(amount=AMOUNTS, past=st.lists(AMOUNTS, max_size=COLD_START - 1))
def test_with_too_little_past_nothing_is_usual(amount: int, past: list[int]) -> None:
    assert is_unusual_amount(amount, past)


@pytest.mark.req("GO-01")
@given(amount=AMOUNTS, more=AMOUNTS, past=PAST)
def test_a_larger_amount_is_never_more_usual(amount: int, more: int, past: list[int]) -> None:
    assert is_unusual_amount(amount + more, past) or not is_unusual_amount(amount, past)


@pytest.mark.req("GO-01")
@given(amount=AMOUNTS, past=PAST, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_past_says_nothing(amount: int, past: list[int], seed: Random) -> None:
    other = list(past)
    seed.shuffle(other)

    assert is_unusual_amount(amount, past) is is_unusual_amount(amount, other)


@pytest.mark.req("GO-01")
@given(past=PAST)
def test_what_half_of_all_payments_reach_is_usual(past: list[int]) -> None:
    assert not is_unusual_amount(sorted(past)[(len(past) - 1) // 2], past)


@pytest.mark.req("GO-01")
@given(
    past=st.lists(st.integers(1_000, 2_000), min_size=COLD_START, max_size=60),
    planted=st.lists(st.integers(100_000, 10**7), max_size=4),
)
def test_a_few_planted_payments_open_no_door_for_another(past: list[int], planted: list[int]) -> None:
    """A mean and a standard deviation would be carried away by them."""
    assert is_unusual_amount(100_000, [*past, *planted])


@pytest.mark.req("GO-01")
def test_equal_prices_leave_room_for_the_price_next_to_them() -> None:
    past = [2_000] * 30

    assert not is_unusual_amount(2_500, past)
    assert is_unusual_amount(4_000, past)


@pytest.mark.req("GO-01")
def test_an_account_paid_often_is_looked_at() -> None:
    assert [is_unusual_frequency(times) for times in (0, MAX_PER_ACCOUNT - 1, MAX_PER_ACCOUNT)] == [False, False, True]
