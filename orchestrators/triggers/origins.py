"""Browser origins: which pages may call which tenant's API.

A preflight names no tenant, so it is answered for an origin any tenant has listed; the call that follows is held to
its own tenant's list. Source: GW-08, design §7 "OPTIONS for CORS per tenant's origins".
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.codec import from_stored
from shared.container import Services
from shared.domain.policy import TenantPolicy
from shared.domain.tenant import PolicyVersion
from shared.ports.documents import Container, PlatformScope, Query, Where

FRESH: Final = timedelta(seconds=60)
"""How long a known origin answers preflights without another look. Value ours."""
RECHECK: Final = timedelta(seconds=5)
"""How long an unknown origin stays unknown: one scan of the tenants at most this often. Value ours."""
PAGE: Final = 200
"""Policies of one page of the scan. Value ours."""
MAX_AGE_S: Final = 600
"""Seconds a browser may keep a preflight's answer. Value ours."""
REQUEST_HEADERS: Final = (
    "Content-Type, If-None-Match, Prefer, X-Api-Key, X-Conversation-Secret, X-Customer-Token, traceparent"
)
"""Headers a storefront sends. Source: design §7."""
RESPONSE_HEADERS: Final = "ETag, Location, Retry-After, X-Trace-Id"
"""Headers a storefront may read. Source: design §7."""

Headers = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Known:
    """The origins of all tenants as last read."""

    origins: frozenset[str] = frozenset()
    at: datetime | None = None


_KNOWN: Final = _Known()


def cors_headers(origin: str, policy: TenantPolicy | None) -> Headers:
    """Return what the browser needs to show the answer to a page of this origin; nothing when it is not listed."""
    return _grant(origin) if origin and policy is not None and origin in policy.origins else ()


async def preflight_headers(services: Services, origin: str) -> Headers:
    """Return the same for a preflight, which cannot say whose tenant it is for."""
    now = services.clock.now()
    age = now - _KNOWN.at if _KNOWN.at is not None else FRESH
    if age >= FRESH or age < timedelta(0) or (origin not in _KNOWN.origins and age >= RECHECK):
        _KNOWN.origins, _KNOWN.at = await _all_origins(services), now
    return _grant(origin) if origin in _KNOWN.origins else ()


def preflight_grant(allow: str) -> Headers:
    """Return what a preflight adds: methods, headers, and for how long."""
    return (
        ("Access-Control-Allow-Methods", allow),
        ("Access-Control-Allow-Headers", REQUEST_HEADERS),
        ("Access-Control-Max-Age", str(MAX_AGE_S)),
    )


async def _all_origins(services: Services) -> frozenset[str]:
    """Return the origins of every tenant's policy in force."""
    found: set[str] = set()
    continuation: str | None = None
    while True:
        page = await services.documents.query(
            Container.TENANTS,
            PlatformScope("a preflight names no tenant"),
            Query(
                None,
                where=(Where("kind", "=", "policy"),),
                limit=PAGE,
                continuation=continuation,
                reason="a preflight names no tenant",
            ),
        )
        for stored in page.items:
            found.update(from_stored(PolicyVersion, stored).policy.origins)
        continuation = page.continuation
        if continuation is None:
            return frozenset(found)


def _grant(origin: str) -> Headers:
    return (("Access-Control-Allow-Origin", origin), ("Access-Control-Expose-Headers", RESPONSE_HEADERS))
