"""The product as a process of its own: started as `make run` does, killed as a power cut does, started again.

Owns the process and its ready line; the caller owns the data directory. Source: design §8, issue "Crash".
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]
READY_WITHIN_S: Final = 60.0
"""Longest a start may take on a busy machine. Unit: seconds. Source: value ours; the budget of 5 s has its own test."""
STOP_WITHIN_S: Final = 30.0
"""Longest a graceful stop may take. Unit: seconds. Source: value ours."""


class DiedBeforeReady(RuntimeError):
    """The process ended before its ready line."""


@dataclass(slots=True)
class Product:
    """A running product."""

    process: asyncio.subprocess.Process
    ready: dict[str, Any]
    demo: dict[str, Any]

    @property
    def url(self) -> str:
        """Its address."""
        return str(self.ready["url"])

    def kill(self) -> None:
        """End it as `kill -9` does; harmless when it is gone already."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGKILL)

    async def stop(self) -> int:
        """Stop it gracefully and return its exit code."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(STOP_WITHIN_S):
            return await self.process.wait()


@asynccontextmanager
async def started(
    data_dir: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Product]:
    """Start the product on the directory and yield it ready; whatever happens, no process is left behind.

    Raises: DiedBeforeReady with what it wrote to stderr.
    """
    process = await asyncio.create_subprocess_exec(
        *_command(data_dir, arguments),
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    errors = asyncio.ensure_future(_collect(process.stderr))
    try:
        async with asyncio.timeout(READY_WITHIN_S):
            line = await process.stdout.readline() if process.stdout else b""
        if not line:
            await process.wait()
            raise DiedBeforeReady((await errors).decode(errors="replace")[-4_000:])
        demo_file = data_dir / "demo.json"
        demo = json.loads(demo_file.read_text(encoding="utf-8")) if demo_file.exists() else {}
        yield Product(process, json.loads(line), demo)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()
        await errors
        if process.stdout is not None:
            await process.stdout.read()


def _command(data_dir: Path, arguments: Sequence[str]) -> tuple[str, ...]:
    return (
        sys.executable,
        "-m",
        "local",
        "serve",
        "--data",
        str(data_dir),
        "--port",
        "0",
        "--rpc-port",
        "0",
        *arguments,
    )


async def _collect(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.read() if stream is not None else b""
