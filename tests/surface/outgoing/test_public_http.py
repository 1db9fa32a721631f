"""Every outgoing connection is judged by the address it goes to, over real sockets. Source: fault 037."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import httpx
import pytest

from shared.adapters.public_http import PublicTransport, SystemResolver
from shared.domain.errors import AuthorityError, Unavailable

METADATA = "http://169.254.169.254/latest/meta-data"


class Names:
    """A resolver with answers of the test's own; each name is asked for once a connection."""

    def __init__(self, answers: Mapping[str, tuple[str, ...]]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return what the test says."""
        self.asked.append(host)
        return self._answers.get(host, ())


class Desk:
    """A server inside the network: answers its path, redirects to the metadata service when asked for /away."""

    def __init__(self) -> None:
        self.heads: list[str] = []
        self.port = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        away = f"HTTP/1.1 302 Found\r\nLocation: {METADATA}\r\nContent-Length: 0\r\n\r\n"
        here = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndesk"
        writer.write((away if head.startswith("GET /away") else here).encode())
        await writer.drain()
        writer.close()


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """The server on loopback."""
    made = Desk()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()
    await server.wait_closed()


@pytest.mark.req("HD-01")
async def test_fault_037_a_public_name_that_resolves_inside_is_refused_at_connect() -> None:
    """Also when only one of its addresses lies inside."""
    names = Names({"desk.example": ("93.184.215.14", "10.1.2.3")})

    async with httpx.AsyncClient(transport=PublicTransport(names)) as http:
        with pytest.raises(AuthorityError):
            await http.get("https://desk.example/")

    assert names.asked == ["desk.example"]


@pytest.mark.req("HD-01")
async def test_fault_037_a_redirect_to_the_metadata_service_is_refused(desk: Desk) -> None:
    """The first hop is listed by the deployment; the second is judged like any other."""
    origin = f"http://127.0.0.1:{desk.port}"
    transport = PublicTransport(SystemResolver(), allowed_origins=[origin])

    async with httpx.AsyncClient(transport=transport, follow_redirects=True) as http:
        with pytest.raises(AuthorityError):
            await http.get(f"{origin}/away")

    assert len(desk.heads) == 1


@pytest.mark.req("HD-01")
async def test_the_connection_goes_to_the_judged_address_and_names_the_host(desk: Desk) -> None:
    """The name is resolved once: a second, other answer could not be judged."""
    origin = f"http://desk.internal:{desk.port}"
    names = Names({"desk.internal": ("127.0.0.1",)})

    async with httpx.AsyncClient(transport=PublicTransport(names, allowed_origins=[origin])) as http:
        answer = await http.get(f"{origin}/tickets")

    assert (answer.text, names.asked) == ("desk", ["desk.internal"])
    assert f"Host: desk.internal:{desk.port}".lower() in desk.heads[0].lower()


@pytest.mark.req("HD-01")
async def test_a_name_without_address_is_unavailable() -> None:
    """Transient: it may resolve later."""
    async with httpx.AsyncClient(transport=PublicTransport(Names({}))) as http:
        with pytest.raises(Unavailable):
            await http.get("https://desk.example/")


@pytest.mark.req("HD-01")
async def test_the_machine_resolver_knows_loopback() -> None:
    """And says Unavailable for a name that does not exist."""
    assert await SystemResolver().addresses("127.0.0.1", 443) == ("127.0.0.1",)
    with pytest.raises(Unavailable):
        await SystemResolver().addresses("no-such-name.invalid", 443)
