"""A share of turns, drawn by their id: always the same ones, whoever asks. Source: SC-02, SU-06."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.ids import InstanceId
from shared.domain.sampling import is_sampled

IDS = st.text(min_size=1, max_size=40).map(InstanceId)
SHARES = st.floats(min_value=0, max_value=1)
MANY = [InstanceId(f"t-{n:040x}") for n in range(4_000)]


@pytest.mark.req("SU-06", "SC-02")
@given(instance=IDS, share=SHARES, more=SHARES)
def test_who_is_in_a_share_is_in_every_larger_one(instance: InstanceId, share: float, more: float) -> None:
    small, large = sorted((share, more))

    assert is_sampled(instance, "shadow", large) or not is_sampled(instance, "shadow", small)
    assert not is_sampled(instance, "shadow", 0.0)
    assert is_sampled(instance, "shadow", 1.0)
    assert is_sampled(instance, "shadow", share) is is_sampled(instance, "shadow", share)


@pytest.mark.req("SU-06", "SC-02")
@pytest.mark.parametrize("share", [0.05, 0.1, 0.5])
def test_a_share_of_many_is_about_that_share(share: float) -> None:
    """Within four standard deviations; the draw is fixed, so this never flickers."""
    drawn = sum(is_sampled(instance, "audit", share) for instance in MANY) / len(MANY)

    assert abs(drawn - share) < 4 * (share * (1 - share) / len(MANY)) ** 0.5


@pytest.mark.req("SU-06", "SC-02")
def test_the_two_samples_are_drawn_apart() -> None:
    """Otherwise every audited turn would be a shadowed one, and the others never compared."""
    audited = {i for i in MANY if is_sampled(i, "audit", 0.5)}
    shadowed = {i for i in MANY if is_sampled(i, "shadow", 0.5)}

    assert 0.2 < len(audited & shadowed) / len(MANY) < 0.3


@pytest.mark.req("SU-06")
def test_a_share_that_is_no_number_draws_nobody() -> None:
    assert not any(is_sampled(instance, "shadow", float("nan")) for instance in MANY[:100])
