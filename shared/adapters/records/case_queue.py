"""The human queue as people read it: by priority over all cases of a tenant, a page at a time. Changes nothing.

A case lies under `queue_key` (tier of its severity, age, id), so a page is read from the front of a few ordered ranges
and merged, however many cases there are. A walk keeps the moment it began at: promotion near the SLA depends on it.
Source: RT-07, RK-01, PR-04, HD-01.
"""

import asyncio
import re
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.continuations import from_token, refused, to_token
from shared.adapters.records.codec import from_stored, to_moment
from shared.domain.case import Case, CaseStatus
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import TenantId, digest
from shared.domain.policy import MAX_QUEUE_CAP
from shared.domain.priority import TIER, near_at, promoted
from shared.ports.clock import Clock
from shared.ports.documents import Container, Documents, PlatformScope, Query, TenantScope, Where

COUNT_WITHIN_S: Final = 5
"""Seconds a tenant's count of waiting cases is remembered. Value ours: admission may lag by as much."""
REMEMBERED_COUNTS: Final = 2048
"""Most tenants whose count is remembered. Value ours: three times the design load of 680 tenants (SC-01)."""
LAST_TIER: Final = max(TIER.values())
"""The tier after which the queue ends."""

_AFTER: Final = re.compile(r"\d{4}-[0-9T:.+-]{27}\|[A-Za-z0-9._-]{1,64}", re.ASCII)
"""Age and id of the last case seen, as they stand in a queue key."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a walk through the queue has come."""

    as_of: datetime
    tier: int = 0
    after: str = ""
    """Age and id of the last case seen of the tier; empty before its first."""


class CaseQueue:
    """Cases of every tenant, one partition a tenant."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock
        self._counts: OrderedDict[TenantId, tuple[datetime, int, int]] = OrderedDict()

    async def queue(
        self,
        scope: TenantScope,
        statuses: tuple[CaseStatus, ...],
        limit: int,
        continuation: str | None = None,
        *,
        trigger: HumanTrigger | None = None,
    ) -> tuple[tuple[Case, ...], str | None]:
        """Return a page of the cases with these statuses by priority, and the token of the next.

        With a trigger, only the cases that trigger names. Raises: SchemaError for a foreign continuation.
        """
        asked = digest(scope.tenant_id, *sorted(statuses), "trigger", trigger or "")[:16]
        place = _Place(self._clock.now()) if continuation is None else _read_place(asked, continuation)
        found: list[tuple[int, Case]] = []
        while place.tier <= LAST_TIER and len(found) <= limit:
            wanted = limit + 1 - len(found)
            found += [(place.tier, case) for case in await self._tier(scope, statuses, trigger, place, wanted)]
            place = _Place(place.as_of, place.tier + 1)
        page = found[:limit]
        if len(found) == len(page):
            return tuple(case for _, case in page), None
        tier, last = page[-1]
        token = to_token((asked, to_moment(place.as_of), tier, _age_and_id(last)))
        return tuple(case for _, case in page), token

    async def overdue(self, now: datetime, limit: int) -> tuple[Case, ...]:
        """Return open cases of every tenant past their due time and not yet paged (sweeper)."""
        page = await self._documents.query(
            Container.CASES,
            PlatformScope("sweeper finds SLA breaches"),
            Query(
                partition=None,
                where=(
                    Where("status", "=", CaseStatus.OPEN.value),
                    Where("is_paged", "=", False),
                    Where("due_at", "<", to_moment(now)),
                ),
                limit=limit,
                reason="sweep over all tenants",
            ),
        )
        return tuple(from_stored(Case, s) for s in page.items)

    async def waiting_count(self, scope: TenantScope, cap: int) -> int:
        """Return how many cases of the tenant wait unclaimed, at most `cap` + 1: admission control asks no more.

        Remembered for COUNT_WITHIN_S, cases opened by this process meanwhile included.
        """
        now, known = self._clock.now(), self._counts.get(scope.tenant_id)
        if known is not None and now < known[0] and known[1] == cap:
            return min(known[2], cap + 1)
        where = (Where("status", "=", CaseStatus.OPEN.value),)
        count = await self._documents.count(Container.CASES, scope, Query(scope.tenant_id, where, limit=cap + 1))
        self._counts[scope.tenant_id] = (now + timedelta(seconds=COUNT_WITHIN_S), cap, count)
        self._counts.move_to_end(scope.tenant_id)
        if len(self._counts) > REMEMBERED_COUNTS:
            self._counts.popitem(last=False)
        return count

    async def approvals_waiting(self, scope: TenantScope) -> int:
        """Return how many cases of the tenant wait for a decision about an action, at most MAX_QUEUE_CAP."""
        where = (
            Where("status", "in", [CaseStatus.OPEN.value, CaseStatus.CLAIMED.value]),
            Where("named_by", "=", HumanTrigger.CEILING.value),
        )
        return await self._documents.count(Container.CASES, scope, Query(scope.tenant_id, where, limit=MAX_QUEUE_CAP))

    def _count_opened(self, scope: TenantScope) -> None:
        known = self._counts.get(scope.tenant_id)
        if known is not None:
            self._counts[scope.tenant_id] = (known[0], known[1], known[2] + 1)

    def _forget_count(self, scope: TenantScope) -> None:
        self._counts.pop(scope.tenant_id, None)

    async def _tier(
        self,
        scope: TenantScope,
        statuses: tuple[CaseStatus, ...],
        trigger: HumanTrigger | None,
        place: _Place,
        limit: int,
    ) -> list[Case]:
        """Return the next cases of one tier, oldest first."""
        named = () if trigger is None else (Where("named_by", "=", trigger.value),)
        pages = await asyncio.gather(
            *(
                self._documents.query(
                    Container.CASES,
                    scope,
                    Query(
                        partition=scope.tenant_id,
                        where=(Where("status", "=", status.value), *stream, *named),
                        order_by="queue_key",
                        limit=limit,
                    ),
                )
                for status in statuses
                for stream in _streams(place)
            )
        )
        cases = [from_stored(Case, stored) for page in pages for stored in page.items]
        return sorted(cases, key=lambda case: (case.queued_at, case.queue_id))[:limit]


def placed(case: Case) -> Case:
    """Return the case with what the queue finds it by."""
    return case.model_copy(
        update={
            "queue_key": f"{TIER[case.severity]}|{_age_and_id(case)}",
            "near_at": near_at(case),
            "named_by": case.triggers[0] if case.triggers else "",
        }
    )


def _age_and_id(case: Case) -> str:
    return f"{to_moment(case.queued_at)}|{case.queue_id}"


def _streams(place: _Place) -> list[tuple[Where, ...]]:
    """Return the conditions of the ordered ranges a tier is merged from: its own severity, and what is promoted to it.

    `~` sorts behind every character of a key.
    """
    as_of = to_moment(place.as_of)
    streams: list[tuple[Where, ...]] = []
    for rank in sorted(TIER.values()):
        bounds = (Where("queue_key", ">", f"{rank}|{place.after}"), Where("queue_key", "<", f"{rank}~"))
        if rank == promoted(rank) == place.tier:
            streams.append(bounds)
        elif rank == place.tier:
            streams.append((*bounds, Where("near_at", ">", as_of)))
        elif promoted(rank) == place.tier:
            streams.append((*bounds, Where("near_at", "<=", as_of)))
    return streams


def _read_place(asked: str, token: str) -> _Place:
    """Return the place a token names; it chooses a position only. Raises: SchemaError for any other text."""
    match from_token(token):
        case [str(said), str(as_of), int(tier), str(after)] if (
            said == asked and not isinstance(tier, bool) and 0 <= tier <= LAST_TIER and _AFTER.fullmatch(after)
        ):
            return _Place(_read_moment(as_of), tier, after)
    raise refused()


def _read_moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        is_ours = moment.utcoffset() is not None and to_moment(moment) == text
    except (ValueError, OverflowError):
        raise refused() from None
    if not is_ours:
        raise refused()
    return moment
