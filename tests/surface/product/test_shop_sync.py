"""A connected shop from outside: first sync, signed webhooks over HTTP, and a visitor through the App Proxy.

The real host, its real timers' functions, and a protocol-true shop behind the Admin API.
Source: SH-01, SH-02, GW-03, design §7.
"""

import asyncio
import hashlib
import hmac
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

import httpx
import pytest
import pytest_asyncio

from shared.adapters.records.secret_box import KeyRingBox
from shared.adapters.records.shop import ShopRecords
from shared.adapters.shopify.assembly import ShopifyApp, assemble
from shared.adapters.shopify.connected import ConnectedAccounts
from shared.domain.catalog import product_article_id
from shared.domain.ids import ArticleId, TenantId
from shared.domain.installation import TokenGrant
from shared.domain.policy import TenantPolicy
from shared.ports.documents import TenantScope
from tests.servers.shopify import Shop, ShopifyServer, send_webhook
from tests.surface.product.product import RunningProduct, running_product

pytestmark = pytest.mark.asyncio(loop_scope="module")

DOMAIN: Final = "kettles.myshopify.com"
SCOPE: Final = TenantScope(TenantId("kettles"))


@dataclass(frozen=True, slots=True)
class Connected:
    """The product and the shop it is connected with."""

    product: RunningProduct
    server: ShopifyServer
    shop: Shop

    async def run(self, function: str) -> None:
        """Run a timer's function now."""
        await self.product.host.run_once(self.product.host.worker.fns[function])

    async def webhook(self, topic: str, payload: dict[str, Any]) -> httpx.Response:
        """Deliver a webhook as the shop does."""
        url = f"{self.product.url}/api/webhooks/shopify"
        return await send_webhook(url, topic, DOMAIN, payload, self.server.client_secret)

    async def price(self, article: ArticleId) -> str | None:
        """Return what the article says of the price, or None without one."""
        found = await self.product.services.articles.get(SCOPE, article)
        return None if found is None else found.attributes["price"]

    def proxied(self, path: str, customer: str) -> str:
        """Return a URL as the storefront's proxy calls it."""
        pairs = {
            "shop": DOMAIN,
            "logged_in_customer_id": customer,
            "path_prefix": "/apps/vouch",
            "timestamp": str(int(time.time())),
        }
        text = "".join(sorted(f"{name}={value}" for name, value in pairs.items()))
        signature = hmac.new(self.server.client_secret.encode(), text.encode(), hashlib.sha256).hexdigest()
        return f"{self.product.url}/api/proxy/shopify/{path}?{urlencode({**pairs, 'signature': signature})}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def connected(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    """A product with one tenant, connected with a shop of two products."""
    server = ShopifyServer()
    shop = server.add_shop(DOMAIN)
    shop.add_customer("Ana")
    shop.add_product("Copper kettle", [{"price": "50.00", "sku": "KT-1", "available": 3}])
    shop.add_product("Steel kettle", [{"price": "30.00", "sku": "KT-2", "available": 3}])
    async with server.running(), running_product(tmp_path_factory.mktemp("connected")) as product:
        services = product.services
        adapter = assemble(
            services.documents,
            app=ShopifyApp(server.client_id, server.client_secret),
            buckets=services.buckets,
            secrets=KeyRingBox(services.data_keys),
            clock=services.clock,
            ids=services.ids,
            base_url=server.base_url,
        )
        services.settings = replace(services.settings, shopify_client_secrets=(server.client_secret,))
        services.installations, services.catalog = adapter.installations, adapter.catalog
        services.accounts = ConnectedAccounts(
            adapter.installations,
            shopify=adapter.accounts,
            embedded=ShopRecords(services.documents),
            clock=services.clock,
        )
        await product.new_tenant(SCOPE.tenant_id, TenantPolicy(shop_name="Kettles"), [])
        tokens = shop.issue_tokens(is_expiring=False)
        await adapter.installations.install(SCOPE, DOMAIN, TokenGrant(tokens.access, shop.scopes))
        yield Connected(product, server, shop)
        await adapter.transport.aclose()
    await asyncio.sleep(0)


@pytest.mark.req("SH-01", "SH-02", "KB-01")
async def test_a_shop_is_synced_and_then_kept_up_to_date_by_webhooks(connected: Connected) -> None:
    """Listed in bulk; changed, sold out and deleted by events; the payload's own words are never published."""
    copper, steel = connected.shop.products
    one, two = (product_article_id(str(p.number)) for p in (copper, steel))

    await connected.run("reconcile_catalog")
    assert (await connected.price(one), await connected.price(two)) == ("50.00", "30.00")

    copper.variants[0].price += 5
    copper.updated_at = connected.shop.now()
    payload = {"id": copper.number, "updated_at": copper.updated_at.isoformat(), "title": "NOT THIS"}
    answer = await connected.webhook("products/update", payload)
    connected.shop.products.remove(steel)
    deleted = await connected.webhook("products/delete", {"id": steel.number})
    await connected.run("sync_catalog")

    assert (answer.status_code, deleted.status_code) == (200, 200)
    assert answer.elapsed.total_seconds() < 1.0
    assert (await connected.price(one), await connected.price(two)) == ("55.00", None)

    copper.variants[0].available = 0
    item = {"inventory_item_id": copper.variants[0].item_number, "location_id": 1, "available": 0}
    assert (await connected.webhook("inventory_levels/update", item)).status_code == 200
    await connected.run("sync_catalog")
    article = await connected.product.services.articles.get(SCOPE, one)
    assert article is not None
    assert (article.title.value, article.attributes["availability"]) == ("Copper kettle", "out of stock")


@pytest.mark.req("SH-01")
async def test_fault_057_over_http_a_bad_signature_is_401_and_get_is_405(connected: Connected) -> None:
    """What the app review tests."""
    url = f"{connected.product.url}/api/webhooks/shopify"
    body = {"shop_id": 1, "shop_domain": DOMAIN}

    wrong = await send_webhook(url, "shop/redact", DOMAIN, body, "another secret")
    right = await send_webhook(url, "shop/redact", DOMAIN, body, connected.server.client_secret)
    read = await connected.product.http.get(url)

    assert (wrong.status_code, right.status_code, read.status_code) == (401, 200, 405)


@pytest.mark.req("GW-03", "SH-01")
async def test_a_visitor_through_the_app_proxy_asks_and_reads_their_own_conversation(connected: Connected) -> None:
    """A turn runs; the address of a turn that runs is the storefront's own."""
    http, ana = connected.product.http, str(connected.shop.customers[0].number)
    path = "v1/conversations/at-the-storefront"

    asked = await http.post(
        connected.proxied(f"{path}/messages", ana),
        json={"text": "What is the price of the Copper kettle?", "message_id": "m1"},
        headers={"Prefer": "wait=60"},
    )
    thread = await http.get(connected.proxied(path, ana))
    others = await http.get(connected.proxied(path, "7002"))
    later = await http.post(
        connected.proxied(f"{path}/messages", ana),
        json={"text": "Thanks!", "message_id": "m2"},
        headers={"Prefer": "respond-async"},
    )

    assert asked.status_code == 200, asked.text
    assert asked.json()["reply"]
    assert [line["role"] for line in thread.json()["messages"]] == ["customer", "assistant"]
    assert others.status_code == 404
    assert (later.status_code, later.headers["location"]) == (202, f"/apps/vouch/{path}/turns/m2")


@pytest.mark.req("SH-02")
async def test_the_daily_refresh_runs_and_leaves_a_token_that_never_expires_alone(connected: Connected) -> None:
    """What is due is the adapter's business (tests/surface/shopify); here the timer reaches it."""
    asked = connected.server.calls["token"]

    await connected.run("refresh_shop_tokens")

    assert connected.server.calls["token"] == asked
