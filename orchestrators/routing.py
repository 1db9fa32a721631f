"""Where a turn goes: pure functions over what routing knows of it. Decides, never acts.

Precedence: safety, critical severity, VIP, churn-risk > explicit wish for a person > the other human triggers >
small talk and out of scope > clarification (one an issue) > action > answer. Where class and retrieval disagree the
stronger belief counts (docs/decisions/0006). Source: S2 §3, RT-01…06, GO-03, KB-12, design §4.
"""

from typing import Final

from shared.domain.deltas import TurnState
from shared.domain.human_triggers import HumanTrigger, ranked
from shared.domain.intents import NEEDS, ActionType, CustomerIntent, IntentNeeds
from shared.domain.policy import RoutingRules
from shared.domain.routing_facts import RoutingFacts
from shared.domain.trigger_rules import fired
from shared.domain.turns import Route, RouteKind

ANSWERED_ANYWAY: Final = 0.8
"""Retrieval confidence from which an article answers a message whose class is unclear (RT-05) or "out of scope".
Source: ours, docs/decisions/0006: our own questions of an unclear class and without an answer stay far below it."""
WHICH_ORDER: Final = "which order is meant"
"""Reason of a clarification that asks for the order; the flow words it so."""
CANNOT_LOOK: Final = "the shop's knowledge cannot be read"
"""Reason of an acknowledgment while retrieval is down (RK-01)."""

CHANGES: Final = frozenset(
    {
        CustomerIntent.ORDER_CANCEL,
        CustomerIntent.ORDER_CHANGE,
        CustomerIntent.REFUND,
        CustomerIntent.BILLING_DISPUTE,
    }
)
"""Intents about a write: naming an own order without a plain request or a question, they are for a person to read."""


def route(facts: RoutingFacts, rules: RoutingRules, *, has_widened: bool) -> Route:
    """Return where the turn goes before anything is drafted.

    `has_widened` says that retrieval was repeated with the real intent and its neighbours.
    """
    if not facts.is_classified or not facts.is_watched or facts.intent is None:
        return _person(HumanTrigger.AGENT_FAILURE, reason="a deciding agent gave no result")
    triggers, reason = fired(facts, rules)
    if triggers:
        return _person(*triggers, reason=reason)
    if facts.asked and facts.own_orders:
        # The customer's own plain words count, whatever class a model gave them.
        return Route(kind=RouteKind.ACT, act=facts.asked[0])
    if (facts.is_social or facts.is_out_of_scope) and _is_belief_strongest(facts, rules):
        return Route(kind=RouteKind.SOCIAL if facts.is_social else RouteKind.OUT_OF_SCOPE)
    if facts.confidence < rules.clarify_below and not _answers_itself(facts, rules):
        if facts.has_clarified:
            return _person(HumanTrigger.AMBIGUOUS, reason="still unclear after one clarification")
        return Route(kind=RouteKind.CLARIFY, reason="classification confidence below its threshold")
    return _change(facts, rules) or _answer(facts, rules, has_widened=has_widened)


def route_draft(facts: RoutingFacts, rules: RoutingRules) -> Route | None:
    """Return the person a draft or its review calls for, or None when it may go on (GO-03)."""
    triggers, reason = fired(facts, rules)
    return _person(*triggers, reason=reason) if triggers else None


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


def _change(facts: RoutingFacts, rules: RoutingRules) -> Route | None:
    """Return a person where a change is spoken of, our question where its order is missing, or None: nothing is asked.

    A question about a refund or a charge asks for no action, and whatever else speaks of a change without plainly
    asking for one ("do not cancel", "if it is late, refund it", "my flight was cancelled") is for a person to read.
    """
    is_change = facts.intent in CHANGES
    if facts.confidence < rules.clarify_below:
        return None
    if is_change and facts.own_orders and not facts.is_question:
        return _person(HumanTrigger.ACTION_NEEDS_PERSON, reason="the customer speaks of a change")
    if facts.asked and facts.has_orders and facts.is_known and not facts.names_order:
        if facts.has_clarified:
            return _person(HumanTrigger.ACTION_NEEDS_PERSON, reason="the customer asks for a change of some order")
        return Route(kind=RouteKind.CLARIFY, reason=WHICH_ORDER)
    return None


def _answer(facts: RoutingFacts, rules: RoutingRules, *, has_widened: bool) -> Route:
    needs = _needs(facts)
    if needs.needs_account and not facts.has_account and (facts.names_order or not needs.needs_knowledge):
        return _person(HumanTrigger.AGENT_FAILURE, reason="the customer's records cannot be read")
    if facts.names_order or (facts.confidence >= rules.clarify_below and _has_account_answer(facts, needs)):
        return Route(kind=RouteKind.ANSWER)
    if facts.retrieval_confidence >= rules.retrieval_floor:
        return Route(kind=RouteKind.ANSWER)
    if needs.needs_account and not needs.needs_knowledge and not facts.has_clarified:
        return Route(kind=RouteKind.CLARIFY, reason=WHICH_ORDER)
    if not has_widened:
        return Route(kind=RouteKind.RETRIEVE_AGAIN, reason="retrieval confidence below its threshold")
    if facts.is_knowledge_down:
        return _person(HumanTrigger.AGENT_FAILURE, reason=CANNOT_LOOK)
    return _person(HumanTrigger.LOW_RETRIEVAL, reason="no source answers with enough confidence")


def _needs(facts: RoutingFacts) -> IntentNeeds:
    return NEEDS[facts.intent or CustomerIntent.GENERAL_INQUIRY]


def _has_account_answer(facts: RoutingFacts, needs: IntentNeeds) -> bool:
    """Tell whether the customer's own recent orders can answer this without any article."""
    return needs.needs_account and not needs.needs_knowledge and facts.has_orders


def _is_belief_strongest(facts: RoutingFacts, rules: RoutingRules) -> bool:
    """Tell whether small talk or "not our business" is clear, and believed more than that an article answers.

    A message that names an order is our business, whatever its class; thanks may name one. Thanks within a chat stay
    thanks: retrieval may have read them together with the question before.
    """
    against = facts.retrieval_confidence
    is_leaning = facts.is_social and facts.has_history
    is_outweighed = against >= ANSWERED_ANYWAY and against > facts.confidence and not is_leaning
    is_clear = facts.confidence >= rules.clarify_below and not is_outweighed
    return is_clear and (facts.is_social or not facts.names_order)


def _answers_itself(facts: RoutingFacts, rules: RoutingRules) -> bool:
    """Tell whether an unsure class does not matter: the message names an order, or an article answers it clearly."""
    floor = rules.retrieval_floor if facts.is_exact_match else ANSWERED_ANYWAY
    return facts.names_order or facts.retrieval_confidence >= floor


def _person(*triggers: HumanTrigger, reason: str) -> Route:
    return Route(kind=RouteKind.PERSON, triggers=ranked(frozenset(triggers)), reason=reason)


def unclear_action(action: ActionType) -> Route:
    """Return the person who finds out what exactly the customer wants done."""
    return _person(HumanTrigger.ACTION_NEEDS_PERSON, reason=f"it is not clear what exactly to {action.value}")


def refused_action(reason: str) -> Route:
    """Return the person who explains what cannot be done."""
    return _person(HumanTrigger.ACTION_NEEDS_PERSON, reason=f"it cannot be done: {reason}")
