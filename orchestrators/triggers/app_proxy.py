"""Who calls through a shop's App Proxy: the shop's visitor, as Shopify signed them.

The only server-verified customer identity of an Online Store page. It stands in place of a publishable key, opens what
one opens and nothing more, and is valid for five minutes; within them whoever has seen the signed address may use it,
so a message is made safe to repeat by its id. Source: GW-03, design §7, apis.md §1.13.
"""

import re
from collections.abc import Mapping
from typing import Final

from orchestrators.triggers.contract import Caller
from orchestrators.triggers.identity import policy_in_force
from orchestrators.triggers.problems import Problem, ProblemKind
from orchestrators.triggers.shopify_signatures import PROXY_PARAMETERS, read_signed_query
from shared.container import Services
from shared.domain.api_key import KeyScope
from shared.domain.ids import CustomerId, KeyId
from shared.domain.shop_events import is_shop_domain
from shared.ports.documents import TenantScope

_CUSTOMER: Final = re.compile(r"[0-9]{1,20}")
"""A numeric legacyResourceId."""
_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9._~-]{1,64}){1,4}")
"""Prefix and subpath under which the storefront shows the proxy, as the merchant chose them."""


async def admit_proxied(services: Services, url: str) -> tuple[Caller, Mapping[str, str]]:
    """Return the caller and the visitor's own query parameters.

    Raises: Problem (401) alike for a wrong, old or ambiguous signature and for a shop that is not connected; (400) for
    a parameter of the visitor's that stands twice; (403) for a suspended tenant.
    """
    signed = read_signed_query(url, services.settings.shopify_client_secrets, services.clock.now())
    if signed is None:
        raise _refused()
    shop, prefix = _only(signed, "shop").lower(), _only(signed, "path_prefix")
    customer = _only(signed, "logged_in_customer_id")
    if not is_shop_domain(shop) or not _PREFIX.fullmatch(prefix) or (customer and not _CUSTOMER.fullmatch(customer)):
        raise _refused()
    scope = await _tenant(services, shop)
    policy = await policy_in_force(services, scope)
    if policy is None:
        raise _refused()
    caller = Caller(
        KeyId(f"app-proxy:{scope.tenant_id}"),
        KeyScope.PUBLISHABLE,
        scope,
        policy,
        owner="app-proxy",
        customer=CustomerId(customer) if customer else None,
        mount=prefix,
    )
    return caller, _own_parameters(signed)


async def _tenant(services: Services, shop: str) -> TenantScope:
    scope = await services.installations.tenant_of(shop)
    if scope is None or not await services.installations.is_connected(scope, shop):
        raise _refused()
    return scope


def _only(signed: Mapping[str, tuple[str, ...]], name: str) -> str:
    """Return the parameter's one value, empty when it is absent; a second one the visitor put there is refused."""
    values = signed.get(name, ("",))
    if len(values) != 1:
        raise _refused()
    return values[0]


def _own_parameters(signed: Mapping[str, tuple[str, ...]]) -> Mapping[str, str]:
    own = {name: values for name, values in signed.items() if name not in PROXY_PARAMETERS}
    if any(len(values) != 1 for values in own.values()):
        raise Problem(ProblemKind.INVALID_QUERY, "A parameter stands twice.")
    return {name: values[0] for name, values in own.items()}


def _refused() -> Problem:
    return Problem(ProblemKind.SIGNATURE_INVALID, "The request does not carry the shop's signature of now.")
