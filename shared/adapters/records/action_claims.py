"""Claims on actions in the store: the single use of a grant, and what came of the call it allowed.

A grant is consumed, the action marked as begun and the lane's fence held against the grant's in one batch, before
anything is called; the end of a call and the freeing of its lane are one batch too. Source: AX-02…04, design §9.
"""

import asyncio
from typing import Final

from shared.adapters.records.action_changes import finished, started
from shared.adapters.records.action_rows import CAS_ATTEMPTS, GrantRow, create, from_row, replace_action
from shared.adapters.records.lane import LaneRecords, put_lane
from shared.domain.actions import RULES, SETTLED, Action, ActionOp, ActionState, Effect
from shared.domain.errors import AlreadyExists, AuthorityError, NotFound, Unavailable, VersionConflict
from shared.domain.lanes import leave, may_start
from shared.domain.verified import VerifiedGrant
from shared.ports.documents import CustomerScope, Operation

_LEAVING: Final = SETTLED | {ActionState.UNCLEAR}
"""States in which an action has no business in the lane: it is over, or a person's."""


class Claiming(LaneRecords):
    """Implements ActionClaims."""

    async def start(self, scope: CustomerScope, verified: VerifiedGrant) -> Action:
        """Consume the grant and write that the call begins, in one batch.

        Raises: AuthorityError when the grant was consumed, is not live, is not for the action as it is now, or its
        lane was given on; Unavailable when nothing could be written.
        """
        grant = verified.grant
        if (grant.tenant_id, grant.account_id) != (scope.tenant_id, scope.customer_id):
            raise AuthorityError(f"grant {grant.grant_id!r} is for another account")
        consumed = GrantRow(
            id=f"grant:{grant.grant_id}",
            tenant_id=scope.tenant_id,
            customer_id=scope.customer_id,
            action_id=grant.action_id,
        )
        for _ in range(CAS_ATTEMPTS):
            stored, (stored_lane, lane) = await asyncio.gather(
                self._read(scope, f"action:{grant.action_id}"), self._lane(scope)
            )
            if stored is None:
                raise AuthorityError(f"grant {grant.grant_id!r} is for an action that does not exist")
            now = self._clock.now()
            action = started(from_row(stored), grant, now)
            operations: list[Operation] = [create(consumed), replace_action(stored, action)]
            if RULES[action.type].needs_lane:
                if not may_start(lane, action.action_id, grant.fence, now):
                    raise AuthorityError(f"the lane of grant {grant.grant_id!r} was given on or is running out")
                # Written unchanged: from here to the commit nobody else can take it.
                operations.append(put_lane(stored_lane, lane))
            try:
                await self._batch(scope, *operations)
            except AlreadyExists as error:
                raise AuthorityError(f"grant {grant.grant_id!r} was consumed before") from error
            except (VersionConflict, NotFound):
                continue
            return action
        raise Unavailable(f"action {grant.action_id!r} is changing too fast to start")

    async def finish(
        self,
        scope: CustomerScope,
        action_id: str,
        op: ActionOp,
        *,
        grant_id: str,
        effect: Effect | None = None,
        reason: str = "",
    ) -> Action:
        """Write what came of the start that consumed `grant_id`, in one batch with leaving the lane when it is over.

        An action whose start was undone keeps its lane: its call may still be under way, and its turn is not over. The
        rules are `action_changes.finished`. Raises: NotFound; StalenessError; SchemaError; Unavailable.
        """
        for _ in range(CAS_ATTEMPTS):
            stored, (stored_lane, lane) = await asyncio.gather(
                self._read(scope, f"action:{action_id}"), self._lane(scope)
            )
            if stored is None:
                raise NotFound(f"action {action_id!r} does not exist")
            current = from_row(stored)
            action = finished(current, op, grant_id, effect, reason, self._clock.now())
            if action is None:
                return current
            operations: list[Operation] = [replace_action(stored, action)]
            left = leave(lane, action_id)
            if stored_lane is not None and action.state in _LEAVING and left != lane:
                operations.append(put_lane(stored_lane, left))
            try:
                await self._batch(scope, *operations)
            except (VersionConflict, NotFound):
                continue
            return action
        raise Unavailable(f"action {action_id!r} is changing too fast to finish")
