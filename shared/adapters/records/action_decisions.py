"""Decisions about actions in the store: what a request means, and what was decided about it.

One request means one action for ever, and two requests for the same lines at once mean one action: the row of their
series moves by its ETag in the batch that creates the action. Source: AX-02, AX-03, design §9 "Approvals", fault 072.
"""

import asyncio

from shared.adapters.records.action_changes import Details, asked_again, decided, found, held, told_of
from shared.adapters.records.action_rows import (
    CAS_ATTEMPTS,
    ActionRows,
    RequestRow,
    SeriesRow,
    create,
    from_row,
    replace_action,
    to_row,
)
from shared.adapters.records.codec import from_stored, to_document
from shared.domain.actions import (
    SETTLED,
    Action,
    ActionOp,
    ActionState,
    Asker,
    Effect,
    Proposal,
    new_action_id,
    series_id,
)
from shared.domain.errors import AlreadyExists, NotFound, Unavailable, VersionConflict
from shared.domain.ids import CaseId, ConversationId, MessageId, digest
from shared.domain.money import Money
from shared.ports.documents import Create, CustomerScope, Replace, Stored
from shared.ports.writers import ActionRequest


class Deciding(ActionRows):
    """Implements ActionDecisions."""

    async def requested(
        self, scope: CustomerScope, conversation: ConversationId, message: MessageId, ordinal_of: str
    ) -> Action | None:
        """Return the action an earlier run of this very request asked for, or None."""
        known = await self._read(scope, _request_id(conversation, message, ordinal_of))
        return None if known is None else await self.get(scope, from_stored(RequestRow, known).action_id)

    async def request(self, scope: CustomerScope, asked: ActionRequest, ordinal_of: str) -> Action:
        """Return the action this request means, created as pending when it is new.

        The request and its action, new or met, are written in one batch. Raises: Unavailable after CAS_ATTEMPTS races.
        """
        request_id = _request_id(asked.conversation_id, asked.message_id, ordinal_of)
        series = series_id(scope.tenant_id, scope.customer_id, asked.proposal)
        for _ in range(CAS_ATTEMPTS):
            known, newest = await asyncio.gather(self._read(scope, request_id), self._read(scope, f"series:{series}"))
            if known is not None:
                action_id = from_stored(RequestRow, known).action_id
                action = await self.get(scope, action_id)
                if action is None:
                    raise NotFound(f"action {action_id!r} is no longer kept")
                return action
            try:
                return await self._file(scope, asked, request_id, newest)
            except (AlreadyExists, VersionConflict, NotFound):
                continue
        raise Unavailable(f"series {series!r} is changing too fast")

    async def decide(
        self,
        scope: CustomerScope,
        action_id: str,
        op: ActionOp,
        *,
        reason: str,
        amount: Money | None = None,
        by: str = "",
        policy_version: int | None = None,
        proposal: Proposal | None = None,
        case: CaseId | None = None,
        starts: int = 0,
    ) -> Action:
        """Apply approve, refuse, return_to_desk or expire by compare-and-swap; see `action_changes.decided`.

        Raises: NotFound; StalenessError; AuthorityError; SchemaError.
        """
        details = Details(reason, amount, by, policy_version, proposal, case, starts)
        return await self._change(scope, action_id, lambda current: decided(current, op, details, self._clock.now()))

    async def found(self, scope: CustomerScope, action_id: str, *, by: str, effect: Effect | None) -> Action:
        """Write what a person found of an unclear action; see `action_changes.found`.

        Raises: NotFound; StalenessError; AuthorityError.
        """
        return await self._change(scope, action_id, lambda current: found(current, by, effect, self._clock.now()))

    async def mark_cased(self, scope: CustomerScope, action_id: str, case: CaseId) -> None:
        """Record that the action's approval case is in the queue. Raises: NotFound."""
        await self._change(
            scope,
            action_id,
            lambda current: None if current.case_id == case else current.model_copy(update={"case_id": case}),
        )

    async def mark_told(
        self,
        scope: CustomerScope,
        action_id: str,
        *,
        told: ActionState | None = None,
        only: ConversationId | None = None,
    ) -> None:
        """Record that the customer and the desk know how the action ended. Raises: NotFound.

        The rules are `action_changes.told_of`.
        """
        await self._change(scope, action_id, lambda current: told_of(current, told, only))

    async def hold(self, scope: CustomerScope, action_id: str) -> None:
        """Record that a conversation cannot be told yet, and when to try again. Raises: NotFound."""
        await self._change(scope, action_id, lambda current: held(current, self._clock.now()))

    async def _file(self, scope: CustomerScope, asked: ActionRequest, request_id: str, newest: Stored | None) -> Action:
        """Write the request down with the action it means. Raises: AlreadyExists, VersionConflict: read anew."""
        ordinal = 1
        if newest is not None:
            row = from_stored(SeriesRow, newest)
            stored = await self._read(scope, f"action:{row.action_id}")
            current = None if stored is None else from_row(stored)
            if stored is not None and current is not None and current.state not in SETTLED:
                # In one batch with the row as it was read: an action that ends meanwhile has not promised anybody more.
                again = asked_again(current, Asker(conversation_id=asked.conversation_id, message_id=asked.message_id))
                await self._batch(scope, create(_request_row(scope, request_id, again)), replace_action(stored, again))
                return again
            ordinal = row.ordinal + 1
        action = self._new_action(scope, asked, ordinal)
        series = to_document(_series_row(scope, action))
        await self._batch(
            scope,
            create(_request_row(scope, request_id, action)),
            Create(to_row(action)),
            Create(series) if newest is None else Replace(series, newest.etag),
        )
        return action

    def _new_action(self, scope: CustomerScope, asked: ActionRequest, ordinal: int) -> Action:
        now = self._clock.now()
        action_id = new_action_id(scope.tenant_id, scope.customer_id, asked.proposal, ordinal)
        return Action(
            id=f"action:{action_id}",
            tenant_id=scope.tenant_id,
            customer_id=scope.customer_id,
            action_id=action_id,
            type=asked.proposal.type,
            intent=asked.intent,
            ordinal=ordinal,
            proposal=asked.proposal,
            state=ActionState.PENDING,
            reason=asked.reason,
            amount=asked.amount,
            policy_version=asked.policy_version,
            conversation_id=asked.conversation_id,
            message_id=asked.message_id,
            severity=asked.severity,
            requested_at=now,
            updated_at=now,
            expires_at=asked.expires_at,
        )


def _request_id(conversation: ConversationId, message: MessageId, ordinal_of: str) -> str:
    return f"request:{digest(conversation, message, ordinal_of)}"


def _request_row(scope: CustomerScope, request_id: str, action: Action) -> RequestRow:
    return RequestRow(
        id=request_id, tenant_id=scope.tenant_id, customer_id=scope.customer_id, action_id=action.action_id
    )


def _series_row(scope: CustomerScope, action: Action) -> SeriesRow:
    return SeriesRow(
        id=f"series:{series_id(scope.tenant_id, scope.customer_id, action.proposal)}",
        tenant_id=scope.tenant_id,
        customer_id=scope.customer_id,
        ordinal=action.ordinal,
        action_id=action.action_id,
    )
