"""The whole product inside the test: real host, real HTTP over loopback, the embedded stores in a temporary folder.

Faults are planned on the container's ports from outside. Source: design §8, conventions "Real things only".
"""

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from local.demo.seed import Seeded, seed
from local.fault_plan import FaultPlan, parse_plan
from local.product import bind_product
from local.serve import Host, default_app_dir, running_host
from local.worker import FunctionWorker
from shared import container
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.shop import ShopRecords
from shared.domain.api_key import DeskRole, KeyScope
from shared.domain.article import ArticleInput
from shared.domain.ids import ConversationId, MessageId, TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.ticket import Ticket, TurnRow
from shared.ports.documents import Container, Documents, Query, TenantScope, conversation_partition
from shared.retrieval.embedding_text import embedding_key
from shared.settings import Settings
from tests.surface.product.storefront import Storefront

HOLLIN: Final = TenantId("hollin-rye")
TIDEWATER: Final = TenantId("tidewater-paper")
EVERYTHING: Final = 1_000
"""Rows of one page: more than any conversation of a test has."""


@dataclass(slots=True)
class RunningProduct:
    """The product and its insides."""

    host: Host
    services: container.Services
    shop: ShopRecords
    http: httpx.AsyncClient
    plans: list[FaultPlan] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Its address."""
        return self.host.url

    def storefront(self, keys: dict[str, str]) -> Storefront:
        """Return the clients of the tenant these keys belong to."""
        return Storefront(self.http, self.url, keys)

    def plan(self, *faults: dict[str, Any], seed: int = 0) -> FaultPlan:
        """Have these faults strike from now on."""
        plan = parse_plan(json.dumps({"seed": seed, "faults": faults})).attach(self.services)
        self.plans.append(plan)
        return plan

    async def seed_demo(self) -> Seeded:
        """Seed the demo shops as `serve` does."""
        return await seed(self.services, self.shop, wake_feed=lambda: self.host.poke("articles"))

    async def demo_storefronts(self) -> tuple[Storefront, Storefront]:
        """Seed the demo shops and return the clients of both."""
        seeded = await self.seed_demo()
        first, second = (self.storefront(dict(tenant["keys"])) for tenant in seeded["tenants"])
        return first, second

    async def new_tenant(
        self, tenant_id: TenantId, policy: TenantPolicy, articles: Iterable[ArticleInput]
    ) -> Storefront:
        """Create a tenant with these articles, embedded, and return its clients."""
        scope = TenantScope(tenant_id)
        await self.services.tenants.create(tenant_id, name=policy.shop_name)
        await self.services.tenants.save_policy(scope, policy, over_version=1, author="test")
        for article in articles:
            await self.services.articles.put(scope, article)
        embedder = self.services.embedder
        key = embedding_key(embedder.model, embedder.dimension)
        for article_id in await self.services.articles.pending(scope, key, limit=EVERYTHING):
            await self.services.articles.reembed(scope, article_id, embedder)
        keys = {}
        for key_scope in (KeyScope.PUBLISHABLE, KeyScope.SECRET, KeyScope.DESK, KeyScope.ADMIN):
            role = DeskRole.APPROVER if key_scope is KeyScope.DESK else None
            keys[key_scope.value] = (await self.services.keys.issue(scope, key_scope, owner="test", role=role))[1]
        return self.storefront(keys)

    async def ticket(self, tenant: TenantId, conversation: str) -> Ticket:
        """Return the conversation's ticket."""
        found = await self.services.tickets.ticket(TenantScope(tenant), ConversationId(conversation))
        assert found is not None
        return found

    async def turn(self, tenant: TenantId, conversation: str, message: str) -> TurnRow:
        """Return the turn row of a message."""
        found = await self.services.tickets.turn(TenantScope(tenant), ConversationId(conversation), MessageId(message))
        assert found is not None
        return found

    async def rows(self, kind: Container, tenant: TenantId, conversation: str) -> list[dict[str, Any]]:
        """Return everything a container holds of one conversation."""
        return await rows_of(self.services.documents, kind, tenant, conversation)


async def rows_of(documents: Documents, kind: Container, tenant: TenantId, conversation: str) -> list[dict[str, Any]]:
    """Return everything a container holds of one conversation, by id."""
    scope = TenantScope(tenant)
    partition = conversation_partition(scope, ConversationId(conversation))
    page = await documents.query(kind, scope, Query(partition, limit=EVERYTHING))
    return sorted((dict(item.body) for item in page.items), key=lambda row: str(row["id"]))


@asynccontextmanager
async def running_product(data_dir: Path, *, worker: FunctionWorker | None = None) -> AsyncIterator[RunningProduct]:
    """Run the product on the directory; whatever happens, it is stopped and the container forgotten."""
    app_dir = default_app_dir()
    source = bind_product(app_dir, data_dir)
    services = container.build(Settings(data_dir=data_dir))
    container.use(services)
    product: RunningProduct | None = None
    try:
        async with (
            running_host(app_dir, data_dir, change_source=source, worker=worker) as host,
            httpx.AsyncClient(timeout=90, limits=httpx.Limits(max_connections=None)) as http,
        ):
            product = RunningProduct(host, services, ShopRecords(services.documents), http)
            yield product
    finally:
        for plan in reversed(product.plans) if product is not None else ():
            plan.detach()
        container.use(None)
        if isinstance(services.documents, SqliteDocuments):
            await services.documents.close()
