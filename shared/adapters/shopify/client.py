"""The Admin API client: one call at a time, within the shop's budget, each error told apart.

Never repeats anything: a read's caller has its ladder, a write's caller must first find out what happened. The budget
is a token bucket all instances share; it reserves what an operation may cost and is set right by what the shop reports.
Source: SH-02, SH-03, AX-02, AX-04, apis.md §1.1, §1.9, §1.11.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NoReturn, Protocol, TypeVar

from shared.adapters.shopify.answers import Reading, check_mutation, check_query, read_answer
from shared.adapters.shopify.credentials import ShopCredentials
from shared.adapters.shopify.operations import DEFAULT_API_VERSION, A, Connection, Operation, Variables
from shared.adapters.shopify.transport import RawAnswer, ShopTransport
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, SchemaError, Unavailable, VouchError
from shared.ports.buckets import TokenBucket
from shared.ports.documents import TenantScope
from shared.wire import decode

BUCKET: Final = "shopify"
"""Name of the shop's budget of points; one shop a tenant."""
ASSUMED_CAPACITY: Final = 1_000.0
"""Points a shop is taken to hold until it reports. Source: apis.md §1.11 (one query ≤ 1,000); value ours."""
ASSUMED_PER_SECOND: Final = 100.0
"""Points a second it restores until it reports: the standard plan. Source: apis.md §1.11."""
TIMEOUT_S: Final = 10.0
"""Seconds a call may take, answer included. Value ours."""
PATIENCE_S: Final = 3.0
"""Seconds a call waits for its turn in the budget before it gives up. Value ours: a turn is being composed."""
WALK_STOP: Final = 25_000
"""Objects after which a paginated walk goes no further. Source: apis.md §1.9."""
MAX_RETRY_AFTER_S: Final = 300.0
"""Longest wait taken from a header. Value ours."""

N = TypeVar("N")


class CredentialSource(Protocol):
    """Where a shop's domain and access token come from."""

    async def credentials(self, scope: TenantScope) -> ShopCredentials:
        """Return what to call the shop with. Raises: Unavailable; IntegrationError when no shop is connected."""
        ...

    async def refused(self, scope: TenantScope, access_token: str) -> None:
        """Take note that the shop no longer accepts this token."""
        ...


class ShopifyClient:
    """Queries and mutations of every tenant's shop."""

    def __init__(
        self,
        *,
        credentials: CredentialSource,
        buckets: TokenBucket,
        transport: ShopTransport,
        api_version: str = DEFAULT_API_VERSION,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._credentials = credentials
        self._buckets = buckets
        self._transport = transport
        self._path = f"/admin/api/{api_version}/graphql.json"
        self._sleep = sleep

    async def query(
        self,
        scope: TenantScope,
        operation: Operation[A],
        variables: Variables,
        *,
        timeout_s: float = TIMEOUT_S,
        patience_s: float = PATIENCE_S,
    ) -> A:
        """Return a read's answer; what the app may not see is null in it.

        Raises: RateLimited, Unavailable: the same call may succeed later. Refused: scope or approval is missing.
        IntegrationError: the shop is not connected, or its answer is of no use.
        """
        try:
            raw = await self._send(scope, operation, variables, timeout_s, patience_s)
        except OutcomeUnknown as error:
            raise Unavailable(f"{operation.name}: {error}") from None
        reading = read_answer(raw.body) if raw.status == 200 else None
        if reading is None:
            if _is_doubtful(raw.status):
                raise Unavailable(f"{operation.name}: the shop answered {raw.status} without a usable body")
            _raise_for(operation.name, raw)
        await self._settle(scope, operation.cost, reading)
        data = check_query(operation.name, reading)
        try:
            return decode(operation.answer, data)
        except SchemaError as error:
            raise IntegrationError(f"{operation.name}: {error}") from None

    async def mutate(
        self,
        scope: TenantScope,
        operation: Operation[A],
        variables: Variables,
        *,
        timeout_s: float = TIMEOUT_S,
        patience_s: float = PATIENCE_S,
    ) -> A:
        """Send a write once and return its answer, when it says that it happened.

        Raises: RateLimited, Unavailable, Refused, IntegrationError: it surely did not happen. OutcomeUnknown: it may
        have; read back before anything else.
        """
        raw = await self._send(scope, operation, variables, timeout_s, patience_s)
        reading = read_answer(raw.body) if raw.status == 200 else None
        if reading is None:
            if _is_doubtful(raw.status):
                raise OutcomeUnknown(f"{operation.name}: the shop answered {raw.status} without a usable body")
            _raise_for(operation.name, raw)
        await self._settle(scope, operation.cost, reading)
        data = check_mutation(operation.name, operation.effect, reading)
        try:
            return decode(operation.answer, data)
        except SchemaError as error:
            raise OutcomeUnknown(f"{operation.name}: {error}") from None

    async def walk(
        self,
        scope: TenantScope,
        operation: Operation[A],
        variables: Variables,
        connection: Callable[[A], Connection[N]],
        *,
        timeout_s: float = TIMEOUT_S,
        patience_s: float = PATIENCE_S,
    ) -> AsyncIterator[N]:
        """Yield every object of a connection; the operation takes `$after` and asks for `pageInfo`.

        Raises: what `query` raises; IntegrationError at the end when there may be more than a walk gets to see.
        """
        seen, after = 0, None
        while True:
            answer = await self.query(
                scope, operation, {**variables, "after": after}, timeout_s=timeout_s, patience_s=patience_s
            )
            page = connection(answer)
            for node in page.nodes:
                yield node
            seen += len(page.nodes)
            if seen >= WALK_STOP:
                # The shop ends a walk here whether or not there is more, and does not say which.
                raise IntegrationError(f"{operation.name}: {WALK_STOP} objects or more; read them in bulk")
            if not page.page_info.has_next_page:
                return
            if page.page_info.end_cursor in (None, after):
                raise IntegrationError(f"{operation.name}: a page names no next one")
            after = page.page_info.end_cursor

    async def _send(
        self, scope: TenantScope, operation: Operation[A], variables: Variables, timeout_s: float, patience_s: float
    ) -> RawAnswer:
        """Reserve, send once, and return the answer; raises what surely kept the operation from being carried out."""
        found = await self._credentials.credentials(scope)
        await self._reserve(scope, operation, patience_s)
        raw = await self._transport.post(
            found.shop_domain,
            self._path,
            headers={"X-Shopify-Access-Token": found.access_token, "Content-Type": "application/json"},
            body=json.dumps({"query": operation.text, "variables": variables}).encode(),
            timeout_s=timeout_s,
        )
        if raw.status == 401:
            await self._credentials.refused(scope, found.access_token)
            raise Unavailable(f"{operation.name}: the shop refused the access token")
        return raw

    async def _reserve(self, scope: TenantScope, operation: Operation[A], patience_s: float) -> None:
        waited_s = 0.0
        while True:
            wait_s = await self._buckets.take(
                scope, BUCKET, operation.cost, capacity=ASSUMED_CAPACITY, per_second=ASSUMED_PER_SECOND
            )
            if wait_s <= 0:
                return
            if waited_s + wait_s > patience_s:
                raise RateLimited(f"{operation.name}: the shop's budget is used up", retry_after_s=wait_s)
            await self._sleep(wait_s)
            waited_s += wait_s

    async def _settle(self, scope: TenantScope, reserved: float, reading: Reading) -> None:
        cost = reading.cost
        if cost is None:
            return
        try:
            await self._buckets.settle(
                scope,
                BUCKET,
                refund=reserved - (cost.actual_query_cost or 0.0),
                available=cost.throttle_status.currently_available,
                capacity=cost.throttle_status.maximum_available,
                per_second=cost.throttle_status.restore_rate,
            )
        except VouchError:
            # The call is over: what became of it must reach the caller, and time mends the bucket.
            return


def _is_doubtful(status: int) -> bool:
    """Tell whether an answer without a usable body leaves open what the shop did."""
    return status < 300 or status == 408 or status >= 500


def _raise_for(name: str, raw: RawAnswer) -> NoReturn:
    """Raise what a status that is not doubtful means: the shop did not carry the operation out."""
    if raw.status == 429:
        raise RateLimited(f"{name}: too many requests", retry_after_s=_retry_after_s(raw.retry_after))
    raise IntegrationError(f"{name}: the shop answered {raw.status}")


def _retry_after_s(header: str) -> float:
    try:
        return min(MAX_RETRY_AFTER_S, max(0.1, float(header)))
    except ValueError:
        return 1.0
