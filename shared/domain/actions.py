"""Actions: what may be proposed, how an action is named, and the life it has from proposal to effect.

Owns shapes and the table of lives; who may grant is `governance`, who may act is the executor. An action's id never
comes from a turn, so a repeated turn, a second turn or another channel meets the same action.
Source: AX-01…04, design §9 "Approvals", faults 070, 072.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter

from shared.domain.errors import StalenessError
from shared.domain.ids import CaseId, ConversationId, CustomerId, MessageId, OrderId, TenantId, digest
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.wire_model import Wire

MAX_PROPOSALS: Final = 3
"""Most actions one turn proposes; a longer list is a person's. Value ours."""
MAX_LINES: Final = 250
"""Most order lines one action names. Source: apis.md §1.9 (input arrays of at most 250)."""
MAX_REASON_CHARS: Final = 300
"""Longest reason shown at the desk, in words of ours. Unit: characters. Value ours."""
MAX_ASKERS: Final = 32
"""Most conversations beside the first that are told of one action's end; beyond it the one that asked longest ago is
dropped. Value ours: far more than one customer has open at once."""
APPROVAL_HOURS: Final = 72
"""Hours an action may wait for a person's decision before it expires. Value ours."""


class LineRef(Wire):
    """A line of an order and how many of it."""

    line_id: str = Field(min_length=1, max_length=128)
    quantity: int = Field(ge=1)


class Address(Wire):
    """Where a parcel goes; a person at the desk writes it, no model does."""

    recipient: str = Field(min_length=1, max_length=200)
    line1: str = Field(min_length=1, max_length=200)
    line2: str = Field(default="", max_length=200)
    city: str = Field(min_length=1, max_length=100)
    region: str = Field(default="", max_length=100)
    postal_code: str = Field(default="", max_length=20)
    country: str = Field(pattern=r"^[A-Z]{2}$")
    """ISO 3166 alpha-2."""


class _OnOrder(Wire):
    """What proposals about an order have in common."""

    order_id: OrderId
    lines: tuple[LineRef, ...] = Field(default=(), max_length=MAX_LINES)
    """Empty: the whole order."""


class RefundProposal(_OnOrder):
    """Money back the way it came."""

    type: Literal[ActionType.REFUND] = ActionType.REFUND
    amount: Money | None = None
    """What is asked; None asks for as much as is refundable."""


class CreditProposal(_OnOrder):
    """Store credit instead of money."""

    type: Literal[ActionType.CREDIT] = ActionType.CREDIT
    amount: Money | None = None


class RequestReturnProposal(_OnOrder):
    """A return the merchant still has to accept: the safer default beside a refund (apis.md §1.10)."""

    type: Literal[ActionType.REQUEST_RETURN] = ActionType.REQUEST_RETURN


class CancelOrderProposal(_OnOrder):
    """The whole order, irreversibly; its money goes back."""

    type: Literal[ActionType.CANCEL_ORDER] = ActionType.CANCEL_ORDER


class ChangeAddressProposal(_OnOrder):
    """Another delivery address; without one a person has to fill it in before approving."""

    type: Literal[ActionType.CHANGE_ADDRESS] = ActionType.CHANGE_ADDRESS
    address: Address | None = None


class ResendProposal(_OnOrder):
    """The same goods once more, free of charge."""

    type: Literal[ActionType.RESEND] = ActionType.RESEND


class TicketUpdateProposal(Wire):
    """Tags and a note of ours on the help desk's ticket."""

    type: Literal[ActionType.TICKET_UPDATE] = ActionType.TICKET_UPDATE
    tags: tuple[str, ...] = Field(default=(), max_length=20)
    note: str = Field(default="", max_length=MAX_REASON_CHARS)


class CrmNoteProposal(Wire):
    """A note on the customer's record; words of ours, never the customer's."""

    type: Literal[ActionType.CRM_NOTE] = ActionType.CRM_NOTE
    text: str = Field(min_length=1, max_length=MAX_REASON_CHARS)


OrderProposal = (
    RefundProposal
    | CreditProposal
    | RequestReturnProposal
    | CancelOrderProposal
    | ChangeAddressProposal
    | ResendProposal
)
"""Proposals that change something at the shop."""
Proposal = Annotated[OrderProposal | TicketUpdateProposal | CrmNoteProposal, Field(discriminator="type")]
"""Any proposal; its `type` says which."""
PROPOSAL: Final[TypeAdapter[Proposal]] = TypeAdapter(Proposal)
"""Reads a proposal from plain JSON."""


@dataclass(frozen=True, slots=True)
class ActionRule:
    """What kind of write an action is."""

    is_billing: bool
    """Moves money or goods: ceilings apply, and in phase foundation a person approves (SC-02)."""
    needs_lane: bool
    """Runs one at a time for its account (AX-04)."""
    is_destructive: bool
    """Cannot be taken back: after an unclear answer nothing is repeated before the shop was read (AX-02)."""
    always_asks: bool = False
    """A person approves whatever the ceilings say."""


RULES: Final[dict[ActionType, ActionRule]] = {
    ActionType.REFUND: ActionRule(is_billing=True, needs_lane=True, is_destructive=True),
    ActionType.CREDIT: ActionRule(is_billing=True, needs_lane=True, is_destructive=True),
    ActionType.REQUEST_RETURN: ActionRule(is_billing=False, needs_lane=True, is_destructive=False),
    ActionType.CANCEL_ORDER: ActionRule(is_billing=True, needs_lane=True, is_destructive=True),
    # Whoever holds a session could send the parcel elsewhere: a person looks at every new address.
    ActionType.CHANGE_ADDRESS: ActionRule(is_billing=False, needs_lane=True, is_destructive=False, always_asks=True),
    ActionType.RESEND: ActionRule(is_billing=True, needs_lane=True, is_destructive=True),
    ActionType.TICKET_UPDATE: ActionRule(is_billing=False, needs_lane=False, is_destructive=False),
    ActionType.CRM_NOTE: ActionRule(is_billing=False, needs_lane=False, is_destructive=False),
}
"""Total over ActionType."""


class ActionState(StrEnum):
    """Where an action stands."""

    PENDING = "pending"
    """A person has to decide."""
    APPROVED = "approved"
    """Decided, by the ceilings or by a person; nothing has been called."""
    EXECUTING = "executing"
    """Its grant is consumed: the shop may have been called. Left only by what the shop says."""
    EXECUTED = "executed"
    REFUSED = "refused"
    """Not allowed, not possible, rejected by a person or by the shop; nothing was done."""
    EXPIRED = "expired"
    """Nobody decided in time; nothing was done."""
    UNCLEAR = "unclear"
    """The shop could not be read after a call: a person looks, nothing is repeated."""


class ActionOp(StrEnum):
    """What can happen to an action."""

    APPROVE = "approve"
    RETURN_TO_DESK = "return_to_desk"
    START = "start"
    CONFIRM = "confirm"
    UNDO_START = "undo_start"
    REFUSE = "refuse"
    EXPIRE = "expire"
    DOUBT = "doubt"


_S, _O = ActionState, ActionOp
LIVES: Final[dict[tuple[ActionOp, ActionState], ActionState]] = {
    (_O.APPROVE, _S.PENDING): _S.APPROVED,
    (_O.REFUSE, _S.PENDING): _S.REFUSED,
    (_O.EXPIRE, _S.PENDING): _S.EXPIRED,
    (_O.RETURN_TO_DESK, _S.APPROVED): _S.PENDING,
    (_O.REFUSE, _S.APPROVED): _S.REFUSED,
    (_O.START, _S.APPROVED): _S.EXECUTING,
    (_O.CONFIRM, _S.EXECUTING): _S.EXECUTED,
    (_O.UNDO_START, _S.EXECUTING): _S.APPROVED,
    (_O.REFUSE, _S.EXECUTING): _S.REFUSED,
    (_O.DOUBT, _S.EXECUTING): _S.UNCLEAR,
    # A call may arrive after the shop was read: what it did counts, whatever was concluded meanwhile.
    (_O.CONFIRM, _S.APPROVED): _S.EXECUTED,
    (_O.CONFIRM, _S.UNCLEAR): _S.EXECUTED,
    (_O.REFUSE, _S.UNCLEAR): _S.REFUSED,
}
"""Anything absent is illegal: what is over stays over, and nothing starts twice."""
SETTLED: Final = frozenset({_S.EXECUTED, _S.REFUSED, _S.EXPIRED})
"""States nothing follows."""
COUNTED: Final = frozenset({_S.APPROVED, _S.EXECUTING, _S.EXECUTED, _S.UNCLEAR})
"""States whose amount counts in an account's rolling sum: what was, or may still be, paid."""


def after(op: ActionOp, state: ActionState) -> ActionState:
    """Return the state after the operation. Raises: StalenessError when the table does not allow it."""
    try:
        return LIVES[op, state]
    except KeyError:
        raise StalenessError(f"{op.value} is not possible for an action that is {state.value}") from None


class Effect(Wire):
    """What the shop did."""

    reference: str
    """The shop's own id of it."""
    amount: Money | None = None
    at: datetime


class Quote(Wire):
    """What the shop says about a proposal before anything is done: facts, not permission."""

    order_id: OrderId
    owner: CustomerId
    amount: Money | None = None
    """What the proposal would move: refundable money, the value of goods sent again; None where none does."""
    is_possible: bool
    """The shop would accept it now."""
    reason: str = ""
    """Why not, in words of ours."""
    lines: tuple[LineRef, ...] = ()
    """The lines it would touch, the whole order spelt out."""


class Asker(Wire):
    """A conversation that asked for an action another one had asked for, by the newest of its messages that did."""

    conversation_id: ConversationId
    message_id: MessageId


class Action(Wire):
    """One action of one account; lives in the account's partition."""

    id: str
    """`action:{action_id}`"""
    kind: str = "action"
    tenant_id: TenantId
    customer_id: CustomerId
    """The account."""
    action_id: str
    type: ActionType
    intent: CustomerIntent | None = None
    """What the customer came with; names the domain that may grant it (SC-02)."""
    ordinal: int = Field(ge=1)
    """The how-manieth request of this kind for these lines (fault 072)."""
    proposal: Proposal
    state: ActionState
    reason: str = ""
    """Why it waits, was refused or is unclear; words of ours."""
    amount: Money | None = None
    """What the decision was about; minting reads it again and a difference goes back to the desk."""
    policy_version: int
    conversation_id: ConversationId
    message_id: MessageId
    case_id: CaseId | None = None
    """The approval's case, once one was opened."""
    approved_by: str = ""
    """Person, or `policy:{version}` when the ceilings allowed it."""
    approved_at: datetime | None = None
    grant_id: str = ""
    fence: int = 0
    """The lane's fence at its start; a smaller one may not act for it any more."""
    starts: int = 0
    """How often its grant was consumed."""
    started_at: datetime | None = None
    effect: Effect | None = None
    found_by: str = ""
    """Person on whose word it ended after it was unclear; empty when the shop's own word is known."""
    severity: str = "normal"
    requested_at: datetime
    updated_at: datetime
    expires_at: datetime
    """When a decision nobody took is over."""
    also_asked: tuple[Asker, ...] = Field(default=(), max_length=MAX_ASKERS)
    """Whoever asked for it again while it was not over: each was promised to hear of its end."""
    is_told: bool = False
    """The customer, wherever they asked, and the desk know how it ended; while it is unclear, the desk knows that."""
    held_until: datetime | None = None
    """When to look again whether a person has given back a conversation that still has to hear of the end."""

    @property
    def askers(self) -> tuple[Asker, ...]:
        """Return who has to hear how it ends, the first who asked first."""
        return (Asker(conversation_id=self.conversation_id, message_id=self.message_id), *self.also_asked)

    @property
    def spoken_for_minor(self) -> int:
        """Return the minor units this action holds in its account's rolling sum."""
        return self.amount.amount_minor if self.amount is not None and self.state in COUNTED else 0


class ActionRef(Wire):
    """Which action: all a flow carries of it."""

    tenant_id: TenantId
    account_id: CustomerId
    action_id: str


def subject(proposal: Proposal) -> tuple[str, ...]:
    """Return what an action is about, for its id: the order and its lines, or the words of a note."""
    match proposal:
        case TicketUpdateProposal():
            return (*proposal.tags, proposal.note)
        case CrmNoteProposal():
            return (proposal.text,)
        case _:
            quantities: Counter[str] = Counter()
            for line in proposal.lines:
                quantities[line.line_id] += line.quantity
            return (proposal.order_id.casefold(), *sorted(f"{line}×{n}" for line, n in quantities.items()))


def series_id(tenant: TenantId, account: CustomerId, proposal: Proposal) -> str:
    """Return the id all requests of one kind for the same lines share; their ordinal tells them apart."""
    return digest("series", tenant, account, proposal.type.value, *subject(proposal))[:40]


def new_action_id(tenant: TenantId, account: CustomerId, proposal: Proposal, ordinal: int) -> str:
    """Return the action's id: tenant, account, order, lines, type and request ordinal, never the turn (design §9)."""
    return digest("action", series_id(tenant, account, proposal), str(ordinal))[:40]


def payload_hash(proposal: Proposal) -> str:
    """Return the hash that ties a grant to exactly this proposal."""
    return digest(proposal.model_dump_json())
