"""Bulk queries: started, watched, and read to the end from the file the shop leaves behind.

A result is whole only when the shop says it completed and as many lines came as it counted; everything less is told at
the end, after what could be read. Source: SH-02, apis.md §1.12.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.operations import Answer, Operation
from shared.adapters.shopify.transport import ShopTransport
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, Refused, Unavailable, VouchError
from shared.ports.documents import TenantScope

PATIENCE_S: Final = 60.0
"""Seconds a call of a bulk run waits for the shop's budget: nobody is waiting for the answer. Value ours."""
FIRST_LOOK_S: Final = 1.0
"""Seconds to the first look at a started operation; each further wait is twice the one before. Value ours."""
LONGEST_LOOK_S: Final = 30.0
"""Longest wait between two looks. Unit: seconds. Value ours."""
DEADLINE_S: Final = 400.0
"""Seconds an operation may take before it is called off. Value ours: two thirds of a function's time (host.json)."""
IDLE_TIMEOUT_S: Final = 30.0
"""Seconds a download may stand still. Value ours."""
MAX_LINE_BYTES: Final = 4 * 1024 * 1024
"""Longest line of a result. Value ours: a product's description has at most 512 KB."""
MAX_RESULT_BYTES: Final = 4 * 1024 * 1024 * 1024
"""Largest result read. Value ours: 2 KB a line and two million of them."""
BATCH: Final = 500
"""Most lines handed on at once. Value ours."""


class BulkStatus(StrEnum):
    """Where an operation stands. Source: shopify.dev BulkOperationStatus, 2026-10."""

    CANCELED = "CANCELED"
    CANCELING = "CANCELING"
    COMPLETED = "COMPLETED"
    CREATED = "CREATED"
    EXPIRED = "EXPIRED"
    FAILED = "FAILED"
    RUNNING = "RUNNING"


UNDER_WAY: Final = frozenset({BulkStatus.CREATED, BulkStatus.RUNNING, BulkStatus.CANCELING})
"""States that end by themselves."""


class BulkNode(Answer):
    """An operation."""

    id: str
    status: BulkStatus
    error_code: str | None = None
    object_count: int = 0
    url: str | None = None
    partial_data_url: str | None = None


class _Payload(Answer):
    bulk_operation: BulkNode | None = None


class _Started(Answer):
    bulk_operation_run_query: _Payload


class _Looked(Answer):
    bulk_operation: BulkNode | None = None


class _Cancelled(Answer):
    bulk_operation_cancel: _Payload


_FIELDS: Final = "id status errorCode objectCount url partialDataUrl"
START: Final = Operation(
    "bulkOperationRunQuery",
    "mutation Start($query: String!) { bulkOperationRunQuery(query: $query, groupObjects: false)"
    f" {{ bulkOperation {{ {_FIELDS} }} userErrors {{ field message }} }} }}",
    _Started,
    cost=10.0,
    effect="bulkOperation",
)
LOOK: Final = Operation(
    "bulkOperation", f"query Look($id: ID!) {{ bulkOperation(id: $id) {{ {_FIELDS} }} }}", _Looked, cost=1.0
)
CANCEL: Final = Operation(
    "bulkOperationCancel",
    f"mutation Cancel($id: ID!) {{ bulkOperationCancel(id: $id)"
    f" {{ bulkOperation {{ {_FIELDS} }} userErrors {{ field message }} }} }}",
    _Cancelled,
    cost=10.0,
)


@dataclass(slots=True)
class BulkQueries:
    """Bulk queries of every tenant's shop."""

    client: ShopifyClient
    transport: ShopTransport
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self, scope: TenantScope, query: str) -> BulkNode:
        """Start the query and return its operation once it has ended, well or not.

        Raises: Unavailable (also when it takes too long and is called off), RateLimited, Refused, IntegrationError.
        """
        operation = await self._start(scope, query)
        waited_s, wait_s = 0.0, FIRST_LOOK_S
        while operation.status in UNDER_WAY:
            if waited_s >= DEADLINE_S:
                await self._call_off(scope, operation.id)
                raise Unavailable("a bulk query took too long")
            await self.sleep(wait_s)
            waited_s, wait_s = waited_s + wait_s, min(LONGEST_LOOK_S, 2 * wait_s)
            operation = await self._look(scope, operation)
        return operation

    async def lines(self, operation: BulkNode) -> AsyncIterator[list[bytes]]:
        """Yield the lines of an ended operation in batches: all of them, or those the shop had when it failed.

        Raises: Unavailable when the download breaks off; IntegrationError for a line or a result without bounds.
        """
        url = operation.url or operation.partial_data_url
        if url is None:
            return
        rest, size, batch = b"", 0, list[bytes]()
        async with self.transport.download(url, idle_timeout_s=IDLE_TIMEOUT_S) as pieces:
            async for piece in pieces:
                size += len(piece)
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > MAX_LINE_BYTES or size > MAX_RESULT_BYTES:
                    raise IntegrationError("a bulk result is larger than anything expected")
                batch.extend(line for line in lines if line.strip())
                if len(batch) >= BATCH:
                    yield batch
                    batch = []
        if rest.strip():
            batch.append(rest)
        if batch:
            yield batch

    async def _start(self, scope: TenantScope, query: str) -> BulkNode:
        try:
            started = await self.client.mutate(scope, START, {"query": query}, patience_s=PATIENCE_S)
        except OutcomeUnknown:
            # At worst an operation nobody reads runs beside the next one; the shop allows five.
            raise Unavailable("the shop did not say whether a bulk query started") from None
        if started.bulk_operation_run_query.bulk_operation is None:
            raise IntegrationError("the shop started no bulk query")
        return started.bulk_operation_run_query.bulk_operation

    async def _look(self, scope: TenantScope, operation: BulkNode) -> BulkNode:
        try:
            looked = await self.client.query(scope, LOOK, {"id": operation.id}, patience_s=PATIENCE_S)
        except (Unavailable, RateLimited):
            # The operation runs on whether or not it is looked at.
            return operation
        if looked.bulk_operation is None:
            raise IntegrationError("the shop knows nothing of a bulk query it started")
        return looked.bulk_operation

    async def _call_off(self, scope: TenantScope, id: str) -> None:
        try:
            await self.client.mutate(scope, CANCEL, {"id": id}, patience_s=PATIENCE_S)
        except VouchError:
            # It ends by itself within the shop's own bounds; what is lost is one of five places.
            return


def check_complete(operation: BulkNode, lines: int) -> None:
    """Say so when the lines that came are not the whole result. Raises: Refused, Unavailable."""
    if operation.status is not BulkStatus.COMPLETED:
        code = operation.error_code or operation.status.value
        if code == "ACCESS_DENIED":
            raise Refused("a bulk query failed for want of a scope", codes=(code,))
        raise Unavailable(f"a bulk query ended as {operation.status.value}")
    if lines != operation.object_count:
        raise Unavailable(f"a bulk result broke off after {lines} of {operation.object_count} objects")
