"""Tenants and their keys over HTTP.

An operator manages any tenant, an admin key its own; nobody else. What belongs to another tenant reads as absent.
Source: GW-02, design §7 `/v1/tenants`.
"""

from pydantic import ValidationError

from orchestrators.triggers.contract import Call
from orchestrators.triggers.models import PageQuery
from orchestrators.triggers.problems import FieldError, Problem, ProblemKind, invalid_request, not_found
from orchestrators.triggers.responses import Answer, empty_answer, json_answer
from orchestrators.triggers.tenant_models import (
    IdentitySecretShown,
    KeyIn,
    KeyIssued,
    KeyList,
    KeyShown,
    RotateIn,
    TenantCreated,
    TenantIn,
    TenantList,
    TenantPatch,
    TenantShown,
)
from shared.domain.api_key import ApiKey, DeskRole, KeyScope
from shared.domain.ids import KeyId, TenantId
from shared.domain.tenant import Tenant
from shared.ports.documents import TenantScope


async def create_tenant(call: Call) -> Answer:
    """Create a merchant; its identity secret is in this answer only."""
    given = call.body_as(TenantIn)
    try:
        tenant, secret = await call.services.tenants.create(TenantId(given.tenant_id), name=given.name, tier=given.tier)
    except ValidationError as error:
        raise invalid_request(error) from None
    shown = TenantCreated(**_tenant(tenant).model_dump(), identity_secret=secret)
    return json_answer(shown, status=201, headers=(("Location", f"/api/v1/tenants/{tenant.tenant_id}"),))


async def list_tenants(call: Call) -> Answer:
    """Return one page of all merchants, by id."""
    asked = call.query_as(PageQuery)
    tenants, continuation = await call.services.tenants.list(limit=asked.limit, continuation=asked.continuation)
    return json_answer(TenantList(tenants=tuple(_tenant(t) for t in tenants), continuation=continuation))


async def get_tenant(call: Call) -> Answer:
    """Return one merchant."""
    tenant = await call.services.tenants.get(await scope_of(call))
    if tenant is None:
        raise not_found()
    return json_answer(_tenant(tenant))


async def patch_tenant(call: Call) -> Answer:
    """Change name, tier or status of a merchant."""
    given = call.body_as(TenantPatch)
    scope = await scope_of(call)
    changed = await call.services.tenants.patch(scope, name=given.name, tier=given.tier, status=given.status)
    return json_answer(_tenant(changed))


async def renew_identity_secret(call: Call) -> Answer:
    """Replace the secret that signs customer tokens; the old one's tokens end."""
    scope = await scope_of(call)
    secret = await call.services.tenants.renew_identity_secret(scope)
    return json_answer(IdentitySecretShown(tenant_id=scope.tenant_id, identity_secret=secret))


async def issue_key(call: Call) -> Answer:
    """Issue a key; its text is in this answer only. Raises: Problem (403) for an operator key."""
    given = call.body_as(KeyIn)
    if given.scope is KeyScope.OPERATOR:
        raise Problem(ProblemKind.SCOPE, "Operator keys belong to no tenant and are not issued here.")
    if given.role is not None and given.scope is not KeyScope.DESK:
        raise _wrong("role", "only a desk key has a role")
    scope = await scope_of(call)
    role = (given.role or DeskRole.AGENT) if given.scope is KeyScope.DESK else None
    # A person nobody named is still one person: a claim must not pass to the next unnamed key.
    owner = given.owner or f"{given.scope.value}-{call.services.ids.new_id()}"
    key, text = await call.services.keys.issue(scope, given.scope, owner=owner, role=role)
    return json_answer(KeyIssued(**_key(key).model_dump(), key=text), status=201)


async def list_keys(call: Call) -> Answer:
    """Return the tenant's keys, ended ones included while they are kept."""
    keys = await call.services.keys.list(await scope_of(call))
    return json_answer(KeyList(keys=tuple(_key(key) for key in keys)))


async def rotate_key(call: Call) -> Answer:
    """Issue the key's successor; both work until the overlap is over."""
    given = call.body_as(RotateIn)
    key, text = await call.services.keys.rotate(await scope_of(call), KeyId(call.ids["key"]), overlap_s=given.overlap_s)
    return json_answer(KeyIssued(**_key(key).model_dump(), key=text), status=201)


async def revoke_key(call: Call) -> Answer:
    """End the key; revoking again changes nothing."""
    await call.services.keys.revoke(await scope_of(call), KeyId(call.ids["key"]))
    return empty_answer()


async def scope_of(call: Call) -> TenantScope:
    """Return the tenant of the path. Raises: Problem (404) when it is absent or not the caller's."""
    asked = TenantScope(TenantId(call.ids["tenant"]))
    if call.by.scope is KeyScope.OPERATOR:
        if await call.services.tenants.get(asked) is None:
            raise not_found()
        return asked
    if call.by.tenant != asked:
        raise not_found()
    return asked


def _wrong(field: str, message: str) -> Problem:
    return Problem(ProblemKind.INVALID_REQUEST, "A field is wrong.", errors=[FieldError(field, message)])


def _tenant(tenant: Tenant) -> TenantShown:
    return TenantShown(
        tenant_id=tenant.tenant_id,
        name=tenant.name,
        tier=tenant.tier.value,
        status=tenant.status.value,
        created_at=tenant.created_at,
        updated_at=tenant.updated_at,
    )


def _key(key: ApiKey) -> KeyShown:
    return KeyShown(
        key_id=key.id,
        tenant_id=key.tenant_id,
        scope=key.scope.value,
        role=key.role.value if key.role else None,
        owner=key.owner,
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        successor=key.successor,
    )
