"""Case records: what happens to a case. Every change is conditional on its ETag. Source: HD-01, PR-04, design §9."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from shared.adapters.records.case_queue import CaseQueue, placed
from shared.adapters.records.codec import from_stored, to_document
from shared.domain.case import Case, CaseStatus
from shared.domain.deltas import ActionResult
from shared.domain.errors import AlreadyExists, NotFound, StalenessError, VersionConflict
from shared.domain.ids import CaseId
from shared.domain.text import MaskedText
from shared.ports.documents import Container, Stored, TenantScope

CHANGE_ATTEMPTS: Final = 8
"""Times a case is read anew when somebody changed it meanwhile, before that is a conflict. Value ours."""

_ALLOWED: Final[dict[CaseStatus, frozenset[CaseStatus]]] = {
    CaseStatus.OPEN: frozenset({CaseStatus.CLAIMED, CaseStatus.RESOLVED, CaseStatus.RELEASED}),
    CaseStatus.CLAIMED: frozenset({CaseStatus.OPEN, CaseStatus.RESOLVED, CaseStatus.RELEASED}),
    CaseStatus.RELEASED: frozenset(),
    CaseStatus.RESOLVED: frozenset(),
}
"""Which status may follow which."""


Update = dict[str, object] | None
"""What a change writes to a case; None leaves it as it is."""


class CaseRecords(CaseQueue):
    """Cases of every tenant, one partition a tenant; reading the queue is inherited."""

    async def open(self, scope: TenantScope, case: Case) -> Case:
        """Create the case; the same id returns the one that exists."""
        try:
            stored = await self._documents.create(Container.CASES, scope, scope.tenant_id, to_document(placed(case)))
        except AlreadyExists:
            return (await self.get(scope, case.id)) or case
        self._count_opened(scope)
        return from_stored(Case, stored)

    async def get(self, scope: TenantScope, case: CaseId) -> Case | None:
        """Return the case, or None."""
        stored = await self._documents.read(Container.CASES, scope, scope.tenant_id, case)
        return from_stored(Case, stored) if stored else None

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

    async def reopen(self, scope: TenantScope, case: CaseId, reason: str, *, due_at: datetime) -> Case:
        """Put a claimed case back into the queue at its old place, with a new due time and reason.

        An open one keeps who may claim it and its due time and gets the reason; repeating changes nothing.
        Raises: NotFound; StalenessError when it is over.
        """

        def reopened(current: Case) -> Update:
            if current.status is CaseStatus.OPEN:
                return None if current.reason == reason else {"reason": reason}
            if CaseStatus.OPEN not in _ALLOWED[current.status]:
                raise StalenessError(f"case {case!r} is {current.status.value}")
            return {
                "status": CaseStatus.OPEN,
                "reason": reason,
                "claimed_by": None,
                "claimed_at": None,
                "is_paged": False,
                "due_at": due_at,
            }

        return (await self._change(scope, case, reopened))[0]

    async def attach_draft(self, scope: TenantScope, case: CaseId, draft: MaskedText) -> None:
        """Put a late draft on the case, for the person only; a case that is over is left alone (fault 004)."""
        await self._change(scope, case, lambda current: None if current.closed_at is not None else {"draft": draft})

    async def attach_outcome(self, scope: TenantScope, case: CaseId, outcome: ActionResult) -> None:
        """Show on the case how an action ended, in place of how it stood; a case that is over is left alone.

        Raises: NotFound.
        """

        def shown(current: Case) -> Update:
            if current.closed_at is not None or outcome in current.proposed:
                return None
            others = tuple(known for known in current.proposed if known.action_id != outcome.action_id)
            return {"proposed": (*others, outcome)}

        await self._change(scope, case, shown)

    async def mark_paged(self, scope: TenantScope, case: CaseId) -> bool:
        """Record that on-call was paged; False when it was before or the case is no longer open."""

        def paged(current: Case) -> Update:
            return None if current.is_paged or current.status is not CaseStatus.OPEN else {"is_paged": True}

        return (await self._change(scope, case, paged))[1]

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
            changed = placed(current.model_copy(update=update))
            try:
                await self._documents.replace(
                    Container.CASES, scope, scope.tenant_id, to_document(changed), etag=stored.etag
                )
            except VersionConflict:
                continue
            self._forget_count(scope)
            return changed, True
        raise StalenessError(f"case {case!r} is changing too fast")
