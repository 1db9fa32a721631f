"""Tenants, their keys and their policy over HTTP.

An operator manages any tenant, an admin key its own; nobody else. What belongs to another tenant reads as absent.
Source: GW-02, design §7 `/v1/tenants`, faults 038, 041.
"""

import re
from typing import Final

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
    PolicyChange,
    PolicyLog,
    PolicyQuery,
    PolicySaved,
    RotateIn,
    TenantCreated,
    TenantIn,
    TenantList,
    TenantPatch,
    TenantShown,
)
from shared.domain.api_key import ApiKey, DeskRole, KeyScope
from shared.domain.ids import KeyId, TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.tenant import Tenant, changed_settings, check_policy
from shared.ports.documents import TenantScope
from shared.privacy.patterns import validate_regions

MAX_AUTHOR: Final = 200
"""Longest author of a change-log line. Source: shared.domain.tenant.PolicyVersion."""
ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?", re.ASCII)
"""A web origin as a browser sends it: scheme, host, port; no path. Source: RFC 6454 §6.2."""


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
    tenant = await call.services.tenants.get(await _scope(call))
    if tenant is None:
        raise not_found()
    return json_answer(_tenant(tenant))


async def patch_tenant(call: Call) -> Answer:
    """Change name, tier or status of a merchant."""
    given = call.body_as(TenantPatch)
    scope = await _scope(call)
    changed = await call.services.tenants.patch(scope, name=given.name, tier=given.tier, status=given.status)
    return json_answer(_tenant(changed))


async def renew_identity_secret(call: Call) -> Answer:
    """Replace the secret that signs customer tokens; the old one's tokens end."""
    scope = await _scope(call)
    secret = await call.services.tenants.renew_identity_secret(scope)
    return json_answer(IdentitySecretShown(tenant_id=scope.tenant_id, identity_secret=secret))


async def issue_key(call: Call) -> Answer:
    """Issue a key; its text is in this answer only. Raises: Problem (403) for an operator key."""
    given = call.body_as(KeyIn)
    if given.scope is KeyScope.OPERATOR:
        raise Problem(ProblemKind.SCOPE, "Operator keys belong to no tenant and are not issued here.")
    if given.role is not None and given.scope is not KeyScope.DESK:
        raise _wrong("role", "only a desk key has a role")
    scope = await _scope(call)
    role = (given.role or DeskRole.AGENT) if given.scope is KeyScope.DESK else None
    # A person nobody named is still one person: a claim must not pass to the next unnamed key.
    owner = given.owner or f"{given.scope.value}-{call.services.ids.new_id()}"
    key, text = await call.services.keys.issue(scope, given.scope, owner=owner, role=role)
    return json_answer(KeyIssued(**_key(key).model_dump(), key=text), status=201)


async def list_keys(call: Call) -> Answer:
    """Return the tenant's keys, ended ones included while they are kept."""
    keys = await call.services.keys.list(await _scope(call))
    return json_answer(KeyList(keys=tuple(_key(key) for key in keys)))


async def rotate_key(call: Call) -> Answer:
    """Issue the key's successor; both work until the overlap is over."""
    given = call.body_as(RotateIn)
    key, text = await call.services.keys.rotate(await _scope(call), KeyId(call.ids["key"]), overlap_s=given.overlap_s)
    return json_answer(KeyIssued(**_key(key).model_dump(), key=text), status=201)


async def revoke_key(call: Call) -> Answer:
    """End the key; revoking again changes nothing."""
    await call.services.keys.revoke(await _scope(call), KeyId(call.ids["key"]))
    return empty_answer()


async def get_policy(call: Call) -> Answer:
    """Return the policy in force."""
    policy = await call.services.tenants.policy(await _scope(call))
    return json_answer(PolicySaved(policy=policy, is_dry_run=False, changed=()))


async def put_policy(call: Call) -> Answer:
    """Validate and save the policy as the next version; with `dry_run` only validate.

    A body that says a `version` is saved over exactly that one (409 otherwise); one that does not, over the one in
    force.
    """
    given = call.body_as(TenantPolicy)
    scope = await _scope(call)
    check_policy(given)
    validate_regions(given.phone_regions)
    _check_origins(given.origins)
    before = await call.services.tenants.policy(scope)
    changed = changed_settings(before, given)
    if call.query_as(PolicyQuery).dry_run:
        would_be = given.model_copy(update={"version": before.version + 1})
        return json_answer(PolicySaved(policy=would_be, is_dry_run=True, changed=changed))
    over = given.version if "version" in given.model_fields_set else before.version
    author = f"{call.by.owner} ({call.by.key_id})"
    saved = await call.services.tenants.save_policy(scope, given, over_version=over, author=author[:MAX_AUTHOR])
    return json_answer(PolicySaved(policy=saved, is_dry_run=False, changed=changed))


async def list_policy_changes(call: Call) -> Answer:
    """Return the change log: who saved what, when."""
    history = await call.services.tenants.policy_history(await _scope(call))
    return json_answer(
        PolicyLog(
            changes=tuple(
                PolicyChange(
                    version=v.version, author=v.author, saved_at=v.saved_at, changed=v.changed, policy=v.policy
                )
                for v in history
            )
        )
    )


async def _scope(call: Call) -> TenantScope:
    """Return the tenant of the path. Raises: Problem (404) when it is absent or not the caller's."""
    asked = TenantScope(TenantId(call.ids["tenant"]))
    if call.by.scope is KeyScope.OPERATOR:
        if await call.services.tenants.get(asked) is None:
            raise not_found()
        return asked
    if call.by.tenant != asked:
        raise not_found()
    return asked


def _check_origins(origins: tuple[str, ...]) -> None:
    wrong = [index for index, origin in enumerate(origins) if not ORIGIN.fullmatch(origin)]
    if wrong:
        raise _wrong(f"origins.{wrong[0]}", "an origin is scheme, host and port, such as https://shop.example")


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
