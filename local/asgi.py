"""The little of ASGI the host needs: a request read whole, a response written whole.

Source: functions.md §6.4 (bodies up to 100 MB, joined repeats, no empty values).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from local.limits import BODY_LIMIT_S

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

JSON: Final = "application/json; charset=utf-8"


class BodyTooLarge(ValueError):
    """A request's body is over the limit."""


class BodyTooSlow(TimeoutError):
    """A request's body did not arrive in time."""


class HeldTooMuch(ConnectionError):
    """The bodies of all requests together are over the limit: this one may come again."""


class HeldBytes:
    """How many bytes of bodies are held at once, over all requests of a listener."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    def take(self, size: int) -> None:
        """Hold further bytes. Raises: HeldTooMuch, holding none of them."""
        if self._held + size > self._most:
            raise HeldTooMuch
        self._held += size

    def give_back(self, size: int) -> None:
        """Hold the bytes no longer."""
        self._held -= size


class Disconnected(ConnectionError):
    """The caller left before the request was complete."""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Request:
    """A whole request; `path` is percent-encoded as received, header names are lower-case."""

    method: str
    path: str
    query_string: str
    scheme: str
    headers: Mapping[str, str]
    body: bytes = b""
    peer: str | None = None

    @cached_property
    def query(self) -> Mapping[str, str]:
        """Return the query: repeats joined by commas, empty values left out."""
        query: dict[str, str] = {}
        for name, value in parse_qsl(self.query_string):
            query[name] = f"{query[name]},{value}" if name in query else value
        return query

    @property
    def base_url(self) -> str:
        """Return scheme and host as the caller wrote them."""
        return f"{self.scheme}://{self.headers.get('host', 'localhost')}"

    @property
    def url(self) -> str:
        """Return the whole URL."""
        return f"{self.base_url}{self.path}{'?' if self.query_string else ''}{self.query_string}"

    @property
    def key(self) -> str | None:
        """Return the access key the caller sent."""
        return self.headers.get("x-functions-key") or self.query.get("code")

    def segments(self) -> list[str]:
        """Return the decoded path segments; an encoded slash stays encoded, as in ASP.NET Core."""
        return [unquote_segment(segment) for segment in self.path.strip("/").split("/")]


def unquote_segment(segment: str) -> str:
    """Decode one path segment, but leave an encoded slash alone."""
    return unquote(segment.replace("%2F", "%252F").replace("%2f", "%252f")) if "%" in segment else segment


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Build a JSON response."""
    extra = tuple((headers or {}).items())
    return Response(status, json.dumps(value).encode(), (("content-type", JSON), *extra))


async def read_request(
    scope: Scope,
    receive: Receive,
    *,
    max_body: int,
    limit_s: float = BODY_LIMIT_S,
    held: HeldBytes | None = None,
) -> Request:
    """Read a whole request; its body stays counted in `held` until the caller gives it back.

    Raises: BodyTooLarge, BodyTooSlow, HeldTooMuch, Disconnected; then nothing stays counted.
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        if value:
            separator = "; " if name == "cookie" else ","
            headers[name] = f"{headers[name]}{separator}{value}" if name in headers else value
    if headers.get("content-length", "0").isdigit() and int(headers.get("content-length", "0")) > max_body:
        raise BodyTooLarge
    body = b""
    if scope["method"] not in {"GET", "HEAD"} or "content-length" in headers or "transfer-encoding" in headers:
        body = await _read_body(receive, max_body, limit_s, held or HeldBytes(max_body))
    client = scope.get("client")
    return Request(
        method=scope["method"],
        path=(scope.get("raw_path") or scope["path"].encode()).decode("latin-1"),
        query_string=scope["query_string"].decode("latin-1"),
        scheme=scope["scheme"],
        headers=headers,
        body=body,
        peer=_address(client[0], client[1]) if client else None,
    )


async def write_response(response: Response, send: Send) -> None:
    """Write a whole response."""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in response.headers]
    if response.status not in {204, 304} and not any(name == b"content-length" for name, _ in headers):
        headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


def _address(host: str, port: int) -> str:
    """Return address and port as the platform's front end writes them: IPv6 in brackets, its port to be told apart."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def _read_body(receive: Receive, max_body: int, limit_s: float, held: HeldBytes) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(limit_s):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Disconnected
                part = message.get("body", b"")
                if size + len(part) > max_body:
                    raise BodyTooLarge
                held.take(len(part))
                size += len(part)
                parts.append(part)
                if not message.get("more_body"):
                    return parts[0] if len(parts) == 1 else b"".join(parts)
    except BaseException as error:
        held.give_back(size)
        if isinstance(error, TimeoutError):
            raise BodyTooSlow from None
        raise
