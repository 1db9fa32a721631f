"""Case records: the tenant's human queue. Every change is conditional on the case's ETag. Source: HD-01, RT-07."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document, to_moment
from shared.domain.case import Case, CaseStatus
from shared.domain.errors import AlreadyExists, NotFound, StalenessError, VersionConflict
from shared.domain.ids import CaseId
from shared.domain.text import MaskedText
from shared.ports.clock import Clock
from shared.ports.documents import Container, Documents, PlatformScope, Query, Stored, TenantScope, Where

CHANGE_ATTEMPTS: Final = 8
"""Times a case is read anew when somebody changed it meanwhile, before that is a conflict. Value ours."""

_ALLOWED: Final[dict[CaseStatus, frozenset[CaseStatus]]] = {
    CaseStatus.OPEN: frozenset({CaseStatus.CLAIMED, CaseStatus.RESOLVED, CaseStatus.RELEASED}),
    CaseStatus.CLAIMED: frozenset({CaseStatus.RESOLVED, CaseStatus.RELEASED}),
    CaseStatus.RELEASED: frozenset(),
    CaseStatus.RESOLVED: frozenset(),
}
"""Which status may follow which."""


Update = dict[str, object] | None
"""What a change writes to a case; None leaves it as it is."""


class CaseRecords:
    """Cases of every tenant, one partition a tenant."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def open(self, scope: TenantScope, case: Case) -> Case:
        """Create the case; the same id returns the one that exists."""
        try:
            stored = await self._documents.create(Container.CASES, scope, scope.tenant_id, to_document(case))
        except AlreadyExists:
            return (await self.get(scope, case.id)) or case
        return from_stored(Case, stored)

    async def get(self, scope: TenantScope, case: CaseId) -> Case | None:
        """Return the case, or None."""
        stored = await self._documents.read(Container.CASES, scope, scope.tenant_id, case)
        return from_stored(Case, stored) if stored else None

    async def queue(
        self, scope: TenantScope, statuses: tuple[CaseStatus, ...], limit: int, continuation: str | None = None
    ) -> tuple[tuple[Case, ...], str | None]:
        """Return cases with these statuses: most severe first, oldest first within a severity."""
        page = await self._documents.query(
            Container.CASES,
            scope,
            Query(
                partition=scope.tenant_id,
                where=(Where("kind", "=", "case"), Where("status", "in", [s.value for s in statuses])),
                order_by="opened_at",
                limit=limit,
                continuation=continuation,
            ),
        )
        cases = sorted((from_stored(Case, s) for s in page.items), key=lambda c: (c.severity_rank, c.opened_at))
        return tuple(cases), page.continuation

    async def claim(self, scope: TenantScope, case: CaseId, person: str) -> Case:
        """Give the case to one person; claiming one's own again changes nothing.

        Raises: NotFound; StalenessError when somebody else has it or it is over.
        """

        def claimed(current: Case) -> Update:
            if current.status is CaseStatus.CLAIMED and current.claimed_by == person:
                return None
            if CaseStatus.CLAIMED not in _ALLOWED[current.status]:
                raise StalenessError(f"case {case!r} is {current.status.value}")
            return {"status": CaseStatus.CLAIMED, "claimed_by": person, "claimed_at": self._clock.now()}

        return (await self._change(scope, case, claimed))[0]

    async def close(self, scope: TenantScope, case: CaseId, status: CaseStatus) -> Case:
        """Resolve or release the case; repeating it changes nothing. Raises: NotFound, StalenessError."""

        def closed(current: Case) -> Update:
            if current.status is status:
                return None
            if status not in _ALLOWED[current.status]:
                raise StalenessError(f"case {case!r} is {current.status.value}")
            return {"status": status, "closed_at": self._clock.now()}

        return (await self._change(scope, case, closed))[0]

    async def attach_draft(self, scope: TenantScope, case: CaseId, draft: MaskedText) -> None:
        """Put a late draft on the case, for the person only; a case that is over is left alone (fault 004)."""
        await self._change(scope, case, lambda current: None if current.closed_at is not None else {"draft": draft})

    async def mark_paged(self, scope: TenantScope, case: CaseId) -> bool:
        """Record that on-call was paged; False when it was before or the case is no longer open."""

        def paged(current: Case) -> Update:
            return None if current.is_paged or current.status is not CaseStatus.OPEN else {"is_paged": True}

        return (await self._change(scope, case, paged))[1]

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

    async def _current(self, scope: TenantScope, case: CaseId) -> tuple[Stored, Case]:
        stored = await self._documents.read(Container.CASES, scope, scope.tenant_id, case)
        if stored is None:
            raise NotFound(f"case {case!r} does not exist")
        return stored, from_stored(Case, stored)

    async def _change(self, scope: TenantScope, case: CaseId, decide: Callable[[Case], Update]) -> tuple[Case, bool]:
        """Apply what `decide` makes of the case as it is now; return it, and whether anything was written.

        Raises: NotFound; StalenessError from `decide`, or after CHANGE_ATTEMPTS lost races.
        """
        for _ in range(CHANGE_ATTEMPTS):
            stored, current = await self._current(scope, case)
            update = decide(current)
            if update is None:
                return current, False
            changed = current.model_copy(update=update)
            try:
                await self._documents.replace(
                    Container.CASES, scope, scope.tenant_id, to_document(changed), etag=stored.etag
                )
            except VersionConflict:
                continue
            return changed, True
        raise StalenessError(f"case {case!r} is changing too fast")
