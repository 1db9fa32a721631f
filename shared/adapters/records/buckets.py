"""Token buckets as documents: one small row a tenant and bucket, changed by compare-and-swap. Implements TokenBucket.

Shared by all instances, so it trusts their clocks: a clock that runs ahead of the row's grants what the skew refills,
once. A row that vanished (its time to live is the time a full refill takes) reads as a full bucket, which it is.
Source: AX-04, RK-02, design §6 row `inbox` (short-lived working rows of one tenant).
"""

import math
from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import AlreadyExists, NotFound, SchemaError, VersionConflict
from shared.domain.ids import TenantId
from shared.domain.wire_model import Wire
from shared.ports.clock import Clock
from shared.ports.documents import Container, Documents, Stored, TenantScope

CAS_ATTEMPTS: Final = 8
"""Times a change is tried against others' changes of the same bucket. Value ours."""
CONTENDED_WAIT_S: Final = 0.05
"""Seconds to wait when every attempt met another's change. Value ours: a few round trips to the store."""
LEAST_WAIT_S: Final = 0.005
"""Shortest wait asked for: less is not worth a timer, and below a microsecond no clock would move. Value ours."""
MIN_TTL_S: Final = 60
"""Shortest life of a row, so that clocks a little apart do not lose it early. Unit: seconds. Value ours."""
LEVEL_GRAIN: Final = 1.0
"""Smallest correction worth a write. Unit: tokens. Value ours."""


class _BucketRow(Wire):
    """The level at a moment; what it is now follows from the time passed."""

    id: str
    """`bucket:{name}`"""
    kind: str = "bucket"
    tenant_id: TenantId
    level: float
    at: datetime
    capacity: float
    per_second: float
    is_reported: bool = False
    """Capacity and rate were told by the other side and overrule what a caller assumes."""


class BucketRecords:
    """Buckets of every tenant."""

    def __init__(self, documents: Documents, *, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def take(self, scope: TenantScope, name: str, cost: float, *, capacity: float, per_second: float) -> float:
        """Take `cost` tokens and return 0.0, or take none and return the seconds to wait before asking again.

        Raises: SchemaError for a cost below zero, or a capacity or rate that is not above it.
        """
        _check(cost, capacity, per_second)
        for _ in range(CAS_ATTEMPTS):
            stored, row = await self._refilled(scope, name, capacity, per_second)
            needed = min(cost, row.capacity)
            if row.level < needed:
                return max(LEAST_WAIT_S, (needed - row.level) / row.per_second)
            if await self._put(scope, stored, row.model_copy(update={"level": row.level - cost})):
                return 0.0
        return CONTENDED_WAIT_S

    async def settle(
        self, scope: TenantScope, name: str, *, refund: float, available: float, capacity: float, per_second: float
    ) -> None:
        """Give back what was not used (or take what was used beside) and take over what the other side reports.

        Gives up silently when others change the bucket all the time: their reports are as good.
        """
        _check(0.0, capacity, per_second)
        for _ in range(CAS_ATTEMPTS):
            stored, row = await self._refilled(scope, name, capacity, per_second)
            settled = row.model_copy(
                update={
                    "level": min(row.level + refund, available, capacity),
                    "capacity": capacity,
                    "per_second": per_second,
                    "is_reported": True,
                }
            )
            is_same_size = (row.capacity, row.per_second, row.is_reported) == (capacity, per_second, True)
            if is_same_size and abs(settled.level - row.level) < LEVEL_GRAIN:
                return
            if await self._put(scope, stored, settled):
                return

    async def _refilled(
        self, scope: TenantScope, name: str, capacity: float, per_second: float
    ) -> tuple[Stored | None, _BucketRow]:
        """Return the row as stored and as it stands now."""
        now = self._clock.now()
        id = f"bucket:{name}"
        stored = await self._documents.read(Container.INBOX, scope, scope.tenant_id, id)
        if stored is None:
            return None, _BucketRow(
                id=id, tenant_id=scope.tenant_id, level=capacity, at=now, capacity=capacity, per_second=per_second
            )
        row = from_stored(_BucketRow, stored)
        if not row.is_reported:
            row = row.model_copy(update={"capacity": capacity, "per_second": per_second})
        # Another instance's clock may be ahead: then no time has passed, and none passes twice.
        passed_s = max(0.0, (now - row.at).total_seconds())
        level = min(row.capacity, row.level + passed_s * row.per_second)
        return stored, row.model_copy(update={"level": level, "at": max(now, row.at)})

    async def _put(self, scope: TenantScope, stored: Stored | None, row: _BucketRow) -> bool:
        document = to_document(row)
        ttl_s = max(MIN_TTL_S, math.ceil((row.capacity - row.level) / row.per_second) + 1)
        try:
            if stored is None:
                await self._documents.create(Container.INBOX, scope, scope.tenant_id, document, ttl_s=ttl_s)
            else:
                await self._documents.replace(
                    Container.INBOX, scope, scope.tenant_id, document, etag=stored.etag, ttl_s=ttl_s
                )
        except (AlreadyExists, VersionConflict, NotFound):
            return False
        return True


def _check(amount: float, capacity: float, per_second: float) -> None:
    if not (amount >= 0 and capacity > 0 and per_second > 0):
        raise SchemaError("a bucket needs an amount of at least 0, and a capacity and rate above 0")
