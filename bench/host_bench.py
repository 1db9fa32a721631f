"""How fast the embedded host runs orchestrations: eight activities in a row, each instant.

Each run is started over HTTP by a function that calls the real Durable client, as the product does, and the whole
process is measured: HTTP client, host, SDK replay, SQLite.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Final

import aiohttp
import uvloop

from bench.figures import Figure, Table
from local.serve import Host, running_host

RUNS: Final = 300
"""Runs under load. Value ours."""
IN_FLIGHT: Final = 50
"""Runs at once. Source: design §10."""

APP = Path(__file__).parent.parent / "tests" / "surface" / "host" / "sample_app"


async def run_one(host: Host, client: aiohttp.ClientSession, instance_id: str) -> float:
    """Start one instance over HTTP, await its end and return how long both took, in seconds."""
    began = time.perf_counter()
    body = {"name": "eight_steps", "input": 0}
    async with client.post(f"{host.url}/api/client/start/{instance_id}", json=body) as response:
        assert response.status == 200, await response.text()
    row = await host.operations.wait(instance_id, 60)
    assert (row.status, row.output) == ("Completed", "8"), row
    return time.perf_counter() - began


def table() -> Table:
    """Return the figures."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(RUNS, IN_FLIGHT))


async def _measure(runs: int, in_flight: int) -> Table:
    with tempfile.TemporaryDirectory() as data:
        connector = aiohttp.TCPConnector(limit=0)
        async with running_host(APP, data) as host, aiohttp.ClientSession(connector=connector) as client:
            for number in range(5):
                await run_one(host, client, f"warm-{number}")
            alone = [await run_one(host, client, f"alone-{number}") for number in range(40)]
            slots = asyncio.Semaphore(in_flight)

            async def one(number: int) -> float:
                async with slots:
                    return await run_one(host, client, f"load-{number}")

            before, cpu, began = host.engine.episodes, time.process_time(), time.perf_counter()
            loaded = await asyncio.gather(*(one(number) for number in range(runs)))
            took = time.perf_counter() - began
            return Table(
                "host",
                (
                    Figure("one run of eight steps, p50", statistics.median(alone) * 1000, "ms"),
                    Figure("one run of eight steps, p95", statistics.quantiles(alone, n=20)[18] * 1000, "ms"),
                    Figure(f"runs a second, {in_flight} in flight", runs / took, "/s"),
                    Figure("  processor time a run", (time.process_time() - cpu) / runs * 1000, "ms"),
                    Figure("  episodes a run", (host.engine.episodes - before) / runs, ""),
                    Figure(f"one run, {in_flight} in flight, p50", statistics.median(loaded) * 1000, "ms"),
                ),
            )
