"""What one call of the embedded document store costs on this machine; prints one JSON object.

Run: `python -m bench.store_bench [--documents N] [--articles N]`. Figures are medians and 99th percentiles in
microseconds of a store on disk that already holds `documents` documents. Source: design §10 budgets.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds, SystemClock
from shared.adapters.records.keys import KeyRecords
from shared.adapters.records.shop import ShopRecords
from shared.domain.api_key import KeyScope
from shared.domain.ids import CustomerId, OrderId, TenantId
from shared.domain.money import Money
from shared.domain.sources import Order
from shared.ports.documents import Container, Create, CustomerScope, Query, Replace, TenantScope, Where

T1 = TenantScope(TenantId("T1"))
DIMENSIONS = 384
TURNS_A_TALK = 20
LIMITS_US = {"read": 60, "create": 250, "replace": 250, "batch_of_4": 400}
"""Median aims, microseconds. Source: this store's brief."""


def turn(n: int, **changes: object) -> dict[str, object]:
    """Return a document the size of a turn row."""
    return {
        "id": f"turn:{n}",
        "kind": "turn",
        "tenant_id": "T1",
        "customer_id": f"c{n % 97}",
        "seq": n,
        "status": "accepted",
        "instance_id": f"t-{n:040}",
        "masked_text": "Where is my order? It should have been here on Monday. " * 12,
        "accepted_at": "2026-03-01T12:00:00.000000+00:00",
        **changes,
    }


async def measure(n: int, call: Callable[[int], Awaitable[object]]) -> dict[str, float]:
    """Return median and 99th percentile of `n` calls, microseconds."""
    took = []
    for i in range(n):
        begin = time.perf_counter()
        await call(i)
        took.append((time.perf_counter() - begin) * 1e6)
    took.sort()
    return {"median_us": round(took[n // 2], 1), "p99_us": round(took[int(n * 0.99)], 1)}


async def run(path: Path, n_documents: int, n_articles: int) -> dict[str, object]:
    """Fill a store and measure each call."""
    store = SqliteDocuments(path, clock=SystemClock())
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(n_articles, DIMENSIONS)).astype(np.float32)
    tickets, articles = Container.TICKETS, Container.ARTICLES

    for start in range(0, n_documents, TURNS_A_TALK):
        rows = [Create(turn(n)) for n in range(start, min(start + TURNS_A_TALK, n_documents))]  # type: ignore[arg-type]
        await store.batch(tickets, T1, f"T1|old-{start}", rows)
    for start in range(0, n_articles, 50):
        batch = [
            Create(
                {"id": f"a{n}", "tenant_id": "T1", "kind": "article", "type": ("faq", "product")[n % 2]},
                None,
                vectors[n],
            )
            for n in range(start, min(start + 50, n_articles))
        ]
        await store.batch(articles, T1, "T1", batch)

    results: dict[str, dict[str, float]] = {}
    etags: dict[int, str] = {}

    async def create(n: int) -> None:
        stored = await store.create(tickets, T1, f"T1|new-{n // TURNS_A_TALK}", turn(n))  # type: ignore[arg-type]
        etags[n] = stored.etag

    async def replace(n: int) -> None:
        row = turn(n, status="done")
        await store.replace(tickets, T1, f"T1|new-{n // TURNS_A_TALK}", row, etag=etags[n])  # type: ignore[arg-type]

    async def batch_of_4(n: int) -> None:
        partition, ticket = f"T1|batch-{n}", {"id": "ticket", "tenant_id": "T1", "kind": "ticket", "version": 1}
        made = await store.create(tickets, T1, partition, dict(ticket))
        begin = time.perf_counter()
        rows = [Create(turn(k)) for k in range(3)]  # type: ignore[arg-type]
        await store.batch(tickets, T1, partition, (*rows, Replace({**ticket, "version": 2}, made.etag)))
        batch_us.append((time.perf_counter() - begin) * 1e6)

    newest = Query(
        "T1|old-0", where=(Where("kind", "in", ["turn", "person"]),), order_by="seq", is_descending=True, limit=12
    )
    question = rng.normal(size=DIMENSIONS).astype(np.float32)
    batch_us: list[float] = []

    results["create"] = await measure(3000, create)
    results["read"] = await measure(5000, lambda n: store.read(tickets, T1, "T1|old-0", f"turn:{n % TURNS_A_TALK}"))
    results["read_absent"] = await measure(3000, lambda n: store.read(tickets, T1, "T1|old-0", "none"))
    results["replace"] = await measure(3000, replace)
    await measure(1500, batch_of_4)
    batch_us.sort()
    results["batch_of_4"] = {"median_us": round(batch_us[750], 1), "p99_us": round(batch_us[1485], 1)}
    results["newest_12_of_a_talk"] = await measure(1000, lambda n: store.query(tickets, T1, newest))
    begin = time.perf_counter()
    await store.nearest(articles, T1, "T1", question, top_k=15)
    load_ms = (time.perf_counter() - begin) * 1e3
    results["nearest_15"] = await measure(200, lambda n: store.nearest(articles, T1, "T1", question, top_k=15))
    faq = (Where("type", "=", "faq"),)
    results["nearest_15_filtered"] = await measure(
        200, lambda n: store.nearest(articles, T1, "T1", question, top_k=15, where=faq)
    )

    async def write_and_search(n: int) -> None:
        row = {"id": f"fresh{n}", "tenant_id": "T1", "kind": "article"}
        await store.create(articles, T1, "T1", dict(row), vector=question + n)
        await store.nearest(articles, T1, "T1", question, top_k=5)

    results["write_then_nearest"] = await measure(100, write_and_search)
    keys = KeyRecords(store, clock=SystemClock(), ids=RandomIds())
    _, text = await keys.issue(T1, KeyScope.SECRET, owner="bench")
    results["authenticate"] = await measure(2000, lambda n: keys.authenticate(text))
    shop, ana = ShopRecords(store), CustomerScope(T1.tenant_id, CustomerId("ana"))
    total = Money(amount_minor=100, currency="USD")
    await shop.put_order(ana, Order(order_id=OrderId("1001"), customer_id=ana.customer_id, status="open", total=total))
    results["order_look_up"] = await measure(2000, lambda n: shop.order(ana, OrderId("#1001")))

    await store.close()
    missed = [name for name, limit in LIMITS_US.items() if results[name]["median_us"] > limit]
    return {
        "documents": n_documents,
        "articles": n_articles,
        "dimensions": DIMENSIONS,
        "vectors_load_ms": round(load_ms, 1),
        "calls": results,
        "aims_missed": missed,
    }


def main() -> int:
    """Run the benchmark; exit 1 when an aim was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--articles", type=int, default=10_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vouch.db"
        result = asyncio.run(run(path, arguments.documents, arguments.articles))
        result["file_mb"] = round(path.stat().st_size / 1e6, 1)
    print(json.dumps(result, indent=1))
    return 1 if result["aims_missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
