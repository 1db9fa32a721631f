"""Tenant records: settings, the identity secret, and the policy in every version it ever had.

A policy is saved with the version it was written over and its history row in one batch, so that no version is lost and
none is overwritten. Source: design §6 row `tenants`, §7 `/v1/tenants`, GW-03, faults 038, 041.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.secret_box import SecretBox
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.policy_changes import changed_settings
from shared.domain.policy_check import check_policy
from shared.domain.tenant import PolicyVersion, Tenant, TenantStatus
from shared.domain.tiers import Tier
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import (
    Container,
    Create,
    Documents,
    Operation,
    PlatformScope,
    Query,
    Replace,
    Stored,
    TenantScope,
    Where,
)
from shared.privacy.patterns import validate_regions
from shared.wire import decode

CAS_ATTEMPTS: Final = 5
"""Times a change is tried against others' changes of the same document. Value ours."""
IDENTITY_SECRET_BYTES: Final = 32
"""Bytes of a tenant's identity secret. Source: RFC 7518 §3.2 (HS256: at least 256 bits)."""
POLICY_WITHIN_S: Final = 5
"""Seconds another process may still use the policy before last. Value ours, as for revoked keys."""
REMEMBERED_POLICIES: Final = 2048
"""Most policies remembered. Value ours: three times the design load of 680 tenants (SC-01)."""
_TENANT: Final = "tenant"
_POLICY: Final = "policy"
_IDENTITY_PLACE: Final = "identity_secret"


class TenantRecords:
    """Tenants, one partition each. Implements PolicyReader."""

    def __init__(self, documents: Documents, *, secrets: SecretBox, clock: Clock, ids: IdSource) -> None:
        self._documents = documents
        self._secrets = secrets
        self._clock = clock
        self._ids = ids
        self._policies: OrderedDict[TenantId, tuple[datetime, TenantPolicy]] = OrderedDict()

    async def create(self, tenant_id: TenantId, *, name: str, tier: Tier = Tier.STARTER) -> tuple[Tenant, str]:
        """Create a tenant with a fresh identity secret; return both.

        Raises: AlreadyExists; SchemaError for an id or name no tenant may have.
        """
        scope, now = TenantScope(tenant_id), self._clock.now()
        given = {"tenant_id": tenant_id, "name": name, "tier": tier, "created_at": now, "updated_at": now}
        tenant = decode(Tenant, given)
        if await self.get(scope) is not None:
            raise AlreadyExists(f"tenant {tenant_id!r} exists")
        secret = self._ids.new_secret(IDENTITY_SECRET_BYTES)
        sealed = await self._secrets.seal(scope, secret, place=_IDENTITY_PLACE)
        tenant = tenant.model_copy(update={"sealed_identity_secret": sealed})
        await self._documents.create(Container.TENANTS, scope, tenant_id, to_document(tenant))
        return tenant, secret

    async def get(self, scope: TenantScope) -> Tenant | None:
        """Return the tenant, or None."""
        stored = await self._documents.read(Container.TENANTS, scope, scope.tenant_id, _TENANT)
        return from_stored(Tenant, stored) if stored else None

    async def list(self, *, limit: int = 100, continuation: str | None = None) -> tuple[tuple[Tenant, ...], str | None]:
        """Return a page of all tenants by id, for the operator, and the token of the next."""
        page = await self._documents.query(
            Container.TENANTS,
            PlatformScope("the operator lists tenants"),
            Query(None, where=(Where("kind", "=", _TENANT),), limit=limit, continuation=continuation),
        )
        return tuple(from_stored(Tenant, stored) for stored in page.items), page.continuation

    async def patch(
        self,
        scope: TenantScope,
        *,
        name: str | None = None,
        tier: Tier | None = None,
        status: TenantStatus | None = None,
    ) -> Tenant:
        """Change what is given and return the tenant. Raises: NotFound, SchemaError, VersionConflict."""
        given = {"name": name, "tier": tier, "status": status}
        changes = {key: value for key, value in given.items() if value is not None}
        return await self._change(scope, lambda tenant: decode(Tenant, {**dict(tenant), **changes}))

    async def identity_secret(self, scope: TenantScope) -> str | None:
        """Return the secret customer tokens are signed with, or None when there is no such tenant or secret."""
        tenant = await self.get(scope)
        if tenant is None or not tenant.sealed_identity_secret:
            return None
        return await self._secrets.open(scope, tenant.sealed_identity_secret, place=_IDENTITY_PLACE)

    async def renew_identity_secret(self, scope: TenantScope) -> str:
        """Replace the identity secret and return the new one; tokens of the old one end. Raises: NotFound."""
        secret = self._ids.new_secret(IDENTITY_SECRET_BYTES)
        sealed = await self._secrets.seal(scope, secret, place=_IDENTITY_PLACE)
        await self._change(scope, lambda tenant: tenant.model_copy(update={"sealed_identity_secret": sealed}))
        return secret

    async def policy(self, scope: TenantScope) -> TenantPolicy:
        """Return the policy in force; the default policy, as version 1, when none was saved.

        A turn reads it in every step, so it is remembered: a policy saved by another process counts within
        POLICY_WITHIN_S, one saved here at once.
        """
        now = self._clock.now()
        known = self._policies.get(scope.tenant_id)
        if known is not None and now < known[0]:
            return known[1]
        found = await self._current_policy(scope)
        policy = TenantPolicy() if found is None else found[1].policy
        self._policies[scope.tenant_id] = (now + timedelta(seconds=POLICY_WITHIN_S), policy)
        self._policies.move_to_end(scope.tenant_id)
        if len(self._policies) > REMEMBERED_POLICIES:
            self._policies.popitem(last=False)
        return policy

    async def all_origins(self) -> frozenset[str]:
        """Return the browser origins of every tenant's policy: a preflight does not say whose tenant it is for."""
        origins: set[str] = set()
        continuation: str | None = None
        while True:
            page = await self._documents.query(
                Container.TENANTS,
                PlatformScope("a preflight names no tenant"),
                Query(None, where=(Where("kind", "=", _POLICY),), continuation=continuation),
            )
            for stored in page.items:
                origins.update(from_stored(PolicyVersion, stored).policy.origins)
            continuation = page.continuation
            if continuation is None:
                return frozenset(origins)

    async def policy_history(self, scope: TenantScope, *, limit: int = 50) -> tuple[PolicyVersion, ...]:
        """Return saved versions, newest first: who, when and which settings changed (fault 038)."""
        page = await self._documents.query(
            Container.TENANTS,
            scope,
            Query(
                scope.tenant_id,
                where=(Where("kind", "=", "policy_version"),),
                order_by="version",
                is_descending=True,
                limit=limit,
            ),
        )
        return tuple(from_stored(PolicyVersion, stored) for stored in page.items)

    async def policy_version(self, scope: TenantScope, version: int) -> TenantPolicy | None:
        """Return the policy as it was saved in that version, or None; version 1 is the default no one has to save."""
        stored = await self._documents.read(Container.TENANTS, scope, scope.tenant_id, f"{_POLICY}@{version}")
        if stored is None:
            return TenantPolicy() if version == 1 else None
        return from_stored(PolicyVersion, stored).policy

    async def save_policy(
        self, scope: TenantScope, policy: TenantPolicy, *, over_version: int, author: str, restores: int | None = None
    ) -> TenantPolicy:
        """Save the policy as the next version and return it; its own `version` is not looked at.

        `restores` says which earlier version's content it is.

        Raises: PolicyRefused when it cannot hold; SchemaError when it names an unknown telephone region;
        VersionConflict when `over_version` is no longer the version in force; NotFound without such a tenant.
        """
        check_policy(policy)
        validate_regions(policy.phone_regions)
        if await self.get(scope) is None:
            raise NotFound(f"tenant {scope.tenant_id!r} does not exist")
        found = await self._current_policy(scope)
        before = TenantPolicy() if found is None else found[1].policy
        if before.version != over_version:
            raise VersionConflict(f"the policy in force is version {before.version}, not {over_version}")
        saved = policy.model_copy(update={"version": before.version + 1})
        current = PolicyVersion(
            id=_POLICY,
            kind=_POLICY,
            tenant_id=scope.tenant_id,
            version=saved.version,
            policy=saved,
            author=author,
            saved_at=self._clock.now(),
            changed=changed_settings(before, saved),
            restores=restores,
        )
        history = current.model_copy(update={"id": f"{_POLICY}@{saved.version}", "kind": "policy_version"})
        put: Operation = Create(to_document(current)) if found is None else Replace(to_document(current), found[0].etag)
        try:
            await self._documents.batch(Container.TENANTS, scope, scope.tenant_id, (Create(to_document(history)), put))
        except AlreadyExists:
            raise VersionConflict(f"version {saved.version} of the policy was saved by somebody else") from None
        finally:
            self._policies.pop(scope.tenant_id, None)
        return saved

    async def _current_policy(self, scope: TenantScope) -> tuple[Stored, PolicyVersion] | None:
        stored = await self._documents.read(Container.TENANTS, scope, scope.tenant_id, _POLICY)
        return None if stored is None else (stored, from_stored(PolicyVersion, stored))

    async def _change(self, scope: TenantScope, change: Callable[[Tenant], Tenant]) -> Tenant:
        for _ in range(CAS_ATTEMPTS):
            stored = await self._documents.read(Container.TENANTS, scope, scope.tenant_id, _TENANT)
            if stored is None:
                raise NotFound(f"tenant {scope.tenant_id!r} does not exist")
            changed = change(from_stored(Tenant, stored)).model_copy(update={"updated_at": self._clock.now()})
            try:
                await self._documents.replace(
                    Container.TENANTS, scope, scope.tenant_id, to_document(changed), etag=stored.etag
                )
            except VersionConflict:
                continue
            return changed
        raise VersionConflict(f"tenant {scope.tenant_id!r} changed {CAS_ATTEMPTS} times meanwhile")
