"""Outgoing HTTP to addresses a merchant chose: every connection is judged, redirects included.

A name is resolved here, once; the connection goes to the very address that was judged, so that a second answer of the
resolver changes nothing. TLS still proves the name. Source: design §9, fault 037.
"""

import asyncio
import socket
from collections.abc import Collection
from typing import Final

import httpx

from shared.domain.errors import AuthorityError, SchemaError, Unavailable
from shared.domain.outgoing_urls import check_url, is_public_address
from shared.ports.resolver import Resolver

_ONE_REQUEST_EACH: Final = httpx.Limits(max_keepalive_connections=0)
"""No connection serves a second request: the pool knows addresses only, and two names may share one."""


class SystemResolver:
    """Resolver of the machine."""

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of the name. Raises: Unavailable."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError:
            raise Unavailable("the name of an integration does not resolve") from None
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


class PublicTransport(httpx.AsyncBaseTransport):
    """Transport that refuses to connect into private networks.

    Raises (every request): AuthorityError when the URL or one of its addresses may not be called; Unavailable.
    """

    def __init__(self, resolver: Resolver, *, allowed_origins: Collection[str] = ()) -> None:
        self._resolver = resolver
        self._allowed = frozenset(allowed_origins)
        self._inner = httpx.AsyncHTTPTransport(limits=_ONE_REQUEST_EACH)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to a judged address of its host."""
        try:
            target = check_url(str(request.url.copy_with(fragment=None)), allowed_origins=self._allowed)
        except SchemaError as error:
            raise AuthorityError(f"an integration's URL is refused: {error}") from None
        addresses = await self._resolver.addresses(target.host, target.port)
        if not addresses:
            raise Unavailable("the name of an integration does not resolve")
        # One private address among public ones is enough to refuse: which one answers is not ours to choose.
        if not target.is_listed and not all(map(is_public_address, addresses)):
            raise AuthorityError("an integration's name leads into a private network")
        pinned = httpx.Request(
            request.method,
            request.url.copy_with(host=addresses[0]),
            headers=request.headers,
            stream=request.stream,
            extensions={**request.extensions, "sni_hostname": target.host},
        )
        return await self._inner.handle_async_request(pinned)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
