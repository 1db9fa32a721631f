"""Ports that write to our own stores; of the agents only the executor and the recorder hold one. Source: design §2."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.domain.actions import Action, ActionOp, ActionState, Effect, Proposal
from shared.domain.ids import CaseId, ConversationId, MessageId
from shared.domain.intents import CustomerIntent
from shared.domain.lanes import LaneStanding
from shared.domain.ledger import LedgerEntry, TurnRecord
from shared.domain.money import Money
from shared.domain.verified import VerifiedGrant
from shared.ports.documents import CustomerScope, TenantScope


class LedgerWriter(Protocol):
    """The append-only interaction ledger (ME-06)."""

    async def append(self, scope: TenantScope, entry: LedgerEntry) -> bool:
        """Append the entry to its conversation's chain; False when an entry of this turn is there already."""
        ...


class AnalyticsWriter(Protocol):
    """Turn records behind the KPIs (AN-01)."""

    async def record(self, scope: TenantScope, record: TurnRecord) -> bool:
        """Write the record; False when this turn was recorded before."""
        ...


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """A proposal somebody asks for, before it is known as an action."""

    proposal: Proposal
    intent: CustomerIntent | None
    conversation_id: ConversationId
    message_id: MessageId
    severity: str
    amount: Money | None
    """What the decision is about."""
    reason: str
    """Why it needs a person, or why it does not."""
    policy_version: int
    expires_at: datetime


class ActionDecisions(Protocol):
    """Where decisions about actions are written; the supervisor's activity and the desk hold it, never the executor."""

    async def requested(
        self, scope: CustomerScope, conversation: ConversationId, message: MessageId, ordinal_of: str
    ) -> Action | None:
        """Return the action an earlier run of this very request asked for, or None."""
        ...

    async def request(self, scope: CustomerScope, asked: ActionRequest, ordinal_of: str) -> Action:
        """Return the action this request means, created as pending when it is new.

        The same request (conversation, message and `ordinal_of`, its place in the turn) always means the same action;
        another request for the same lines means the one that is not over yet, or else the next ordinal (fault 072).
        Who asked for the one that is not over is remembered with it, to be told of its end.
        """
        ...

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
        """Apply approve, refuse, return_to_desk or expire by compare-and-swap; repeating one that happened is success.

        `return_to_desk` of an action that is there writes down what is given: reason, amount, case. `proposal`
        completes what is asked (a person filled in an address); the action's id stays. `starts` is how often an
        approved action had been started when the decision was prepared; a start since may have done something.
        Raises: NotFound; StalenessError when the action's life does not allow it, it was started since, or an approval
        names another amount than the one that waits; AuthorityError for an approval without `by`; SchemaError for a
        proposal about something else.
        """
        ...

    async def found(self, scope: CustomerScope, action_id: str, *, by: str, effect: Effect | None) -> Action:
        """Write what a person found of an unclear action: its effect, or None when it was not done.

        Its end has to be told anew, whatever the desk was told meanwhile; finding the same again is success.
        Raises: NotFound; StalenessError when it is not unclear and has not ended so; AuthorityError without `by`.
        """
        ...

    async def mark_cased(self, scope: CustomerScope, action_id: str, case: CaseId) -> None:
        """Record that the action's approval case is in the queue."""
        ...

    async def mark_told(
        self,
        scope: CustomerScope,
        action_id: str,
        *,
        told: ActionState | None = None,
        only: ConversationId | None = None,
    ) -> None:
        """Record that the customer and the desk know how the action ended.

        With `told`, the state they were told of: an action that has moved on since is still to be told. With `only`,
        just that conversation has been told: nothing is recorded while another one waits to hear of it.
        """
        ...

    async def hold(self, scope: CustomerScope, action_id: str) -> None:
        """Record that a conversation cannot be told yet: a person has it. The sweeper tries again, ever more rarely."""
        ...


class ActionClaims(Protocol):
    """What the executor needs of the store: the lane, the single use of a grant, and what came of the call."""

    async def take_lane(self, scope: CustomerScope, action_id: str, holder: str) -> LaneStanding:
        """Ask for the account's lane, first come first served."""
        ...

    async def free_lane(self, scope: CustomerScope, action_id: str, fence: int) -> None:
        """Give the lane back; nothing happens when somebody else has it by now."""
        ...

    async def start(self, scope: CustomerScope, verified: VerifiedGrant) -> Action:
        """Consume the grant and write that the call begins, in one batch; before anything is called (AX-03).

        Raises: AuthorityError when the grant was consumed, the action's life does not allow it, or the lane's fence is
        no longer the grant's.
        """
        ...

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
        """Write what came of the start that consumed `grant_id`: confirm, refuse, undo_start or doubt.

        A confirmation counts whatever happened meanwhile; anything else leaves a later start alone. Repeating is
        success; the action is returned as it then stands. Once it is over, or unclear, it has left the lane; after
        undo_start it keeps it for its next start, as long as the lease lasts.
        Raises: NotFound; StalenessError when the action's life does not allow it.
        """
        ...
