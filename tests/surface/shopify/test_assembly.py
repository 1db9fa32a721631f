"""The adapter as the container holds it: which shop answers for whom, and what loading it costs."""

import subprocess
import sys
from pathlib import Path

import pytest

from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.buckets import BucketRecords
from shared.adapters.records.masks import DataKeyRecords
from shared.adapters.records.secret_box import KeyRingBox
from shared.adapters.records.shop import ShopRecords
from shared.adapters.shopify.assembly import Shopify, ShopifyApp, assemble
from shared.adapters.shopify.connected import REMEMBERED_S, ConnectedAccounts
from shared.domain.errors import IntegrationError
from shared.domain.ids import CustomerId, OrderId
from shared.domain.money import Money
from shared.domain.sources import Order
from shared.ports.documents import CustomerScope, TenantScope
from shared.privacy.keys import KeyRing
from shared.settings import from_environment
from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer
from tests.surface.shopify.conftest import DOMAIN, to_grant

ROOT = Path(__file__).parents[3]


@pytest.fixture
def shopify(documents: SqliteDocuments, clock: FixedClock, server: ShopifyServer, tmp_path: Path) -> Shopify:
    """The adapter as the container puts it together."""
    rows = DataKeyRecords(documents)
    keys = KeyRing(rows=rows, wrapper=KeyFile(tmp_path / "master.key"), clock=clock, ids=RandomIds())
    return assemble(
        documents,
        app=ShopifyApp(server.client_id, server.client_secret),
        buckets=BucketRecords(documents, clock=clock),
        secrets=KeyRingBox(keys),
        clock=clock,
        ids=RandomIds(),
        base_url=server.base_url,
    )


@pytest.mark.req("AC-01", "SH-03")
async def test_a_tenants_shop_answers_once_it_is_connected_and_is_missed_when_it_goes(
    shopify: Shopify,
    documents: SqliteDocuments,
    clock: FixedClock,
    shop: Shop,
    tenant: TenantScope,
) -> None:
    embedded = ShopRecords(documents)
    accounts = ConnectedAccounts(shopify.installations, shopify=shopify.accounts, embedded=embedded, clock=clock)
    ana = shop.add_customer("Ana")
    scope = CustomerScope(tenant.tenant_id, CustomerId(str(ana.number)))
    total = Money(amount_minor=700, currency="USD")
    own = Order(order_id=OrderId("7"), customer_id=scope.customer_id, status="open", total=total)
    await embedded.put_order(scope, own)
    shop.add_order(ana, "#1001")

    assert await accounts.order(scope, OrderId("7")) == own
    assert await accounts.order(scope, OrderId("1001")) is None

    await shopify.installations.install(tenant, DOMAIN, to_grant(shop.issue_tokens(), shop))
    clock.forward(seconds=REMEMBERED_S)
    assert await accounts.order(scope, OrderId("7")) is None
    assert [o.order_id for o in await accounts.recent_orders(scope, 3)] == ["1001"]
    assert len(await accounts.billing_events(scope, shop.orders[0].created_at)) == 1
    assert (await accounts.profile(scope)) is not None

    await shopify.installations.uninstall(tenant, DOMAIN, at=clock.now())
    clock.forward(minutes=5)
    with pytest.raises(IntegrationError):
        await accounts.order(scope, OrderId("7"))
    await shopify.transport.aclose()


@pytest.mark.req("DC-01")
def test_loading_the_product_loads_no_http_library() -> None:
    """Design §10: heavy libraries load on first use."""
    code = "import sys, function_app, shared.container; sys.exit('httpx' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_settings_name_the_app_and_never_show_its_secret() -> None:
    settings = from_environment({"VOUCH_SHOPIFY_CLIENT_ID": "app", "VOUCH_SHOPIFY_CLIENT_SECRET": "hush-hush"})

    assert (settings.shopify_api_version, settings.shopify_client_id) == ("2026-10", "app")
    assert settings.shopify_client_secret == "hush-hush"
    assert "hush-hush" not in repr(settings) + repr(ShopifyApp("app", "hush-hush"))
