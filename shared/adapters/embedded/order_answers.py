"""Answer from the customer's own orders: which order, which of its facts, in the customer's language.

Says nothing of an order that is not in the owner's account; "not yours" and "no such order" read the same.
Source: RT-04, design §9 "Identifiers in a message", fault 069.
"""

import re
from dataclasses import dataclass
from typing import Final

from shared.domain.drafts import Sentence, SentenceKind
from shared.domain.intents import CustomerIntent
from shared.domain.phrases import OrderFact, Phrase, canonical_status, order_sentences, phrase
from shared.domain.sources import Order
from shared.domain.text import MaskedText, PublishedText
from shared.ports.models import ComposeRequest, Embedder

MAX_ORDERS: Final = 3
"""Orders listed when none is named. Source: ours."""
MAX_MISSING: Final = 3
"""Missing orders named in one reply. Source: ours."""
ASKED_SIMILARITY: Final = 0.56
"""Cosine from which a question counts as asking for a fact. Source: ours, MiniLM on paraphrases."""
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
}
"""Canonical state → what a customer wants to know first."""
_QUESTIONS: Final = (
    (OrderFact.ITEMS, "Which items are in my order?"),
    (OrderFact.ITEMS, "What did I order?"),
    (OrderFact.TOTAL, "How much did I pay for my order? What is the order total?"),
    (OrderFact.PLACED, "When did I place my order?"),
    (OrderFact.SHIPMENT, "What is my tracking number?"),
    (OrderFact.SHIPMENT, "Which carrier has my parcel?"),
)
"""Facts and how they are asked for; compared by meaning, not by words."""
_REFUND_STATE: Final = "Has my order been refunded? Did you issue the refund?"
_REFUND_WISH: Final = "I want a refund for my order. Give me my money back."


@dataclass(frozen=True, slots=True)
class OrderAnswer:
    """Sentences about orders; `is_complete` says nothing else needs to be looked up."""

    sentences: tuple[Sentence, ...]
    confidence: float
    is_complete: bool


async def answer_order(request: ComposeRequest, language: str, embedder: Embedder) -> OrderAnswer:
    """Return what the customer's own records say to the question. Raises: Unavailable."""
    account = request.account
    named = {str(r).upper() for r in request.classification.entities.order_refs}
    own = [o for o in account.orders if o.customer_id == request.snapshot.customer_id]
    missing = tuple(dict.fromkeys(account.missing_order_refs))[:MAX_MISSING]
    asked = [o for o in own if o.order_id.upper() in named] or ([] if missing or named else own)
    sentences = [_notice(Phrase.ORDER_NOT_FOUND, language, ref=str(ref)) for ref in missing]
    if sentences or not own:
        if not sentences:
            is_known = request.snapshot.customer_id is not None
            sentences = [_notice(Phrase.ORDER_NOT_FOUND_PLAIN, language)] if is_known else []
        sentences.append(_notice(Phrase.VERIFY if sentences else Phrase.SIGN_IN, language))
    if len(asked) > 1 and not named:
        listed = [
            _claim(order, t)
            for order in asked[:MAX_ORDERS]
            for t in order_sentences(order, language)[OrderFact.SUMMARY]
        ]
        question = Sentence(text=MaskedText(phrase(Phrase.WHICH_OF_THESE, language)), kind=SentenceKind.QUESTION)
        return OrderAnswer((_notice(Phrase.SEVERAL_ORDERS, language), *listed, question), SURE, True)
    for order in asked[:MAX_ORDERS]:
        facts = order_sentences(order, language)
        wanted = await _wanted(request, order, embedder)
        sentences += [_claim(order, text) for fact in wanted for text in facts.get(fact, ())]
    confidence, is_complete = await _sureness(request, asked, embedder)
    return OrderAnswer(tuple(sentences), confidence, is_complete)


async def _wanted(request: ComposeRequest, order: Order, embedder: Embedder) -> tuple[OrderFact, ...]:
    """Return the facts to tell: the core ones of the order's state and those the question asks for by meaning."""
    wanted = list(_CORE.get(canonical_status(order.status), (OrderFact.STATUS, OrderFact.PLACED)))
    if request.classification.customer_intent in (CustomerIntent.REFUND, CustomerIntent.BILLING_DISPUTE):
        wanted = [OrderFact.STATUS, OrderFact.REFUND, OrderFact.NO_REFUND, OrderFact.TOTAL]
    clauses = [MaskedText(c) for c in re.split(r"[?.;,]|\b(?:and|also)\b", request.snapshot.message.value) if c.strip()]
    forms = [PublishedText(text) for _, text in _QUESTIONS]
    vectors = await embedder.embed([*clauses, *forms])
    nearness = (vectors[: len(clauses)] @ vectors[len(clauses) :].T).max(axis=0, initial=0.0)
    wanted += [fact for (fact, _), near in zip(_QUESTIONS, nearness, strict=True) if float(near) >= ASKED_SIMILARITY]
    return tuple(dict.fromkeys(wanted))


async def _asks_refund_state(request: ComposeRequest, embedder: Embedder) -> bool:
    """Tell whether the customer asks how a refund stands rather than for one."""
    forms = (PublishedText(_REFUND_STATE), PublishedText(_REFUND_WISH))
    question, state, wish = await embedder.embed([request.snapshot.message, *forms])
    return float(question @ state) > float(question @ wish)


async def _sureness(request: ComposeRequest, asked: list[Order], embedder: Embedder) -> tuple[float, bool]:
    """Return how far the records alone answer the wish, and whether nothing more is needed."""
    match request.classification.customer_intent:
        case CustomerIntent.ORDER_STATUS:
            return SURE, True
        case CustomerIntent.DELIVERY_PROBLEM if asked and all(canonical_status(o.status) != "delivered" for o in asked):
            return SURE, True
        case CustomerIntent.REFUND if asked and await _asks_refund_state(request, embedder):
            return SURE, True
        case _:
            return (SURE, True) if not asked else (PARTLY, False)


def _claim(order: Order, text: str) -> Sentence:
    return Sentence(text=MaskedText(text), kind=SentenceKind.CLAIM, refs=(order.ref,))


def _notice(key: Phrase, language: str, **values: str) -> Sentence:
    return Sentence(text=MaskedText(phrase(key, language, **values)), kind=SentenceKind.NOTICE)
