"""What a turn costs beyond its models: latency against its own critical path, turns a second, memory.

With instant models what is left is ours: one turn, turns a second, processor time and memory. With simulated latencies
of models and store, planned from outside on the ports: each turn's time over HTTP against the time of its own parts
(open + the slowest reader + compose + review + deliver), measured inside the same turn. Source: design §10.
"""

import asyncio
import re
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import uvloop
from azure.functions.meta import Datum

from bench.acting_shop import REQUEST, allow_actions, seed_order, seed_past
from bench.figures import Figure, Table
from bench.instant_models import with_instant_models
from local.fault_plan import Fault, FaultPlan, FaultRule, PlanFile
from local.indexing import Fn, index
from local.product import bind_product
from local.serve import default_app_dir, running_host
from local.worker import Call, Worker
from orchestrators.names import ActivityName
from shared import container
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.domain.api_key import KeyScope
from shared.domain.article import ArticleInput
from shared.domain.ids import ArticleId, CustomerId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.policy import TenantPolicy
from shared.domain.text import PublishedText
from shared.ports.documents import TenantScope
from shared.settings import Settings

CLASSIFY_MS: Final = 400
COMPOSE_MS: Final = 1_500
REVIEW_MS: Final = 600
STORE_MS: Final = 10
"""Simulated latencies of one call. Unit: milliseconds. Source: design §10."""
P50_BUDGET: Final = 1.05
P95_BUDGET: Final = 1.15
"""Most a turn may take, as a multiple of its own critical path. Source: design §10."""
ONE_TURN_BUDGET_MS: Final = 50
"""Longest one turn with instant models may take. Unit: milliseconds. Source: design §10."""
TURNS_PER_S_BUDGET: Final = 50
"""Fewest turns a second with 50 in flight and instant models. Source: design §10."""
SLOW_TURNS: Final = 40
SLOW_IN_FLIGHT: Final = 4
"""Turns with simulated latencies, and how many run at once: enough for a 95th percentile in half a minute."""
FAST_TURNS: Final = 300
IN_FLIGHT: Final = (1, 16, 50, 64)
READERS: Final = (
    ActivityName.CLASSIFY,
    ActivityName.DETECT_ESCALATION,
    ActivityName.RETRIEVE,
    ActivityName.READ_ACCOUNT,
)
IN_A_ROW: Final = (ActivityName.OPEN_TURN, ActivityName.COMPOSE, ActivityName.REVIEW, ActivityName.DELIVER)

TENANT: Final = TenantId("bench")
QUESTION: Final = "How long does shipping take?"
ACTION_TURNS: Final = 40
"""Turns with an action, of each kind."""

_MESSAGE: Final = re.compile(r'message_id\\*"\s*:\s*\\*"([^"\\]+)')
"""A message id in an activity's input, whether plain JSON or JSON packed as text."""


class TimedWorker(Worker):
    """The host's worker, which also notes how long each activity of each message took."""

    def __init__(self, fns: Mapping[str, Fn]) -> None:
        super().__init__(fns)
        self.took_ms: defaultdict[str, dict[str, float]] = defaultdict(dict)

    async def invoke(self, fn: Fn, data: Mapping[str, Datum], call: Call = Call()) -> Datum | None:  # noqa: B008
        """Run the function and note its time."""
        if fn.kind != "activityTrigger":
            return await super().invoke(fn, data, call)
        found = _MESSAGE.search(str(data[fn.argument].value))
        began = time.perf_counter()
        try:
            return await super().invoke(fn, data, call)
        finally:
            if found is not None:
                took = self.took_ms[found[1]]
                took[fn.name] = took.get(fn.name, 0.0) + (time.perf_counter() - began) * 1000

    def critical_path_ms(self, message: str) -> float:
        """Return the sum of the message's own parts along the longest way through the turn."""
        took = self.took_ms[message]
        return sum(took[name.value] for name in IN_A_ROW) + max(took[name.value] for name in READERS)


@dataclass(slots=True)
class Stage:
    """A running product with one tenant."""

    url: str
    key: str
    worker: TimedWorker
    services: container.Services
    client: aiohttp.ClientSession
    count: int = field(default=0)

    async def turn(self, text: str = QUESTION, outcome: str = "answered") -> tuple[str, float]:
        """Send one message in a conversation of its own; return its id and how long the reply took, in ms."""
        self.count += 1
        message = f"m-{self.count}"
        if text == REQUEST:
            await seed_order(self.services, TENANT, CustomerId(f"customer-{self.count}"))
        began = time.perf_counter()
        async with self.client.post(
            f"{self.url}/api/v1/conversations/c-{self.count}/messages",
            json={"text": text, "message_id": message},
            headers={"X-Api-Key": self.key, "X-Customer-Id": f"customer-{self.count}", "Prefer": "wait=60"},
        ) as response:
            body = await response.json()
        assert body.get("outcome") == outcome, body
        return message, (time.perf_counter() - began) * 1000

    async def turns(self, count: int, in_flight: int) -> list[tuple[str, float]]:
        """Run that many turns with so many in flight."""
        slots = asyncio.Semaphore(in_flight)

        async def one() -> tuple[str, float]:
            async with slots:
                return await self.turn()

        return await asyncio.gather(*(one() for _ in range(count)))


def table() -> Table:
    """Return the figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner, tempfile.TemporaryDirectory() as folder:
        return runner.run(_measure(Path(folder)))


async def _measure(data_dir: Path) -> Table:
    async with _stage(data_dir) as stage:
        await stage.turns(30, 4)
        alone = [took for _, took in await stage.turns(60, 1)]
        figures = [
            Figure("one turn, instant models, p50", statistics.median(alone), "ms", budget=ONE_TURN_BUDGET_MS),
            Figure("one turn, instant models, p95", _p95(alone), "ms"),
        ]
        figures += await _with_actions(stage, statistics.median(alone))
        for in_flight in IN_FLIGHT:
            began, cpu = time.perf_counter(), time.process_time()
            await stage.turns(FAST_TURNS, in_flight)
            rate = FAST_TURNS / (time.perf_counter() - began)
            cpu_ms = (time.process_time() - cpu) / FAST_TURNS * 1000
            budget = TURNS_PER_S_BUDGET if in_flight == 50 else None
            figures.append(Figure(f"turns a second, {in_flight} in flight", rate, "/s", budget=budget, is_floor=True))
            figures.append(Figure(f"  processor time a turn, {in_flight} in flight", cpu_ms, "ms"))
        figures.append(Figure("resident memory after the load", _resident_mb(), "MB"))
        figures += await _against_critical_path(stage)
    return Table("turn", tuple(figures), note=f"{SLOW_TURNS} slow turns, {SLOW_IN_FLIGHT} at once; client included")


async def _with_actions(stage: Stage, plain_ms: float) -> list[Figure]:
    """Return what governance costs a turn: an action that waits for a person, and one that is done within it."""
    waiting = [(await stage.turn(REQUEST, "acknowledged"))[1] for _ in range(ACTION_TURNS)]
    await allow_actions(stage.services, TENANT)
    done = [(await stage.turn(REQUEST))[1] for _ in range(ACTION_TURNS)]
    return [
        Figure("one turn whose action waits for approval, p50", statistics.median(waiting), "ms"),
        Figure("one turn whose action is done in it, p50", statistics.median(done), "ms"),
        Figure("  of it for the action, × a turn without", statistics.median(done) / plain_ms, "×"),
    ]


async def _against_critical_path(stage: Stage) -> list[Figure]:
    plan = FaultPlan(PlanFile(faults=tuple(_delays()))).attach(stage.services)
    slow = await stage.turns(SLOW_TURNS, SLOW_IN_FLIGHT)
    plan.detach()
    store_calls = sum(n for name, n in plan.struck.items() if name.startswith("documents."))
    paths = [stage.worker.critical_path_ms(message) for message, _ in slow]
    ratios = [took / path for (_, took), path in zip(slow, paths, strict=True)]
    ideal = STORE_MS + CLASSIFY_MS + COMPOSE_MS + REVIEW_MS + STORE_MS
    parts = stage.worker.took_ms[slow[0][0]]
    return [
        Figure("turn, simulated latencies, p50", statistics.median(t for _, t in slow), "ms"),
        Figure("its critical path, p50", statistics.median(paths), "ms"),
        Figure("turn / its critical path, p50", statistics.median(ratios), "×", budget=P50_BUDGET),
        Figure("turn / its critical path, p95", _p95(ratios), "×", budget=P95_BUDGET),
        Figure("turn / bare simulated latencies, p50", statistics.median(t for _, t in slow) / ideal, "×"),
        *(Figure(f"  part {name.value}", parts[name.value], "ms") for name in (*IN_A_ROW, *READERS)),
        Figure("store calls a turn", store_calls / SLOW_TURNS, "calls"),
    ]


def _delays() -> list[FaultRule]:
    def rule(port: str, operation: str, delay_ms: int) -> FaultRule:
        return FaultRule(port=port, operation=operation, fault=Fault.DELAY, delay_ms=delay_ms)

    store = ("read", "create", "replace", "delete", "query", "batch", "nearest")
    return [
        rule("classifier", "classify", CLASSIFY_MS),
        rule("composer", "compose", COMPOSE_MS),
        rule("reviewer", "review", REVIEW_MS),
        *(rule("documents", operation, STORE_MS) for operation in store),
    ]


@asynccontextmanager
async def _stage(data_dir: Path) -> AsyncIterator[Stage]:
    app_dir = default_app_dir()
    source = bind_product(app_dir, data_dir)
    services = with_instant_models(container.build(Settings(data_dir=data_dir)))
    container.use(services)
    worker = TimedWorker(index(app_dir))
    key = await _seed(services)
    connector = aiohttp.TCPConnector(limit=0)
    try:
        async with (
            running_host(app_dir, data_dir, change_source=source, worker=worker) as host,
            aiohttp.ClientSession(connector=connector) as client,
        ):
            yield Stage(host.url, key, worker, services, client)
    finally:
        container.use(None)
        if isinstance(services.documents, SqliteDocuments):
            await services.documents.close()


async def _seed(services: container.Services) -> str:
    """Create one tenant with a few articles; return its secret key."""
    scope = TenantScope(TENANT)
    await services.tenants.create(TENANT, name="Bench")
    policy = TenantPolicy(shop_name="Bench", rate_per_minute=100_000, conversation_rate_per_minute=10_000)
    await services.tenants.save_policy(scope, policy, over_version=1, author="bench")
    for topic, text in _ARTICLES.items():
        article = ArticleInput(
            article_id=ArticleId(topic.replace(" ", "-")),
            type=ArticleType.POLICY,
            title=PublishedText(topic),
            content=PublishedText(text),
            language="en",
        )
        await services.articles.put(scope, article)
        await services.articles.reembed(scope, article.article_id, services.embedder)
    await seed_past(services, TENANT)
    _, key = await services.keys.issue(scope, KeyScope.SECRET, owner="bench")
    return key


_ARTICLES: Final[dict[str, Any]] = {
    "how long shipping takes": "Standard shipping takes 3 to 5 working days. Express shipping takes 2 working days.",
    "returns": "Unused goods can be returned within 30 days of delivery.",
    "payment": "We accept cards and bank transfer.",
    "warranty": "Everything we make is guaranteed for 2 years.",
    "privacy": "We keep order records for 7 years.",
}


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[18]


def _resident_mb() -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")
