"""The Durable management HTTP API, as the SDK's client calls it.

One handler serves two listeners: key-less on loopback for the app's own Durable client, and under
`/runtime/webhooks/durabletask/` behind the system key. What this host does not offer answers 501.
Source: functions.md §5.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from local.asgi import Request, Response, json_response
from local.engine import Engine, HostStopping
from local.history import from_iso, to_export, to_iso
from local.limits import TooLarge
from local.operations import Ended, NotFound, Operations
from local.scribe import AlreadyActive, CannotStart
from local.store import PAGE, Instance

PATH: Final = "/runtime/webhooks/durabletask"
RETRY_START_S: Final = "10"
RETRY_STATUS_S: Final = "5"
TOKEN: Final = "x-ms-continuation-token"  # noqa: S105 - a header's name
DEFAULT_WAIT_S: Final = 10.0


class BadRequest(ValueError):
    """A request the API cannot read."""


class Management:
    """Answers management requests whose path has been cut to what follows the API's base."""

    def __init__(self, engine: Engine, operations: Operations, system_key: str) -> None:
        self._engine = engine
        self._operations = operations
        self._query = f"taskHub={quote(engine.settings.hub)}&connection=Storage&code={quote(system_key)}"

    def client_binding(self, public_base: str, rpc_base: str) -> str:
        """Return the JSON a Durable client parameter is built from."""
        base = public_base + PATH
        create = f"{base}/orchestrators/{{functionName}}[/{{instanceId}}]?{self._query}"
        wait = f"{create}&timeout={{timeoutInSeconds}}&pollingInterval={{intervalInSeconds}}"
        return json.dumps(
            {
                "taskHubName": self._engine.settings.hub,
                "creationUrls": {"createNewInstancePostUri": create, "createAndWaitOnNewInstancePostUri": wait},
                "managementUrls": self._urls(base, "INSTANCEID"),
                "baseUrl": base,
                "requiredQueryStringParameters": self._query,
                "rpcBaseUrl": rpc_base,
            }
        )

    async def handle(self, request: Request, parts: list[str]) -> Response:
        """Answer one request; `parts` are the path segments after the API's base."""
        try:
            match request.method, parts:
                case "POST", ["orchestrators", name]:
                    return await self._start(request, name, None)
                case "POST", ["orchestrators", name, instance_id]:
                    return await self._start(request, name, instance_id)
                case "GET", ["instances"]:
                    return self._list(request)
                case "DELETE", ["instances"]:
                    return await self._purge_all(request)
                case "GET", ["instances", instance_id]:
                    return self._status(request, instance_id)
                case "DELETE", ["instances", instance_id]:
                    return json_response({"instancesDeleted": await self._operations.purge(instance_id)})
                case "POST", ["instances", instance_id, "raiseEvent" | "raiseevent", name]:
                    return await self._raise(request, instance_id, name)
                case "POST", ["instances", instance_id, verb]:
                    return await self._change(request, instance_id, verb.lower())
                case _, ["entities", *_]:
                    return _not_offered("entities")
                case _:
                    return Response(404)
        except NotFound:
            return Response(404)
        except Ended:
            return Response(410)
        except BadRequest as error:
            return json_response({"Message": str(error)}, 400)
        except (CannotStart, TooLarge) as error:
            return json_response(_refusal(error), 400)
        except HostStopping as error:
            return json_response({"Message": str(error)}, 503)
        except AlreadyActive as error:
            return json_response({"Message": str(error), "ExceptionType": "AlreadyActive"}, 409)

    # -- orchestrations ------------------------------------------------------------------------------------------------

    async def _start(self, request: Request, name: str, instance_id: str | None) -> Response:
        started = await self._operations.start(
            name,
            instance_id,
            _wire_text(request.body),
            version=request.query.get("version"),
            traceparent=request.headers.get("traceparent"),
        )
        if "timeout" in request.query or "pollingInterval" in request.query:
            row = await self._operations.wait(started, _seconds(request, "timeout", DEFAULT_WAIT_S))
            if row.is_final:
                return self._ended(request, row)
        urls = self._urls(_base(request), started)
        return json_response(urls, 202, {"Location": urls["statusQueryGetUri"], "Retry-After": RETRY_START_S})

    def _ended(self, request: Request, row: Instance) -> Response:
        if row.status == "Completed":
            return json_response(_loads(row.output))
        failed = row.status == "Failed" and _flag(request, "returnInternalServerErrorOnFailure", default=False)
        return json_response(_status_object(row, show_input=True), 500 if failed else 200)

    def _status(self, request: Request, instance_id: str) -> Response:
        row = self._operations.find(instance_id)
        if row is None:
            return Response(404)
        body = _status_object(row, show_input=_flag(request, "showInput", default=True))
        if _flag(request, "showHistory", default=False):
            events = to_export(self._engine.store.episodes(instance_id))
            if not _flag(request, "showHistoryOutput", default=False):
                events = [{k: v for k, v in event.items() if k not in {"Result", "Input"}} for event in events]
            body["historyEvents"] = events
        if not row.is_final:
            location = f"{_base(request)}/instances/{quote(instance_id)}?{self._query}"
            return json_response(body, 202, {"Location": location, "Retry-After": RETRY_STATUS_S})
        failed = row.status == "Failed" and _flag(request, "returnInternalServerErrorOnFailure", default=False)
        return json_response(body, 500 if failed else 200)

    def _list(self, request: Request) -> Response:
        limit = min(max(1, int(_seconds(request, "top", PAGE))), PAGE)
        rows = self._engine.store.instances(
            prefix=request.query.get("instanceIdPrefix", ""),
            statuses=_statuses(request),
            created_from=_moment(request, "createdTimeFrom"),
            created_to=_moment(request, "createdTimeTo"),
            after=_after(request.headers.get(TOKEN)),
            limit=limit + 1,
        )
        page, headers = rows[:limit], {}
        if len(rows) > limit:
            pair = json.dumps([page[-1].created_at, page[-1].id]).encode()
            headers[TOKEN] = base64.urlsafe_b64encode(pair).decode()
        show_input = _flag(request, "showInput", default=False)
        return json_response([_status_object(row, show_input=show_input) for row in page], 200, headers)

    async def _purge_all(self, request: Request) -> Response:
        created_from = _moment(request, "createdTimeFrom")
        if created_from is None:
            raise BadRequest("createdTimeFrom is required")
        removed = await self._operations.purge_all(
            created_from=created_from, created_to=_moment(request, "createdTimeTo"), statuses=_statuses(request)
        )
        return json_response({"instancesDeleted": removed}) if removed else Response(404)

    async def _raise(self, request: Request, instance_id: str, name: str) -> Response:
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise BadRequest("Only application/json request content is supported")
        await self._operations.raise_event(instance_id, name, _wire_text(request.body))
        return Response(202)

    async def _change(self, request: Request, instance_id: str, verb: str) -> Response:
        reason = request.query.get("reason")
        match verb:
            case "terminate":
                await self._operations.terminate(instance_id, reason)
            case "suspend":
                await self._operations.suspend(instance_id, reason)
            case "resume":
                await self._operations.resume(instance_id, reason)
            case "rewind" | "restart":
                return _not_offered(verb)
            case _:
                return Response(404)
        return Response(202)

    def _urls(self, base: str, instance_id: str) -> dict[str, str]:
        at, query = f"{base}/instances/{quote(instance_id)}", self._query
        return {
            "id": instance_id,
            "statusQueryGetUri": f"{at}?{query}",
            "sendEventPostUri": f"{at}/raiseEvent/{{eventName}}?{query}",
            "terminatePostUri": f"{at}/terminate?reason={{text}}&{query}",
            "rewindPostUri": f"{at}/rewind?reason={{text}}&{query}",
            "purgeHistoryDeleteUri": f"{at}?{query}",
            "restartPostUri": f"{at}/restart?{query}",
            "suspendPostUri": f"{at}/suspend?reason={{text}}&{query}",
            "resumePostUri": f"{at}/resume?reason={{text}}&{query}",
        }


# -- reading and writing ---------------------------------------------------------------------------------------------


def _base(request: Request) -> str:
    return request.base_url + PATH


def _wire_text(body: bytes) -> str | None:
    """Return a body as stored: compact JSON text, None for an empty one or `null`."""
    if not body:
        return None
    try:
        value = json.loads(body)
        return None if value is None else json.dumps(value)
    except ValueError as error:
        raise BadRequest(f"the body is not JSON: {error}") from error


def _status_object(row: Instance, *, show_input: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "instanceId": row.id,
        "runtimeStatus": row.status,
        "input": _loads(row.input) if show_input else None,
        "customStatus": _loads(row.custom_status),
        "output": _loads(row.output),
        "createdTime": _to_second(row.created_at),
        "lastUpdatedTime": _to_second(row.updated_at),
    }


def _loads(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _to_second(moment: str) -> str:
    return f"{moment[:19]}Z"


def _flag(request: Request, name: str, *, default: bool) -> bool:
    value = request.query.get(name)
    return default if value is None else value.lower() == "true"


def _statuses(request: Request) -> list[str]:
    return [status.strip() for status in request.query.get("runtimeStatus", "").split(",") if status.strip()]


def _moment(request: Request, name: str) -> str | None:
    value = request.query.get(name)
    try:
        return None if value is None else to_iso(from_iso(value.replace(" ", "+")))
    except ValueError as error:
        raise BadRequest(f"{name} is not a date: {value!r}") from error


def _seconds(request: Request, name: str, default: float) -> float:
    try:
        value = float(request.query.get(name, default))
    except ValueError as error:
        raise BadRequest(f"{name} is not a number") from error
    if not math.isfinite(value):
        raise BadRequest(f"{name} is not a number")
    return value


def _after(token: str | None) -> tuple[str, str] | None:
    if not token:
        return None
    try:
        created_at, instance_id = json.loads(base64.urlsafe_b64decode(token))
        return str(created_at), str(instance_id)
    except ValueError as error:
        raise BadRequest("the continuation token is not one of ours") from error


def _refusal(error: Exception) -> Mapping[str, str]:
    return {
        "Message": "One or more of the arguments submitted is incorrect",
        "ExceptionMessage": str(error),
        "ExceptionType": "System.ArgumentException",
    }


def _not_offered(what: str) -> Response:
    message = f"{what} is not offered by this host, nor by the Durable Task Scheduler for Python in this app's rules"
    return json_response({"Message": message, "ExceptionMessage": message}, 501)
