"""A running host on the sample app, and a caller for it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from local.serve import Host, running_host

APP = Path(__file__).parent / "sample_app"
REPOSITORY = Path(__file__).parents[3]


class Caller:
    """Speaks HTTP to a running host and waits for states, never for time."""

    def __init__(self, host: Host, session: aiohttp.ClientSession) -> None:
        self.host = host
        self.session = session

    async def call(self, method: str, path: str, **options: Any) -> tuple[int, bytes, Any]:
        """Return status, body and headers."""
        async with self.session.request(method, self.host.url + path, **options) as response:
            return response.status, await response.read(), response.headers

    async def client(self, verb: str, instance_id: str, body: object = None) -> Any:
        """Call a method of the real Durable client inside the app; returns its result or raises what it raised."""
        status, text, _ = await self.call("POST", f"/api/client/{verb}/{instance_id}", json=body)
        answer = json.loads(text)
        if status == 409:
            raise RuntimeError(answer["error"])
        return answer.get("result", answer) if isinstance(answer, dict) else answer

    async def manage(self, method: str, path: str, **options: Any) -> tuple[int, Any, Any]:
        """Call the management API on the loopback listener; returns status, JSON body and headers."""
        async with self.session.request(method, self.host.rpc_url + path, **options) as response:
            text = await response.read()
            return response.status, json.loads(text) if text else None, response.headers

    async def start(self, name: str, instance_id: str, input: object = None, version: str | None = None) -> None:
        """Start an instance through the real Durable client."""
        await self.client("start", instance_id, {"name": name, "input": input, "version": version})

    async def ended(self, instance_id: str, timeout_s: float = 20.0) -> tuple[str, Any]:
        """Return status and output of an instance once it has ended."""
        row = await self.host.operations.wait(instance_id, timeout_s)
        assert row.is_final, f"{instance_id} is still {row.status}"
        return row.status, None if row.output is None else json.loads(row.output)

    async def until(self, instance_id: str, status: str | None = None, custom: object = None) -> None:
        """Return once the instance is in a status or shows a custom status."""
        for _ in range(2_000):
            row = self.host.operations.find(instance_id)
            shown = json.loads(row.custom_status) if row and row.custom_status else None
            if row and (status is None or row.status == status) and (custom is None or shown == custom):
                return
            await asyncio.sleep(0.005)
        raise AssertionError(f"{instance_id} never became {status or custom}: {row}")


@pytest.fixture
async def caller(tmp_path: Path) -> AsyncIterator[Caller]:
    """A caller of a host without key file."""
    async with running_host(APP, tmp_path) as host, aiohttp.ClientSession() as session:
        yield Caller(host, session)


class Process:
    """A host in a process of its own."""

    def __init__(self, data: Path, *arguments: str, app: Path = APP, **environment: str) -> None:
        command = [sys.executable, "-m", "local", "serve", "--app", str(app), "--data", str(data), "--rpc-port", "0"]
        self.process = subprocess.Popen(
            [*command, "--no-demo", "--port", "0", *arguments],
            cwd=REPOSITORY,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ready(self) -> dict[str, Any]:
        """Return the ready line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def ended(self, timeout_s: float = 15.0) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr once the process has ended."""
        out, err = self.process.communicate(timeout=timeout_s)
        return self.process.returncode, out, err


@pytest.fixture
def processes() -> Any:
    """Start host processes; whatever still runs after the test is killed."""
    started: list[Process] = []

    def start(*arguments: Any, **options: Any) -> Process:
        started.append(Process(*arguments, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.communicate()


def free_port() -> int:
    """Return a port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def eventually(condition: Any, timeout_s: float = 10.0) -> None:
    """Return once a condition holds."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        await asyncio.sleep(0.005)
