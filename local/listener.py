"""One HTTP listener: uvicorn's httptools protocol on a socket of our own, without its process management.

Never touches signals and writes no logs of its own. Source: functions.md §6.4; uvicorn with
httptools is the fastest plain ASGI server at hand.
"""

from __future__ import annotations

import asyncio
import socket
from email.utils import formatdate
from typing import Any, Final

import uvicorn
from uvicorn.server import ServerState

from local.asgi import App

BACKLOG: Final = 2048
KEEP_ALIVE_S: Final = 75
_POLL_S: Final = 0.005


class PortTaken(OSError):
    """The address cannot be listened on."""


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one. Raises: PortTaken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that asyncio turns Nagle's algorithm off: 40 ms a response otherwise.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
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
        self._state = ServerState()
        self._config: Any = uvicorn.Config(
            app,
            loop="none",
            http="httptools",
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        self._server: asyncio.Server | None = None
        self._clock: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Accept requests."""
        self._config.load()
        self._tick()
        self._server = await asyncio.get_running_loop().create_server(
            self._new_connection, sock=self._socket, backlog=BACKLOG
        )

    async def stop(self, deadline_s: float) -> None:
        """Accept no more and let requests in progress end, up to the deadline."""
        if self._clock is not None:
            self._clock.cancel()
        if self._server is None:
            self._socket.close()
            return
        self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        state, loop = self._state, asyncio.get_running_loop()
        end = loop.time() + deadline_s
        while (state.connections or state.tasks) and loop.time() < end:  # noqa: ASYNC110 - uvicorn tells of no last one
            await asyncio.sleep(_POLL_S)
        for task in self._state.tasks:
            task.cancel()
        for connection in list(self._state.connections):
            connection.transport.abort()
        self._server = None

    def _new_connection(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self._config.http_protocol_class(
            config=self._config, server_state=self._state, app_state={}, _loop=asyncio.get_running_loop()
        )
        return protocol

    def _tick(self) -> None:
        """Renew the Date header once a second."""
        self._state.default_headers = [(b"date", formatdate(usegmt=True).encode()), *self._config.encoded_headers]
        self._clock = asyncio.get_running_loop().call_later(1.0, self._tick)
