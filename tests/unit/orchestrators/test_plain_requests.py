"""Only a plain request becomes an action: not a denial, a condition, a quotation, a part, a question or a complaint."""

import re
from datetime import UTC, datetime

import pytest

from orchestrators.routing import route
from shared.domain.deltas import Account, Classification, Context, Escalation, Knowledge, Metadata, Snapshot, TurnState
from shared.domain.entities import extract_entities
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import ConversationId, CustomerId, InstanceId, MessageId, OrderId, TenantId
from shared.domain.intents import ActionType, CustomerIntent
from shared.domain.money import Money
from shared.domain.policy import RoutingRules
from shared.domain.proposals import build_proposals, named_lines
from shared.domain.requests import read_request
from shared.domain.routing_facts import facts_of
from shared.domain.sources import HistoryLine, Order, OrderLine
from shared.domain.text import MaskedText
from shared.domain.turns import Route, RouteKind

ANA = CustomerId("ana")
REFUND, CANCEL = CustomerIntent.REFUND, CustomerIntent.ORDER_CANCEL
DISPUTE, DELIVERY, RETURN = (
    CustomerIntent.BILLING_DISPUTE,
    CustomerIntent.DELIVERY_PROBLEM,
    CustomerIntent.RETURN_EXCHANGE,
)


def usd(minor: int) -> Money:
    """Build dollars."""
    return Money(amount_minor=minor, currency="USD")


def saying(text: str, intent: CustomerIntent) -> TurnState:
    """Build the state after the readers; the class is the one the offline classifier gives (0.95 in each case)."""
    message = MaskedText(text)
    titles = (
        ("Gooseneck Pour-Over Kettle, 0.9 L", "KE-1", 1, 2_000),
        ("Ceramic Pour-Over Dripper", "DR-1", 1, 1_000),
        ("Paper Filters, Size 02, Pack of 100", "FI-1", 2, 500),
    )
    lines = tuple(OrderLine(line_id=s, title=t, sku=s, quantity=q, unit_price=usd(p)) for t, s, q, p in titles)
    found = extract_entities(message)
    orders = tuple(
        Order(order_id=OrderId(n), customer_id=ANA, status="delivered", lines=lines, total=usd(4_000))
        for n in ("10001", "20001")
        if n in found.order_refs
    )
    return TurnState(
        snapshot=Snapshot(
            conversation_id=ConversationId("c1"),
            tenant_id=TenantId("t1"),
            message=message,
            metadata=Metadata(timestamp=datetime(2026, 3, 2, tzinfo=UTC)),
            message_id=MessageId("m1"),
            instance_id=InstanceId("t-1"),
            customer_id=ANA,
        ),
        classification=Classification(customer_intent=intent, confidence=0.95, entities=found),
        escalation=Escalation(),
        knowledge=Knowledge(confidence=0.9),
        account=Account(orders=orders),
    )


@pytest.mark.req("AX-01", "RT-02")
@pytest.mark.parametrize(
    ("intent", "text"),
    [
        # negation, refusal
        (REFUND, "Please do not, under any circumstances, refund order 10001"),
        (REFUND, "I refuse a refund for order 10001"),
        (REFUND, "Nobody should refund order 10001"),
        (REFUND, "I'd rather keep order 10001 than have a refund"),
        (REFUND, "Please stop the refund of order 10001"),
        (REFUND, "Undo the refund for order 10001"),
        (CANCEL, "Please don't, whatever my wife says, cancel order 10001"),
        (CANCEL, "Stop the cancellation of order 10001"),
        (CANCEL, "Cancel my newsletter, not order 10001"),
        (CANCEL, "Cancel my refund request for order 10001"),
        (DELIVERY, "Delivery of 10001 was late but do not send another"),
        (RETURN, "I do not intend to send 10001 back, I just need a return policy"),
        # taken back, in one message or in the next of one burst (open_turn joins them)
        (REFUND, "Refund order 10001\nNever mind, I found it!"),
        (REFUND, "Refund order 10001\nSorry, please ignore that, I sent it to the wrong shop"),
        (CANCEL, "Cancel order 10001. Actually no, keep it!"),
        # past tense, thanks, complaint
        (REFUND, "You refunded order 10001, thanks!"),
        (REFUND, "I got my refund for order 10001, all good now"),
        (CANCEL, "I got an email that order 10001 was cancelled. I want it!"),
        (CANCEL, "My order 10001 has been cancelled by mistake, please ship it"),
        (CANCEL, "My flight was cancelled so I need order 10001 sooner"),
        # hypothetical, conditional
        (REFUND, "I might want a refund for order 10001 later"),
        (REFUND, "If order 10001 has not arrived by Friday, refund it"),
        (CANCEL, "Unless you ship order 10001 today, cancel it"),
        (CANCEL, "I thought about cancelling order 10001 but I will keep it"),
        # questions that do not look like one in every stretch
        (REFUND, "I wonder what happens if you refund order 10001"),
        (REFUND, "Tell me how I would get a refund for order 10001"),
        (REFUND, "Did you refund order 10001? You told me you refunded $40."),
        (CANCEL, "Somebody cancelled order 10001, who was it"),
        # somebody else's words
        (REFUND, 'My sister says "refund order 10001" but I love it'),
        (CANCEL, 'My friend wrote "cancel order 10001" as a joke'),
        (REFUND, "My sister says “refund order 10001”"),
        (REFUND, "Meine Schwester ruft „erstatte Bestellung 10001“"),
        (REFUND, "Il m'a écrit « remboursez la commande 10001 »"),
        (REFUND, "My husband wants a refund for order 10001, but please ignore him"),
        # a dispute asks for an explanation, not for all of the money
        (DISPUTE, "I was charged twice for order 10001"),
        (DISPUTE, "You overcharged me for order 10001"),
        (DISPUTE, "My bank took a fee of its own on order 10001, could you explain the charge"),
    ],
)
def test_what_asks_for_nothing_moves_nothing(intent: CustomerIntent, text: str) -> None:
    """No such message may be routed to an action without a person."""
    assert route(facts_of(saying(text, intent)), RoutingRules(), has_widened=True).kind is not RouteKind.ACT


@pytest.mark.req("AX-01")
@pytest.mark.parametrize(
    "text",
    [
        "Refund half of order 10001",
        "Refund 50% of order 10001",
        "Partial refund for order 10001 please",
        "Refund the shipping of order 10001",
        "Refund the tax on order 10001",
        "Refund the cheapest item of order 10001",
        "Refund one item of order 10001",
        "Refund the price difference for order 10001",
        "Refund only the coffee pot in order 10001",
        "Refund one pack of paper filters from order 10001",
        "Refund order 10001 except the kettle",
        "Refund order 10001 but not the kettle",
        "Refund everything but the dripper from order 10001",
        "Refund order 10001 but not 20001",
        "Refund order 10001. When was 20001 delivered?",
        "I love 20001. Please refund 10001.",
        "Refund the kettle, and the dripper is fine, of order 10001",
        "Refund order 10001. The kettle leaks.",
    ],
)
def test_a_part_is_never_taken_for_the_whole_nor_for_its_opposite(text: str) -> None:
    """Half-named lines, parts, exceptions and a second order named for another reason are a person's."""
    assert build_proposals(saying(text, REFUND), ActionType.REFUND) is None


@pytest.mark.req("RT-02")
def test_a_denied_request_without_a_number_is_not_asked_for_its_number() -> None:
    """“Don't cancel my order” → “Which order is it about?” → “order 10001” → cancelled."""
    state = saying("Don't cancel my order", CANCEL)
    own = saying("order 10001", CANCEL).account
    decided = route(facts_of(state.model_copy(update={"account": own})), RoutingRules(), has_widened=True)
    assert decided.kind is not RouteKind.CLARIFY, decided


@pytest.mark.req("AX-01", "RT-02")
@pytest.mark.parametrize(
    ("intent", "text", "action"),
    [
        (REFUND, "Please refund order 10001", ActionType.REFUND),
        (REFUND, "Hi! I want my money back for order #10001, thanks.", ActionType.REFUND),
        (REFUND, "Could you please refund my order 10001?", ActionType.REFUND),
        (REFUND, "I want a refund for order 10001 because it is broken", ActionType.REFUND),
        (REFUND, "It is far too small and I want a refund for order 10001.", ActionType.REFUND),
        (DELIVERY, "Order 10001 never arrived. Please refund it.", ActionType.REFUND),
        (DELIVERY, "Order 10001 hasn't been delivered, I want my money back", ActionType.REFUND),
        (DELIVERY, "Order 10001 never came, please send it again", ActionType.RESEND),
        (DISPUTE, "Please refund order 10001", ActionType.REFUND),
        (CANCEL, "Can you cancel order 10001 please", ActionType.CANCEL_ORDER),
        (CANCEL, "cancel my order 10001 immediately!", ActionType.CANCEL_ORDER),
        (RETURN, "I would like to return order 10001", ActionType.REQUEST_RETURN),
        (RETURN, "I want to send order 10001 back", ActionType.REQUEST_RETURN),
        (REFUND, "Bitte erstatten Sie mir die Bestellung 10001", ActionType.REFUND),
        (CANCEL, "Ich möchte meine Bestellung 10001 stornieren", ActionType.CANCEL_ORDER),
        (REFUND, "Je voudrais être remboursé de ma commande 10001", ActionType.REFUND),
        (CANCEL, "Annulez ma commande 10001 s'il vous plaît", ActionType.CANCEL_ORDER),
        (REFUND, "Quiero un reembolso del pedido 10001", ActionType.REFUND),
        (CANCEL, "Por favor cancele mi pedido 10001", ActionType.CANCEL_ORDER),
        (REFUND, "Vorrei un rimborso per l'ordine 10001", ActionType.REFUND),
        (CANCEL, "Quero cancelar a minha encomenda 10001", ActionType.CANCEL_ORDER),
        (CANCEL, "Ik wil mijn bestelling 10001 annuleren", ActionType.CANCEL_ORDER),
        (CANCEL, "10001 numaralı siparişimi iptal edin lütfen", ActionType.CANCEL_ORDER),
    ],
)
def test_a_plain_request_is_one_in_every_language(intent: CustomerIntent, text: str, action: ActionType) -> None:
    """Its own order, for now, all of it: the supervisor is asked, and the whole order is proposed."""
    state = saying(text, intent)

    decided = route(facts_of(state), RoutingRules(), has_widened=True)

    assert (decided.kind, decided.act) == (RouteKind.ACT, action)
    proposals = build_proposals(state, action)
    assert proposals is not None
    assert [p.order_id for p in proposals] == ["10001"]


@pytest.mark.req("RT-02")
def test_the_number_that_answers_our_question_completes_the_request_before_it() -> None:
    """“I want my money back” → “Which order?” → “10001”: one request; with a denial before it, none."""
    wish = saying("order 10001", REFUND)
    before = wish.snapshot.context.model_copy(
        update={"history": (HistoryLine(seq=1, role="customer", text=MaskedText("I want my money back")),)}
    )
    denial = before.model_copy(
        update={"history": (HistoryLine(seq=1, role="customer", text=MaskedText("I do not want my money back")),)}
    )

    def after(context: Context) -> Route:
        snapshot = wish.snapshot.model_copy(update={"context": context, "has_clarified": True})
        return route(facts_of(wish.model_copy(update={"snapshot": snapshot})), RoutingRules(), has_widened=True)

    assert after(before).act is ActionType.REFUND
    assert after(denial).triggers == (HumanTrigger.ACTION_NEEDS_PERSON,)


@pytest.mark.req("AX-01", "RT-02")
@pytest.mark.parametrize(
    "text",
    [
        "I want no return of order 1001",
        "I want no refund for order 1004",
        "I need no replacement for order 1004, thanks",
        "Cancel order 1002? No!",
        "Annullare l'ordine 1002? No, grazie.",
        "Quiero no cancelar el pedido 1002",
        "Should it arrive late, cancel order 1003.",
        "In case the parcel is lost, refund order 1003.",
        "As soon as I confirm, cancel order 1002.",
        "Tomorrow, cancel order 1013",
        "Sollte es zu spät kommen, stornieren Sie Bestellung 1002",
        "Au cas où le colis serait perdu, remboursez la commande 1003.",
        "En caso de retraso, cancele el pedido 1002",
        "In caso di ritardo, annulla l'ordine 1002",
        "Caso chegue tarde, cancele a encomenda 1002",
        "Indien het te laat komt, annuleer bestelling 1002",
        "Geç gelirse, 1002 numaralı siparişi iptal edin.",
        "Cancel order 1002. Scratch that.",
        "Storniere Bestellung 1002. Quatsch, lass es.",
        "Annulez la commande 1002. Laissez tomber.",
        "Cancela el pedido 1002. Mejor déjalo así.",
        "Annulla l'ordine 1002. Lascia stare.",
        "Cancele a encomenda 1002. Deixe para lá.",
        "Annuleer bestelling 1002. Laat maar.",
        "1002 numaralı siparişi iptal edin. Vazgeçtim.",
        "I need the refund number for order 1004",
        "I would like to give back the refund of order 1007",
        "Will you cancel order 1002?",
        "Refund order 1004, the shipping",
        "Bitte erstatten Sie Bestellung 1005, die Versandkosten.",
        "Refund order 1005, ten dollars.",
        "Please return my money for order 1004",
        "Quiero la devolución de mi dinero del pedido 1004",
        "Quero a devolução do meu dinheiro da encomenda 1004",
        "Je souhaite renvoyer ma commande 1001 s'il vous plaît",
        "Send order 1003 back to me",
        "Please cancel my request for order 1009",
        "My mother says\nrefund order 1004",
    ],
)
def test_one_word_or_sentence_nobody_knows_makes_it_no_plain_request(text: str) -> None:
    """Tables of doubts are never whole; a table of what changes nothing is safe where it has a gap."""
    assert read_request(text, refs=frozenset(re.findall(r"\b1\d{3}\b", text)), known=frozenset()) is None


@pytest.mark.req("RT-02")
@pytest.mark.parametrize("intent", [CustomerIntent.ORDER_STATUS, CustomerIntent.GENERAL_INQUIRY])
def test_a_plain_request_counts_whatever_class_a_model_gave_it(intent: CustomerIntent) -> None:
    """“Storniere Bestellung 10001”, read as a question for the status, would be answered with the status."""
    decided = route(facts_of(saying("Storniere Bestellung 10001", intent)), RoutingRules(), has_widened=True)

    assert decided.act is ActionType.CANCEL_ORDER


def _order(*lines: tuple[str, str, str]) -> Order:
    made = tuple(
        OrderLine(line_id=f"l{n}", title=title, variant=variant, sku=sku, quantity=1, unit_price=usd(100))
        for n, (title, variant, sku) in enumerate(lines)
    )
    return Order(order_id=OrderId("1001"), customer_id=ANA, status="delivered", lines=made, total=usd(200))


SHIRTS = _order(("Cotton T-Shirt", "M", "TS-M"), ("Cotton T-Shirt", "XL", "TS-XL"))
PENS = _order(("Fountain pen", "fine", "P1"), ("Fountain pen", "broad", "P10"))


@pytest.mark.req("AX-01")
@pytest.mark.parametrize(
    ("order", "text", "lines"),
    [
        (
            _order(("Cotton T-Shirt", "M", "TS-M"), ("Cotton T-Shirt", "XL", "TS-XL")),
            "return the cotton t-shirt xl",
            ["l1"],
        ),
        (SHIRTS, "return the cotton t-shirt", None),
        (
            _order(("Fountain pen", "fine", "P1"), ("Fountain pen", "broad", "P10")),
            "return p10 from order 1001",
            ["l1"],
        ),
        (_order(("Red pen", "", "100"), ("Blue cup", "", "777")), "refund order 1003", []),
    ],
    ids=["a size of two letters", "what both are", "a number inside another", "a number inside the order's"],
)
def test_a_line_is_named_by_what_tells_it_apart(order: Order, text: str, lines: list[str] | None) -> None:
    """Whole words and whole numbers; what all lines share and none alone leaves it open."""
    named = named_lines(order, text)

    assert (None if named is None else [line.line_id for line in named]) == lines
