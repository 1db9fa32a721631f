"""The one place where ports get their adapters: built once a process, on first use, from the settings.

Tests and the embedded host may put their own in place with `use`; nothing else knows which adapter is behind a port.
Source: design §2, conventions "Ports are keyword-only arguments".
"""

import hashlib
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final

from shared.adapters.embedded.classification_cache import RememberingClassifier
from shared.adapters.embedded.escalation_model import EmbeddedEscalationModel
from shared.adapters.embedded.extractive_composer import ExtractiveComposer
from shared.adapters.embedded.intent_classifier import EmbeddedIntentClassifier
from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.log_pager import LogPager
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.adapters.embedded.rule_reviewer import RuleReviewer
from shared.adapters.embedded.safety_screen import EmbeddedSafetyScreen
from shared.adapters.embedded.shadow_reviewer import WordCountReviewer
from shared.adapters.embedded.snapshot_files import SnapshotFiles
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds, SystemClock
from shared.adapters.records.actions import ActionRecords
from shared.adapters.records.articles import ArticleRecords
from shared.adapters.records.buckets import BucketRecords
from shared.adapters.records.cases import CaseRecords
from shared.adapters.records.catalog_queue import CatalogQueue
from shared.adapters.records.crm import CrmRecords
from shared.adapters.records.dead_letters import DeadLetterRecords
from shared.adapters.records.history import HistoryRecords
from shared.adapters.records.inbox import InboxRecords
from shared.adapters.records.installations import InstallationRecords
from shared.adapters.records.keys import KeyRecords
from shared.adapters.records.ledger import AnalyticsRecords, LedgerRecords
from shared.adapters.records.masks import DataKeyRecords, MaskRecords
from shared.adapters.records.reconciles import ReconcileRecords
from shared.adapters.records.secret_box import KeyRingBox
from shared.adapters.records.shop import ShopRecords
from shared.adapters.records.shop_billing import ShopBilling
from shared.adapters.records.tenants import TenantRecords
from shared.adapters.records.throttled_billing import ThrottledBilling
from shared.adapters.records.ticket_desk import TicketDeskRecords
from shared.adapters.records.tickets import TicketRecords
from shared.adapters.records.tombstones import TombstoneRecords
from shared.adapters.shopify.assembly import ShopifyApp, assemble
from shared.adapters.shopify.connected import ConnectedAccounts
from shared.adapters.shopify.connected_billing import ConnectedBilling
from shared.adapters.shopify.subscriptions import ShopSubscriptions
from shared.adapters.shopify.tokens import ShopTokens
from shared.adapters.shopify.transport import ShopTransport
from shared.authority.mint import SealMint
from shared.authority.rotation import RotatingSeals
from shared.authority.seal import KeyRing
from shared.domain.ids import TenantId
from shared.ports.buckets import TokenBucket
from shared.ports.catalog import CatalogSource
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import Documents, TenantScope
from shared.ports.integrations import BillingWriter, CrmWriter, TicketDesk
from shared.ports.models import ComposerModel, Embedder, EscalationModel, IntentClassifier, ReviewModel, SafetyScreen
from shared.ports.pager import Pager
from shared.ports.readers import AccountReader, ArticleSearch, BillingReader, TicketHistoryReader
from shared.ports.subscriptions import WebhookSubscriptions
from shared.privacy.keys import KeyRing as DataKeys
from shared.privacy.proof_seals import ProofSeals
from shared.privacy.vault import Vault
from shared.retrieval.ladder import HybridSearch
from shared.review_lanes import ReviewLanes
from shared.settings import Settings, from_environment
from shared.signals import TurnSignals

if TYPE_CHECKING:
    from shared.adapters.public_http import PublicTransport

PURGE_LIMIT: Final = 5_000
"""Most expired rows one purge removes, so that it never holds the store for long. Value ours."""


@dataclass(slots=True)
class Services:
    """Every port of this process with the adapter behind it."""

    settings: Settings
    clock: Clock
    ids: IdSource
    documents: Documents
    data_keys: DataKeys
    seals: RotatingSeals
    tenants: TenantRecords
    keys: KeyRecords
    articles: ArticleRecords
    tickets: TicketRecords
    history: TicketHistoryReader
    cases: CaseRecords
    accounts: AccountReader
    actions: ActionRecords
    billing: BillingWriter
    billing_records: BillingReader
    catalog: CatalogSource
    installations: InstallationRecords
    shop_tokens: ShopTokens
    shop_transport: ShopTransport
    subscriptions: WebhookSubscriptions
    inbox: InboxRecords
    catalog_queue: CatalogQueue
    reconciles: ReconcileRecords
    buckets: TokenBucket
    crm: CrmWriter
    desk: TicketDesk
    tombstones: TombstoneRecords
    ledger: LedgerRecords
    analytics: AnalyticsRecords
    dead_letters: DeadLetterRecords
    vault: Vault
    proofs: ProofSeals
    search: ArticleSearch
    embedder: Embedder
    classifier: IntentClassifier
    escalation_model: EscalationModel
    screen: SafetyScreen
    composer: ComposerModel
    reviewer: ReviewModel
    shadow_reviewer: ReviewModel
    review_lanes: ReviewLanes
    pager: Pager
    signals: TurnSignals

    @property
    def seal_keys(self) -> KeyRing:
        """Return the sealing keys accepted at this moment; they change by themselves."""
        return self.seals.ring()

    def mint(self) -> SealMint:
        """Return the supervisor's mint; only its activity asks for it."""
        return SealMint(keys=self.seal_keys, clock=self.clock, ids=self.ids)

    def public_http(self) -> "PublicTransport":
        """Return a transport for addresses that merchants choose; it stays out of our own network (fault 037)."""
        # The HTTP library loads on first use.
        from shared.adapters.public_http import PublicTransport, SystemResolver

        return PublicTransport(SystemResolver(), allowed_origins=self.settings.integration_origins)

    async def body_hmac(self, tenant: TenantId, body: bytes) -> str:
        """Return the tenant's keyed hash of a request body, to tell a repeated send from a reused id (GW-04)."""
        key = await self.data_keys.key_for(TenantScope(tenant))
        return key.value_id("body", hashlib.sha256(body).hexdigest())

    async def purge_expired(self) -> int:
        """Remove expired rows where the store does not do it by itself; return how many."""
        if isinstance(self.documents, SqliteDocuments):
            return self.documents.purge_expired(self.clock.now(), PURGE_LIMIT)
        return 0


def build(settings: Settings, *, clock: Clock | None = None) -> Services:
    """Return the embedded services: one SQLite file, offline models, a key file; nothing touches the network.

    `clock` is the system's unless somebody keeps time for themselves (simulations).
    """
    clock, ids = clock or SystemClock(), RandomIds()
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    documents = SqliteDocuments(settings.data_dir / "vouch.db", clock=clock)
    key_file = KeyFile(settings.data_dir / "master.key")
    data_keys = DataKeys(rows=DataKeyRecords(documents), wrapper=key_file, clock=clock, ids=ids)
    embedder = OnnxEmbedder(find_minilm())
    articles = ArticleRecords(documents, clock=clock)
    tickets = TicketRecords(documents, clock)
    buckets = BucketRecords(documents, clock=clock)
    app = ShopifyApp(settings.shopify_client_id, settings.shopify_client_secret, settings.shopify_api_version)
    secrets = KeyRingBox(data_keys)
    catalog_queue = CatalogQueue(documents, clock)
    shopify = assemble(documents, app=app, buckets=buckets, secrets=secrets, clock=clock, ids=ids)
    billing = ConnectedBilling(shopify.installations, shopify=shopify.billing, embedded=ShopBilling(documents, clock))
    return Services(
        settings=settings,
        clock=clock,
        ids=ids,
        documents=documents,
        data_keys=data_keys,
        seals=RotatingSeals(key_file.derive, clock),
        tenants=TenantRecords(documents, secrets=secrets, clock=clock, ids=ids),
        keys=KeyRecords(documents, clock=clock, ids=ids, first_operator_sha256=settings.operator_key_hash),
        articles=articles,
        tickets=tickets,
        history=HistoryRecords(tickets, clock),
        cases=CaseRecords(documents, clock),
        actions=ActionRecords(documents, clock),
        billing=ThrottledBilling(billing, buckets),
        billing_records=billing,
        accounts=ConnectedAccounts(
            shopify.installations, shopify=shopify.accounts, embedded=ShopRecords(documents), clock=clock
        ),
        catalog=shopify.catalog,
        installations=shopify.installations,
        shop_tokens=shopify.tokens,
        shop_transport=shopify.transport,
        subscriptions=ShopSubscriptions(shopify.client, settings.shopify_webhook_url),
        inbox=InboxRecords(documents, queue=catalog_queue, secrets=secrets, clock=clock),
        catalog_queue=catalog_queue,
        reconciles=ReconcileRecords(documents, clock),
        buckets=buckets,
        crm=CrmRecords(documents, clock),
        desk=TicketDeskRecords(documents, clock),
        tombstones=TombstoneRecords(documents),
        ledger=LedgerRecords(documents),
        analytics=AnalyticsRecords(documents),
        dead_letters=DeadLetterRecords(documents, clock),
        vault=Vault(rows=MaskRecords(documents), keys=data_keys, clock=clock, ids=ids),
        proofs=ProofSeals(data_keys),
        search=HybridSearch(articles, embedder, clock=clock, snapshots=SnapshotFiles(settings.data_dir / "snapshots")),
        embedder=embedder,
        classifier=RememberingClassifier(EmbeddedIntentClassifier(embedder)),
        escalation_model=EmbeddedEscalationModel(embedder),
        screen=EmbeddedSafetyScreen(embedder),
        composer=ExtractiveComposer(embedder=embedder),
        reviewer=RuleReviewer(embedder=embedder),
        shadow_reviewer=WordCountReviewer(),
        review_lanes=ReviewLanes(),
        pager=LogPager(),
        signals=TurnSignals(),
    )


_lock = Lock()
_current: Services | None = None


def services() -> Services:
    """Return this process's services, building them on first use."""
    global _current
    if _current is None:
        with _lock:
            if _current is None:
                _current = build(from_environment())
    return _current


def use(replacement: Services | None) -> None:
    """Put services in place (embedded host, tests), or None to build anew on the next use."""
    global _current
    with _lock:
        _current = replacement


async def close() -> None:
    """Close what this process opened, if it opened anything; the next `services()` builds anew."""
    global _current
    with _lock:
        closing, _current = _current, None
    if closing is None:
        return
    await closing.shop_transport.aclose()
    if isinstance(closing.search, HybridSearch):
        await closing.search.settled()
    if isinstance(closing.documents, SqliteDocuments):
        await closing.documents.close()
