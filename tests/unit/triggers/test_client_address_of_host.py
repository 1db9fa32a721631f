"""The address the embedded host hands on is one the surface can read, whichever protocol the caller used."""

from collections.abc import MutableMapping
from typing import Any

import pytest

from local.asgi import read_request
from orchestrators.triggers.limits import client_address


@pytest.mark.req("GW-08")
@pytest.mark.parametrize("host", ["203.0.113.9", "2001:db8::7", "::1"])
async def test_one_caller_is_one_address_whatever_port_it_comes_from(host: str) -> None:
    """A port left in the address would give every connection a rate limit of its own."""

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b""}

    async def address(port: int) -> str | None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "scheme": "http",
            "headers": [],
            "client": (host, port),
        }
        request = await read_request(scope, receive, max_body=1)
        return client_address(request.peer or "", trusted_hops=1)

    assert (await address(50_001), await address(50_002)) == (host, host)
