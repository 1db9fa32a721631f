"""Assembles a host, starts it, and stops it gracefully.

Owns the order of things: lock, store, index, listen, resume, announce; on the way down the reverse.
Source: functions.md §7, design §8.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from local.change_feed import ChangeFeed, ChangeSource
from local.engine import Engine
from local.faults import CrashPlan, plan_from_environment
from local.host_json import HostJson, load_local_settings, read_host_json
from local.http_front import FrontLimits, HttpFront, RpcFront
from local.indexing import Fn, index
from local.keys import Keys, generated_keys, read_keys
from local.listener import Listener, PortTaken, bind
from local.lock import DirectoryLock
from local.management import Management
from local.operations import Operations
from local.store import Store
from local.timers import Timer, utc_now
from local.worker import FunctionWorker, Worker, datum

log = logging.getLogger(__name__)

OWNER_ONLY: Final = 0o700
"""Mode of a new data directory: its databases hold what customers wrote."""
SWITCH_INTERVAL_S: Final = 0.0005
"""How long one thread may hold the interpreter while another waits: the engine and user code alternate quickly."""
COLLECT_AFTER: Final = 5_000
"""Objects made, beyond those gone, before a collection looks at the young ones; turns leave few cycles. Value ours."""


@dataclass(frozen=True, slots=True)
class HostOptions:
    """How to run a host; `keys` is a key file, None leaves functions open."""

    app_dir: Path
    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 7071
    rpc_port: int = 17071
    keys: Path | Keys | None = None
    limits: FrontLimits = field(default_factory=FrontLimits)
    stop_deadline_s: float = 10.0
    settings: HostJson | None = None


class Host:
    """A host that runs: its addresses, engine, store and operations."""

    def __init__(
        self,
        options: HostOptions,
        *,
        change_source: ChangeSource | None = None,
        worker: FunctionWorker | None = None,
        crashes: CrashPlan | None = None,
    ) -> None:
        self.options = options
        self.url = ""
        self.rpc_url = ""
        self.store: Store
        self.engine: Engine
        self.operations: Operations
        self.worker: FunctionWorker
        self.keys: Keys
        self.timers: Mapping[str, Timer] = {}
        self.feeds: Mapping[str, ChangeFeed] = {}
        self._given_worker = worker
        self._source = change_source
        self._crashes = crashes or plan_from_environment()
        self._ends = contextlib.AsyncExitStack()
        self._loops: list[asyncio.Task[None]] = []

    @property
    def function_count(self) -> int:
        """Return how many functions are indexed."""
        return len(self.worker.fns)

    @property
    def function_names(self) -> tuple[str, ...]:
        """Return the indexed functions' names, sorted."""
        return tuple(sorted(self.worker.fns))

    async def start(self) -> None:
        """Come up, or raise and leave nothing behind.

        Raises: AlreadyRunning, IndexingFailed, BadHostJson, BadKeys, BadSchedule, BadTemplate, PortTaken.
        """
        try:
            await self._come_up()
        except BaseException:
            await self._ends.aclose()
            raise

    async def stop(self) -> None:
        """Take no more work, let what runs end up to the deadline, and close: the reverse of coming up."""
        await self._ends.aclose()

    def poke(self, container: str) -> None:
        """Have the change feeds of a container read at once."""
        for feed in self.feeds.values():
            if feed.container == container:
                feed.poke()

    async def run_once(self, fn: Fn) -> None:
        """Run a timer or change-feed function now."""
        if fn.name in self.timers:
            await self.timers[fn.name].run_once()
        elif fn.name in self.feeds:
            await self.feeds[fn.name].run_once()

    async def _come_up(self) -> None:
        options, ends = self.options, self._ends
        options.data_dir.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        ends.enter_context(DirectoryLock(options.data_dir))
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        load_local_settings(options.app_dir)
        settings = options.settings or read_host_json(options.app_dir)
        self.keys = _keys(options)
        self.worker = self._given_worker or Worker(index(options.app_dir))
        self.store = ends.enter_context(contextlib.closing(Store(options.data_dir / "durable.db")))
        self.engine = Engine(self.store, self.worker, settings, self._crashes)
        self.operations = Operations(self.engine)
        await self._listen(settings)
        self.engine.start()
        # What is loaded by now lives as long as the process: a collection that walks it again finds nothing.
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
        loop = asyncio.get_running_loop()
        self._loops = [loop.create_task(_keep(timer.run, timer.fn)) for timer in self.timers.values()]
        self._loops += [loop.create_task(_keep(feed.run, feed.fn)) for feed in self.feeds.values()]
        ends.push_async_callback(self._end_loops)

    async def _listen(self, settings: HostJson) -> None:
        """Open both listeners: the app's own client's first, for it must be the last to close."""
        options, ends, deadline_s = self.options, self._ends, self.options.stop_deadline_s
        public = ends.enter_context(contextlib.closing(bind(options.host, options.port)))
        try:
            rpc = bind("127.0.0.1", options.rpc_port)
        except PortTaken:
            rpc = bind("127.0.0.1", 0)
        rpc_port = rpc.getsockname()[1]
        shown = f"[{options.host}]" if ":" in options.host else options.host
        self.url = f"http://{shown}:{public.getsockname()[1]}"
        self.rpc_url = f"http://127.0.0.1:{rpc_port}/durabletask/"
        management = Management(self.engine, self.operations, self.keys.system)
        client = management.client_binding(self.url, self.rpc_url)
        rpc_listener = Listener(RpcFront(management, rpc_port), rpc)
        ends.push_async_callback(rpc_listener.stop, deadline_s)
        if isinstance(self.worker, Worker):
            ends.push_async_callback(self.worker.close)
        ends.push_async_callback(self.engine.stop, deadline_s)
        self._prepare_loops(client)
        front = HttpFront(
            self.worker,
            management,
            self.keys,
            settings,
            client_binding=client,
            run_once=self.run_once,
            limits=options.limits,
        )
        public_listener = Listener(front, public)
        ends.push_async_callback(public_listener.stop, deadline_s)
        await rpc_listener.start()
        await public_listener.start()

    async def _end_loops(self) -> None:
        for task in self._loops:
            task.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)

    def _prepare_loops(self, client: str) -> None:
        enabled = [fn for fn in self.worker.fns.values() if not fn.is_disabled]
        binding = datum(client, "string")
        self.timers = {
            fn.name: Timer(fn, self.worker, self.store, binding, utc_now) for fn in enabled if fn.kind == "timerTrigger"
        }
        if self._source is not None:
            source = self._source
            self.feeds = {
                fn.name: ChangeFeed(fn, self.worker, self.store, source, binding, self._crashes)
                for fn in enabled
                if fn.kind == "cosmosDBTrigger"
            }


BeforeReady = Callable[[Host], Awaitable[Mapping[str, Any]]]
"""Runs on a started host before it is announced; what it returns joins the ready line."""


async def run_host(
    options: HostOptions,
    *,
    change_source: ChangeSource | None = None,
    before_ready: Sequence[BeforeReady] = (),
) -> int:
    """Run a host until SIGTERM or SIGINT and return the exit code; prints one JSON ready line on stdout.

    A second signal leaves at once: whatever was under way is picked up by the next start.
    """
    began = time.perf_counter()
    host = Host(options, change_source=change_source)
    stopping = asyncio.Event()

    def stop_or_leave() -> None:
        if stopping.is_set():
            os._exit(128 + signal.SIGINT)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop_or_leave)
    await host.start()
    try:
        ready: dict[str, Any] = {"event": "ready", "url": host.url, "functions": host.function_count}
        for hook in before_ready:
            ready.update(await hook(host))
        ready["took_ms"] = round((time.perf_counter() - began) * 1000)
        print(json.dumps(ready), flush=True)
        waiter = asyncio.ensure_future(stopping.wait())
        watched: list[asyncio.Future[Any]] = [waiter, host.engine.broken]
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        waiter.cancel()
        is_broken = host.engine.broken.done()
    finally:
        await host.stop()
    return 1 if is_broken else 0


@contextlib.asynccontextmanager
async def running_host(
    app_dir: Path | str,
    data_dir: Path | str,
    port: int = 0,
    keys: Path | Keys | None = None,
    change_source: ChangeSource | None = None,
    *,
    worker: FunctionWorker | None = None,
    crashes: CrashPlan | None = None,
    **options: Any,
) -> AsyncIterator[Host]:
    """Run a host inside a test; further options are fields of HostOptions."""
    options.setdefault("stop_deadline_s", 2.0)
    chosen = HostOptions(app_dir=Path(app_dir), data_dir=Path(data_dir), port=port, rpc_port=0, keys=keys, **options)
    host = Host(chosen, change_source=change_source, worker=worker, crashes=crashes)
    await host.start()
    try:
        yield host
    finally:
        await host.stop()


def _keys(options: HostOptions) -> Keys:
    if isinstance(options.keys, Keys):
        return options.keys
    return generated_keys(options.data_dir) if options.keys is None else read_keys(options.keys)


async def _keep(run: Callable[[], Awaitable[None]], fn: Fn) -> None:
    """Run a trigger's loop; should it crash, wait and begin again rather than end the trigger for good."""
    wait_s = 1.0
    while True:
        try:
            await run()
        except Exception:
            log.exception("the loop of %s crashed, it begins again in %s s", fn.name, wait_s)
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, 60.0)


def default_app_dir() -> Path:
    """Return the repository root."""
    return Path(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
