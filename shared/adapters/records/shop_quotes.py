"""What the embedded shop would do about a proposal: the rules of a plain shop, pure.

Owns which change an order still takes and what it would move; nothing about who may ask for it. Source: SH-03, AX-02.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, assert_never

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
from shared.domain.sources import Order, OrderLine

BEFORE_SHIPMENT: Final = frozenset(
    {"open", "pending", "received", "confirmed", "unfulfilled", "paid", "processing", "preparing", "in_progress"}
    | {"awaiting_stock", "on_hold"}
)
"""Order states in which goods and address may still change, as shops write them; any other counts as shipped, part
shipped too. Value ours."""
SENT: Final = frozenset(
    {"shipped", "fulfilled", "in_transit", "out_for_delivery", "delivered", "partially_shipped", "partially_refunded"}
)
"""Order states of goods that are with the carrier or the customer: they can be sent again. Value ours."""
UNPAID: Final = frozenset({"cancelled", "canceled", "voided", "awaiting_payment"})
"""Order states in which the shop holds no money. Value ours."""
_STAYING: Final = frozenset({"", "label_created", "pending", "ready"})
"""Parcel states before the carrier has it."""


class _No(Exception):
    """The shop would not do it; the text is in words of ours."""


def quote_order(order: Order, past: Sequence[EffectRow], proposal: OrderProposal) -> Quote:
    """Return what the proposal would move now; `past` is everything that was done to the order for us."""
    try:
        amount, lines = _weigh(order, past, proposal)
    except _No as no:
        return Quote(order_id=order.order_id, owner=order.customer_id, is_possible=False, reason=str(no))
    return Quote(order_id=order.order_id, owner=order.customer_id, amount=amount, is_possible=True, lines=lines)


def line_id(line: OrderLine) -> str:
    """Return what a line is called: the shop's own id, or the SKU where it has none."""
    return line.line_id or line.sku


def _weigh(
    order: Order, past: Sequence[EffectRow], proposal: OrderProposal
) -> tuple[Money | None, tuple[LineRef, ...]]:
    whole = tuple(LineRef(line_id=line_id(line), quantity=line.quantity) for line in order.lines)
    match proposal:
        case RefundProposal() | CreditProposal():
            used = _used(past, {ActionType.REFUND, ActionType.CREDIT})
            value = _value(order, proposal.lines, used) if proposal.lines else None
            return _payable(order, past, proposal.amount, value), proposal.lines or whole
        case CancelOrderProposal():
            _demand(not proposal.lines, "an order is cancelled whole")
            _demand(not _has_left(order), "the order has left already, or is not open any more")
            return _payable(order, past, None, None), whole
        case ChangeAddressProposal():
            _demand(not _has_left(order), "the order has left already, or is not open any more")
            return None, whole
        case RequestReturnProposal():
            _demand(_is_returnable(order, past), "only delivered goods can come back, and only once")
            return None, _rest(order, proposal.lines, _used(past, {ActionType.REQUEST_RETURN}))
        case ResendProposal():
            _demand(_state(order) in SENT, "the goods are not on their way, or the order is over")
            used = _used(past, {ActionType.RESEND})
            lines = _rest(order, proposal.lines, used)
            return _money(order, _value(order, lines, used)), lines
        case _:
            assert_never(proposal)


def _payable(order: Order, past: Sequence[EffectRow], asked: Money | None, value: int | None) -> Money:
    """Return the money that would move: what is asked, or all that the order, or its lines, still hold."""
    currency = order.total.currency
    paid_back = order.refunded.amount_minor if order.refunded is not None else 0
    credited = sum(e.amount.amount_minor for e in past if e.type is ActionType.CREDIT and e.amount is not None)
    _demand(_state(order) not in UNPAID, "the shop holds no money for it")
    left = order.total.amount_minor - paid_back - credited
    most = left if value is None else min(left, value)
    _demand(most > 0, "nothing of it can be paid back any more")
    if asked is None:
        return _money(order, most)
    _demand(asked.currency == currency, "the order was paid in another currency")
    _demand(0 < asked.amount_minor <= most, "that is more than can be paid back")
    return asked


def _value(order: Order, lines: Iterable[LineRef], used: dict[str, int]) -> int:
    """Return what the lines cost, in minor units, units used up before left out. Raises: _No."""
    prices, taken = _prices(order), dict(used)
    total = 0
    for line in lines:
        _demand(line.line_id in prices, "the order has no such line")
        units = prices[line.line_id][taken.get(line.line_id, 0) :]
        _demand(line.quantity <= len(units), "that many were not ordered, or were settled before")
        total += sum(units[: line.quantity])
        taken[line.line_id] = taken.get(line.line_id, 0) + line.quantity
    return total


def _rest(order: Order, lines: tuple[LineRef, ...], used: dict[str, int]) -> tuple[LineRef, ...]:
    """Return the lines asked for, or whatever of the order is not used up. Raises: _No when nothing is."""
    if lines:
        _value(order, lines, used)
        return lines
    left = {name: len(units) - used.get(name, 0) for name, units in _prices(order).items()}
    rest = tuple(LineRef(line_id=name, quantity=n) for name, n in left.items() if n > 0)
    _demand(bool(rest), "it was done for the whole order before")
    return rest


def _prices(order: Order) -> dict[str, list[int]]:
    """Return the price of each unit by line; lines the shop does not tell apart are one."""
    prices: dict[str, list[int]] = {}
    for line in order.lines:
        prices.setdefault(line_id(line), []).extend([line.unit_price.amount_minor] * line.quantity)
    return prices


def _used(past: Iterable[EffectRow], types: set[ActionType]) -> dict[str, int]:
    used: dict[str, int] = {}
    for effect in past:
        for line in effect.lines if effect.type in types else ():
            used[line.line_id] = used.get(line.line_id, 0) + line.quantity
    return used


def _state(order: Order) -> str:
    return re.sub(r"[\s-]+", "_", order.status.strip().casefold())


def _has_left(order: Order) -> bool:
    is_closed = _state(order) not in BEFORE_SHIPMENT
    return is_closed or any(s.delivered_at is not None or s.status not in _STAYING for s in order.shipments)


def _is_returnable(order: Order, past: Sequence[EffectRow]) -> bool:
    """Tell whether goods can come back; after a return of part of the order, the rest still can."""
    state = _state(order)
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
