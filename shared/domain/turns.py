"""What the steps of a turn say to each other: inputs, openings, routes, settlements.

Small values that cross yields of `answer_message`; text in them is masked. Source: design §3.
"""

from enum import StrEnum

from pydantic import Field

from shared.domain.actions import ActionRef, ActionState
from shared.domain.deltas import ActionDelta, ActionResult, DecisionDelta, ReviewDelta, Snapshot, TurnState
from shared.domain.drafts import ApprovedReply, Draft
from shared.domain.governance import ActionFacts
from shared.domain.grants import SignedGrant
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import CaseId, ConversationId, MessageId, TenantId
from shared.domain.intents import ActionType
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.routing_facts import RoutingFacts
from shared.domain.sources import Passage
from shared.domain.wire_model import Wire


class TurnInput(Wire):
    """The durable input: ids and sequence only (design §3)."""

    tenant_id: TenantId
    conversation_id: ConversationId
    message_id: MessageId
    seq: int


class OpenedTurn(Wire):
    """What opening a turn found: a snapshot to work on, or that there is nothing to do."""

    snapshot: Snapshot | None = None
    """None: the turn is settled already (superseded, a person owns it, or answered by an earlier attempt)."""


class RouteKind(StrEnum):
    """Where a turn goes."""

    ANSWER = "answer"
    CLARIFY = "clarify"
    SOCIAL = "social"
    OUT_OF_SCOPE = "out_of_scope"
    PERSON = "person"
    ACT = "act"
    """The customer asks for something to be done to an order of theirs."""
    RETRIEVE_AGAIN = "retrieve_again"
    """The real intent needs other sources, or a wider net (LA-01, KB-12)."""


class Route(Wire):
    """The routing decision and why."""

    kind: RouteKind
    triggers: tuple[HumanTrigger, ...] = ()
    reason: str = ""
    act: ActionType | None = None


class CannedKind(StrEnum):
    """Fixed replies of ours that state no fact."""

    CLARIFICATION = "clarification"
    WHICH_ORDER = "which_order"
    SOCIAL = "social"
    OUT_OF_SCOPE = "out_of_scope"
    ACKNOWLEDGEMENT = "acknowledgement"
    HANDOFF = "handoff"
    ACTION_PENDING = "action_pending"
    ACTION_IN_PROGRESS = "action_in_progress"


class Reviewed(Wire):
    """What a review gave: its verdicts, and the sealed approval only when every check passed."""

    delta: ReviewDelta
    approved: ApprovedReply | None = None
    conflicts: tuple[Passage, ...] = ()
    """Passages that contradict each other; with any of them there is no approval (SU-05)."""


class Authorised(Wire):
    """What the supervisor decided about the actions a turn asks for."""

    settled: str
    """Whether the turn could commit itself first, a `Settled` value; anything but done decides nothing."""
    delta: DecisionDelta | None = None
    facts: tuple[ActionFacts, ...] = ()


class LaneAsked(Wire):
    """Asks for the lane of an action's account."""

    action: ActionRef
    holder: str
    """The instance that asks."""


class LaneAnswer(Wire):
    """What asking came to."""

    fence: int | None = None
    """The right to act; 0 for an action that needs no lane; None: wait, or it is over."""
    wait_s: float = 0.0
    over: ActionResult | None = None
    """How the action ended, when it has."""


class Granted(Wire):
    """A grant, or how the action stands because there is none."""

    grant: SignedGrant | None = None
    standing: ActionResult | None = None


class Acted(Wire):
    """What the executor's call came to."""

    delta: ActionDelta
    is_over: bool
    """False: the shop could not be read yet, or nothing was done: ask again."""


class ActionStanding(Wire):
    """Where an action stands when its flow looks."""

    conversation_id: ConversationId
    state: ActionState
    expires_in_s: float
    is_told: bool


class DeliverInput(Wire):
    """What `deliver_reply` needs: an approved reply or the name of a canned one, never loose text."""

    turn: TurnInput
    state: TurnState
    base_version: int
    """Ticket version the snapshot was taken at."""
    approved: ApprovedReply | None = None
    canned: CannedKind | None = None


class HandOverInput(Wire):
    """What `hand_over` needs."""

    turn: TurnInput
    state: TurnState
    base_version: int | None
    """Ticket version the snapshot was taken at; None hands over at any, because another snapshot would not help."""
    route: Route
    draft: Draft | None = None
    passages: tuple[Passage, ...] = ()
    """What the sources say that contradict each other (SU-05)."""


class Settlement(Wire):
    """How a settling step ended: a `Settled` value, plus the refs that had gone stale."""

    settled: str
    stale_refs: tuple[str, ...] = ()


class StepTimes(Wire):
    """Milliseconds and retries by step, and what the turn's decisions rested on, for the record."""

    took_ms: ReadOnlyMap[str, int] = Field(default_factory=FrozenMap)
    rungs: ReadOnlyMap[str, int] = Field(default_factory=FrozenMap)
    revisions: int = 0
    facts: RoutingFacts | None = None
    """What the last routing decision rested on; no customer text (dry run, SC-02)."""
    action_facts: tuple[ActionFacts, ...] = ()
    has_widened: bool = False
    is_first: bool = False
    """The conversation's first turn (fault 110: first-contact errors are counted apart)."""
    shadow: str = ""
    """Whether a second validator agreed: agree, differ, or empty when it was not asked (SU-06)."""
    is_audited: bool = False
    """Drawn for a person to look at afterwards (SC-02)."""


class Recorded(Wire):
    """What recording came to."""

    is_new: bool


class CaseInput(Wire):
    """The durable input of a case's wait: ids only."""

    tenant_id: TenantId
    case_id: CaseId


class CaseStanding(Wire):
    """What the store says of a case when its flow looks."""

    status: str
    is_waiting: bool
    """Open, unclaimed and not yet paged."""
    due_in_s: float = 0.0
