"""What the steps of a turn say to each other: inputs, openings, routes, settlements.

Small values that cross yields of `answer_message`; text in them is masked. Source: design §3.
"""

from enum import StrEnum

from pydantic import Field

from shared.domain.deltas import ActionResult, ReviewDelta, Snapshot, TurnState
from shared.domain.drafts import ApprovedReply, Draft
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import CaseId, ConversationId, MessageId, TenantId
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
    RETRIEVE_AGAIN = "retrieve_again"
    """The real intent needs other sources, or a wider net (LA-01, KB-12)."""


class Route(Wire):
    """The routing decision and why."""

    kind: RouteKind
    triggers: tuple[HumanTrigger, ...] = ()
    reason: str = ""
    proposed: tuple[ActionResult, ...] = ()
    """Actions the customer asks for, to be approved by a person."""


class CannedKind(StrEnum):
    """Fixed replies of ours that state no fact."""

    CLARIFICATION = "clarification"
    WHICH_ORDER = "which_order"
    SOCIAL = "social"
    OUT_OF_SCOPE = "out_of_scope"
    ACKNOWLEDGEMENT = "acknowledgement"
    HANDOFF = "handoff"


class Reviewed(Wire):
    """What a review gave: its verdicts, and the sealed approval only when every check passed."""

    delta: ReviewDelta
    approved: ApprovedReply | None = None


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
    actions: tuple[ActionResult, ...] = ()


class Settlement(Wire):
    """How a settling step ended: a `Settled` value, plus the refs that had gone stale."""

    settled: str
    stale_refs: tuple[str, ...] = ()


class StepTimes(Wire):
    """Milliseconds and retries by step, for the record."""

    took_ms: dict[str, int] = Field(default_factory=dict)
    rungs: dict[str, int] = Field(default_factory=dict)
    revisions: int = 0


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
