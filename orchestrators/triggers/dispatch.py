"""The edge of the HTTP surface: one request in, one answer out, whatever happens between.

Order: method, address, key or signature, scope, rate, origin, path ids, body, query, handler. What fails ends as a
problem document; an unknown failure is logged by type and place, never with its text.
Source: design §7, GW-06, GW-08.
"""

import logging
import re
import traceback
from collections.abc import Mapping
from typing import Final, assert_never
from urllib.parse import urlsplit

import azure.functions as func
from pydantic import BaseModel

from orchestrators.names import METHODS
from orchestrators.triggers import origins
from orchestrators.triggers.app_proxy import admit_proxied
from orchestrators.triggers.contract import Call, Caller, Operation, Signature, Starter
from orchestrators.triggers.identity import authenticate
from orchestrators.triggers.limits import ADDRESS_RATE_PER_MINUTE, Buckets, client_address
from orchestrators.triggers.operations import BY_PATH
from orchestrators.triggers.parsing import check_raw_body, read_body, read_ids, read_query
from orchestrators.triggers.problems import Problem, ProblemKind, not_found, rate_limited, to_problem
from orchestrators.triggers.responses import Answer, empty_answer, problem_answer
from orchestrators.triggers.shopify_signatures import check_signed_body
from shared.container import Services
from shared.domain.api_key import KeyScope
from shared.domain.ids import TraceId

_log = logging.getLogger(__name__)
_BUCKETS: Final = Buckets()
_TRACEPARENT: Final = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
_FIXED_HEADERS: Final = (("X-Content-Type-Options", "nosniff"), ("Vary", "Origin"), ("Cache-Control", "no-store"))
"""Stand on every answer that says nothing else about caching: most hold somebody's words."""


async def serve(
    path: str, request: func.HttpRequest, services: Services, starter: Starter | None = None
) -> func.HttpResponse:
    """Answer one request to a path of the operation table; never raises."""
    trace_id = _trace_id(request, services)
    exchange = _Exchange(path, request, services, starter, trace_id)
    try:
        answer = await exchange.answer()
    except Exception as error:  # noqa: BLE001 - the trigger edge: whatever failed, the caller gets a problem document
        problem = to_problem(error)
        if problem.kind.status >= 500:
            _log_failure(error, trace_id)
        answer = problem_answer(problem, trace_id)
    return _to_response(answer.with_headers(*exchange.cors, ("X-Trace-Id", trace_id)), is_head=request.method == "HEAD")


async def no_such_path(request: func.HttpRequest, services: Services) -> func.HttpResponse:
    """Answer a path outside the table with a problem document."""
    trace_id = _trace_id(request, services)
    answer = problem_answer(not_found("There is no such path."), trace_id)
    return _to_response(answer.with_headers(("X-Trace-Id", trace_id)), is_head=request.method == "HEAD")


class _Exchange:
    """One request on its way; `cors` is what the browser may be told, as far as it is known."""

    def __init__(
        self, path: str, request: func.HttpRequest, services: Services, starter: Starter | None, trace_id: TraceId
    ) -> None:
        self.cors: tuple[tuple[str, str], ...] = ()
        self._path = path
        self._request = request
        self._params: Mapping[str, str] = request.params
        self._services = services
        self._starter = starter
        self._trace_id = trace_id

    async def answer(self) -> Answer:
        """Return the answer. Raises: Problem, VouchError, or whatever a handler's defect raises."""
        request, by_method = self._request, BY_PATH[self._path]
        if request.method == "OPTIONS":
            return await self._preflight(by_method)
        operation = by_method.get("GET" if request.method == "HEAD" else request.method)
        if operation is None:
            allow = _allow(by_method)
            raise Problem(ProblemKind.METHOD, f"This path knows {allow}.", headers=(("Allow", allow),))
        self._charge_address()
        caller = await self._admit(operation)
        call = Call(
            services=self._services,
            trace_id=self._trace_id,
            ids=read_ids(request.route_params),
            headers=request.headers,
            raw_body=request.get_body(),
            body=self._body(operation),
            query=read_query(operation.query, self._params),
            caller=caller,
            starter=self._starter,
            take_conversation_token=lambda conversation: self._charge_conversation(caller, conversation),
        )
        return await operation.handler(call)

    async def _admit(self, operation: Operation) -> Caller | None:
        match operation.signature:
            case None:
                return await self._by_key(operation) if operation.scopes else None
            case Signature.BODY:
                check_signed_body(self._request, self._services.settings, max_bytes=operation.max_body_bytes)
                self._give_address_back()
                return None
            case Signature.QUERY:
                caller, self._params = await admit_proxied(self._services, str(self._request.url))
                self._give_address_back()
                self._charge_key(caller)
                return caller
            case _:
                assert_never(operation.signature)

    async def _by_key(self, operation: Operation) -> Caller:
        caller = await authenticate(self._services, self._request.headers.get("x-api-key", ""))
        self.cors = origins.cors_headers(self._origin, caller.policy)
        if caller.scope not in operation.scopes:
            raise Problem(ProblemKind.SCOPE, f"{operation.name} takes {_names(operation.scopes)} keys.")
        self._charge_key(caller)
        is_browser_key = caller.scope is KeyScope.PUBLISHABLE
        if is_browser_key and self._origin and not self.cors and not self._is_same_origin:
            raise Problem(ProblemKind.ORIGIN, "Add the origin to the tenant's policy.")
        if not is_browser_key:
            self._give_address_back()
        return caller

    def _body(self, operation: Operation) -> BaseModel | None:
        if operation.media_types:
            check_raw_body(
                self._request.get_body(),
                max_bytes=operation.max_body_bytes,
                content_type=self._request.headers.get("content-type", ""),
                media_types=operation.media_types,
            )
        if operation.request is None:
            return None
        return read_body(
            operation.request,
            self._request.get_body(),
            max_bytes=operation.max_body_bytes,
            content_type=self._request.headers.get("content-type", ""),
            is_optional=operation.is_body_optional,
        )

    async def _preflight(self, by_method: Mapping[str, Operation]) -> Answer:
        allow = _allow(by_method)
        key = self._request.headers.get("x-api-key", "")
        if key:
            caller = await authenticate(self._services, key)
            self.cors = origins.cors_headers(self._origin, caller.policy)
        elif self._origin:
            self.cors = await origins.preflight_headers(self._services, self._origin)
        if self.cors:
            self.cors = (*self.cors, *origins.preflight_grant(allow))
        return empty_answer().with_headers(("Allow", allow))

    @property
    def _origin(self) -> str:
        return str(self._request.headers.get("origin", ""))

    @property
    def _is_same_origin(self) -> bool:
        """Tell whether the page came from this very host: our own console and widget."""
        try:
            return urlsplit(self._origin).netloc == str(self._request.headers.get("host", ""))
        except ValueError:
            return False

    @property
    def _address(self) -> str | None:
        forwarded = self._request.headers.get("x-forwarded-for", "")
        return client_address(forwarded, self._services.settings.trusted_hops)

    def _charge_address(self) -> None:
        if (address := self._address) is not None:
            self._charge("address", f"address:{address}", ADDRESS_RATE_PER_MINUTE)

    def _give_address_back(self) -> None:
        """Undo the address's charge: a server's address, Shopify's among them, stands for many people."""
        if (address := self._address) is not None:
            _BUCKETS.give_back(f"address:{address}", ADDRESS_RATE_PER_MINUTE)

    def _charge_key(self, caller: Caller) -> None:
        if caller.policy is not None:
            self._charge("key", f"key:{caller.key_id}", caller.policy.rate_per_minute)

    def _charge_conversation(self, caller: Caller | None, conversation: str) -> None:
        if caller is not None and caller.policy is not None and caller.tenant is not None:
            name = f"conversation:{caller.tenant.tenant_id}|{conversation}"
            self._charge("conversation", name, caller.policy.conversation_rate_per_minute)

    def _charge(self, what: str, name: str, rate_per_minute: int) -> None:
        wait_s = _BUCKETS.take(name, rate_per_minute, self._services.clock.now())
        if wait_s > 0:
            raise rate_limited(what, wait_s)


def _allow(by_method: Mapping[str, Operation]) -> str:
    known = set(by_method) | {"OPTIONS"} | ({"HEAD"} if "GET" in by_method else set())
    return ", ".join(method for method in METHODS if method in known)


def _names(scopes: frozenset[KeyScope]) -> str:
    return " or ".join(sorted(scope.value for scope in scopes))


def _trace_id(request: func.HttpRequest, services: Services) -> TraceId:
    """Return the W3C trace id the caller sent, else a fresh one."""
    found = _TRACEPARENT.fullmatch(request.headers.get("traceparent", ""))
    return TraceId(found[1] if found else services.ids.new_id().replace("-", ""))


def _log_failure(error: Exception, trace_id: TraceId) -> None:
    """Log type, place and trace: an exception's text may quote a customer."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "nowhere"
    _log.error("request %s failed: %s at %s", trace_id, type(error).__name__, place)


def _to_response(answer: Answer, *, is_head: bool) -> func.HttpResponse:
    return func.HttpResponse(
        b"" if is_head else answer.body,
        status_code=answer.status,
        headers={**dict(_FIXED_HEADERS), **dict(answer.headers)},
        mimetype=answer.media_type,
        charset="utf-8",
    )
