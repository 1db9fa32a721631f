"""One HTTP listener on uvicorn: no signal handlers, no logs of its own, bound before it serves.

Source: contract.md "HTTP rules to replicate"; uvicorn with httptools is the fastest plain ASGI server at hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any, Final

import uvicorn

from local.asgi import App

BACKLOG: Final = 2048


class PortTaken(OSError):
    """The address cannot be listened on."""


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one. Raises: PortTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise PortTaken(f"cannot listen on {host}:{port}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


class Listener:
    """Serves one ASGI app on one socket."""

    def __init__(self, app: App, listener: socket.socket) -> None:
        self._socket = listener
        self._server: Any = _Server(
            uvicorn.Config(
                app,
                loop="none",
                http="httptools",
                ws="none",
                lifespan="off",
                access_log=False,
                log_config=None,
                log_level="warning",
                server_header=False,
                backlog=BACKLOG,
                timeout_keep_alive=75,
            )
        )
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Accept requests."""
        self._task = asyncio.get_running_loop().create_task(self._server.serve(sockets=[self._socket]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
            await asyncio.sleep(0.001)

    async def stop(self, deadline_s: float) -> None:
        """Accept no more and let requests in progress end, up to the deadline."""
        if self._task is not None:
            self._server.config.timeout_graceful_shutdown = max(1, round(deadline_s))
            self._server.should_exit = True
            await self._task
            self._task = None


class _Server(uvicorn.Server):
    """A uvicorn server that leaves the process's signals to the host."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
