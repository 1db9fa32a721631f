"""What the embedded shop would do about a proposal: the rules of a plain shop, pure.

Owns which change an order still takes and what it would move; nothing about who may ask for it. Source: SH-03, AX-02.
"""

from collections.abc import Iterable, Sequence
from typing import Final, assert_never

from shared.adapters.records.order_books import SENT, OrderBook, line_id, state_of, used_up
from shared.adapters.records.shop_rows import EffectRow
from shared.domain.actions import (
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    LineRef,
    OrderProposal,
    Quote,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
)
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import BillingEvent, Order

BEFORE_SHIPMENT: Final = frozenset(
    {"open", "pending", "received", "confirmed", "unfulfilled", "paid", "processing", "preparing", "in_progress"}
    | {"awaiting_stock", "on_hold"}
)
"""Order states in which goods and address may still change, as shops write them; any other counts as shipped, part
shipped too. Value ours."""
_STAYING: Final = frozenset({"", "label_created", "pending", "ready"})
"""Parcel states before the carrier has it."""


class _No(Exception):
    """The shop would not do it; the text is in words of ours."""


def quote_order(
    order: Order, past: Sequence[EffectRow], proposal: OrderProposal, *, bill: Iterable[BillingEvent] = ()
) -> Quote:
    """Return what the proposal would move now.

    `past` is everything that was done to the order for us, `bill` the charges, refunds and credits of this order.
    """
    try:
        amount, lines = _weigh(order, past, OrderBook(order, past, bill), proposal)
    except _No as no:
        return Quote(order_id=order.order_id, owner=order.customer_id, is_possible=False, reason=str(no))
    return Quote(order_id=order.order_id, owner=order.customer_id, amount=amount, is_possible=True, lines=lines)


def _weigh(
    order: Order, past: Sequence[EffectRow], book: OrderBook, proposal: OrderProposal
) -> tuple[Money | None, tuple[LineRef, ...]]:
    whole = tuple(LineRef(line_id=line_id(line), quantity=line.quantity) for line in order.lines)
    match proposal:
        case RefundProposal() | CreditProposal():
            value = book.worth(_value(book, proposal.lines, book.settled())) if proposal.lines else None
            return _payable(order, book, proposal.amount, value), proposal.lines or whole
        case CancelOrderProposal():
            _demand(not proposal.lines, "an order is cancelled whole")
            _demand(not _has_left(order), "the order has left already, or is not open any more")
            return _payable(order, book, None, None) if book.charged_minor else None, whole
        case ChangeAddressProposal():
            _demand(not _has_left(order), "the order has left already, or is not open any more")
            return None, whole
        case RequestReturnProposal():
            _demand(_is_returnable(order, past), "only delivered goods can come back, and only once")
            return None, _rest(book, proposal.lines, used_up(past, {ActionType.REQUEST_RETURN}))
        case ResendProposal():
            _demand(state_of(order) in SENT, "the goods are not on their way, or the order is over")
            settled = book.settled()
            lines = _rest(book, proposal.lines, settled)
            value = _value(book, lines, settled)
            _demand(book.payable_minor > 0, "the order was paid back, or its goods were sent again")
            _demand(book.resent_minor(value) <= book.held_minor, "it was paid back in part: not all can be sent again")
            return _money(order, value), lines
        case _:
            assert_never(proposal)


def _payable(order: Order, book: OrderBook, asked: Money | None, value: int | None) -> Money:
    """Return the money that would move: what is asked, or all that the order, or its lines, still hold."""
    _demand(book.charged_minor > 0, "the shop holds no money for it")
    left = book.payable_minor
    most = left if value is None else min(left, value)
    _demand(most > 0, "nothing of it can be paid back any more")
    if asked is None:
        return _money(order, most)
    _demand(asked.currency == order.total.currency, "the order was paid in another currency")
    _demand(0 < asked.amount_minor <= most, "that is more than can be paid back")
    return asked


def _value(book: OrderBook, lines: Iterable[LineRef], used: dict[str, int]) -> int:
    """Return what the lines cost, in minor units, units used up before left out. Raises: _No."""
    prices, taken = book.prices(), dict(used)
    total = 0
    for line in lines:
        _demand(line.line_id in prices, "the order has no such line")
        units = prices[line.line_id][taken.get(line.line_id, 0) :]
        _demand(line.quantity <= len(units), "that many were not ordered, or were settled before")
        total += sum(units[: line.quantity])
        taken[line.line_id] = taken.get(line.line_id, 0) + line.quantity
    return total


def _rest(book: OrderBook, lines: tuple[LineRef, ...], used: dict[str, int]) -> tuple[LineRef, ...]:
    """Return the lines asked for, or whatever of the order is not used up. Raises: _No when nothing is."""
    if lines:
        _value(book, lines, used)
        return lines
    left = {name: len(units) - used.get(name, 0) for name, units in book.prices().items()}
    rest = tuple(LineRef(line_id=name, quantity=n) for name, n in left.items() if n > 0)
    _demand(bool(rest), "it was done for the whole order before")
    return rest


def _has_left(order: Order) -> bool:
    is_closed = state_of(order) not in BEFORE_SHIPMENT
    return is_closed or any(s.delivered_at is not None or s.status not in _STAYING for s in order.shipments)


def _is_returnable(order: Order, past: Sequence[EffectRow]) -> bool:
    """Tell whether goods can come back; after a return of part of the order, the rest still can."""
    state = state_of(order)
    if state == "return_requested":
        return any(effect.type is ActionType.REQUEST_RETURN for effect in past)
    return state == "delivered" or (
        state in SENT and all(s.delivered_at for s in order.shipments) and bool(order.shipments)
    )


def _money(order: Order, amount_minor: int) -> Money:
    return Money(amount_minor=amount_minor, currency=order.total.currency)


def _demand(is_met: bool, otherwise: str) -> None:
    if not is_met:
        raise _No(otherwise)
