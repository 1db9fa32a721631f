"""What routing knows of a turn: flags, numbers and closed sets, without a word of anybody's.

Made from the turn's state by one function, so that a stored turn can be routed again under another policy (dry run)
without keeping what the customer wrote. Source: design §4, SC-02 (dry run), PV-05.
"""

from pydantic import Field

from shared.domain.action_words import asked_for, is_denied
from shared.domain.deltas import Account, Classification, Knowledge, TurnState, WaitingRule
from shared.domain.drafts import Check
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import digest
from shared.domain.intents import ISSUE_INTENTS, NEEDS, ActionType, CustomerIntent
from shared.domain.question_form import is_question
from shared.domain.retries import MAX_REVISIONS
from shared.domain.sources import Order
from shared.domain.wire_model import Wire

ACTION_OF: dict[CustomerIntent, ActionType] = {
    CustomerIntent.ORDER_CANCEL: ActionType.CANCEL_ORDER,
    CustomerIntent.REFUND: ActionType.REFUND,
    CustomerIntent.BILLING_DISPUTE: ActionType.REFUND,
}
"""Intents that ask for one action whatever their words."""
BY_WORDS = frozenset({CustomerIntent.ORDER_CHANGE, CustomerIntent.RETURN_EXCHANGE, CustomerIntent.DELIVERY_PROBLEM})
"""Intents that may ask for an action, if their words name one of `may_propose`."""


class RoutingFacts(Wire):
    """One turn as routing sees it."""

    is_classified: bool = False
    is_watched: bool = False
    """The escalation detector gave a result."""
    intent: CustomerIntent | None = None
    confidence: float = 0.0
    severity: Severity = Severity.NORMAL
    is_social: bool = False
    is_out_of_scope: bool = False
    triggers: tuple[HumanTrigger, ...] = ()
    waiting_rules: tuple[WaitingRule, ...] = ()
    issue: str = ""
    """Digest of the issue's key; empty when the message is about none."""
    is_same_issue: bool = False
    contacts_on_issue: int = 0
    has_clarified: bool = False
    is_known: bool = False
    """The customer's identity is proven."""
    has_history: bool = False
    names_order: bool = False
    own_orders: int = 0
    """Orders named that are the customer's own."""
    has_account: bool = False
    has_orders: bool = False
    is_question: bool = False
    is_polite_question: bool = False
    """Counting "can I …?" as a question too."""
    asked: tuple[ActionType, ...] = ()
    """Actions the message's words name."""
    is_denied: bool = False
    """It says that something of the kind is not wanted."""
    retrieval_confidence: float = 0.0
    is_exact_match: bool = False
    is_knowledge_down: bool = False
    """Retrieval gave no result at all: not "found nothing" but "could not look" (RK-01)."""
    draft_confidence: float | None = None
    failed_checks: tuple[Check, ...] = ()
    revisions: int = Field(default=0, ge=0)
    has_conflict: bool = False
    """Two pinned sources contradict each other (SU-05)."""


def facts_of(state: TurnState, *, revisions: int = 0, has_conflict: bool = False) -> RoutingFacts:
    """Return what routing may know of the state."""
    found, watch, knowledge = state.classification, state.escalation, state.knowledge
    snapshot, text = state.snapshot, state.snapshot.message.value
    issue = issue_key(state)
    return RoutingFacts(
        is_classified=found is not None,
        is_watched=watch is not None,
        intent=found.customer_intent if found else None,
        confidence=found.confidence if found else 0.0,
        severity=found.severity if found else Severity.NORMAL,
        is_social=found is not None and found.is_social,
        is_out_of_scope=found is not None and found.is_out_of_scope,
        triggers=watch.triggers if watch else (),
        waiting_rules=watch.waiting_rules if watch else (),
        issue=digest(issue)[:16] if issue else "",
        is_same_issue=bool(issue) and issue == snapshot.issue,
        contacts_on_issue=snapshot.contacts_on_issue,
        has_clarified=snapshot.has_clarified,
        is_known=snapshot.customer_id is not None,
        has_history=bool(snapshot.context.history),
        names_order=found is not None and bool(found.entities.order_refs),
        own_orders=len(named_orders(state)),
        has_account=state.account is not None,
        has_orders=bool((state.account or Account()).orders),
        is_question=is_question(text),
        is_polite_question=is_question(text, with_permission=True),
        asked=_asked(found, text),
        is_denied=is_denied(text),
        retrieval_confidence=(knowledge or Knowledge()).confidence,
        is_exact_match=knowledge is not None and any(a.is_identifier_match for a in knowledge.articles[:1]),
        is_knowledge_down=knowledge is None or knowledge.is_unavailable,
        draft_confidence=state.draft.confidence if state.draft else None,
        failed_checks=tuple(v.check for v in state.review.failures) if state.review else (),
        revisions=revisions,
        has_conflict=has_conflict,
    )


def is_grounding_lost(facts: RoutingFacts) -> bool:
    """Tell whether the draft still fails grounding after every revision it may have."""
    return Check.GROUNDING in facts.failed_checks and facts.revisions > MAX_REVISIONS


def issue_key(state: TurnState) -> str:
    """Return the key of the issue this turn is about (intent and own order), or "" when it is no issue."""
    found = state.classification
    if found is None or found.is_social or found.is_out_of_scope or found.customer_intent not in ISSUE_INTENTS:
        return ""
    orders = sorted(order.order_id for order in named_orders(state))
    return f"{found.customer_intent.value}:{','.join(orders)}"


def named_orders(state: TurnState) -> tuple[Order, ...]:
    """Return the customer's own orders the message names."""
    account, found = state.account, state.classification
    if account is None or found is None:
        return ()
    wanted = {ref.upper() for ref in found.entities.order_refs}
    return tuple(order for order in account.orders if order.order_id.upper() in wanted)


def _asked(found: Classification | None, text: str) -> tuple[ActionType, ...]:
    """Return what the intent, or else the words, ask to be done; in the order of the intent's own table."""
    if found is None:
        return ()
    intent = found.customer_intent
    if intent in ACTION_OF:
        return (ACTION_OF[intent],)
    if intent not in BY_WORDS:
        return ()
    named = asked_for(text)
    return tuple(action for action in NEEDS[intent].may_propose if action in named)
