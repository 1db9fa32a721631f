"""From what a customer asks to typed proposals about orders of their own; pure, and says nothing where it is not sure.

A part of an order is proposed only when the message clearly names its lines; half-named lines, an amount that is not
the order's or many orders are a person's to sort out, because money may move without one. Source: AX-01, RT-02.
"""

import re
from collections import Counter
from typing import Final

from shared.domain.actions import (
    MAX_PROPOSALS,
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    LineRef,
    OrderProposal,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
)
from shared.domain.deltas import TurnState
from shared.domain.intents import ActionType
from shared.domain.request_words import PLAIN
from shared.domain.routing_facts import asked_for, named_orders
from shared.domain.sources import Order
from shared.domain.typed_values import ValueKind, equals, extract_values
from shared.domain.typed_values.folding import fold

NAMED_SHARE: Final = 0.5
"""Share of a line's own words the message must hold to mean that line. Unit: 0–1. Value ours."""

_ELISION: Final = re.compile(r"\b[a-z]{1,4}'(?=\w)")


def build_proposals(state: TurnState, action: ActionType) -> tuple[OrderProposal, ...] | None:
    """Return one proposal an own order named, or None when the message leaves open what exactly is meant."""
    orders, request = named_orders(state), asked_for(state)
    if not orders or len(orders) > MAX_PROPOSALS or (state.account is not None and state.account.missing_order_refs):
        return None
    if request is None or request.action is not action or (not request.refs and len(orders) > 1):
        return None
    built = [_about(order, action, state, request.clause) for order in orders]
    return None if any(proposal is None for proposal in built) else tuple(p for p in built if p is not None)


def _about(order: Order, action: ActionType, state: TurnState, clause: str) -> OrderProposal | None:
    language = state.classification.language if state.classification else "en"
    lines = named_lines(order, clause)
    if lines is None:
        return None
    match action:
        case ActionType.REFUND | ActionType.CREDIT:
            if not _is_whole(order, state.snapshot.message.value, language):
                return None
            kind = RefundProposal if action is ActionType.REFUND else CreditProposal
            return kind(order_id=order.order_id, lines=lines)
        case ActionType.REQUEST_RETURN:
            return RequestReturnProposal(order_id=order.order_id, lines=lines)
        case ActionType.RESEND:
            return ResendProposal(order_id=order.order_id, lines=lines)
        case ActionType.CANCEL_ORDER:
            # Part of an order cannot be cancelled: somebody has to edit it.
            return None if lines else CancelOrderProposal(order_id=order.order_id)
        case ActionType.CHANGE_ADDRESS:
            return None if lines else ChangeAddressProposal(order_id=order.order_id)
        case _:
            return None


def named_lines(order: Order, text: str) -> tuple[LineRef, ...] | None:
    """Return the lines the message names, () when it names none of them, None when it is not clear which.

    Naming every line is naming the whole order. Source: AX-01; `text` is a sentence of the customer's.
    """
    said = set(_words(text))
    numbers = {token.strip("#.,:;").casefold() for token in text.split()}
    titles = [set(_words(f"{line.title} {line.variant}")) for line in order.lines]
    holders = Counter(word for title in titles for word in title)
    chosen: list[LineRef] = []
    is_hinted = False
    for line, title in zip(order.lines, titles, strict=True):
        own = {word for word in title if holders[word] == 1}
        has_sku = bool(line.sku) and line.sku.casefold() in numbers
        is_named = has_sku or (bool(own & said) and len(own & said) >= NAMED_SHARE * len(own))
        # A word that some lines have, or too few of a line's own, leaves it open which is meant.
        hinted = {word for word in title & said if holders[word] < len(titles) or len(titles) == 1}
        if hinted and not is_named:
            return None
        is_hinted |= bool(title & said)
        if is_named:
            chosen.append(LineRef(line_id=line.line_id or line.sku, quantity=line.quantity))
    if len(chosen) == len(order.lines):
        return ()
    if is_hinted and not chosen:
        return None
    # A part of an order that was bought more than once may mean one of them or all: the message does not say.
    return tuple(chosen) if all(line.quantity == 1 for line in chosen) else None


def _is_whole(order: Order, text: str, language: str) -> bool:
    """Tell whether no other amount than the order's total is named: anything else is for a person to settle."""
    currency = order.total.currency
    total = extract_values(str(order.total), language="en", default_currency=currency)
    named = extract_values(text, language=language, default_currency=currency)
    return all(any(equals(v, t) for t in total) for v in named if v.kind is ValueKind.AMOUNT)


def _words(text: str) -> list[str]:
    bare = _ELISION.sub("", fold(text.replace("’", "'")).text)
    words = "".join(char if char.isalnum() else " " for char in bare).split()
    return [word for word in words if word not in PLAIN]
