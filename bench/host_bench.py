"""How fast the embedded host runs orchestrations: eight activities in a row, each instant.

Prints one JSON line. Each run is started over HTTP by a function that calls the real Durable client, as the product
does, and the whole process is measured: HTTP client, host, SDK replay, SQLite. Usage: python -m bench.host_bench
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp
import uvloop

from local.serve import Host, running_host

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


async def measure(runs: int, in_flight: int) -> dict[str, float]:
    """Return the figures."""
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
            return {
                "single_ms_median": round(statistics.median(alone) * 1000, 1),
                "single_ms_p95": round(statistics.quantiles(alone, n=20)[18] * 1000, 1),
                "runs_per_s": round(runs / took, 1),
                "loaded_ms_median": round(statistics.median(loaded) * 1000, 1),
                "cpu_ms_per_run": round((time.process_time() - cpu) / runs * 1000, 1),
                "episodes_per_run": round((host.engine.episodes - before) / runs, 2),
                "in_flight": in_flight,
                "runs": runs,
            }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--in-flight", type=int, default=50)
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(measure(arguments.runs, arguments.in_flight))))


if __name__ == "__main__":
    main()
