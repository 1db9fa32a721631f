"""The product's Shopify adapters against the protocol-true server, over real sockets and a real store."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.buckets import BucketRecords
from shared.adapters.records.installations import InstallationRecords
from shared.adapters.records.masks import DataKeyRecords
from shared.adapters.records.secret_box import KeyRingBox
from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.shops import ShopDirectory
from shared.adapters.shopify.tokens import ShopTokens
from shared.adapters.shopify.transport import ShopTransport
from shared.domain.installation import Installation, TokenGrant
from shared.ports.documents import TenantScope
from shared.privacy.keys import KeyRing
from tests.conftest import FixedClock
from tests.contracts.billing import ShopifyUnderTest, open_shopify
from tests.servers.shopify import Shop, ShopifyServer, Tokens
from tests.waiting import LOOK_EVERY_S

DOMAIN = "hollin.myshopify.com"


@dataclass
class Instance:
    """One instance of the product: its own caches and connections, the store shared with others."""

    installations: InstallationRecords
    buckets: BucketRecords
    transport: ShopTransport
    tokens: ShopTokens
    client: ShopifyClient
    waits: list[float] = field(default_factory=list)
    """Seconds it waited; its waiting moves the test's clock on."""


@pytest.fixture
async def server(clock: FixedClock) -> AsyncIterator[ShopifyServer]:
    """A listening server on the test's clock."""
    server = ShopifyServer(now=clock.now)
    async with server.running():
        yield server


@pytest.fixture
def shop(server: ShopifyServer) -> Shop:
    """A shop with nothing in it."""
    return server.add_shop(DOMAIN)


@pytest.fixture
async def new_instance(
    documents: SqliteDocuments, clock: FixedClock, server: ShopifyServer, tmp_path: Path
) -> AsyncIterator[Callable[[], Instance]]:
    """Make instances of the product."""
    made: list[Instance] = []

    def make() -> Instance:
        rows = DataKeyRecords(documents)
        keys = KeyRing(rows=rows, wrapper=KeyFile(tmp_path / "master.key"), clock=clock, ids=RandomIds())
        installations = InstallationRecords(documents, secrets=KeyRingBox(keys), clock=clock, ids=RandomIds())
        transport = ShopTransport(ShopDirectory(base_url=server.base_url))
        waits: list[float] = []

        async def wait(seconds: float) -> None:
            waits.append(seconds)
            clock.forward(seconds=seconds)
            # What is waited for comes over a socket, which takes turns of the loop.
            await asyncio.sleep(LOOK_EVERY_S)

        tokens = ShopTokens(
            installations,
            transport=transport,
            client_id=server.client_id,
            client_secret=server.client_secret,
            clock=clock,
            sleep=wait,
        )
        buckets = BucketRecords(documents, clock=clock)
        client = ShopifyClient(credentials=tokens, buckets=buckets, transport=transport, sleep=wait)
        instance = Instance(installations, buckets, transport, tokens, client, waits)
        made.append(instance)
        return instance

    yield make
    for instance in made:
        await instance.transport.aclose()


@pytest.fixture
def instance(new_instance: Callable[[], Instance]) -> Instance:
    """One instance."""
    return new_instance()


@pytest.fixture
async def installed(instance: Instance, shop: Shop, tenant: TenantScope) -> Installation:
    """The tenant's shop, connected with tokens that expire."""
    return await instance.installations.install(tenant, DOMAIN, to_grant(shop.issue_tokens(), shop))


@pytest.fixture
async def billed(tmp_path: Path, clock: FixedClock) -> AsyncIterator[ShopifyUnderTest]:
    """A shop, its billing, and everything that acts on it."""
    async with open_shopify(tmp_path, clock) as opened:
        yield opened


def to_grant(tokens: Tokens, shop: Shop) -> TokenGrant:
    """Return a shop's tokens as the install flow hands them on."""
    if not tokens.refresh:
        return TokenGrant(tokens.access, shop.scopes)
    return TokenGrant(tokens.access, shop.scopes, 3600, tokens.refresh, 90 * 24 * 3600)
