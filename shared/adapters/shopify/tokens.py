"""Access tokens of shops: kept at hand for a moment, refreshed before they end, by one instance at a time.

A refresh token is used by the holder of a lease only, and the new pair is in force once it is stored whole. When the
answer is lost, or the process dies before storing, the stored refresh token is simply used again: the shop accepts it
until its replacement is used (30 days at most), and nothing here uses a token that is not stored.
Source: apis.md §1.14; shopify.dev/changelog/more-resilient-refreshes-for-expiring-offline-access-tokens (2026-08-28).
"""

import asyncio
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.adapters.records.installations import InstallationRecords
from shared.adapters.shopify.credentials import ShopCredentials
from shared.adapters.shopify.transport import RawAnswer, ShopTransport
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, Unavailable, VouchError
from shared.domain.ids import TenantId
from shared.domain.installation import Installation, TokenGrant
from shared.ports.clock import Clock
from shared.ports.documents import TenantScope

TOKEN_PATH: Final = "/admin/oauth/access_token"  # noqa: S105 - a path, no secret
"""Where tokens are refreshed. Source: apis.md §1.14."""
REFRESH_EARLY_S: Final = 300
"""Seconds before its end from which a token is refreshed. Source: "a few minutes before they expire", changelog of
2025-12-10; value ours."""
REFRESH_TIMEOUT_S: Final = 10.0
"""Seconds a refresh may take; below the lease of installations.LEASE_S. Value ours."""
REFRESH_IDLE_DAYS: Final = 30
"""Days without a refresh after which the daily job makes one: far from the 90 a refresh token lives. Value ours."""
REMEMBERED_S: Final = 60
"""Seconds an opened token is kept at hand; how long another process may still use one removed here. Value ours."""
REMEMBERED_SHOPS: Final = 2048
"""Most shops remembered. Value ours: three times the design load of 680 tenants (SC-01)."""
LOOK_AGAIN_S: Final = 0.25
"""Seconds between two looks while another instance refreshes. Value ours."""
LOOKS: Final = 20
"""Looks before a call gives up waiting for it. Value ours: 5 s."""


class _Granted(BaseModel):
    """The token endpoint's answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    access_token: str = Field(min_length=1, repr=False)
    scope: str = ""
    expires_in: int
    refresh_token: str = Field(min_length=1, repr=False)
    refresh_token_expires_in: int | None = None


@dataclass(frozen=True, slots=True)
class RefreshReport:
    """What a run of the daily job did."""

    refreshed: tuple[TenantId, ...]
    failed: tuple[TenantId, ...]
    """Still to be refreshed, or to be connected again."""


class ShopTokens:
    """Implements the client's CredentialSource over the installations of all tenants."""

    def __init__(
        self,
        installations: InstallationRecords,
        *,
        transport: ShopTransport,
        client_id: str,
        client_secret: str,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._installations = installations
        self._transport = transport
        self._client_id = client_id
        self._client_secret = client_secret
        self._clock = clock
        self._sleep = sleep
        self._remembered: OrderedDict[TenantId, tuple[datetime, Installation, ShopCredentials]] = OrderedDict()

    async def credentials(self, scope: TenantScope) -> ShopCredentials:
        """Return the tenant's shop and a token that holds, refreshing it when it is about to end.

        Raises: IntegrationError when no shop is connected or it must be connected again; Unavailable.
        """
        now = self._clock.now()
        known = self._remembered.get(scope.tenant_id)
        if known is not None and now < known[0]:
            return known[2]
        installation = await self._connected(scope)
        if not installation.is_fresh_at(now + timedelta(seconds=REFRESH_EARLY_S)):
            installation = await self._refreshed(scope, installation)
        tokens = await self._installations.open_tokens(installation)
        credentials = ShopCredentials(installation.shop_domain, tokens.access_token)
        self._remember(installation, credentials)
        return credentials

    async def refused(self, scope: TenantScope, access_token: str) -> None:
        """Take note that the shop answered 401 to this token: the next call refreshes it."""
        known = self._remembered.pop(scope.tenant_id, None)
        if known is not None and known[2].access_token == access_token:
            await self._installations.expire(known[1])

    async def refresh_due(self, now: datetime) -> RefreshReport:
        """Refresh the tokens of every shop that was idle for REFRESH_IDLE_DAYS, so that none passes its 90 days.

        One shop's failure keeps none of the others from being refreshed.
        """
        refreshed: list[TenantId] = []
        failed: list[TenantId] = []
        for idle in await self._installations.idle_since(now - timedelta(days=REFRESH_IDLE_DAYS)):
            try:
                after = await self._refreshed(TenantScope(idle.tenant_id), idle)
            except VouchError:
                failed.append(idle.tenant_id)
                continue
            is_renewed = after.sealed_refresh_token != idle.sealed_refresh_token
            (refreshed if is_renewed else failed).append(idle.tenant_id)
        return RefreshReport(tuple(refreshed), tuple(failed))

    async def _refreshed(self, scope: TenantScope, seen: Installation) -> Installation:
        """Return the installation with tokens that hold: refreshed here, or meanwhile by another instance."""
        for _ in range(LOOKS):
            leased = await self._installations.lease(seen)
            if leased is not None:
                return await self._refresh(scope, leased)
            seen = await self._connected(scope)
            # Refreshed by another, or being refreshed while the old token still holds.
            if seen.is_fresh_at(self._clock.now()):
                return seen
            await self._sleep(LOOK_AGAIN_S)
        raise Unavailable("another instance is refreshing the shop's token")

    async def _refresh(self, scope: TenantScope, leased: Installation) -> Installation:
        try:
            grant = await self._exchange(leased)
        except VouchError as error:
            await self._installations.release(leased, is_rejected=isinstance(error, _Rejected))
            # A token that still holds is used while the refresh fails.
            if not isinstance(error, _Rejected) and leased.is_fresh_at(self._clock.now()):
                return leased
            raise
        return await self._installations.renew(leased, grant) or await self._connected(scope)

    async def _exchange(self, leased: Installation) -> TokenGrant:
        tokens = await self._installations.open_tokens(leased)
        form = {
            "client_id": self._client_id,
            "client_secret": self._client_secret,
            "grant_type": "refresh_token",
            "refresh_token": tokens.refresh_token,
        }
        try:
            raw = await self._transport.post(
                leased.shop_domain,
                TOKEN_PATH,
                headers={"Content-Type": "application/x-www-form-urlencoded"},
                body=urlencode(form).encode(),
                timeout_s=REFRESH_TIMEOUT_S,
            )
        except OutcomeUnknown:
            raise Unavailable("the shop's answer to a token refresh did not arrive") from None
        return _read_grant(raw)

    async def _connected(self, scope: TenantScope) -> Installation:
        installation = await self._installations.get(scope)
        if installation is None or installation.uninstalled_at is not None:
            raise IntegrationError("no shop is connected")
        if installation.is_rejected:
            raise IntegrationError("the shop must be connected again")
        return installation

    def _remember(self, installation: Installation, credentials: ShopCredentials) -> None:
        until = self._clock.now() + timedelta(seconds=REMEMBERED_S)
        if installation.expires_at is not None:
            until = min(until, max(installation.expires_at - timedelta(seconds=REFRESH_EARLY_S), self._clock.now()))
        self._remembered[installation.tenant_id] = (until, installation, credentials)
        self._remembered.move_to_end(installation.tenant_id)
        if len(self._remembered) > REMEMBERED_SHOPS:
            self._remembered.popitem(last=False)


class _Rejected(IntegrationError):
    """The shop knows the refresh token no more."""


def _read_grant(raw: RawAnswer) -> TokenGrant:
    """Return the tokens. Raises: _Rejected, RateLimited, Unavailable, IntegrationError; none shows the body."""
    if raw.status == 429:
        raise RateLimited("the shop's token endpoint asks to wait", retry_after_s=1.0)
    if raw.status >= 500:
        raise Unavailable(f"the shop's token endpoint answered {raw.status}")
    if raw.status == 400 and _error_of(raw.body) == "invalid_grant":
        raise _Rejected("the shop refuses the refresh token")
    if raw.status != 200:
        raise IntegrationError(f"the shop's token endpoint answered {raw.status}")
    try:
        granted = _Granted.model_validate_json(raw.body)
    except ValidationError:
        raise Unavailable("the shop's token endpoint answered no tokens") from None
    return TokenGrant(
        access_token=granted.access_token,
        scopes=tuple(filter(None, granted.scope.split(","))),
        expires_in_s=granted.expires_in,
        refresh_token=granted.refresh_token,
        refresh_expires_in_s=granted.refresh_token_expires_in,
    )


def _error_of(body: bytes) -> str:
    try:
        answer = json.loads(body)
    except ValueError:
        return ""
    error = answer.get("error") if isinstance(answer, dict) else None
    return error if isinstance(error, str) else ""
