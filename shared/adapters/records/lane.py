"""The lane of an account in the store: taken, waited for and given back by compare-and-swap. Source: AX-04, design §9.

The rules are `shared.domain.lanes`; this applies them to the one document.
"""

from shared.adapters.records.action_rows import CAS_ATTEMPTS, KEEP_S, ActionRows
from shared.adapters.records.codec import from_stored, to_document
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.lanes import POLL_S, Lane, LaneStanding, free, take
from shared.ports.documents import Create, CustomerScope, Replace, Stored


class LaneRecords(ActionRows):
    """One lane document an account."""

    async def take_lane(self, scope: CustomerScope, action_id: str, holder: str) -> LaneStanding:
        """Ask for the account's lane, first come first served; who loses every race waits like everybody else."""
        for _ in range(CAS_ATTEMPTS):
            stored, lane = await self._lane(scope)
            taken, standing = take(lane, action_id, holder, self._clock.now())
            if taken == lane:
                return standing
            try:
                await self._batch(scope, put_lane(stored, taken))
            except (AlreadyExists, VersionConflict, NotFound):
                continue
            return standing
        return LaneStanding(wait_s=POLL_S)

    async def free_lane(self, scope: CustomerScope, action_id: str, fence: int) -> None:
        """Give the lane back; nothing happens when somebody else has it by now, or when it will run out by itself."""
        for _ in range(CAS_ATTEMPTS):
            stored, lane = await self._lane(scope)
            freed = free(lane, action_id, fence)
            if freed == lane:
                return
            try:
                await self._batch(scope, put_lane(stored, freed))
            except (AlreadyExists, VersionConflict, NotFound):
                continue
            return

    async def _lane(self, scope: CustomerScope) -> tuple[Stored | None, Lane]:
        """Return the lane's document and the lane; a lane nobody ever took is free."""
        stored = await self._read(scope, "lane")
        if stored is None:
            return None, Lane(tenant_id=scope.tenant_id, customer_id=scope.customer_id)
        return stored, from_stored(Lane, stored)


def put_lane(stored: Stored | None, lane: Lane) -> Create | Replace:
    """Return the conditional write of the lane over the version read."""
    return Create(to_document(lane), KEEP_S) if stored is None else Replace(to_document(lane), stored.etag, KEEP_S)
