"""What a customer is told about an action they asked for: that it waits, runs, was done, or was not. Pure.

States only what its caller knows from the action's record; the order and the amount are written so that grounding can
read them back. Source: design §9 "Approvals", AX-01, SU-01 (no claim without a source), CO-05.
"""

from typing import Final

from shared.domain.deltas import ActionResult, ActionStatus
from shared.domain.ids import OrderId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.phrases.action_texts import ABOUT, DONE_TEXTS, PLAIN_TEXTS, REQUEST_TEXTS
from shared.domain.phrases.catalog import Phrase, phrase, phrase_language
from shared.domain.phrases.rendering import render_money

MAX_ORDER_CHARS: Final = 64
"""Longest order number shown. Source: shared.domain.ids (ids from outside); an order's is the shop's own text."""


def done_text(action: ActionType, language: str, *, order: OrderId | None, amount: Money | None) -> str:
    """Return that the action was done: with its order, and with its amount where money moved.

    What is done on our side only (a note, tags) is not news to a customer: their message is acknowledged.
    """
    base = phrase_language(language)
    if action.value not in DONE_TEXTS or order is None:
        return phrase(Phrase.ACKNOWLEDGE, language)
    if amount is None or amount.amount_minor <= 0:
        return PLAIN_TEXTS.get(action.value, DONE_TEXTS[action.value])[base].format(order=_shown(order))
    return DONE_TEXTS[action.value][base].format(order=_shown(order), amount=render_money(amount, language))


def done_sentence(action: ActionResult, language: str) -> str:
    """Return the one sentence that says what the executor did in this turn; "" for what is no news to a customer."""
    if action.type not in DONE_TEXTS or action.order_id is None or action.status is not ActionStatus.EXECUTED:
        return ""
    amount = None
    if action.amount_minor is not None and action.currency is not None:
        amount = Money(amount_minor=action.amount_minor, currency=action.currency)
    return done_text(ActionType(action.type), language, order=action.order_id, amount=amount)


def pending_text(language: str, *, order: OrderId | None) -> str:
    """Return that the request is here, that a person decides, and that the customer hears of it in this place."""
    return _request_text("pending", language, order)


def in_progress_text(language: str, *, order: OrderId | None) -> str:
    """Return that the request is decided and being carried out."""
    return _request_text("in_progress", language, order)


def expired_text(language: str, *, order: OrderId | None) -> str:
    """Return that nobody decided in time and nothing was done."""
    return _request_text("expired", language, order)


def rejected_text(language: str, *, order: OrderId | None) -> str:
    """Return that the request is not carried out, by a person's decision or the shop's; the reason is the desk's."""
    return _request_text("rejected", language, order)


def _request_text(key: str, language: str, order: OrderId | None) -> str:
    base = phrase_language(language)
    about = "" if order is None else ABOUT[base].format(order=_shown(order))
    return REQUEST_TEXTS[key][base].format(about=about)


def _shown(order: OrderId) -> str:
    """Return an order's number as one short printable run."""
    return "".join(char for char in order if char.isprintable() and not char.isspace())[:MAX_ORDER_CHARS]
