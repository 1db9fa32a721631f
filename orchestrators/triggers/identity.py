"""Who holds the key: from the X-Api-Key header to a caller with a scope. Source: GW-01, GW-02, design §7."""

import asyncio
import hashlib
from typing import Final

from orchestrators.triggers.contract import Caller
from orchestrators.triggers.problems import Problem, ProblemKind
from shared.container import Services
from shared.domain.api_key import ApiKey, KeyScope
from shared.domain.ids import KeyId
from shared.domain.policy import TenantPolicy
from shared.domain.tenant import TenantStatus
from shared.ports.documents import TenantScope
from shared.privacy.keys import is_equal

FIRST_OPERATOR: Final = KeyId("first-operator")
"""Id of the operator key given by setting, before any key is stored."""
CHALLENGE: Final = (("WWW-Authenticate", "ApiKey"),)
"""What a 401 must carry. Source: RFC 9110 §11.6.1."""


async def authenticate(services: Services, key_text: str) -> Caller:
    """Return the caller.

    Raises: Problem (401) for every text that is not a key in force, (403) for a suspended tenant.
    """
    if not key_text:
        raise Problem(ProblemKind.UNAUTHENTICATED, "Send your key as X-Api-Key.", headers=CHALLENGE)
    key = await services.keys.authenticate(key_text)
    if key is None:
        if _is_first_operator(key_text, services.settings.operator_key_hash):
            return Caller(FIRST_OPERATOR, KeyScope.OPERATOR, None, None, FIRST_OPERATOR)
        raise Problem(ProblemKind.UNAUTHENTICATED, "The key is unknown, revoked or expired.", headers=CHALLENGE)
    if key.scope is KeyScope.OPERATOR:
        return Caller(key.id, key.scope, None, None, key.owner)
    return await _of_tenant(services, key)


async def _of_tenant(services: Services, key: ApiKey) -> Caller:
    scope = TenantScope(key.tenant_id)
    policy = await policy_in_force(services, scope)
    if policy is None:
        raise Problem(ProblemKind.UNAUTHENTICATED, "The key's tenant does not exist.", headers=CHALLENGE)
    return Caller(key.id, key.scope, scope, policy, key.owner, key.role)


async def policy_in_force(services: Services, scope: TenantScope) -> TenantPolicy | None:
    """Return the policy of a tenant that is served; None when there is no such tenant. Raises: Problem (403)."""
    tenant, policy = await asyncio.gather(services.tenants.get(scope), services.tenants.policy(scope))
    if tenant is not None and tenant.status is TenantStatus.SUSPENDED:
        raise Problem(ProblemKind.SUSPENDED, "Ask the operator to resume the tenant.")
    return None if tenant is None else policy


def _is_first_operator(key_text: str, expected_hash: str) -> bool:
    given = hashlib.sha256(key_text.encode("utf-8", "surrogateescape")).hexdigest()
    return bool(expected_hash) and is_equal(given, expected_hash.lower())
