"""Seeds the demo shops: tenants, policies, keys, articles, customers and orders; and writes the newcomer's key file.

Idempotent: an interrupted seeding goes on where it stopped, a finished one is recognised by keys that still work and is
left alone. Articles go in as any merchant's do and are embedded by the change feed. Source: design §8.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Protocol

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from local.demo.shops import DemoShop, load_shops
from shared.domain.api_key import ApiKey, DeskRole, KeyScope
from shared.domain.article import Article, ArticleInput
from shared.domain.errors import AlreadyExists
from shared.domain.ids import ArticleId, CustomerId, TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.sources import BillingEvent, Order, Profile
from shared.domain.tenant import OPERATOR_TENANT, Tenant
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.models import Embedder
from shared.retrieval.embedding_text import embedding_key
from shared.settings import Settings

OWNER: Final = "demo shop"
"""Who the demo's keys are issued to, as the key list shows it."""
SEARCHABLE_WITHIN_S: Final = 20.0
"""Longest the seeding waits for the articles' vectors; search by words works without. Unit: seconds. Value ours."""
LOOK_EVERY_S: Final = 0.05
"""Pause between two looks at what still waits for a vector. Unit: seconds. Value ours."""
FILE_NAME: Final = "demo.json"
"""Name of the key file in the data directory. Source: design §8."""


class Keys(TypedDict):
    """One tenant's keys as texts."""

    publishable: str
    secret: str
    desk: str
    admin: str


class SeededTenant(TypedDict):
    """What a newcomer needs of one tenant."""

    tenant_id: str
    keys: Keys
    identity_secret: str
    customers: list[str]


class Seeded(TypedDict):
    """What the seeding came to."""

    operator_key: str
    tenants: list[SeededTenant]


_SEEDED: Final = TypeAdapter(Seeded)


class Tenants(Protocol):
    """The tenant records as far as seeding uses them."""

    async def create(self, tenant_id: TenantId, *, name: str) -> tuple[Tenant, str]: ...
    async def identity_secret(self, scope: TenantScope) -> str | None: ...
    async def renew_identity_secret(self, scope: TenantScope) -> str: ...
    async def policy(self, scope: TenantScope) -> TenantPolicy: ...
    async def save_policy(
        self, scope: TenantScope, policy: TenantPolicy, *, over_version: int, author: str
    ) -> TenantPolicy: ...


class KeyIssuer(Protocol):
    """The key records as far as seeding uses them."""

    async def issue(
        self, scope: TenantScope, key_scope: KeyScope, *, owner: str, role: DeskRole | None = None
    ) -> tuple[ApiKey, str]: ...
    async def authenticate(self, text: str) -> ApiKey | None: ...


class Articles(Protocol):
    """The article records as far as seeding uses them."""

    async def put(self, scope: TenantScope, article: ArticleInput) -> Article: ...
    async def pending(self, scope: TenantScope, embedding_key: str, *, limit: int = 100) -> tuple[ArticleId, ...]: ...


class Shop(Protocol):
    """The embedded stand-in for the shop's own system."""

    async def put_customer(self, scope: CustomerScope, profile: Profile) -> None: ...
    async def put_order(self, scope: CustomerScope, order: Order) -> None: ...
    async def put_billing_event(self, scope: CustomerScope, event: BillingEvent) -> None: ...


class Parts(Protocol):
    """The container as far as seeding uses it."""

    @property
    def settings(self) -> Settings: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def tenants(self) -> Tenants: ...
    @property
    def keys(self) -> KeyIssuer: ...
    @property
    def articles(self) -> Articles: ...
    @property
    def embedder(self) -> Embedder: ...


async def seed(services: Parts, shop: Shop, *, wake_feed: Callable[[], None] = lambda: None) -> Seeded:
    """Return the demo's keys, seeding what is not there yet.

    `wake_feed` asks the host to read the articles' change feed at once instead of at its next poll.
    """
    known = await _still_valid(services, services.settings.data_dir / FILE_NAME)
    if known is not None:
        return known
    shops = load_shops()
    tenants = [await _seed_tenant(services, shop, demo) for demo in shops]
    _, operator_key = await services.keys.issue(TenantScope(OPERATOR_TENANT), KeyScope.OPERATOR, owner=OWNER)
    wake_feed()
    await _until_searchable(services, [demo.tenant_id for demo in shops])
    return Seeded(operator_key=operator_key, tenants=tenants)


def write_demo_file(data_dir: Path, url: str, seeded: Seeded) -> Path:
    """Write address and keys for whoever runs the demo, readable by its owner alone; all of it or nothing."""
    path = data_dir / FILE_NAME
    descriptor, temporary = tempfile.mkstemp(dir=data_dir, prefix=".demo-")  # made with mode 0600
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"url": url, **seeded}, file, indent=2)
        file.write("\n")
    os.replace(temporary, path)
    return path


async def _seed_tenant(services: Parts, shop: Shop, demo: DemoShop) -> SeededTenant:
    scope = TenantScope(demo.tenant_id)
    identity_secret = await _tenant(services, scope, demo)
    if not _says_the_same(await services.tenants.policy(scope), demo.policy):
        current = await services.tenants.policy(scope)
        await services.tenants.save_policy(scope, demo.policy, over_version=current.version, author=OWNER)
    for article in demo.articles:
        await services.articles.put(scope, article)
    await _account_data(services, shop, demo)
    return SeededTenant(
        tenant_id=demo.tenant_id,
        keys=await _issue_keys(services, scope),
        identity_secret=identity_secret,
        customers=[customer.id for customer in demo.customers],
    )


async def _tenant(services: Parts, scope: TenantScope, demo: DemoShop) -> str:
    """Return the identity secret of the tenant, which is created if it is not there."""
    try:
        _, secret = await services.tenants.create(scope.tenant_id, name=demo.name)
    except AlreadyExists:
        known = await services.tenants.identity_secret(scope)
        return known if known is not None else await services.tenants.renew_identity_secret(scope)
    return secret


async def _account_data(services: Parts, shop: Shop, demo: DemoShop) -> None:
    now = services.clock.now()

    def of(customer: CustomerId) -> CustomerScope:
        return CustomerScope(demo.tenant_id, customer)

    for customer in demo.customers:
        await shop.put_customer(of(customer.id), customer.to_profile())
    for order in demo.orders(now):
        await shop.put_order(of(order.customer_id), order)
    for customer_id, event in demo.billing_events(now):
        await shop.put_billing_event(of(customer_id), event)


async def _issue_keys(services: Parts, scope: TenantScope) -> Keys:
    async def new(key_scope: KeyScope, role: DeskRole | None = None) -> str:
        return (await services.keys.issue(scope, key_scope, owner=OWNER, role=role))[1]

    return Keys(
        publishable=await new(KeyScope.PUBLISHABLE),
        secret=await new(KeyScope.SECRET),
        desk=await new(KeyScope.DESK, DeskRole.APPROVER),
        admin=await new(KeyScope.ADMIN),
    )


async def _still_valid(services: Parts, path: Path) -> Seeded | None:
    """Return what an earlier seeding wrote, if every key of it still opens its tenant."""
    seeded = _read(path)
    if seeded is None:
        return None
    texts = [(seeded["operator_key"], OPERATOR_TENANT)]
    texts += [(text, TenantId(tenant["tenant_id"])) for tenant in seeded["tenants"] for text in _texts(tenant["keys"])]
    for text, tenant_id in texts:
        key = await services.keys.authenticate(text)
        if key is None or key.tenant_id != tenant_id:
            return None
    return seeded


def _read(path: Path) -> Seeded | None:
    """Return the file's content; None when there is none or it is not one of ours."""
    try:
        return _SEEDED.validate_python({k: v for k, v in json.loads(path.read_bytes()).items() if k != "url"})
    except (OSError, ValueError, AttributeError):
        return None


def _texts(keys: Mapping[str, object]) -> list[str]:
    return [str(text) for text in keys.values()]


def _says_the_same(current: TenantPolicy, wanted: TenantPolicy) -> bool:
    return current.model_copy(update={"version": wanted.version}) == wanted


async def _until_searchable(services: Parts, tenants: list[TenantId]) -> None:
    """Wait until the change feed has embedded every article, or the time is over: words find them meanwhile."""
    key = embedding_key(services.embedder.model, services.embedder.dimension)
    for _ in range(round(SEARCHABLE_WITHIN_S / LOOK_EVERY_S)):
        waiting = [await services.articles.pending(TenantScope(tenant), key, limit=1) for tenant in tenants]
        if not any(waiting):
            return
        await asyncio.sleep(LOOK_EVERY_S)
