"""Everything of the Shopify adapter put together once a process; opens no connection and loads no library by itself.

Source: design §2 ("one place where ports get their adapters"), apis.md §1.1, §1.14.
"""

from dataclasses import dataclass

from shared.adapters.records.installations import InstallationRecords
from shared.adapters.records.secret_box import SecretBox
from shared.adapters.shopify.accounts import ShopifyAccounts
from shared.adapters.shopify.billing import ShopifyBilling
from shared.adapters.shopify.bulk import BulkQueries
from shared.adapters.shopify.catalog import ShopifyCatalog
from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.operations import DEFAULT_API_VERSION
from shared.adapters.shopify.shops import ShopDirectory
from shared.adapters.shopify.tokens import ShopTokens
from shared.adapters.shopify.transport import ShopTransport
from shared.ports.buckets import TokenBucket
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import Documents


@dataclass(frozen=True, slots=True)
class ShopifyApp:
    """Our app in the shop's eyes: what it is called by and which API it speaks."""

    client_id: str
    client_secret: str
    api_version: str = DEFAULT_API_VERSION

    def __repr__(self) -> str:
        """Leave the secret out."""
        return f"ShopifyApp({self.client_id!r}, {self.api_version!r})"


@dataclass(frozen=True, slots=True)
class Shopify:
    """The parts of the adapter, for the container to hand to whom they belong."""

    installations: InstallationRecords
    tokens: ShopTokens
    client: ShopifyClient
    """Can write to a shop: goes into the executor's own ports and nowhere else."""
    bulk: BulkQueries
    catalog: ShopifyCatalog
    accounts: ShopifyAccounts
    billing: ShopifyBilling
    transport: ShopTransport


def assemble(
    documents: Documents,
    *,
    app: ShopifyApp,
    buckets: TokenBucket,
    secrets: SecretBox,
    clock: Clock,
    ids: IdSource,
    base_url: str | None = None,
) -> Shopify:
    """Return the adapter; `base_url` sends every call to one place instead of the shops (tests, a local server)."""
    transport = ShopTransport(ShopDirectory(base_url))
    installations = InstallationRecords(documents, secrets=secrets, clock=clock, ids=ids)
    tokens = ShopTokens(
        installations, transport=transport, client_id=app.client_id, client_secret=app.client_secret, clock=clock
    )
    client = ShopifyClient(credentials=tokens, buckets=buckets, transport=transport, api_version=app.api_version)
    bulk = BulkQueries(client, transport)
    catalog, accounts = ShopifyCatalog(client, bulk), ShopifyAccounts(client)
    billing = ShopifyBilling(client, accounts, clock)
    return Shopify(installations, tokens, client, bulk, catalog, accounts, billing, transport)
