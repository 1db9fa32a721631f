"""Customer identity tokens."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime

import jwt
import pytest

from orchestrators.triggers.customer_token import verify_customer_token
from orchestrators.triggers.problems import Problem, ProblemKind
from shared.domain.ids import TenantId

SECRET = "s" * 43
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AT = int(NOW.timestamp())
GOOD = {"sub": "ana", "aud": "t1", "iat": AT, "exp": AT + 600}


def verify(token: str, secret: str = SECRET) -> str:
    """Verify for tenant t1 at NOW."""
    return verify_customer_token(token, secret=secret, tenant=TenantId("t1"), now=NOW)


def part(value: object) -> str:
    """Return one part of a token."""
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def by_hand(header: object, claims: object) -> str:
    """Return a token signed HS256 with SECRET over any header and claims."""
    signed = f"{part(header)}.{part(claims)}"
    return f"{signed}.{part(hmac.new(SECRET.encode(), signed.encode(), hashlib.sha256).digest())}"


@pytest.mark.req("GW-03")
@pytest.mark.parametrize("more", [{}, {"exp": AT + 3600}, {"aud": ["t1"]}, {"nbf": AT}, {"iat": AT + 30}])
def test_the_merchants_statement_names_the_customer(more: dict[str, object]) -> None:
    """Source: design §7."""
    assert verify(jwt.encode(GOOD | more, SECRET, algorithm="HS256")) == "ana"


REFUSED = {
    "expired": GOOD | {"exp": AT - 61},
    "valid for two hours": GOOD | {"exp": AT + 7200},
    "valid for ever": {"sub": "ana", "aud": "t1"},
    "for another tenant": GOOD | {"aud": "t2"},
    "for nobody": {"aud": "t1", "exp": AT + 60},
    "without audience": {"sub": "ana", "exp": AT + 60},
    "issued tomorrow": GOOD | {"iat": AT + 86_400},
    "not valid yet": GOOD | {"nbf": AT + 600},
    "a customer that is no id": GOOD | {"sub": "a/b"},
    "a customer that is empty": GOOD | {"sub": ""},
    "a customer that is a number": GOOD | {"sub": 5},
    "an expiry that is a word": GOOD | {"exp": "soon"},
    "an expiry that is true": GOOD | {"exp": True},
    "an expiry beyond every float": GOOD | {"exp": 10**400},
    "issued beyond every float": GOOD | {"iat": -(10**400)},
}


@pytest.mark.req("GW-03")
@pytest.mark.parametrize("claims", REFUSED.values(), ids=REFUSED.keys())
def test_a_token_that_does_not_hold_proves_nothing(claims: dict[str, object]) -> None:
    """401, with one and the same words."""
    with pytest.raises(Problem) as refused:
        verify(by_hand({"alg": "HS256", "typ": "JWT"}, claims))

    assert refused.value.kind is ProblemKind.TOKEN_INVALID


FORGED = {
    "unsigned": f"{part({'alg': 'none'})}.{part(GOOD)}.",
    "signed with another secret": jwt.encode(GOOD, "x" * 43, algorithm="HS256"),
    "signed by another algorithm": jwt.encode(GOOD, SECRET * 2, algorithm="HS512"),
    "an infinite expiry": by_hand({"alg": "HS256"}, b'{"sub":"ana","aud":"t1","exp":1e999}'),
    "claims that are a list": by_hand({"alg": "HS256"}, [1, 2]),
    "a header as deep as the token allows": f"{part(b'[' * 2900)}.x.y",
    "claims as deep as the token allows": by_hand({"alg": "HS256"}, b"[" * 2800),
    "a header that is not UTF-8": f"{part(bytes([255]))}.x.y",
    "not a token": "hello",
    "not even ASCII": "ä.ö.ü",
    "empty": "",
    "endless": "a" * 10_000,
}


@pytest.mark.req("GW-03")
@pytest.mark.parametrize("token", FORGED.values(), ids=FORGED.keys())
def test_a_forged_or_broken_token_proves_nothing(token: str) -> None:
    """Neither an algorithm of the caller's choice nor a parser's limits get anybody in."""
    with pytest.raises(Problem) as refused:
        verify(token)

    assert refused.value.kind is ProblemKind.TOKEN_INVALID


@pytest.mark.req("GW-03")
def test_a_tenant_without_a_secret_trusts_no_token() -> None:
    """An empty secret must not verify a token signed with an empty secret."""
    token = f"{part({'alg': 'HS256'})}.{part(GOOD)}"
    signed = f"{token}.{part(hmac.new(b'', token.encode(), hashlib.sha256).digest())}"

    with pytest.raises(Problem):
        verify(signed, secret="")
