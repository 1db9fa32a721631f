"""HTTP triggers: routes, methods, keys, bodies, headers, cookies and limits, as the Functions host has them."""

import asyncio
import json

import aiohttp
import pytest

from local.host_json import HostJson
from local.http_front import FrontLimits
from local.keys import Keys
from local.serve import running_host
from tests.surface.host.conftest import APP, Caller

pytestmark = pytest.mark.req("DC-03")

KEYS = Keys(
    master="master-key",
    system="system-key",
    host=("host-key",),
    functions={"book": ("book-key",)},
    is_enforced=True,
)


@pytest.mark.parametrize(
    ("method", "path", "status", "body"),
    [
        ("GET", "/api/hello/Ana", 200, "hello Ana"),
        ("GET", "/api/hello", 200, "hello nobody"),
        ("GET", "/api/hello/", 200, "hello nobody"),
        ("GET", "/API/Hello/Ana", 200, "hello Ana"),
        ("DELETE", "/api/hello/Ana", 200, "hello Ana"),
        ("GET", "/api/hello/Ana/Bo", 404, ""),
        ("GET", "/api/hello/J%C3%BCrgen%20x", 200, "hello Jürgen x"),
        ("GET", "/api/hello/a%2Fb", 200, "hello a%2Fb"),
        ("GET", "/api/hello/x?tag=1&tag=2&empty=", 200, "hello x 1,2"),
        ("GET", "/api/books/12", 200, '{"isbn": 12}'),
        ("GET", "/api/books/-3", 200, '{"isbn": -3}'),
        ("GET", "/api/books/new", 200, "new"),
        ("GET", "/api/books/old", 404, ""),
        ("GET", "/api/books/99999999999", 404, ""),
        ("POST", "/api/books/12", 404, ""),
        ("GET", "/api/files/a/b/c.txt", 200, "a/b/c.txt"),
        ("GET", "/api/files", 200, "-"),
        ("GET", "/api/shelves", 200, "top"),
        ("GET", "/api/shelves/low", 200, "low"),
        ("GET", "/api/nothing", 204, ""),
        ("OPTIONS", "/api/nothing", 204, ""),
        ("POST", "/api/nothing", 404, ""),
        ("GET", "/api/raises", 500, ""),
        ("GET", "/api/context", 200, "with_context"),
        ("GET", "/hello/Ana", 404, ""),
        ("GET", "/", 404, ""),
    ],
)
async def test_route_table(caller, method, path, status, body):
    """Rule: templates, case, defaults, constraints, catch-all, wrong method 404, failure 500 without a body."""
    from yarl import URL

    url = URL(caller.host.url + path, encoded=True)
    async with caller.session.request(method, url) as response:
        assert (response.status, (await response.read()).decode()) == (status, body)


async def test_text_answers_are_plain_utf8(caller):
    """Rule: a str return is text/plain."""
    _, _, headers = await caller.call("GET", "/api/hello/x")

    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "Date" in headers


async def test_binary_bodies_cookies_and_headers_pass_unchanged(caller):
    """Rule: bytes stay bytes, repeated request headers are joined, each cookie is its own header."""
    body = bytes(range(256))
    async with caller.session.request(
        "PUT",
        caller.host.url + "/api/echo?a=1&a=2",
        data=body,
        headers=[("X-Multi", "one"), ("X-Multi", "two"), ("X-Forwarded-For", "203.0.113.9")],
    ) as response:
        echoed = await response.read()
        headers = response.headers

    assert echoed == body
    assert headers["X-Method"] == "PUT"
    assert headers["X-Url"] == caller.host.url + "/api/echo?a=1&a=2"
    assert headers["X-Multi"] == "one,two"
    assert headers["X-Forwarded"].startswith("203.0.113.9, 127.0.0.1:")
    assert headers.getall("Set-Cookie") == ["a=1; HttpOnly; Path=/", "b=2; Secure"]


async def test_head_answers_headers_alone(caller):
    """Rule: HEAD runs the function and sends no body."""
    status, body, headers = await caller.call("HEAD", "/api/hello/Ana")

    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == "9"


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        ("/api/hello", None, 200),
        ("/api/books/1", None, 401),
        ("/api/books/1", "wrong", 401),
        ("/api/books/1", "book-key", 200),
        ("/api/books/1", "host-key", 200),
        ("/api/books/1", "master-key", 200),
        ("/api/books/1", "system-key", 401),
        ("/api/books/new", "book-key", 401),
        ("/api/vault", "host-key", 401),
        ("/api/vault", "master-key", 200),
    ],
)
async def test_keys_are_enforced_when_there_are_any(tmp_path, path, key, status):
    """Rule: function, host and master keys by auth level; missing or wrong is 401 without a body."""
    async with running_host(APP, tmp_path, keys=KEYS) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)
        headers = {"x-functions-key": key} if key else {}

        assert (await caller.call("GET", path, headers=headers))[0] == status
        assert (await caller.call("GET", f"{path}?code={key or ''}"))[0] == status


async def test_key_file_is_read_and_enforced(tmp_path):
    """Rule: `--keys FILE` enforces the keys of the file."""
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"master": "m", "system": "s", "host": ["h"]}))
    async with running_host(APP, tmp_path, keys=path) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)

        assert (await caller.call("GET", "/api/books/1"))[0] == 401
        assert (await caller.call("GET", "/api/books/1?code=h"))[0] == 200


async def test_generated_keys_stay_the_same_and_private(tmp_path):
    """Rule: without a key file, management keys are made once per data directory, readable by the owner alone."""
    found = []
    for _ in range(2):
        async with running_host(APP, tmp_path) as host:
            found.append(host.keys)

    assert found[0] == found[1]
    assert (tmp_path / "host-keys.json").stat().st_mode & 0o077 == 0


async def test_disabled_function_is_not_served(tmp_path, monkeypatch):
    """Rule: `AzureWebJobs.<Name>.Disabled=true` answers 404."""
    async with running_host(APP, tmp_path) as host, aiohttp.ClientSession() as session:
        assert (await Caller(host, session).call("GET", "/api/switched-off"))[0] == 200
    monkeypatch.setenv("AzureWebJobs.switched_off.Disabled", "true")
    async with running_host(APP, tmp_path) as host, aiohttp.ClientSession() as session:
        assert (await Caller(host, session).call("GET", "/api/switched-off"))[0] == 404


async def test_body_over_the_limit_is_413(tmp_path):
    """Rule: bodies over the limit are refused, whether announced or not."""
    limits = FrontLimits(max_body_bytes=1_000)

    async def unannounced():
        for _ in range(3):
            yield b"x" * 500

    async with running_host(APP, tmp_path, limits=limits) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)

        assert (await caller.call("POST", "/api/echo", data=b"x" * 1_000))[0] == 200
        assert (await caller.call("POST", "/api/echo", data=b"x" * 1_001))[0] == 413
        assert (await caller.call("POST", "/api/echo", data=unannounced()))[0] == 413


async def test_slow_senders_keep_nobody_else_out_and_are_cut_off(tmp_path):
    """Rule: a request is outstanding once it is whole; who never ends a body holds a socket for a while, no more."""
    settings, limits = HostJson(max_outstanding_requests=2), FrontLimits(body_limit_s=0.2)
    async with (
        running_host(APP, tmp_path, settings=settings, limits=limits) as host,
        aiohttp.ClientSession() as session,
    ):
        caller = Caller(host, session)
        address = host.url.removeprefix("http://").split(":")
        slow = [await asyncio.open_connection(*address) for _ in range(3)]
        for _, writer in slow:
            writer.write(b"POST /api/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1")
            await writer.drain()

        meanwhile = (await caller.call("GET", "/api/hello/Ana"))[0]
        ends = [await reader.read() for reader, _ in slow]
        for _, writer in slow:
            writer.close()

    assert (meanwhile, {end.split(b"\r\n")[0] for end in ends}) == (200, {b"HTTP/1.1 408 Request Timeout"})


async def test_a_new_data_directory_is_its_owners_alone(tmp_path):
    """Rule: the databases hold what customers wrote; other users of the machine do not read along."""
    async with running_host(APP, tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


async def test_bodies_held_at_once_are_bounded_and_given_back(tmp_path):
    """Rule: bodies are held before anybody has shown a key, so all of them together have a limit."""
    limits = FrontLimits(max_held_bytes=1_000)
    async with running_host(APP, tmp_path, limits=limits) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)

        statuses = [(await caller.call("POST", "/api/echo", data=b"x" * size))[0] for size in (900, 1_001, 900)]

    assert statuses == [200, 503, 200]


async def test_fault_106_answer_past_the_limit_is_502_and_the_function_runs_on(tmp_path):
    """Rule: the platform cuts at 230 s while the function goes on (fault 106); the limit is shortened here."""
    limits = FrontLimits(response_limit_s=0.05)
    async with running_host(APP, tmp_path, limits=limits) as host, aiohttp.ClientSession() as session:
        status, body, _ = await Caller(host, session).call("GET", "/api/slow?s=0.2")

    assert (status, body) == (502, b"")


async def test_outstanding_requests_are_bounded(tmp_path):
    """Rule: maxOutstandingRequests answers 429, maxConcurrentRequests queues."""
    settings = HostJson(max_requests=1, max_outstanding_requests=2)
    async with running_host(APP, tmp_path, settings=settings) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)
        answers = await asyncio.gather(*(caller.call("GET", "/api/slow?s=0.1") for _ in range(3)))

    assert sorted(status for status, _, _ in answers) == [200, 200, 429]


@pytest.mark.parametrize("prefix", ["", "shop/v2"])
async def test_route_prefix_is_that_of_host_json(tmp_path, prefix):
    """Rule: `extensions.http.routePrefix`, which may be empty."""
    settings = HostJson(route_prefix=prefix)
    async with running_host(APP, tmp_path, settings=settings) as host, aiohttp.ClientSession() as session:
        path = f"/{prefix}/hello/x".replace("//", "/")
        assert (await Caller(host, session).call("GET", path))[0] == 200
        assert (await Caller(host, session).call("GET", "/api/hello/x"))[0] == 404


async def test_admin_needs_the_master_key(caller):
    """Rule: POST /admin/functions/<name> runs a non-HTTP function; master key only."""
    import function_app

    function_app.SEEN.clear()
    key = {"x-functions-key": caller.host.keys.master}

    assert (await caller.call("POST", "/admin/functions/nightly", json={}))[0] == 401
    assert (await caller.call("POST", "/admin/functions/nightly", json={}, headers=key))[0] == 202
    assert (await caller.call("POST", "/admin/functions/hello", json={}, headers=key))[0] == 404
    status, body, _ = await caller.call("GET", "/admin/host/status", headers=key)
    assert (status, json.loads(body)) == (200, {"state": "Running", "functions": caller.host.function_count})
    assert [entry[0] for entry in function_app.SEEN] == ["nightly"]
