"""One HTTP exchange with a shop: bounded in time and size, never redirected, never repeated.

Tells apart what was surely not sent from what may have been carried out, since a caller that writes must know. No
header, body or URL enters an error. The HTTP library loads on first use. Source: apis.md §1.1, AX-02, SH-03.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from shared.adapters.shopify.shops import ShopDirectory
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, Unavailable

if TYPE_CHECKING:
    import httpx

CONNECT_TIMEOUT_S: Final = 5.0
"""Seconds to connect, or to get a connection of the pool. Value ours."""
MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""Largest answer read, decoded. Value ours: 2,048 variants take about 1 MB."""
MAX_CONNECTIONS: Final = 50
"""Connections open at once, all shops together: the cap of this integration (RK-02). Value ours."""
READ_CHUNK_BYTES: Final = 64 * 1024
"""Piece in which a download is handed on. Value ours."""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """What came back: status, the header that matters, the body."""

    status: int
    retry_after: str
    body: bytes


class ShopTransport:
    """HTTP to shops. Open connections live until `aclose`."""

    def __init__(self, directory: ShopDirectory) -> None:
        self.directory = directory
        self._opened: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where the client lives: the embedded host closes it from another loop than the one user code runs on."""

    async def post(
        self, shop_domain: str, path: str, *, headers: Mapping[str, str], body: bytes, timeout_s: float
    ) -> RawAnswer:
        """Send once and return the whole answer, whatever its status.

        Raises: Unavailable or RateLimited when nothing was sent; OutcomeUnknown when it was and no whole answer came.
        """
        import httpx

        request = self._client().build_request(
            "POST",
            self.directory.url(shop_domain, path),
            content=body,
            headers={**headers, "Host": shop_domain, "Accept": "application/json"},
        )
        try:
            async with asyncio.timeout(timeout_s):
                return await self._exchange(request)
        except httpx.PoolTimeout:
            raise RateLimited("too many calls to shops at once", retry_after_s=CONNECT_TIMEOUT_S) from None
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise Unavailable("the shop cannot be reached") from None
        except (httpx.HTTPError, TimeoutError):
            raise OutcomeUnknown("the shop's answer did not arrive") from None

    @asynccontextmanager
    async def download(self, url: str, *, idle_timeout_s: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a bulk result and hand on its bytes piece by piece; no token is sent with it.

        Raises: Unavailable when it cannot be had or stalls; IntegrationError when it is refused.
        """
        import httpx

        request = self._client().build_request("GET", self.directory.check_download(url))
        request.extensions["timeout"] = httpx.Timeout(idle_timeout_s, connect=CONNECT_TIMEOUT_S).as_dict()
        try:
            response = await self._client().send(request, stream=True)
            try:
                if response.status_code >= 500:
                    raise Unavailable(f"a bulk result answered {response.status_code}")
                if response.status_code != 200:
                    raise IntegrationError(f"a bulk result answered {response.status_code}")
                yield response.aiter_bytes(READ_CHUNK_BYTES)
            finally:
                await response.aclose()
        except httpx.HTTPError:
            raise Unavailable("a bulk result broke off") from None

    async def aclose(self) -> None:
        """Close the connections; the next call opens new ones."""
        opened, self._opened = self._opened, None
        loop, self._loop = self._loop, None
        if opened is None:
            return
        if loop is None or loop is asyncio.get_running_loop() or not loop.is_running():
            await opened.aclose()
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(opened.aclose(), loop))

    async def _exchange(self, request: "httpx.Request") -> RawAnswer:
        response = await self._client().send(request, stream=True)
        try:
            pieces: list[bytes] = []
            size = 0
            async for piece in response.aiter_bytes(READ_CHUNK_BYTES):
                size += len(piece)
                if size > MAX_ANSWER_BYTES:
                    raise OutcomeUnknown(f"the shop's answer is above {MAX_ANSWER_BYTES} bytes")
                pieces.append(piece)
            return RawAnswer(response.status_code, response.headers.get("Retry-After", ""), b"".join(pieces))
        finally:
            await response.aclose()

    def _client(self) -> "httpx.AsyncClient":
        import httpx

        if self._opened is None:
            self._loop = asyncio.get_running_loop()
            self._opened = httpx.AsyncClient(
                # The deadline of a call is set around it; these only bound its parts.
                timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S, pool=CONNECT_TIMEOUT_S),
                limits=httpx.Limits(max_connections=MAX_CONNECTIONS),
                follow_redirects=False,
                # Neither a proxy nor a netrc of the machine may see or add credentials.
                trust_env=False,
            )
        return self._opened
