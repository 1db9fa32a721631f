"""The merchant's signed statement of who the customer is (JWT, HS256), verified by the clock we are given.

The only way a browser proves a customer identity. Never says why a token failed beyond its kind, never logs one.
Source: GW-03, design §7 (`sub` customer, `aud` tenant, `exp` ≤ 1 h).
"""

import math
from datetime import datetime
from typing import Final

import jwt

from orchestrators.triggers.problems import Problem, ProblemKind
from shared.domain.ids import CustomerId, TenantId, is_id

ALGORITHM: Final = "HS256"
"""The one algorithm accepted, whatever the token's header says. Source: design §7."""
MAX_AHEAD_S: Final = 3_600
"""Furthest a token may still be valid. Source: design §7 (`exp` ≤ 1 h)."""
LEEWAY_S: Final = 60
"""How far two clocks may differ. Value ours."""
MAX_TOKEN_CHARS: Final = 4_096
"""Longest token read. Value ours."""


def verify_customer_token(token: str, *, secret: str, tenant: TenantId, now: datetime) -> CustomerId:
    """Return the customer the merchant vouches for.

    Raises: Problem (401) for a token that is foreign, altered, expired, valid too long, or without a usable `sub`.
    """
    if not secret or len(token) > MAX_TOKEN_CHARS:
        raise _invalid()
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            audience=tenant,
            # The moments are judged below, by the Clock port.
            options={"require": ["exp", "sub", "aud"], "verify_exp": False, "verify_iat": False, "verify_nbf": False},
        )
    except (jwt.PyJWTError, ValueError, RecursionError):
        raise _invalid() from None
    at = now.timestamp()
    expires, issued, begins = (_moment(claims, name) for name in ("exp", "iat", "nbf"))
    is_timely = (
        expires is not None
        and at - LEEWAY_S < expires <= at + MAX_AHEAD_S + LEEWAY_S
        and (issued is None or issued <= at + LEEWAY_S)
        and (begins is None or begins <= at + LEEWAY_S)
    )
    subject: object = claims["sub"]
    if not is_timely or not isinstance(subject, str) or not is_id(subject):
        raise _invalid()
    return CustomerId(subject)


def _moment(claims: dict[str, object], name: str) -> float | None:
    """Return a moment claim; None when it is absent. Raises: Problem when it is not a number."""
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _invalid()
    try:
        moment = float(value)
    except OverflowError:
        raise _invalid() from None
    if not math.isfinite(moment):
        raise _invalid()
    return moment


def _invalid() -> Problem:
    return Problem(
        ProblemKind.TOKEN_INVALID,
        "The token must be signed HS256 by this tenant, with aud tenant, sub customer and exp within an hour.",
    )
