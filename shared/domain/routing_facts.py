"""What routing knows of a turn: flags, numbers and closed sets, without a word of anybody's.

Made from the turn's state by one function, so that a stored turn can be routed again under another policy (dry run)
without keeping what the customer wrote. Source: design §4, SC-02 (dry run), PV-05.
"""

from pydantic import Field

from shared.domain.deltas import Account, Knowledge, TurnState, WaitingRule
from shared.domain.drafts import Check
from shared.domain.entities import extract_entities
from shared.domain.human_triggers import HumanTrigger, Severity
from shared.domain.ids import digest
from shared.domain.intents import ISSUE_INTENTS, ActionType, CustomerIntent
from shared.domain.question_form import is_question
from shared.domain.requests import PlainRequest, read_request
from shared.domain.retries import MAX_REVISIONS
from shared.domain.sources import Order
from shared.domain.text import MaskedText
from shared.domain.typed_values.folding import fold
from shared.domain.wire_model import Wire


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
    """The action the message plainly asks for; empty when it does not, or not plainly."""
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
    issue, request = issue_key(state), asked_for(state)
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
        asked=(request.action,) if request is not None else (),
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


def asked_for(state: TurnState) -> PlainRequest | None:
    """Return what the customer plainly asks to be done, whatever class a model gave it.

    What follows our own question is read together with what we asked about: it may complete a request, or turn it.
    """
    found, snapshot = state.classification, state.snapshot
    if found is None:
        return None
    text = snapshot.message.value
    earlier = [line.text.value for line in snapshot.context.history if line.role == "customer"]
    if snapshot.has_clarified and earlier:
        text = f"{earlier[-1]}\n{text}"
    refs = frozenset(
        ref.upper() for ref in (*found.entities.order_refs, *extract_entities(MaskedText(text)).order_refs)
    )
    lines = [line for order in named_orders(state) for line in order.lines]
    words = " ".join(f"{line.title} {line.variant} {line.sku}" for line in lines)
    known = frozenset("".join(c if c.isalnum() or c in "-'./" else " " for c in fold(words).text).split())
    return read_request(text, refs=refs, known=known | frozenset(part for word in known for part in word.split("-")))
