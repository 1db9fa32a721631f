"""Routing: one pure function, its precedence and its table."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrators.routing import WHICH_ORDER, needs_billing, needs_second_look
from orchestrators.routing import route as route_facts
from shared.domain.deltas import (
    Account,
    Classification,
    Entities,
    Escalation,
    Knowledge,
    Metadata,
    Snapshot,
    TurnState,
    WaitingRule,
)
from shared.domain.human_triggers import NO_AUTOMATION, HumanTrigger, Severity
from shared.domain.ids import ArticleId, ConversationId, CustomerId, InstanceId, MessageId, OrderId, TenantId
from shared.domain.intents import NEEDS, ActionType, ArticleType, CustomerIntent
from shared.domain.money import Money
from shared.domain.routing_facts import facts_of, issue_key
from shared.domain.sources import Order, RetrievedArticle
from shared.domain.text import MaskedText, PublishedText
from shared.domain.turns import Route, RouteKind

ANA = CustomerId("ana")


def a_state(
    intent: CustomerIntent = CustomerIntent.SHIPPING_INFO,
    *,
    confidence: float = 0.9,
    retrieval: float = 0.9,
    triggers: tuple[HumanTrigger, ...] = (),
    orders: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
    **snapshot: object,
) -> TurnState:
    """Build a state in which everything is known."""
    taken = Snapshot(
        conversation_id=ConversationId("c1"),
        tenant_id=TenantId("t1"),
        message=MaskedText("hello"),
        metadata=Metadata(timestamp=datetime(2026, 3, 2, tzinfo=UTC)),
        message_id=MessageId("m1"),
        instance_id=InstanceId("t-1"),
        customer_id=ANA,
    ).model_copy(update=snapshot)
    article = RetrievedArticle(
        article_id=ArticleId("shipping"),
        version=1,
        type=ArticleType.POLICY,
        title=PublishedText("Shipping"),
        content=PublishedText("We ship."),
        relevance=1.0,
    )
    entities = Entities(order_refs=tuple(OrderId(n) for n in named))
    return TurnState(
        snapshot=taken,
        classification=Classification(customer_intent=intent, confidence=confidence, entities=entities),
        escalation=Escalation(triggers=triggers),
        knowledge=Knowledge(articles=(article,), confidence=retrieval),
        account=Account(
            orders=tuple(
                Order(
                    order_id=OrderId(o),
                    customer_id=ANA,
                    status="shipped",
                    total=Money(amount_minor=1, currency="EUR"),
                )
                for o in orders
            )
        ),
    )


def route(state: TurnState, *, has_widened: bool) -> Route:
    """Route the state under its own thresholds."""
    return route_facts(facts_of(state), state.snapshot.rules, has_widened=has_widened)


@pytest.mark.req("RT-03")
def test_informational_question_with_a_good_source_is_answered() -> None:
    """S2 §3: how-to → retrieval → composer."""
    assert route(a_state(), has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("RT-04")
def test_account_status_question_is_answered_from_the_account_without_knowledge() -> None:
    """S2 §3: account status → account context → composer."""
    state = a_state(CustomerIntent.ORDER_STATUS, retrieval=0.0, orders=("1001",))

    assert route(state, has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("RT-01")
@pytest.mark.parametrize("trigger", NO_AUTOMATION)
def test_no_automation_trigger_goes_straight_to_a_person(trigger: HumanTrigger) -> None:
    """S2 §3: critical severity or churn-risk skips automation."""
    decision = route(a_state(triggers=(trigger,)), has_widened=False)

    assert decision.kind is RouteKind.PERSON
    assert decision.triggers[0] is trigger


@pytest.mark.req("RT-01")
def test_critical_severity_of_the_message_itself_goes_to_a_person() -> None:
    """S2 §3."""
    state = a_state()
    assert state.classification is not None
    state = state.model_copy(
        update={"classification": state.classification.model_copy(update={"severity": Severity.CRITICAL})}
    )

    assert HumanTrigger.CRITICAL_SEVERITY in route(state, has_widened=False).triggers


@pytest.mark.req("RT-05")
def test_unclear_message_gets_one_clarification_then_a_person() -> None:
    """S2 §3: classifier confidence < 0.6 → clarification loop (max 1) → human queue."""
    first = route(a_state(confidence=0.59, retrieval=0.79), has_widened=False)
    second = route(a_state(confidence=0.59, retrieval=0.79, has_clarified=True), has_widened=False)

    assert first.kind is RouteKind.CLARIFY
    assert second.kind is RouteKind.PERSON
    assert second.triggers == (HumanTrigger.AMBIGUOUS,)


@pytest.mark.req("RT-05")
def test_unclear_message_that_an_article_clearly_answers_is_answered() -> None:
    """docs/decisions/0006: what the message is called matters less than that a source answers it."""
    assert route(a_state(confidence=0.3, retrieval=0.8), has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("RT-05")
@pytest.mark.parametrize(
    ("kind", "confidence", "retrieval", "expected"),
    [
        ("is_out_of_scope", 0.57, 0.88, RouteKind.ANSWER),
        ("is_out_of_scope", 0.57, 0.2, RouteKind.CLARIFY),
        ("is_out_of_scope", 0.7, 0.95, RouteKind.ANSWER),
        ("is_out_of_scope", 0.97, 0.9, RouteKind.OUT_OF_SCOPE),
        ("is_social", 0.3, 0.1, RouteKind.CLARIFY),
        ("is_social", 0.9, 0.1, RouteKind.SOCIAL),
    ],
)
def test_small_talk_must_be_clear_and_gives_way_to_a_surer_source(
    kind: str, confidence: float, retrieval: float, expected: RouteKind
) -> None:
    """Noise is not greeted, and a question an article answers is our business."""
    state = a_state(CustomerIntent.GENERAL_INQUIRY, confidence=confidence, retrieval=retrieval)
    assert state.classification is not None
    state = state.model_copy(update={"classification": state.classification.model_copy(update={kind: True})})

    assert route(state, has_widened=False).kind is expected


@pytest.mark.req("RT-04")
def test_a_message_that_names_an_order_is_never_out_of_scope() -> None:
    """Whatever the classifier made of it."""
    state = a_state(CustomerIntent.GENERAL_INQUIRY, confidence=0.9, retrieval=0.0, orders=("1001",), named=("1001",))
    assert state.classification is not None
    nothing = state.classification.model_copy(update={"is_out_of_scope": True})
    state = state.model_copy(update={"classification": nothing})

    assert route(state, has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("RT-04")
def test_unsure_guess_at_order_status_does_not_bring_out_the_customers_orders() -> None:
    """Without a number and without a clear class nothing of the account is told."""
    state = a_state(CustomerIntent.ORDER_STATUS, confidence=0.59, retrieval=0.1, orders=("1001",))

    assert route(state, has_widened=False).kind is RouteKind.CLARIFY


@pytest.mark.req("RT-02", "RT-04")
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("has my refund for order 1001 been processed?", RouteKind.ANSWER),
        ("Why was I charged a fee on order 1001?", RouteKind.ANSWER),
        ("refund me for order 1001", RouteKind.ACT),
        ("can I get a refund for order 1001?", RouteKind.ACT),
        ("was order 1001 refunded? if not refund it", RouteKind.PERSON),
    ],
)
def test_a_question_about_a_refund_is_no_request_for_one(message: str, expected: RouteKind) -> None:
    """Only a request for a write waits for a person."""
    text = MaskedText(message)
    state = a_state(CustomerIntent.REFUND, orders=("1001",), named=("1001",), message=text)

    assert route(state, has_widened=False).kind is expected


@pytest.mark.req("RT-02", "RT-05")
def test_a_request_without_its_order_is_asked_for_it_once() -> None:
    """Policy text is no answer to "refund me"; a visitor we do not know gets it all the same."""
    wish = MaskedText("I want my money back")
    first = route(a_state(CustomerIntent.REFUND, orders=("1001",), message=wish), has_widened=False)
    again = route(a_state(CustomerIntent.REFUND, orders=("1001",), message=wish, has_clarified=True), has_widened=False)
    unknown = route(a_state(CustomerIntent.REFUND, message=wish, customer_id=None), has_widened=False)

    assert (first.kind, first.reason) == (RouteKind.CLARIFY, WHICH_ORDER)
    assert again.triggers == (HumanTrigger.ACTION_NEEDS_PERSON,)
    assert unknown.kind is RouteKind.ANSWER


@pytest.mark.req("RT-05")
def test_confidence_of_exactly_the_threshold_is_clear() -> None:
    """S2 §3: the comparison is strict."""
    assert route(a_state(confidence=0.6), has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("RT-06", "KB-12")
def test_weak_retrieval_is_widened_once_and_then_given_to_a_person() -> None:
    """S2 §3: retrieval confidence < 0.5 → suppress draft → human queue; KB-12 widens before."""
    state = a_state(retrieval=0.49)

    assert route(state, has_widened=False).kind is RouteKind.RETRIEVE_AGAIN
    assert route(state, has_widened=True).triggers == (HumanTrigger.LOW_RETRIEVAL,)


@pytest.mark.req("RT-02", "AX-05")
def test_billing_dispute_that_plainly_asks_for_a_refund_asks_the_supervisor_about_one() -> None:
    """S2 §3: account context → supervisor (authority) → executor; a complaint about a charge alone is a person's."""
    asks = a_state(
        CustomerIntent.BILLING_DISPUTE,
        orders=("1001",),
        named=("1001",),
        message=MaskedText("please refund order 1001"),
    )
    complains = a_state(
        CustomerIntent.BILLING_DISPUTE,
        orders=("1001",),
        named=("1001",),
        message=MaskedText("charged twice for order 1001"),
    )

    decision = route(asks, has_widened=False)

    assert (decision.kind, decision.act) == (RouteKind.ACT, ActionType.REFUND)
    assert route(complains, has_widened=False).triggers == (HumanTrigger.ACTION_NEEDS_PERSON,)


@pytest.mark.req("RT-02")
@pytest.mark.parametrize(
    ("intent", "message", "expected"),
    [
        (CustomerIntent.REFUND, "please don't refund order 1001", HumanTrigger.ACTION_NEEDS_PERSON),
        (CustomerIntent.ORDER_CANCEL, "do not cancel order 1001 after all", HumanTrigger.ACTION_NEEDS_PERSON),
        (CustomerIntent.ORDER_CHANGE, "make order 1001 the blue one", HumanTrigger.ACTION_NEEDS_PERSON),
        (CustomerIntent.ORDER_CHANGE, "send order 1001 to my new address please", ActionType.CHANGE_ADDRESS),
        (CustomerIntent.RETURN_EXCHANGE, "i want to return order 1001", ActionType.REQUEST_RETURN),
        (CustomerIntent.RETURN_EXCHANGE, "exchange order 1001 for a larger size", None),
        (CustomerIntent.DELIVERY_PROBLEM, "order 1001 never came, send me a replacement", ActionType.RESEND),
        (CustomerIntent.DELIVERY_PROBLEM, "order 1001 never came, i want my money back", ActionType.REFUND),
        (CustomerIntent.DELIVERY_PROBLEM, "order 1001 never came", None),
        (CustomerIntent.ORDER_STATUS, "where is order 1001, i was thinking of a refund", None),
    ],
)
def test_what_is_asked_for_is_read_from_intent_and_words_and_a_denial_is_no_request(
    intent: CustomerIntent, message: str, expected: HumanTrigger | ActionType | None
) -> None:
    """Nothing is proposed that the customer did not clearly ask for (AX-01)."""
    state = a_state(intent, orders=("1001",), named=("1001",), message=MaskedText(message))

    decision = route(state, has_widened=False)

    assert (decision.act or next(iter(decision.triggers), None)) == expected


@pytest.mark.req("GO-03")
def test_third_contact_on_one_issue_brings_a_person_even_when_confident() -> None:
    """S2 §5, fault 015."""
    state = a_state(CustomerIntent.REFUND, confidence=0.99)
    again = a_state(CustomerIntent.REFUND, confidence=0.99, issue=issue_key(state), contacts_on_issue=2)

    assert HumanTrigger.THIRD_CONTACT in route(again, has_widened=False).triggers


@pytest.mark.req("GO-03")
def test_three_questions_about_products_are_not_one_issue() -> None:
    """A question is not an unresolved issue, however often one asks."""
    state = a_state(CustomerIntent.PRODUCT_QUESTION, issue="", contacts_on_issue=5)

    assert route(state, has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("SU-03", "PR-04")
@pytest.mark.parametrize("missing", ["classification", "escalation"])
def test_without_a_deciding_agents_result_the_turn_fails_closed(missing: str) -> None:
    """Fail closed: no verdict, no automation."""
    decision = route(a_state().model_copy(update={missing: None}), has_widened=False)

    assert decision.triggers == (HumanTrigger.AGENT_FAILURE,)


@pytest.mark.req("GW-03")
def test_order_that_is_not_found_is_answered_by_the_neutral_text_not_by_a_person() -> None:
    """Design §9: "not yours" and "no such order" read the same; the composer has the words."""
    state = a_state(CustomerIntent.ORDER_STATUS, retrieval=0.0, named=("9999",))

    assert route(state, has_widened=False).kind is RouteKind.ANSWER


@pytest.mark.req("LA-01")
def test_speculative_retrieval_is_repeated_only_when_the_real_intent_needs_other_sources() -> None:
    """S2 §6: discarded on mismatch."""
    assert not needs_second_look(a_state(CustomerIntent.SHIPPING_INFO))
    assert needs_second_look(a_state(CustomerIntent.PRODUCT_RECOMMENDATION))


@pytest.mark.req("AC-02")
def test_billing_events_are_pulled_only_for_a_known_customer_with_a_billing_intent() -> None:
    """S2 §4: on billing intent."""
    assert needs_billing(a_state(CustomerIntent.REFUND))
    assert not needs_billing(a_state(CustomerIntent.REFUND, customer_id=None))
    assert not needs_billing(a_state(CustomerIntent.SHIPPING_INFO))


@pytest.mark.req("CL-01", "CL-04")
def test_every_intent_has_a_row_of_needs() -> None:
    """Design §4: the table is total."""
    assert set(NEEDS) == set(CustomerIntent)


@pytest.mark.req("RT-01", "RT-05", "RT-06")
@given(
    intent=st.sampled_from(list(CustomerIntent)),
    confidence=st.floats(0, 1),
    retrieval=st.floats(0, 1),
    triggers=st.sets(st.sampled_from(list(HumanTrigger)), max_size=3),
    has_widened=st.booleans(),
    clarified=st.booleans(),
)
def test_routing_is_total_and_a_human_trigger_always_wins(
    intent: CustomerIntent,
    confidence: float,
    retrieval: float,
    triggers: set[HumanTrigger],
    has_widened: bool,
    clarified: bool,
) -> None:
    """Design §4: every state has a route, widening happens once, no trigger is answered over."""
    state = a_state(
        intent, confidence=confidence, retrieval=retrieval, triggers=tuple(triggers), has_clarified=clarified
    )

    decision = route(state, has_widened=has_widened)

    assert not triggers or decision.kind is RouteKind.PERSON
    assert not (has_widened and decision.kind is RouteKind.RETRIEVE_AGAIN)
    assert (decision.kind is RouteKind.PERSON) == bool(decision.triggers)


@pytest.mark.req("ES-03")
@pytest.mark.parametrize(("intent", "kind"), [("refund", RouteKind.PERSON), ("shipping_info", RouteKind.ANSWER)])
def test_a_tenants_rule_that_names_an_intent_is_decided_by_the_real_one(intent: str, kind: RouteKind) -> None:
    """ES-03: detection runs beside classification, so such a rule waits for routing."""
    rule = WaitingRule(name="refunds to a person", intents=(CustomerIntent.REFUND,))
    state = a_state(CustomerIntent(intent)).model_copy(update={"escalation": Escalation(waiting_rules=(rule,))})

    assert route(state, has_widened=False).kind is kind
