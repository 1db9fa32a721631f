"""Installation records: a tenant's shop, its tokens under the tenant's key, and the lease on refreshing them.

A second row names the tenant of a shop, since a webhook names the shop only; it is made first, so that no two tenants
hold one shop. Tokens are stored with one compare-and-swap, and the pair in force is only ever replaced by a whole new
one: a crash in between leaves the refresh token that the shop still accepts.
Source: apis.md §1.7, §1.14, design §6 rows `vault_keys` and `keys`, GW-03.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.secret_box import SecretBox
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import TenantId
from shared.domain.installation import INSTALLATION, Installation, TokenGrant
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import Container, Documents, PlatformScope, Query, Stored, TenantScope, Where

LEASE_S: Final = 30
"""Seconds a refresher has the tokens to itself. Value ours: above the deadline of its call and the store's."""
CAS_ATTEMPTS: Final = 5
"""Times a change is tried against others' changes of the same installation. Value ours."""
_ACCESS: Final = "shopify_access_token"
_REFRESH: Final = "shopify_refresh_token"
_LOOK_UP: Final = PlatformScope("a webhook names a shop only")
_SWEEP: Final = PlatformScope("tokens of idle shops are renewed, and every connected shop is synced")


@dataclass(frozen=True, slots=True)
class OpenTokens:
    """An installation's tokens in plain; kept in memory only."""

    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)


class _ShopRow(Wire):
    """Whose a shop is, in a partition of its own."""

    id: str
    """`shop:{domain}`"""
    kind: str = "shop"
    tenant_id: TenantId


class InstallationRecords:
    """The shops of all tenants, one a tenant."""

    def __init__(self, documents: Documents, *, secrets: SecretBox, clock: Clock, ids: IdSource) -> None:
        self._documents = documents
        self._secrets = secrets
        self._clock = clock
        self._ids = ids

    async def install(self, scope: TenantScope, shop_domain: str, grant: TokenGrant) -> Installation:
        """Connect the tenant with its shop, or again after an uninstall; return what is stored.

        `shop_domain` is one that `parse_shop_domain` returned. Raises: AlreadyExists when the shop is another tenant's
        or the tenant is connected with another shop; VersionConflict.
        """
        now = self._clock.now()
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope)
            before = from_stored(Installation, stored) if stored else None
            if before and before.uninstalled_at is None and before.shop_domain != shop_domain:
                raise AlreadyExists(f"tenant {scope.tenant_id!r} is connected with another shop")
            await self._claim(scope, shop_domain)
            fresh = Installation(tenant_id=scope.tenant_id, shop_domain=shop_domain, installed_at=now, refreshed_at=now)
            installed = await self._with_tokens(scope, fresh, grant)
            try:
                if stored is None:
                    await self._documents.create(Container.VAULT_KEYS, scope, scope.tenant_id, to_document(installed))
                else:
                    await self._put(scope, stored, installed)
            except (AlreadyExists, VersionConflict, NotFound):
                continue
            return installed
        raise VersionConflict(f"the installation of {scope.tenant_id!r} changed {CAS_ATTEMPTS} times meanwhile")

    async def uninstall(self, scope: TenantScope, shop_domain: str, *, at: datetime) -> bool:
        """Forget the tokens of a shop that removed the app then; False when it was installed again since, or never was.

        The shop stays the tenant's: its erasure is still to come (`shop/redact`).
        """
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope)
            found = from_stored(Installation, stored) if stored else None
            if stored is None or found is None or found.shop_domain != shop_domain or found.installed_at > at:
                return False
            if found.uninstalled_at is not None:
                return True
            gone = found.model_copy(
                update={
                    "sealed_access_token": "",
                    "sealed_refresh_token": "",
                    "expires_at": None,
                    "refresh_expires_at": None,
                    "uninstalled_at": at,
                    "lease_id": "",
                    "lease_until": None,
                }
            )
            try:
                await self._put(scope, stored, gone)
            except VersionConflict:
                continue
            return True
        raise VersionConflict(f"the installation of {scope.tenant_id!r} changed {CAS_ATTEMPTS} times meanwhile")

    async def get(self, scope: TenantScope) -> Installation | None:
        """Return the tenant's installation, an uninstalled one included, or None."""
        stored = await self._read(scope)
        return from_stored(Installation, stored) if stored else None

    async def tenant_of(self, shop_domain: str) -> TenantScope | None:
        """Return whose the shop is, uninstalled or not; None for a shop nobody ever connected."""
        id = f"shop:{shop_domain}"
        stored = await self._documents.read(Container.KEYS, _LOOK_UP, id, id)
        return None if stored is None else TenantScope(from_stored(_ShopRow, stored).tenant_id)

    async def is_connected(self, scope: TenantScope, shop_domain: str | None = None) -> bool:
        """Tell whether the tenant is connected with a shop: with this one, when one is named."""
        found = await self.get(scope)
        return found is not None and found.is_connected and shop_domain in (None, found.shop_domain)

    async def connected(self) -> tuple[Installation, ...]:
        """Return the installation of every tenant that is connected with a shop."""
        return tuple([found async for found in self._all() if found.is_connected])

    async def record_scopes(self, scope: TenantScope, shop_domain: str, scopes: tuple[str, ...]) -> None:
        """Record what the shop grants now; nothing for a shop the tenant is not connected with any more."""
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope)
            found = from_stored(Installation, stored) if stored else None
            if stored is None or found is None or found.shop_domain != shop_domain or found.scopes == scopes:
                return
            try:
                await self._put(scope, stored, found.model_copy(update={"scopes": scopes}))
            except VersionConflict:
                continue
            return
        raise VersionConflict(f"the installation of {scope.tenant_id!r} changed {CAS_ATTEMPTS} times meanwhile")

    async def idle_since(self, moment: datetime) -> tuple[Installation, ...]:
        """Return the connected installations whose expiring tokens were last issued before the moment."""
        return tuple(
            [i async for i in self._all() if i.is_connected and i.sealed_refresh_token and i.refreshed_at < moment]
        )

    async def open_tokens(self, installation: Installation) -> OpenTokens:
        """Return the tokens in plain, empty where there are none. Raises: AuthorityError, Unavailable."""
        scope = TenantScope(installation.tenant_id)
        access, refresh = installation.sealed_access_token, installation.sealed_refresh_token
        return OpenTokens(
            await self._secrets.open(scope, access, place=_ACCESS) if access else "",
            await self._secrets.open(scope, refresh, place=_REFRESH) if refresh else "",
        )

    async def lease(self, seen: Installation) -> Installation | None:
        """Return the installation leased to the caller, who alone may refresh it; None when it is not as seen any more.

        `seen` must hold the tokens to be replaced: whoever comes after a refresh finds others and does not refresh.
        """
        scope = TenantScope(seen.tenant_id)
        stored = await self._read(scope)
        found = from_stored(Installation, stored) if stored else None
        now = self._clock.now()
        if stored is None or found is None or found.sealed_refresh_token != seen.sealed_refresh_token:
            return None
        if not found.is_connected or (found.lease_until is not None and now < found.lease_until):
            return None
        leased = found.model_copy(
            update={"lease_id": self._ids.new_id(), "lease_until": now + timedelta(seconds=LEASE_S)}
        )
        try:
            await self._put(scope, stored, leased)
        except (VersionConflict, NotFound):
            return None
        return leased

    async def renew(self, leased: Installation, grant: TokenGrant) -> Installation | None:
        """Store the new pair and end the lease; None when the lease was lost, and another's tokens are in force."""
        scope = TenantScope(leased.tenant_id)
        fresh = leased.model_copy(update={"refreshed_at": self._clock.now(), "lease_id": "", "lease_until": None})
        renewed = await self._with_tokens(scope, fresh, grant)
        return renewed if await self._end_lease(leased, renewed) else None

    async def release(self, leased: Installation, *, is_rejected: bool = False) -> None:
        """End the lease with the tokens as they are; `is_rejected` when the shop refuses them for good."""
        update = {"lease_id": "", "lease_until": None, "is_rejected": is_rejected}
        await self._end_lease(leased, leased.model_copy(update=update))

    async def expire(self, seen: Installation) -> None:
        """Take note that the shop refuses the access token seen: it is refreshed next, or rejected if it cannot be."""
        scope = TenantScope(seen.tenant_id)
        stored = await self._read(scope)
        found = from_stored(Installation, stored) if stored else None
        if stored is None or found is None or found.sealed_access_token != seen.sealed_access_token:
            return
        update = {"expires_at": self._clock.now()} if found.sealed_refresh_token else {"is_rejected": True}
        try:
            await self._put(scope, stored, found.model_copy(update=update))
        except (VersionConflict, NotFound):
            # Somebody refreshed, removed or expired it at this moment: each of them settles it.
            return

    async def _all(self) -> AsyncIterator[Installation]:
        continuation: str | None = None
        while True:
            query = Query(None, where=(Where("kind", "=", "installation"),), continuation=continuation)
            page = await self._documents.query(Container.VAULT_KEYS, _SWEEP, query)
            for stored in page.items:
                yield from_stored(Installation, stored)
            continuation = page.continuation
            if continuation is None:
                return

    async def _end_lease(self, leased: Installation, after: Installation) -> bool:
        scope = TenantScope(leased.tenant_id)
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope)
            if stored is None or from_stored(Installation, stored).lease_id != leased.lease_id:
                return False
            try:
                await self._put(scope, stored, after)
            except (VersionConflict, NotFound):
                continue
            return True
        return False

    async def _with_tokens(self, scope: TenantScope, installation: Installation, grant: TokenGrant) -> Installation:
        now = self._clock.now()
        refresh = grant.refresh_token
        return installation.model_copy(
            update={
                "sealed_access_token": await self._secrets.seal(scope, grant.access_token, place=_ACCESS),
                "sealed_refresh_token": await self._secrets.seal(scope, refresh, place=_REFRESH) if refresh else "",
                "scopes": grant.scopes,
                "expires_at": _after(now, grant.expires_in_s),
                "refresh_expires_at": _after(now, grant.refresh_expires_in_s),
            }
        )

    async def _claim(self, scope: TenantScope, shop_domain: str) -> None:
        """Make the shop the tenant's. Raises: AlreadyExists while another tenant is connected with it."""
        row = _ShopRow(id=f"shop:{shop_domain}", tenant_id=scope.tenant_id)
        owner = await self.tenant_of(shop_domain)
        if owner == scope:
            return
        if owner is not None:
            theirs = await self.get(owner)
            if theirs is not None and theirs.shop_domain == shop_domain and theirs.uninstalled_at is None:
                raise AlreadyExists("the shop is connected with another tenant")
            await self._documents.delete(Container.KEYS, owner, row.id, row.id)
        await self._documents.create(Container.KEYS, scope, row.id, to_document(row))

    async def _read(self, scope: TenantScope) -> Stored | None:
        return await self._documents.read(Container.VAULT_KEYS, scope, scope.tenant_id, INSTALLATION)

    async def _put(self, scope: TenantScope, stored: Stored, installation: Installation) -> None:
        await self._documents.replace(
            Container.VAULT_KEYS, scope, scope.tenant_id, to_document(installation), etag=stored.etag
        )


def _after(now: datetime, seconds: int | None) -> datetime | None:
    return None if seconds is None else now + timedelta(seconds=seconds)
