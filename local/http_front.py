"""The public listener: HTTP triggers, the guarded management API and `/admin`.

Finds the function for a request, checks its key, runs it and writes what it returned. A function that raises answers
500 with an empty body; its stack stays in the log. Source: functions.md §6.4.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from azure.functions.meta import Datum

from local.asgi import (
    BodyTooLarge,
    BodyTooSlow,
    Disconnected,
    HeldBytes,
    HeldTooMuch,
    Receive,
    Request,
    Response,
    Scope,
    Send,
    json_response,
    read_request,
    write_response,
)
from local.host_json import HostJson
from local.indexing import Fn
from local.keys import Keys
from local.limits import BODY_LIMIT_S, MAX_BODY_BYTES, MAX_HELD_BYTES, RESPONSE_LIMIT_S
from local.management import Management
from local.routes import Template, parse_template
from local.worker import Call, FunctionWorker, InvokeError, datum

log = logging.getLogger(__name__)

_WEBHOOK: Final = ["runtime", "webhooks", "durabletask"]
_TEXT: Final = "text/plain; charset=utf-8"
_UNREAD: Final[Mapping[type[Exception], int]] = {BodyTooLarge: 413, BodyTooSlow: 408, HeldTooMuch: 503}
"""What a request answers whose body was not read to its end; its connection is then closed."""

RunOnce = Callable[[Fn], Awaitable[None]]
"""Runs a non-HTTP function now, for `POST /admin/functions/<name>`."""


@dataclass(frozen=True, slots=True)
class FrontLimits:
    """What one listener bears."""

    max_body_bytes: int = MAX_BODY_BYTES
    response_limit_s: float = RESPONSE_LIMIT_S
    body_limit_s: float = BODY_LIMIT_S
    max_held_bytes: int = MAX_HELD_BYTES


@dataclass(frozen=True, slots=True)
class _Route:
    template: Template
    methods: frozenset[str]
    fn: Fn


class HttpFront:
    """The ASGI app of the public listener."""

    def __init__(
        self,
        worker: FunctionWorker,
        management: Management,
        keys: Keys,
        settings: HostJson,
        *,
        client_binding: str,
        run_once: RunOnce,
        limits: FrontLimits,
    ) -> None:
        self._worker = worker
        self._management = management
        self._keys = keys
        self._settings = settings
        self._client = datum(client_binding, "string")
        self._run_once = run_once
        self._limits = limits
        self._routes = _routes(worker, settings.route_prefix)
        self._outstanding = 0
        self._held = HeldBytes(limits.max_held_bytes)
        self._slots = asyncio.Semaphore(settings.max_requests) if settings.max_requests else None
        self._late: set[asyncio.Task[Response]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; it is outstanding once it is whole, so that slow senders keep nobody else out."""
        if scope["type"] != "http":
            return
        try:
            request = await read_request(
                scope,
                receive,
                max_body=self._limits.max_body_bytes,
                limit_s=self._limits.body_limit_s,
                held=self._held,
            )
        except Disconnected:
            return
        except (BodyTooLarge, BodyTooSlow, HeldTooMuch) as error:
            await write_response(Response(_UNREAD[type(error)], headers=(("connection", "close"),)), send)
            return
        try:
            await write_response(await self._admitted(request), send)
        finally:
            self._held.give_back(len(request.body))

    async def _admitted(self, request: Request) -> Response:
        most = self._settings.max_outstanding_requests
        if most and self._outstanding >= most:
            return Response(429)
        self._outstanding += 1
        try:
            return await self._answer(request)
        finally:
            self._outstanding -= 1

    async def _answer(self, request: Request) -> Response:
        parts = request.segments()
        if parts[:3] == _WEBHOOK:
            if not self._keys.may_manage(request.key):
                return Response(401)
            return await self._management.handle(request, [part for part in parts[3:] if part])
        if parts[0] == "admin":
            return await self._admin(request, parts[1:])
        found = self._find(request.method, parts)
        if found is None:
            return Response(404)
        fn, values = found
        if not self._keys.may_call(fn.name, str(fn.trigger.get("authLevel", "function")), request.key):
            return Response(401)
        if self._slots is None:
            return await self._call(fn, request, values)
        async with self._slots:
            return await self._call(fn, request, values)

    def _find(self, method: str, parts: list[str]) -> tuple[Fn, Mapping[str, str]] | None:
        for route in self._routes:
            if route.methods and method not in route.methods:
                continue
            values = route.template.match(parts)
            if values is not None:
                return route.fn, values
        return None

    async def _call(self, fn: Fn, request: Request, values: Mapping[str, str]) -> Response:
        """Run an HTTP function; past the response limit the caller gets 502 and the function runs on."""
        running = asyncio.get_running_loop().create_task(self._run(fn, request, values))
        done, _ = await asyncio.wait([running], timeout=self._limits.response_limit_s)
        if done:
            return running.result()
        self._late.add(running)
        running.add_done_callback(self._late.discard)
        log.warning("function %s is past the response limit of %s s", fn.name, self._limits.response_limit_s)
        return Response(502)

    async def _run(self, fn: Fn, request: Request, values: Mapping[str, str]) -> Response:
        data = {fn.argument: _trigger_datum(request, values)}
        for client in fn.clients:
            data[client] = self._client
        try:
            result = await self._worker.invoke(fn, data, Call(traceparent=request.headers.get("traceparent")))
            return _to_response(result)
        except InvokeError as error:
            log.error("function %s failed: %s", fn.name, error)
            return Response(500)

    async def _admin(self, request: Request, parts: list[str]) -> Response:
        if not self._keys.is_master(request.key):
            return Response(401)
        match request.method, parts:
            case "GET", ["host", "status"]:
                return json_response({"state": "Running", "functions": len(self._worker.fns)})
            case "POST", ["functions", name]:
                fn = next((f for f in self._worker.fns.values() if f.name.lower() == name.lower()), None)
                if fn is None or fn.is_disabled or fn.kind not in {"timerTrigger", "cosmosDBTrigger"}:
                    return Response(404)
                await self._run_once(fn)
                return Response(202)
            case _:
                return Response(404)


def _routes(worker: FunctionWorker, prefix: str) -> list[_Route]:
    routes = []
    for fn in worker.fns.values():
        if fn.kind == "httpTrigger" and not fn.is_disabled:
            path = f"{prefix}/{fn.trigger.get('route', fn.name)}".strip("/")
            methods = frozenset(str(method).upper() for method in fn.trigger.get("methods") or ())
            routes.append(_Route(parse_template(path), methods, fn))
    return sorted(routes, key=lambda route: route.template.ranks)


def _trigger_datum(request: Request, values: Mapping[str, str]) -> Datum:
    headers = {name: datum(value, "string") for name, value in request.headers.items()}
    if request.peer:
        # The platform's front end appends the caller's address.
        known = request.headers.get("x-forwarded-for")
        headers["x-forwarded-for"] = datum(f"{known}, {request.peer}" if known else request.peer, "string")
    return datum(
        {
            "method": datum(request.method, "string"),
            "url": datum(request.url, "string"),
            "headers": headers,
            "query": {name: datum(value, "string") for name, value in request.query.items()},
            "params": {name: datum(value, "string") for name, value in values.items()},
            "body": datum(request.body, "bytes"),
        },
        "http",
    )


def _to_response(result: Datum | None) -> Response:
    if result is None:
        return Response(204)
    if result.type == "string":
        return Response(200, str(result.value).encode(), (("content-type", _TEXT),))
    value: Mapping[str, Any] = result.value
    headers = [(str(name), str(header.value)) for name, header in value["headers"].items()]
    for jar in value.get("cookies") or ():
        headers += [("set-cookie", morsel.OutputString()) for morsel in jar.values()]
    body = value["body"].value
    content = body if isinstance(body, bytes) else str(body).encode()
    return Response(int(value["status_code"].value), content, tuple(headers))


class RpcFront:
    """The ASGI app of the loopback listener: the management API for the app's own Durable client, without a key."""

    def __init__(self, management: Management, port: int) -> None:
        self._management = management
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; anything a browser could send from another site is refused."""
        if scope["type"] != "http":
            return
        try:
            request = await read_request(scope, receive, max_body=MAX_BODY_BYTES)
        except Disconnected:
            return
        except (BodyTooLarge, BodyTooSlow, HeldTooMuch) as error:
            await write_response(Response(_UNREAD[type(error)], headers=(("connection", "close"),)), send)
            return
        if request.headers.get("host") not in self._hosts or "origin" in request.headers:
            await write_response(_forbidden(), send)
            return
        parts = request.segments()
        if parts[0] != "durabletask":
            await write_response(Response(404), send)
            return
        await write_response(await self._management.handle(request, [part for part in parts[1:] if part]), send)


def _forbidden() -> Response:
    return Response(403, json.dumps({"Message": "this listener serves the app's own client only"}).encode())
