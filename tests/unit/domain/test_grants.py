"""A grant's life is short, and what it covers is spelt out. Source: AX-02."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.errors import AuthorityError
from shared.domain.grants import MAX_GRANT_TTL_S, Grant
from shared.domain.verified import VerifiedGrant

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def grant(**changed: object) -> Grant:
    fields = {
        "grant_id": "g1",
        "tenant_id": "t1",
        "account_id": "ana",
        "action_type": "refund",
        "action_id": "a1",
        "payload_hash": "0" * 64,
        "policy_version": 1,
        "issued_at": AT,
        "expires_at": AT + timedelta(seconds=MAX_GRANT_TTL_S),
    }
    return Grant.model_validate(fields | changed)


@pytest.mark.req("AX-02")
def test_a_grant_is_live_from_the_moment_it_is_issued_until_it_expires() -> None:
    found = grant()
    moments = (-1, 0, MAX_GRANT_TTL_S - 1, MAX_GRANT_TTL_S)

    assert [found.is_live(AT + timedelta(seconds=s)) for s in moments] == [False, True, True, False]


@pytest.mark.req("AX-02")
@pytest.mark.parametrize("seconds", [-1, 0, MAX_GRANT_TTL_S + 0.001, 86_400])
def test_a_grant_lives_a_few_minutes_or_does_not_exist(seconds: float) -> None:
    with pytest.raises(ValueError, match="lives"):
        grant(expires_at=AT + timedelta(seconds=seconds))


@pytest.mark.req("AX-02")
@pytest.mark.parametrize(
    "changed",
    [
        {"payload_hash": "x"},
        {"policy_version": 0},
        {"fence": -1},
        {"grant_id": ""},
        {"action_id": ""},
        {"issued_at": datetime(2026, 3, 2, 9, 0)},  # noqa: DTZ001 - a moment without a zone is what is refused
        {"scope": "everything"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_grant_that_says_too_little_does_not_exist(changed: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        grant(**changed)


@pytest.mark.req("AX-02", "AX-05")
def test_nobody_makes_a_verified_grant_but_the_verifier() -> None:
    with pytest.raises(AuthorityError):
        VerifiedGrant(grant(), object())
