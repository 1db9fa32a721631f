"""Where a turn goes: one pure function over the turn's state. Decides, never acts.

Precedence: safety, critical severity, VIP, churn-risk > explicit wish for a person > the other human triggers >
small talk and out of scope > clarification (one an issue) > action > answer. Where class and retrieval disagree the
stronger belief counts (docs/decisions/0006). Source: S2 §3, RT-01…06, GO-03, KB-12, design §4.
"""

from typing import Final

from shared.domain.agents import CLARIFY_BELOW, RETRIEVAL_FLOOR
from shared.domain.deltas import Account, ActionResult, ActionStatus, Classification, Knowledge, TurnState
from shared.domain.human_triggers import HumanTrigger, Severity, ranked
from shared.domain.intents import ISSUE_INTENTS, NEEDS, ActionType, CustomerIntent, IntentNeeds
from shared.domain.question_form import is_question
from shared.domain.sources import Order
from shared.domain.turns import Route, RouteKind

CONTACTS_BEFORE_PERSON: Final = 2
"""Earlier contacts on one unresolved issue after which the next brings a person. Source: GO-03 (third contact)."""

ANSWERED_ANYWAY: Final = 0.8
"""Retrieval confidence from which an article answers a message whose class is unclear (RT-05) or "out of scope".
Source: ours, docs/decisions/0006: our own questions of an unclear class and without an answer stay far below it."""
WHICH_ORDER: Final = "which order is meant"
"""Reason of a clarification that asks for the order; the flow words it so."""

REASONS: Final = {
    HumanTrigger.EXPLICIT_WISH: "the customer asked for a person",
    HumanTrigger.THIRD_CONTACT: "the third contact about the same unresolved issue",
    HumanTrigger.TENANT_RULE: "a rule of the shop",
    HumanTrigger.LEGAL: "legal or regulatory words",
}
"""What the desk reads where the trigger's own name would not do."""

ACTION_INTENTS: Final = {
    CustomerIntent.ORDER_CANCEL: ActionType.CANCEL_ORDER,
    CustomerIntent.ORDER_CHANGE: ActionType.CHANGE_ADDRESS,
    CustomerIntent.REFUND: ActionType.REFUND,
    CustomerIntent.BILLING_DISPUTE: ActionType.REFUND,
}
"""Intents that ask for a write once they name an own order; until grants land a person does it (SC-02 foundation)."""


def issue_key(state: TurnState) -> str:
    """Return the key of the issue this turn is about (intent and own order), or "" when it is no issue."""
    found = state.classification
    if found is None or found.is_social or found.is_out_of_scope or found.customer_intent not in ISSUE_INTENTS:
        return ""
    orders = sorted(order.order_id for order in _named_orders(state))
    return f"{found.customer_intent.value}:{','.join(orders)}"


def route(state: TurnState, *, has_widened: bool) -> Route:
    """Return where the turn goes.

    `has_widened` says that retrieval was repeated with the real intent and its neighbours.
    """
    found, watch = state.classification, state.escalation
    if found is None or watch is None:
        return _person(HumanTrigger.AGENT_FAILURE, reason="a deciding agent gave no result")
    triggers = set(watch.triggers)
    if found.severity is Severity.CRITICAL:
        triggers.add(HumanTrigger.CRITICAL_SEVERITY)
    if found.customer_intent is CustomerIntent.HUMAN_AGENT and found.confidence >= CLARIFY_BELOW:
        triggers.add(HumanTrigger.EXPLICIT_WISH)
    issue = issue_key(state)
    if issue and issue == state.snapshot.issue and state.snapshot.contacts_on_issue >= CONTACTS_BEFORE_PERSON:
        triggers.add(HumanTrigger.THIRD_CONTACT)
    if any(found.customer_intent in rule.intents for rule in watch.waiting_rules):
        triggers.add(HumanTrigger.TENANT_RULE)
    if triggers:
        first = ranked(frozenset(triggers))[0]
        reason = REASONS.get(first, first.value.replace("_", " "))
        return _person(*triggers, reason=reason, proposed=proposals(state))
    if (found.is_social or found.is_out_of_scope) and _is_belief_strongest(state, found):
        return Route(kind=RouteKind.SOCIAL if found.is_social else RouteKind.OUT_OF_SCOPE)
    if found.confidence < CLARIFY_BELOW and not _answers_itself(state, found):
        if state.snapshot.has_clarified:
            return _person(HumanTrigger.AMBIGUOUS, reason="still unclear after one clarification")
        return Route(kind=RouteKind.CLARIFY, reason="classification confidence below 0.6")
    proposed = proposals(state)
    if proposed:
        return _person(HumanTrigger.ACTION_NEEDS_PERSON, reason="the customer asks for a change", proposed=proposed)
    if _asks_change_of_some_order(state, found):
        if state.snapshot.has_clarified:
            return _person(HumanTrigger.ACTION_NEEDS_PERSON, reason="the customer asks for a change of some order")
        return Route(kind=RouteKind.CLARIFY, reason=WHICH_ORDER)
    return _answer(state, found, has_widened=has_widened)


def proposals(state: TurnState) -> tuple[ActionResult, ...]:
    """Return the actions the customer asks for on orders of their own, waiting for a person's approval.

    A question about a refund or a charge asks for no action; "can I cancel 1003?" is a polite request.
    """
    found = state.classification
    if found is None or found.confidence < CLARIFY_BELOW or is_question(state.snapshot.message.value):
        return ()
    action = ACTION_INTENTS.get(found.customer_intent)
    named = _named_orders(state)
    if action is None or not named:
        return ()
    return (ActionResult(type=action.value, status=ActionStatus.PENDING_APPROVAL),)


def needs_second_look(state: TurnState) -> bool:
    """Tell whether the speculative retrieval was made for the wrong kinds of source (LA-01)."""
    found, knowledge = state.classification, state.knowledge
    if found is None or found.is_social or found.is_out_of_scope:
        return False
    needs = NEEDS[found.customer_intent]
    if not needs.needs_knowledge or knowledge is None or knowledge.for_intent is found.customer_intent:
        return False
    return not knowledge.articles or knowledge.articles[0].type not in needs.sources


def needs_billing(state: TurnState) -> bool:
    """Tell whether the real intent needs the 90-day billing events (AC-02)."""
    found = state.classification
    is_known = state.snapshot.customer_id is not None
    return found is not None and is_known and NEEDS[found.customer_intent].is_billing


def _answer(state: TurnState, found: Classification, *, has_widened: bool) -> Route:
    needs = NEEDS[found.customer_intent]
    if needs.needs_account and state.account is None and (found.entities.order_refs or not needs.needs_knowledge):
        return _person(HumanTrigger.AGENT_FAILURE, reason="the customer's records cannot be read")
    if _names_order(found) or (found.confidence >= CLARIFY_BELOW and _has_account_answer(state, needs)):
        return Route(kind=RouteKind.ANSWER)
    confidence = (state.knowledge or Knowledge()).confidence
    if confidence >= RETRIEVAL_FLOOR:
        return Route(kind=RouteKind.ANSWER)
    if needs.needs_account and not needs.needs_knowledge and not state.snapshot.has_clarified:
        return Route(kind=RouteKind.CLARIFY, reason=WHICH_ORDER)
    if not has_widened:
        return Route(kind=RouteKind.RETRIEVE_AGAIN, reason="retrieval confidence below 0.5")
    return _person(HumanTrigger.LOW_RETRIEVAL, reason="no source answers with confidence 0.5")


def _has_account_answer(state: TurnState, needs: IntentNeeds) -> bool:
    """Tell whether the customer's own recent orders can answer this without any article."""
    return needs.needs_account and not needs.needs_knowledge and bool((state.account or Account()).orders)


def _names_order(found: Classification) -> bool:
    """Tell whether the message names an order: own or not, the records answer it, with the order or "cannot find"."""
    return bool(found.entities.order_refs)


def _is_belief_strongest(state: TurnState, found: Classification) -> bool:
    """Tell whether small talk or "not our business" is clear, and believed more than that an article answers.

    A message that names an order is our business, whatever its class; thanks may name one. Thanks within a chat stay
    thanks: retrieval may have read them together with the question before.
    """
    against = (state.knowledge or Knowledge()).confidence
    is_leaning = found.is_social and bool(state.snapshot.context.history)
    is_outweighed = against >= ANSWERED_ANYWAY and against > found.confidence and not is_leaning
    return found.confidence >= CLARIFY_BELOW and not is_outweighed and (found.is_social or not _names_order(found))


def _answers_itself(state: TurnState, found: Classification) -> bool:
    """Tell whether an unsure class does not matter: the message names an order, or an article answers it clearly."""
    knowledge = state.knowledge or Knowledge()
    is_exact = any(a.is_identifier_match for a in knowledge.articles[:1])
    floor = RETRIEVAL_FLOOR if is_exact else ANSWERED_ANYWAY
    return _names_order(found) or knowledge.confidence >= floor


def _asks_change_of_some_order(state: TurnState, found: Classification) -> bool:
    """Tell whether a known customer wants an order changed, cancelled or refunded and names none."""
    is_request = not is_question(state.snapshot.message.value, with_permission=True)
    is_known = state.snapshot.customer_id is not None and bool((state.account or Account()).orders)
    return found.customer_intent in ACTION_INTENTS and is_known and is_request and not _names_order(found)


def _named_orders(state: TurnState) -> tuple[Order, ...]:
    account, found = state.account, state.classification
    if account is None or found is None:
        return ()
    wanted = {ref.upper() for ref in found.entities.order_refs}
    return tuple(order for order in account.orders if order.order_id.upper() in wanted)


def _person(*triggers: HumanTrigger, reason: str, proposed: tuple[ActionResult, ...] = ()) -> Route:
    return Route(kind=RouteKind.PERSON, triggers=ranked(frozenset(triggers)), reason=reason, proposed=proposed)
