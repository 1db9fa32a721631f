"""Browser origins: which pages may call which tenant's API.

A preflight names no tenant, so it is answered for an origin any tenant has listed; the call that follows is held to
its own tenant's list. Source: GW-08, design §7 "OPTIONS for CORS per tenant's origins".
"""

from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.codec import from_stored
from shared.container import Services
from shared.domain.policy import TenantPolicy
from shared.domain.tenant import PolicyVersion
from shared.ports.documents import Container, Documents, PlatformScope, Query, Where

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


class KnownOrigins:
    """The origins of all tenants as last read: one scan serves a minute of preflights."""

    def __init__(self) -> None:
        self._origins: frozenset[str] = frozenset()
        self._read_at: datetime | None = None

    async def knows(self, origin: str, *, documents: Documents, now: datetime) -> bool:
        """Tell whether some tenant has listed the origin; looks again when the last look is old or did not find it."""
        age = FRESH if self._read_at is None else now - self._read_at
        is_old = age >= FRESH or (origin not in self._origins and age >= RECHECK)
        if is_old:
            self._origins, self._read_at = await _all_origins(documents), now
        return origin in self._origins


_KNOWN: Final = KnownOrigins()


def cors_headers(origin: str, policy: TenantPolicy | None) -> Headers:
    """Return what the browser needs to show the answer to a page of this origin; nothing when it is not listed."""
    return _grant(origin) if origin and policy is not None and origin in policy.origins else ()


async def preflight_headers(services: Services, origin: str) -> Headers:
    """Return the same for a preflight, which cannot say whose tenant it is for."""
    is_known = await _KNOWN.knows(origin, documents=services.documents, now=services.clock.now())
    return _grant(origin) if is_known else ()


def preflight_grant(allow: str) -> Headers:
    """Return what a preflight adds: methods, headers, and for how long."""
    return (
        ("Access-Control-Allow-Methods", allow),
        ("Access-Control-Allow-Headers", REQUEST_HEADERS),
        ("Access-Control-Max-Age", str(MAX_AGE_S)),
    )


async def _all_origins(documents: Documents) -> frozenset[str]:
    """Return the origins of every tenant's policy in force."""
    found: set[str] = set()
    continuation: str | None = None
    while True:
        page = await documents.query(
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
