"""The sockets: HTTP/1.1 on a free loopback port, every shop told apart by the Host header."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs

import h11

from tests.servers.shopify.engine import Context, answer, internal_error, root_fields, try_parse
from tests.servers.shopify.faults import Faults, Trouble
from tests.servers.shopify.shop import ACCESS_TOKEN_S, REFRESH_TOKEN_S, Shop
from tests.servers.shopify.state import BulkOperation

HUGE_BYTES = 20 * 1024 * 1024
_GRAPHQL = re.compile(r"/admin/api/\d{4}-\d{2}/graphql\.json")
_BULK = re.compile(r"/bulk/(\d+)\.jsonl")


@dataclass
class _Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class _Response:
    status: int
    body: bytes
    headers: dict[str, str]


class _Dropped(Exception):
    """The connection is to be cut here."""


class ShopifyServer:
    """Any number of shops behind one port; see the package's docstring."""

    def __init__(
        self, *, now: Callable[[], datetime] | None = None, client_id: str = "app", client_secret: str = "hush"
    ) -> None:
        self.now = now or (lambda: datetime.now(UTC))
        self.client_id = client_id
        self.client_secret = client_secret
        self.shops: dict[str, Shop] = {}
        self.faults = Faults()
        self.calls: Counter[str] = Counter()
        """Calls that arrived, by root field, "token" and "bulk"."""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        """Root field and variables of every GraphQL call that arrived."""
        self.on_call: Callable[[str], object] = lambda field: None
        """What happens elsewhere at the moment a call arrives, by its root field."""
        self.headers: list[dict[str, str]] = []
        """Headers of every request, names in lower case."""
        self.base_url = ""
        self._open: set[asyncio.Task[None]] = set()

    def add_shop(self, domain: str = "hollin.myshopify.com", **more: Any) -> Shop:
        """Add a shop; `more` are attributes of Shop."""
        shop = Shop(domain, self.now, **more)
        self.shops[domain] = shop
        return shop

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ShopifyServer]:
        """Listen until the block is left."""
        listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        try:
            yield self
        finally:
            listener.close()
            for task in list(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            await listener.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            connection = h11.Connection(h11.SERVER)
            while (request := await _read(connection, reader)) is not None:
                await self._respond(connection, request, reader, writer)
                if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                    break
                connection.start_next_cycle()
        except (_Dropped, ConnectionError, asyncio.CancelledError, h11.RemoteProtocolError):
            pass
        finally:
            self._open.discard(task)
            writer.transport.abort()

    async def _respond(
        self, connection: h11.Connection, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.headers.append(request.headers)
        response, trouble = await self._route(request, reader)
        head = h11.Response(
            status_code=response.status,
            headers=[*response.headers.items(), ("content-length", str(len(response.body)))],
        )
        body = response.body[: len(response.body) // 2] if trouble is Trouble.CUT_AFTER else response.body
        writer.write(connection.send(head) or b"")
        writer.write(connection.send(h11.Data(data=body)) or b"")
        if trouble is Trouble.CUT_AFTER:
            await writer.drain()
            raise _Dropped
        writer.write(connection.send(h11.EndOfMessage()) or b"")
        await writer.drain()

    async def _route(self, request: _Request, reader: asyncio.StreamReader) -> tuple[_Response, Trouble | None]:
        path = request.path.partition("?")[0]
        if (match := _BULK.fullmatch(path)) and request.method == "GET":
            return await self._troubled(["bulk"], reader, lambda _: self._download(match[1]))
        shop = self.shops.get(request.headers.get("host", ""))
        if shop is None or request.method != "POST":
            return _json(404, {"errors": "Not Found"}), None
        if path == "/admin/oauth/access_token":
            return await self._troubled(["token"], reader, lambda _: self._token(shop, request.body))
        if not _GRAPHQL.fullmatch(path):
            return _json(404, {"errors": "Not Found"}), None
        if not shop.accepts(request.headers.get("x-shopify-access-token", "")):
            return _json(401, {"errors": "[API] Invalid API key or access token"}), None
        return await self._graphql(shop, request, reader)

    async def _graphql(
        self, shop: Shop, request: _Request, reader: asyncio.StreamReader
    ) -> tuple[_Response, Trouble | None]:
        try:
            asked = json.loads(request.body)
            text, variables = str(asked["query"]), dict(asked.get("variables") or {})
        except (ValueError, KeyError, TypeError):
            return _json(400, {"errors": "Bad Request"}), None
        document, errors = try_parse(text)
        if document is None:
            return _json(200, {"errors": errors}), None
        parsed = document
        for field in root_fields(parsed):
            self.asked.append((field, variables))
            self.on_call(field)

        async def run(is_throttled: bool) -> _Response:
            context = Context(shop, self.faults, self.base_url)
            return _json(200, await answer(context, parsed, variables, is_throttled=is_throttled))

        return await self._troubled(root_fields(parsed), reader, run)

    async def _troubled(
        self, fields: list[str], reader: asyncio.StreamReader, run: Callable[[bool], Any]
    ) -> tuple[_Response, Trouble | None]:
        """Return the response to a call, with whatever was planned for it."""
        self.calls.update(fields)
        trouble = self.faults.take(fields)
        match trouble:
            case Trouble.DROP_BEFORE:
                raise _Dropped
            case Trouble.HANG_BEFORE:
                await _until_closed(reader)
            case Trouble.ERROR_BEFORE:
                return _Response(500, b"Internal Server Error", {}), None
            case Trouble.INTERNAL_BEFORE:
                return _json(200, internal_error()), None
            case Trouble.GARBAGE_BEFORE:
                return _Response(200, b"<html>Oops</html>", {"content-type": "text/html"}), None
            case Trouble.TOO_MANY:
                return _Response(429, b"{}", {"retry-after": "7"}), None
            case Trouble.REDIRECT:
                return _Response(302, b"", {"location": "https://elsewhere.example/"}), None
            case Trouble.HUGE:
                body = b'{"data": null' + b" " * HUGE_BYTES + b"}"
                return _Response(200, body, {"content-type": "application/json"}), None
        made = run(trouble is Trouble.THROTTLE)
        response: _Response = await made if asyncio.iscoroutine(made) else made
        match trouble:
            case Trouble.DROP_AFTER:
                raise _Dropped
            case Trouble.HANG_AFTER:
                await _until_closed(reader)
            case Trouble.ERROR_AFTER:
                return _Response(500, b"Internal Server Error", {}), None
            case Trouble.INTERNAL_AFTER:
                return _json(200, internal_error()), None
            case Trouble.GARBAGE_AFTER:
                return _Response(200, b"<html>Oops</html>", {"content-type": "text/html"}), None
        return response, trouble

    def _token(self, shop: Shop, body: bytes) -> _Response:
        form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
        if (form.get("client_id"), form.get("client_secret")) != (self.client_id, self.client_secret):
            return _json(401, {"error": "invalid_client"})
        if form.get("grant_type") != "refresh_token":
            return _json(400, {"error": "unsupported_grant_type"})
        issued = shop.refresh(form.get("refresh_token", ""))
        if issued is None:
            return _json(400, {"error": "invalid_grant", "error_description": "Token has been expired or revoked."})
        return _json(
            200,
            {
                "access_token": issued.access,
                "expires_in": ACCESS_TOKEN_S,
                "refresh_token": issued.refresh,
                "refresh_token_expires_in": REFRESH_TOKEN_S,
                "scope": ",".join(shop.scopes),
            },
        )

    def _download(self, number: str) -> _Response:
        for shop in self.shops.values():
            found = shop.find(f"gid://shopify/BulkOperation/{number}")
            if isinstance(found, BulkOperation):
                lines = found.lines[: shop.bulk_fails_after]
                body = "".join(f"{shop.bulk_line(line)}\n" for line in lines).encode()
                return _Response(200, body, {"content-type": "application/jsonl"})
        return _Response(404, b"", {})


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> _Request | None:
    head: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(65536))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = {name.decode().lower(): value.decode() for name, value in head.headers}
            return _Request(head.method.decode(), head.target.decode(), headers, body)
        else:
            return None


async def _until_closed(reader: asyncio.StreamReader) -> None:
    """Keep silent until the client hangs up."""
    while await reader.read(1024):
        pass
    raise _Dropped


def _json(status: int, body: dict[str, Any]) -> _Response:
    return _Response(status, json.dumps(body).encode(), {"content-type": "application/json"})
