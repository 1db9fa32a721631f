"""The real services over a real store with the test's clock, a connected shop, and webhooks as Shopify signs them."""

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import azure.functions as func
import numpy as np
import pytest

from orchestrators.triggers.catalog_sync import sync_catalog
from orchestrators.triggers.dispatch import serve
from orchestrators.triggers.feeding import embed_articles
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.container import Services, build
from shared.domain.catalog import product_article_id
from shared.domain.ids import TenantId
from shared.domain.installation import TokenGrant
from shared.domain.text import ModelText
from shared.ports.documents import Container, TenantScope
from shared.ports.models import Vector
from shared.settings import Settings
from tests.conftest import FixedClock
from tests.unit.shop_sync.small_shop import DOMAIN, SmallShop

OLD_SECRET, NEW_SECRET = "hush-of-yesterday", "hush-of-today"
T1, T2 = TenantScope(TenantId("t1")), TenantScope(TenantId("t2"))
OTHER_DOMAIN = "tidewater.myshopify.com"


class CountingEmbedder:
    """A real, if poor, embedder: the text's digest. Counts the texts it was given."""

    model, dimension = "digest", 8

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.asked = 0
        self.trouble: Callable[[str], Exception | None] = lambda _: None
        """What happens instead of a vector, by text."""

    async def embed(self, texts: Sequence[ModelText]) -> tuple[Vector, ...]:
        """Return a vector a text."""
        self.asked += 1
        for text in texts:
            if (trouble := self.trouble(text.value)) is not None:
                raise trouble
        self.texts += [text.value for text in texts]
        digests = (hashlib.sha256(text.value.encode()).digest()[:8] for text in texts)
        return tuple(np.frombuffer(d, dtype=np.uint8).astype(np.float32) + 1 for d in digests)


@dataclass
class Desk:
    """The product's side of one test, and the shop's."""

    services: Services
    documents: SqliteDocuments
    clock: FixedClock
    shop: SmallShop
    embedder: CountingEmbedder
    _fed: int = 0
    _ids: dict[str, int] = field(default_factory=dict)

    async def deliver(self, topic: str, payload: Any, **headers: str | None) -> func.HttpResponse:
        """POST a webhook signed with today's secret; headers given as None are left out."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self._ids["n"] = self._ids.get("n", 0) + 1
        sent: dict[str, str | None] = {
            "Content-Type": "application/json",
            "X-Shopify-Topic": topic,
            "X-Shopify-Shop-Domain": DOMAIN,
            "X-Shopify-Event-Id": f"event-{self._ids['n']}",
            "X-Shopify-Webhook-Id": f"webhook-{self._ids['n']}",
            "X-Shopify-Triggered-At": self.clock.now().isoformat(),
            "X-Shopify-Hmac-Sha256": signature(raw, NEW_SECRET),
        }
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.post(raw, {name: value for name, value in sent.items() if value is not None})

    async def post(self, raw: bytes, headers: dict[str, str], method: str = "POST") -> func.HttpResponse:
        """Call the webhook function with exactly these headers."""
        request = func.HttpRequest(method, "http://127.0.0.1/api/webhooks/shopify", headers=headers, body=raw)
        return await serve("webhooks/shopify", request, self.services)

    async def sync(self) -> int:
        """Run the worker once, as its timer does."""
        return await sync_catalog(self.services)

    async def feed(self, is_lost: Callable[[str], bool] = lambda _: False) -> None:
        """Hand the articles' changes to the embedding trigger, in batches, up to the last; some may get lost."""
        while changes := self.documents.read_changes("articles", self._fed, 50):
            documents: Any = [
                func.Document.from_dict(dict(body)) for _, body in changes if not is_lost(str(body["id"]))
            ]
            await embed_articles(documents, self.services, is_last_try=True)
            self._fed = changes[-1][0]

    async def articles(self, scope: TenantScope = T1) -> dict[str, dict[str, str]]:
        """Return every published article: title and attributes."""
        found: dict[str, dict[str, str]] = {}
        continuation = None
        while True:
            page = await self.services.articles.list(scope, limit=500, continuation=continuation)
            found.update((a.article_id, {"title": a.title.value, **a.attributes}) for a in page.items)
            continuation = page.continuation
            if continuation is None:
                return found

    async def price(self, number: int) -> str | None:
        """Return the price customers are told, or None when the product has no article."""
        article = await self.services.articles.get(T1, product_article_id(str(number)))
        return None if article is None else article.attributes["price"]

    def rows(self, container: Container = Container.INBOX, kind: str | None = None) -> list[dict[str, Any]]:
        """Return everything a container holds, of every tenant."""
        bodies = [dict(body) for _, body in self.documents.read_changes(container.value, 0, 1_000_000)]
        return [body for body in bodies if body.pop("_rid") and kind in (None, body.get("kind"))]


def signature(raw: bytes, secret: str) -> str:
    """Return the X-Shopify-Hmac-Sha256 of a body."""
    return base64.b64encode(hmac.new(secret.encode(), raw, hashlib.sha256).digest()).decode()


@pytest.fixture
async def desk(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Desk]:
    """Two tenants, each connected with a shop; the catalog of both is the small shop's."""
    shop, embedder = SmallShop(clock), CountingEmbedder()
    settings = Settings(data_dir=tmp_path, shopify_client_secrets=(OLD_SECRET, NEW_SECRET))
    services = build(settings, clock=clock)
    services.catalog, services.subscriptions, services.embedder = shop, shop, embedder
    assert isinstance(services.documents, SqliteDocuments)
    for scope, domain in ((T1, DOMAIN), (T2, OTHER_DOMAIN)):
        await services.tenants.create(scope.tenant_id, name=scope.tenant_id)
        await services.installations.install(scope, domain, TokenGrant("shpat_test", ("read_products",)))
    yield Desk(services, services.documents, clock, shop, embedder)
    await services.documents.close()


def at(hour: int, minute: int) -> datetime:
    """Return a moment of the test's day."""
    return FixedClock().at.replace(hour=hour, minute=minute)
