"""Token buckets and the client's address."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrators.triggers.limits import Buckets, client_address

START = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.req("GW-08")
def test_a_bucket_gives_its_minute_and_then_says_how_long_to_wait() -> None:
    """Source: GW-08 (Retry-After)."""
    buckets = Buckets()

    taken = [buckets.take("key:a", 60, START) for _ in range(60)]
    wait_s = buckets.take("key:a", 60, START)

    assert taken == [0.0] * 60
    assert wait_s == pytest.approx(1.0)
    assert buckets.take("key:a", 60, START + timedelta(seconds=wait_s)) == 0.0


@pytest.mark.req("GW-08")
def test_one_bucket_never_spends_anothers_tokens() -> None:
    """A flooding key leaves the others alone."""
    buckets = Buckets()

    for _ in range(10):
        buckets.take("key:flood", 5, START)

    assert buckets.take("key:calm", 5, START) == 0.0


@pytest.mark.req("GW-08")
def test_memory_is_bounded_whatever_names_arrive() -> None:
    """A flood of made-up conversations cannot fill the process."""
    buckets = Buckets(max_buckets=100)

    for n in range(5_000):
        buckets.take(f"conversation:{n}", 60, START)

    assert len(buckets) == 100


@pytest.mark.req("GW-08")
def test_a_token_given_back_can_be_taken_again() -> None:
    """A server's requests are not counted against the address they share."""
    buckets = Buckets()
    buckets.take("address:a", 1, START)

    buckets.give_back("address:a", 1)

    assert buckets.take("address:a", 1, START) == 0.0


@pytest.mark.req("GW-08")
@given(
    rate=st.integers(1, 50),
    steps=st.lists(st.floats(0, 30), min_size=1, max_size=200),
)
def test_no_pattern_of_requests_gets_more_than_burst_plus_rate(rate: int, steps: list[float]) -> None:
    """A law: over any span, at most one burst and what the span refilled."""
    buckets, now, granted = Buckets(), START, 0

    for step_s in steps:
        now += timedelta(seconds=step_s)
        granted += buckets.take("k", rate, now) == 0.0

    assert granted <= rate + rate * (now - START).total_seconds() / 60 + 1e-3


@pytest.mark.req("GW-08")
@pytest.mark.parametrize(
    ("header", "hops", "address"),
    [
        ("6.6.6.6, 203.0.113.9", 1, "203.0.113.9"),
        ("6.6.6.6, 203.0.113.9, 10.0.0.1", 2, "203.0.113.9"),
        ("203.0.113.9:51234", 1, "203.0.113.9"),
        ("[2001:db8::1]:443", 1, "2001:db8::1"),
        ("2001:db8::1", 1, "2001:db8::1"),
        ("6.6.6.6", 0, None),
        ("6.6.6.6", 2, None),
        ("", 1, None),
        (" , ", 1, None),
    ],
)
def test_the_address_is_what_our_own_proxy_saw(header: str, hops: int, address: str | None) -> None:
    """Everything left of the trusted hops is the caller's own claim."""
    assert client_address(header, hops) == address
