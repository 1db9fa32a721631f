"""The real app behind the embedded host, and clients that speak HTTP to it."""

import asyncio
import hashlib
import secrets
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from local.serve import running_host
from shared.adapters.records.shop import ShopRecords
from shared.container import Services, build, use
from shared.domain.ids import CustomerId, OrderId, TenantId
from shared.domain.money import Money
from shared.domain.sources import Order
from shared.ports.documents import CustomerScope
from shared.settings import Settings

ROOT = Path(__file__).parents[3]
OPERATOR_KEY = "operator-of-the-tests-" + "k" * 43


@dataclass
class Shop:
    """One tenant: its keys, its identity secret, and a client that calls as one of them."""

    api: "Api"
    tenant_id: str
    identity_secret: str
    keys: dict[str, str] = field(default_factory=dict)

    def call(
        self,
        method: str,
        path: str,
        *,
        key: str | None = "secret",
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> httpx.Response:
        """Call with one of the tenant's keys; None sends none."""
        sent = {"X-Api-Key": self.keys[key]} if key else {}
        return self.api.http.request(method, path, headers={**sent, **(headers or {})}, **more)

    def token(self, customer: str, **claims: Any) -> str:
        """Return a customer token of this tenant."""
        now = int(time.time())
        said = {"sub": customer, "aud": self.tenant_id, "iat": now, "exp": now + 600} | claims
        return jwt.encode(said, self.identity_secret, algorithm="HS256")

    def as_customer(self, customer: str, **claims: Any) -> dict[str, str]:
        """Return the headers of a signed-in shopper."""
        return {"X-Customer-Token": self.token(customer, **claims)}

    def put_policy(self, **settings: Any) -> httpx.Response:
        """Save a policy made of defaults and these settings."""
        roomy = {"rate_per_minute": 100_000, "conversation_rate_per_minute": 10_000}
        return self.call("PUT", f"/api/v1/tenants/{self.tenant_id}/policy", key="admin", json=roomy | settings)


@dataclass
class Api:
    """The running app."""

    url: str
    data_dir: Path
    http: httpx.Client
    services: Services

    def give_order(self, shop: Shop, customer: str, order: str) -> None:
        """Let the tenant's own shop system know an order of the customer."""
        scope = CustomerScope(TenantId(shop.tenant_id), CustomerId(customer))
        shipped = Order(
            order_id=OrderId(order),
            customer_id=scope.customer_id,
            status="shipped",
            placed_at=datetime.now(UTC),
            total=Money(amount_minor=4_200, currency="USD"),
        )
        asyncio.run(ShopRecords(self.services.documents).put_order(scope, shipped))

    def operator(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Call as the operator."""
        return self.http.request(method, path, headers={"X-Api-Key": OPERATOR_KEY}, **more)

    def new_shop(self, **settings: Any) -> Shop:
        """Create a tenant with one key of each scope and a policy that limits no test."""
        tenant_id = f"shop-{secrets.token_hex(6)}"
        made = self.operator("POST", "/api/v1/tenants", json={"tenant_id": tenant_id, "name": "A shop"})
        assert made.status_code == 201, made.text
        shop = Shop(self, tenant_id, made.json()["identity_secret"])
        for scope in ("publishable", "secret", "desk", "admin"):
            issued = self.operator("POST", f"/api/v1/tenants/{tenant_id}/keys", json={"scope": scope, "owner": scope})
            assert issued.status_code == 201, issued.text
            shop.keys[scope] = issued.json()["key"]
        assert shop.put_policy(**settings).status_code == 200
        return shop

    def row_counts(self) -> dict[str, int]:
        """Return documents by container and kind, and orchestration instances: what a refused request must not change.

        What a finished turn's recorder writes later is left out.
        """
        counts: dict[str, int] = {}
        rows = "select container || '/' || ifnull(f_kind, ''), count(*) from documents where container != 'ledger' "
        rows += "and not (container = 'analytics' and f_kind = 'turn') group by 1"
        for name, query in (("vouch.db", rows), ("durable.db", "select 'instances', count(*) from instance")):
            db = sqlite3.connect(f"file:{self.data_dir / name}?mode=ro", uri=True)
            counts.update(db.execute(query))
            db.close()
        return counts

    def stored_bytes(self) -> bytes:
        """Return everything the app has written to disk, write-ahead logs included."""
        return b"".join(p.read_bytes() for p in sorted(self.data_dir.iterdir()) if p.is_file())


class _HostThread:
    """The host on a loop of its own, so that tests may be plain functions."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="host")
        self.url = ""
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Come up, or raise what stopped it."""
        self._thread.start()
        self._up.wait(60)
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Stop gracefully."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(30)

    async def _run(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with running_host(ROOT, self._data_dir) as host:
                self.url = host.url
                self._up.set()
                await self._stopping.wait()
        except BaseException as failure:
            self.failure = failure
            raise
        finally:
            self._up.set()


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The app over one data directory a test module."""
    data_dir = tmp_path_factory.mktemp("api")
    digest = hashlib.sha256(OPERATOR_KEY.encode()).hexdigest()
    services = build(Settings(data_dir=data_dir, operator_key_hash=digest))
    use(services)
    host = _HostThread(data_dir)
    host.start()
    try:
        with httpx.Client(base_url=host.url, timeout=90) as http:
            yield Api(host.url, data_dir, http, services)
    finally:
        host.stop()
        asyncio.run(services.documents.close())
        use(None)


@pytest.fixture(scope="module")
def shop(api: Api) -> Shop:
    """A tenant of the module."""
    return api.new_shop()


def conversation_id() -> str:
    """Return a fresh conversation id."""
    return f"c-{secrets.token_hex(8)}"


def visitor() -> dict[str, str]:
    """Return the headers of a fresh anonymous visitor."""
    return {"X-Conversation-Secret": secrets.token_urlsafe(32)}


def is_problem(response: httpx.Response, slug: str | None = None) -> bool:
    """Tell whether the answer is a complete problem document of that type."""
    if not response.headers["content-type"].startswith("application/problem+json"):
        return False
    said = response.json()
    is_whole = said["status"] == response.status_code and said["title"] and said["detail"] and said["trace_id"]
    return bool(is_whole) and said["type"].startswith("/problems/") and slug in (None, said["type"][10:])
