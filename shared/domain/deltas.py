"""The turn's state and the typed deltas agents return; applying them is the only way it changes.

A delta names the version it was computed from; a batch applies at one version and moves it by one. Write-sets are
disjoint by construction: each delta class has its own field. Source: PR-03, design §3 "Parallel deltas".
"""

from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import Field

from shared.domain.agents import SPECS, AgentName
from shared.domain.drafts import Draft, Review
from shared.domain.errors import SchemaError, StalenessError
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import (
    CaseId,
    ConversationId,
    CustomerId,
    InstanceId,
    MessageId,
    OrderId,
    SourceRef,
    TenantId,
    TraceId,
    action_ref,
)
from shared.domain.intents import CustomerIntent
from shared.domain.policy import RoutingRules
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.sources import (
    BillingEvent,
    HistoryLine,
    Order,
    Profile,
    ResolvedTicket,
    RetrievalPath,
    RetrievedArticle,
)
from shared.domain.text import MaskedText
from shared.domain.wire_model import Wire


class Channel(StrEnum):
    """Where the message came in."""

    WEB = "web"
    EMAIL = "email"
    API = "api"
    ADMIN = "admin"


class Metadata(Wire):
    """Language, timestamp and routing information of a pipeline message (S1 "Internal message format")."""

    language: str = "en"
    timestamp: datetime
    channel: Channel = Channel.WEB
    routing: ReadOnlyMap[str, str] = Field(default_factory=FrozenMap)


class Context(Wire):
    """Accumulated pipeline context (S1 "Internal message format")."""

    history: tuple[HistoryLine, ...] = ()
    """Last turns verbatim, oldest first, bounded (ME-05)."""
    summary: str = ""
    customer_profile: Profile | None = None
    retrieved_knowledge: tuple[RetrievedArticle, ...] = ()


class Snapshot(Wire):
    """The pipeline message: a read-only view of the ticket at one version (PR-05).

    `message` is everything the customer has said and not yet been answered, oldest first, one line a message.
    """

    conversation_id: ConversationId
    tenant_id: TenantId
    message: MaskedText
    intent: CustomerIntent | None = None
    """Preliminary until classified (LA-01)."""
    context: Context = Context()
    metadata: Metadata
    message_id: MessageId
    instance_id: InstanceId
    trace_id: TraceId = TraceId("")
    seq: int = Field(default=1, ge=1)
    version: int = Field(default=1, ge=0)
    customer_id: CustomerId | None = None
    """Proven identity only; None is anonymous (GW-03)."""
    is_first_reply: bool = True
    """The AI notice is still owed (CO-05)."""
    has_clarified: bool = False
    """The one clarification of this issue is spent (RT-05)."""
    issue: str = ""
    """Key of the issue the conversation is about: intent and order (GO-03)."""
    contacts_on_issue: int = 0
    """How often the customer has already come with that unresolved issue; this message not counted."""
    rules: RoutingRules = RoutingRules()
    """The tenant's thresholds, read once when the turn opened: a policy saved meanwhile counts from the next turn."""
    policy_version: int = Field(default=1, ge=1)
    is_shadowed: bool = False
    """Drawn for a second validator beside the review (SU-06)."""
    is_audited: bool = False
    """Drawn for a person to look at afterwards (SC-02)."""


class Entities(Wire):
    """What the message names, exactly as typed."""

    order_refs: tuple[OrderId, ...] = ()
    skus: tuple[str, ...] = ()
    account_ids: tuple[str, ...] = ()
    contact_tokens: tuple[str, ...] = ()


class Classification(Wire):
    """The intake classifier's finding (CL-01…03)."""

    customer_intent: CustomerIntent
    confidence: float = Field(default=0.0, ge=0, le=1)
    severity: Severity = Severity.NORMAL
    language: str = "en"
    entities: Entities = Entities()
    is_out_of_scope: bool = False
    is_social: bool = False
    """Greeting, thanks, goodbye: a claim-free template answers."""
    social: str = ""
    """Which of them: greeting, thanks or goodbye; empty when it is none or unknown."""


class WaitingRule(Wire):
    """A tenant's rule that holds but for the intent, which was not known yet when it was evaluated."""

    name: str
    intents: tuple[CustomerIntent, ...]


class Escalation(Wire):
    """The escalation detector's finding (ES-01)."""

    triggers: tuple[HumanTrigger, ...] = ()
    sentiment: float = Field(default=0.0, ge=-1, le=1)
    rule_names: tuple[str, ...] = ()
    waiting_rules: tuple[WaitingRule, ...] = ()
    """Rules routing decides once the message is classified (ES-03)."""


class Knowledge(Wire):
    """The retriever's finding (KB-05…10)."""

    articles: tuple[RetrievedArticle, ...] = ()
    path: RetrievalPath = RetrievalPath.EMPTY
    cache: str = "miss"
    for_intent: CustomerIntent | None = None
    confidence: float = Field(default=0.0, ge=0, le=1)
    """Absolute retrieval confidence (design §4), not a rank."""
    is_unavailable: bool = False
    """No rung could look anything up: the turn may acknowledge or bring a person, nothing else (RK-01)."""


class Account(Wire):
    """The account context agent's finding; only ever the proven customer's own records (AC-01)."""

    profile: Profile | None = None
    orders: tuple[Order, ...] = ()
    """Own orders named in the message, else the most recent ones."""
    missing_order_refs: tuple[OrderId, ...] = ()
    """Orders named that are not this customer's: "not yours" and "no such order" are the same."""
    resolved_tickets: tuple[ResolvedTicket, ...] = ()
    billing_events: tuple[BillingEvent, ...] = ()
    prior_thread: tuple[HistoryLine, ...] = ()
    open_tickets: int = 0
    is_complete: bool = False
    """Every pull answered (OB-01 fetch completeness)."""


class ActionStatus(StrEnum):
    """Where an action stands, as the Turn shows it (design §7)."""

    EXECUTED = "executed"
    PENDING_APPROVAL = "pending_approval"
    REFUSED = "refused"
    IN_PROGRESS = "in_progress"
    """Decided and not done yet: the account's lane or the shop is busy (docs/decisions/0011)."""


class ActionResult(Wire):
    """One action of the turn."""

    type: str
    status: ActionStatus
    action_id: str = ""
    order_id: OrderId | None = None
    amount_minor: int | None = None
    currency: str | None = None
    reason: str = ""
    """Why it waits or was refused, for the desk; words of ours."""
    case_id: CaseId | None = None
    """The approval it waits for."""
    reference: str = ""
    """The shop's own id of what was done."""

    @property
    def ref(self) -> SourceRef:
        """The reference a reply cites for what was done."""
        return action_ref(self.action_id)


class Delta(Wire):
    """What every agent returns beside its finding."""

    base_version: int
    confidence: float = Field(default=0.0, ge=0, le=1)
    """Missing confidence is zero (PR-01)."""
    source_refs: tuple[SourceRef, ...] = ()


class ClassificationDelta(Delta):
    """Writes `classification`."""

    classification: Classification


class EscalationDelta(Delta):
    """Writes `escalation`."""

    escalation: Escalation


class KnowledgeDelta(Delta):
    """Writes `knowledge`."""

    knowledge: Knowledge


class AccountDelta(Delta):
    """Writes `account`."""

    account: Account


class DraftDelta(Delta):
    """Writes `draft`."""

    draft: Draft


class ReviewDelta(Delta):
    """Writes `review`."""

    review: Review


class DecisionDelta(Delta):
    """Writes `decisions`."""

    decisions: tuple[ActionResult, ...]


class ActionDelta(Delta):
    """Writes `actions`."""

    actions: tuple[ActionResult, ...]


AnyDelta = (
    ClassificationDelta
    | EscalationDelta
    | KnowledgeDelta
    | AccountDelta
    | DraftDelta
    | ReviewDelta
    | DecisionDelta
    | ActionDelta
)

WRITERS: Final[dict[type[Delta], tuple[AgentName, str]]] = {
    ClassificationDelta: (AgentName.INTAKE_CLASSIFIER, "classification"),
    EscalationDelta: (AgentName.ESCALATION_DETECTOR, "escalation"),
    KnowledgeDelta: (AgentName.KNOWLEDGE_RETRIEVER, "knowledge"),
    AccountDelta: (AgentName.ACCOUNT_CONTEXT, "account"),
    DraftDelta: (AgentName.RESPONSE_COMPOSER, "draft"),
    ReviewDelta: (AgentName.SUPERVISOR, "review"),
    DecisionDelta: (AgentName.SUPERVISOR, "decisions"),
    ActionDelta: (AgentName.ACTION_EXECUTOR, "actions"),
}
"""Whose delta is whose, and the one field it sets; AgentSpec.writes allows it."""


class TurnState(Wire):
    """Everything known about one turn so far; replaced, never mutated."""

    snapshot: Snapshot
    version: int = 0
    classification: Classification | None = None
    escalation: Escalation | None = None
    knowledge: Knowledge | None = None
    account: Account | None = None
    draft: Draft | None = None
    review: Review | None = None
    decisions: tuple[ActionResult, ...] = ()
    """What the supervisor decided about the actions the customer asks for."""
    actions: tuple[ActionResult, ...] = ()
    """What the executor did."""

    @property
    def outcomes(self) -> tuple[ActionResult, ...]:
        """Return each action once, as it stands: done, or else as decided."""
        done = {action.action_id: action for action in self.actions}
        decided = tuple(done.get(d.action_id, d) for d in self.decisions)
        return decided + tuple(a for a in self.actions if a.action_id not in {d.action_id for d in self.decisions})


STATE_FIELDS: Final = frozenset(TurnState.model_fields) - {"snapshot", "version"}
"""What a delta can set."""


def view(state: TurnState, agent: AgentName) -> TurnState:
    """Return the state with what the agent may not read taken out; the snapshot is always there.

    Source: PR-03 (read-only snapshots), AgentSpec.reads.
    """
    hidden = {
        name: () if isinstance(getattr(state, name), tuple) else None
        for name in STATE_FIELDS - SPECS[agent].reads
        if getattr(state, name)
    }
    return state.model_copy(update=hidden) if hidden else state


def apply_batch(state: TurnState, deltas: tuple[AnyDelta, ...]) -> TurnState:
    """Apply one join's deltas and move the version by one.

    Raises: StalenessError when a delta was computed from another version (the agent gets a fresh snapshot);
    SchemaError when two deltas write the same field or a delta writes outside its agent's write-set.
    Source: PR-03.
    """
    changes: dict[str, object] = {}
    for delta in deltas:
        if delta.base_version != state.version:
            raise StalenessError(
                f"delta {type(delta).__name__} is for version {delta.base_version}, state is {state.version}"
            )
        agent, name = WRITERS[type(delta)]
        if name not in SPECS[agent].writes:
            raise SchemaError(f"{agent.value} may not write {name!r}")
        if name in changes:
            raise SchemaError(f"two deltas of one batch write {name!r}")
        changes[name] = getattr(delta, name)
    return state.model_copy(update={**changes, "version": state.version + 1})
