"""Answer from the customer's own orders: which order, which of its facts, in the customer's language.

Says nothing of an order that is not in the owner's account; "not yours" and "no such order" read the same.
Source: RT-04, design §9 "Identifiers in a message", fault 069.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from shared.adapters.embedded.intent_classifier import readable
from shared.domain.agents import CLARIFY_BELOW
from shared.domain.deltas import Classification
from shared.domain.drafts import Sentence, SentenceKind
from shared.domain.intents import CustomerIntent
from shared.domain.phrases import OrderFact, Phrase, canonical_status, order_sentences, phrase
from shared.domain.question_form import is_question
from shared.domain.sources import Order
from shared.domain.text import MaskedText, PublishedText
from shared.ports.models import ComposeRequest, Embedder

MAX_ORDERS: Final = 3
"""Orders listed when none is named. Source: ours."""
MAX_MISSING: Final = 3
"""Missing orders named in one reply. Source: ours."""
ASKED_SIMILARITY: Final = 0.56
"""Cosine from which a clause counts as one of the known forms. Source: ours, MiniLM on paraphrases."""
SURE: Final = 0.9
"""Confidence when the record answers what the intent asks. Source: ours."""
PARTLY: Final = 0.45
"""Confidence when the record tells a state but the wish needs more; under the composer's floor. Source: ours."""

_CORE: Final = {
    "open": (OrderFact.STATUS, OrderFact.PLACED, OrderFact.ETA),
    "processing": (OrderFact.STATUS, OrderFact.PLACED, OrderFact.ETA),
    "shipped": (OrderFact.STATUS, OrderFact.SHIPMENT, OrderFact.TRACKING_URL, OrderFact.ETA),
    "out_for_delivery": (OrderFact.STATUS, OrderFact.SHIPMENT, OrderFact.TRACKING_URL, OrderFact.ETA),
    "delivered": (OrderFact.STATUS, OrderFact.DELIVERED, OrderFact.SHIPMENT),
    "cancelled": (OrderFact.STATUS, OrderFact.REFUND),
    "returned": (OrderFact.STATUS, OrderFact.REFUND),
    "refunded": (OrderFact.STATUS, OrderFact.REFUND),
    "partially_refunded": (OrderFact.STATUS, OrderFact.REFUND, OrderFact.DELIVERED),
}
"""Canonical state → what a customer wants to know first."""


class _Wish(StrEnum):
    """What a customer may want of an order that none of its facts alone fulfils."""

    LATE = "late"
    """It has not come: the record answers while the parcel is on its way."""
    PROBLEM = "problem"
    """Something is wrong with it or with the bill: a person looks."""
    ADVICE = "advice"
    """How something is done or why: an article may answer."""


_ENDED: Final = frozenset({"delivered", "cancelled", "returned", "refunded"})
"""States in which no parcel is on its way."""
_FORMS: Final[tuple[tuple[OrderFact | _Wish, str], ...]] = (
    (OrderFact.STATUS, "Where is my order? What is the status of my order?"),
    (OrderFact.STATUS, "Has my order shipped yet?"),
    (OrderFact.STATUS, "Is my order ok?"),
    (OrderFact.ETA, "When will my order arrive? When do you deliver it?"),
    (OrderFact.ETA, "When will my order ship?"),
    (OrderFact.DELIVERED, "When was my order delivered?"),
    (OrderFact.ITEMS, "Which items are in my order?"),
    (OrderFact.ITEMS, "What did I order?"),
    (OrderFact.TOTAL, "How much did I pay for my order?"),
    (OrderFact.TOTAL, "What is the total of my order?"),
    (OrderFact.PLACED, "When did I place my order?"),
    (OrderFact.SHIPMENT, "What is the tracking number of my order?"),
    (OrderFact.SHIPMENT, "Which carrier has my parcel?"),
    (OrderFact.REFUND, "Has my order been refunded? Did you issue the refund?"),
    (OrderFact.REFUND, "How much was refunded on my order?"),
    (_Wish.LATE, "My order has not arrived. I never got it."),
    (_Wish.PROBLEM, "Something is missing from my order."),
    (_Wish.PROBLEM, "My order arrived damaged or wrong."),
    (_Wish.PROBLEM, "Did you charge me twice for my order?"),
    (_Wish.PROBLEM, "I want a refund for my order. Give me my money back."),
    (_Wish.PROBLEM, "Cancel my order."),
    (_Wish.PROBLEM, "Change the address of my order."),
    (_Wish.ADVICE, "I want to return or exchange something from my order."),
    (_Wish.ADVICE, "Was my card charged for my order?"),
    (_Wish.ADVICE, "Why did I pay a delivery fee on my order?"),
    (_Wish.ADVICE, "How do I use or clean the product I ordered?"),
)
"""What customers say of an order and what answers it. Compared by meaning, not by words: the nearest form counts."""
_ALSO: Final = {
    OrderFact.SHIPMENT: (OrderFact.SHIPMENT, OrderFact.TRACKING_URL),
    OrderFact.REFUND: (OrderFact.REFUND, OrderFact.NO_REFUND),
}
"""A fact asked for → what is told of it; a fact the record does not hold is left out."""
_CORE_ASKED: Final = frozenset({OrderFact.STATUS, OrderFact.ETA, OrderFact.DELIVERED})
"""Facts that the core of an order's state answers."""
_PLAIN_CLASSES: Final = frozenset({CustomerIntent.ORDER_STATUS, CustomerIntent.GENERAL_INQUIRY})
"""Classes under which a named order without any other wish is told as it stands."""
_BILL_CLASSES: Final = frozenset({CustomerIntent.REFUND, CustomerIntent.BILLING_DISPUTE, CustomerIntent.PAYMENT_ISSUE})
"""Classes that speak of the money of an order."""
_CLAUSE: Final = re.compile(r"[?.!;,\n]|\b(?:and|also)\b")


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    """Sentences about orders; `is_complete` says nothing else needs to be looked up.

    `is_fallback`: to be said only where no article answers either.
    """

    sentences: tuple[Sentence, ...]
    confidence: float
    is_complete: bool
    is_fallback: bool = False


async def answer_order(request: ComposeRequest, language: str, embedder: Embedder) -> OrderAnswer:
    """Return what the customer's own records say to the question. Raises: Unavailable."""
    account = request.account
    named = {str(r).upper() for r in request.classification.entities.order_refs}
    own = [o for o in account.orders if o.customer_id == request.snapshot.customer_id]
    missing = tuple(dict.fromkeys(account.missing_order_refs))[:MAX_MISSING]
    asked = [o for o in own if o.order_id.upper() in named] or ([] if missing or named else own)
    is_status = request.classification.customer_intent is CustomerIntent.ORDER_STATUS
    may_be_general = not is_status and is_question(request.snapshot.message.value, with_permission=True)
    sentences = [_notice(Phrase.ORDER_NOT_FOUND, language, ref=str(ref)) for ref in missing]
    if sentences or not own:
        if not sentences:
            is_known = request.snapshot.customer_id is not None
            sentences = [_notice(Phrase.ORDER_NOT_FOUND_PLAIN, language)] if is_known else []
        sentences.append(_notice(Phrase.VERIFY if sentences else Phrase.SIGN_IN, language))
    if request.classification.customer_intent is CustomerIntent.REFUND and asked and not named:
        return await _refunds(request, asked, language, embedder)
    if len(asked) > 1 and not named:
        listed = [
            _claim(order, t)
            for order in asked[:MAX_ORDERS]
            for t in order_sentences(order, language)[OrderFact.SUMMARY]
        ]
        question = Sentence(text=MaskedText(phrase(Phrase.WHICH_OF_THESE, language)), kind=SentenceKind.QUESTION)
        return OrderAnswer(
            (_notice(Phrase.SEVERAL_ORDERS, language), *listed, question), SURE, not may_be_general, may_be_general
        )
    if not asked:
        is_open = not missing and not named
        return OrderAnswer(tuple(sentences), SURE, not is_open, is_open and not is_status)
    intent = request.classification.customer_intent
    wishes = await _wishes(request, embedder)
    for order in asked[:MAX_ORDERS]:
        facts = order_sentences(order, language)
        sentences += [_claim(order, text) for fact in _wanted(order, wishes, intent) for text in facts.get(fact, ())]
    confidence, is_complete = _sureness(request.classification, asked, wishes, is_named=bool(named))
    return OrderAnswer(tuple(sentences), confidence, is_complete)


async def _refunds(request: ComposeRequest, own: list[Order], language: str, embedder: Embedder) -> OrderAnswer:
    """Return which recent orders were refunded, when that is asked of no order in particular; else nothing."""
    paid_back = [o for o in own if o.refunded and o.refunded.amount_minor > 0]
    if not paid_back or await _wishes(request, embedder) != (OrderFact.REFUND,):
        return OrderAnswer((), 0.0, is_complete=False)
    told = [
        _claim(order, text)
        for order in paid_back[:MAX_ORDERS]
        for fact in (OrderFact.STATUS, OrderFact.REFUND)
        for text in order_sentences(order, language).get(fact, ())
    ]
    return OrderAnswer(tuple(told), SURE, is_complete=True)


async def _wishes(request: ComposeRequest, embedder: Embedder) -> tuple[OrderFact | _Wish, ...]:
    """Return what each clause of the message is nearest to."""
    clauses = [c for part in _CLAUSE.split(request.snapshot.message.value) if (c := _general(part, request))]
    if not clauses:
        return ()
    vectors = await embedder.embed([*map(MaskedText, clauses), *(PublishedText(text) for _, text in _FORMS)])
    nearness = vectors[: len(clauses)] @ vectors[len(clauses) :].T
    found = [_FORMS[int(row.argmax())][0] for row in nearness if float(row.max()) >= ASKED_SIMILARITY]
    return tuple(dict.fromkeys(found))


def _general(clause: str, request: ComposeRequest) -> str:
    """Return the clause as a model reads it, order numbers taken out; empty when that leaves no word."""
    for ref in request.classification.entities.order_refs:
        clause = re.sub(rf"#?\s?{re.escape(ref)}(?!\w)", " ", clause, flags=re.IGNORECASE)
    clause = readable(clause)
    return clause if any(c.isalpha() for c in clause) else ""


def _wanted(order: Order, wishes: tuple[OrderFact | _Wish, ...], intent: CustomerIntent) -> tuple[OrderFact, ...]:
    """Return the facts to tell: where the order stands and what was asked; the core of its state when nothing was.

    Beside advice from an article only the state and the day of delivery matter.
    """
    core = _CORE.get(canonical_status(order.status), (OrderFact.STATUS, OrderFact.PLACED, OrderFact.ETA))
    asked = [w for w in wishes if isinstance(w, OrderFact)]
    special = [f for w in asked if w not in _CORE_ASKED for f in _ALSO.get(w, (w,))]
    if not asked and intent in _BILL_CLASSES:
        special = [OrderFact.REFUND, OrderFact.TOTAL]
    if not asked and not special and _Wish.ADVICE in wishes:
        return (OrderFact.STATUS, OrderFact.DELIVERED)
    is_core = not special or not _CORE_ASKED.isdisjoint(asked)
    return tuple(dict.fromkeys((*(core if is_core else (OrderFact.STATUS,)), *special)))


def _sureness(
    found: Classification, asked: list[Order], wishes: tuple[OrderFact | _Wish, ...], *, is_named: bool
) -> tuple[float, bool]:
    """Return how far the records alone answer the wish, and whether nothing more is needed."""
    is_coming = all(canonical_status(o.status) not in _ENDED for o in asked)
    if _Wish.PROBLEM in wishes:
        return PARTLY, True
    if _Wish.ADVICE in wishes:
        return PARTLY, False
    if _Wish.LATE in wishes or found.customer_intent is CustomerIntent.DELIVERY_PROBLEM:
        return (SURE, True) if is_coming else (PARTLY, False)
    is_plain = found.customer_intent in _PLAIN_CLASSES and (is_named or found.confidence >= CLARIFY_BELOW)
    return (SURE, True) if wishes or is_plain else (PARTLY, False)


def _claim(order: Order, text: str) -> Sentence:
    return Sentence(text=MaskedText(text), kind=SentenceKind.CLAIM, refs=(order.ref,))


def _notice(key: Phrase, language: str, **values: str) -> Sentence:
    return Sentence(text=MaskedText(phrase(key, language, **values)), kind=SentenceKind.NOTICE)
