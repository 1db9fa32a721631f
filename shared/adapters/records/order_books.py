"""One book an order: what was charged for it, what went back, and which of its lines are settled. Pure.

Money and goods count against the same lines: what was sent again is not paid back as well, and what was paid back is
not sent again. Never decides who may have it. Source: AX-02, AX-03, SH-03.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from shared.adapters.records.shop_rows import EffectRow
from shared.domain.intents import ActionType
from shared.domain.sources import BillingEvent, Order, OrderLine

UNPAID: Final = frozenset({"cancelled", "canceled", "voided", "awaiting_payment"})
"""Order states in which the shop holds no money, whatever was charged. Value ours."""
SENT: Final = frozenset(
    {"shipped", "fulfilled", "in_transit", "out_for_delivery", "delivered", "partially_shipped", "partially_refunded"}
)
"""Order states of goods that are with the carrier or the customer. Value ours."""
CHARGED: Final = SENT | {
    *("paid", "partially_fulfilled", "ready_for_pickup", "completed", "return_requested", "returned", "refunded")
}
"""Order states that say by themselves that the order was charged, where its bill shows no charge. Value ours: shops
charge when a parcel leaves or before."""
_MONEY: Final = frozenset({ActionType.REFUND, ActionType.CREDIT})


class OrderBook:
    """What an order still holds, after all that was done to it for us and all that its bill shows."""

    def __init__(self, order: Order, past: Sequence[EffectRow], bill: Iterable[BillingEvent]) -> None:
        self._order = order
        self._past = past
        self._bill = tuple(event for event in bill if event.amount.currency == order.total.currency)
        self._sent_again = _sent_again(past, are_back=state_of(order) == "returned")

    @property
    def charged_minor(self) -> int:
        """Return what was taken for the order, at most its total."""
        if state_of(self._order) in UNPAID:
            return 0
        total = self._order.total.amount_minor
        if any(event.kind == "charge" for event in self._bill):
            return min(total, self._billed("charge"))
        return total if state_of(self._order) in CHARGED else 0

    @property
    def held_minor(self) -> int:
        """Return what of the charge went back in no way: not as money, not as credit."""
        refunded = self._order.refunded.amount_minor if self._order.refunded is not None else 0
        credits = (e.amount.amount_minor for e in self._past if e.type is ActionType.CREDIT and e.amount is not None)
        # An effect stands on the bill too: the larger of both, not their sum.
        return self.charged_minor - max(refunded, self._billed("refund")) - max(sum(credits), self._billed("credit"))

    @property
    def payable_minor(self) -> int:
        """Return what can be paid back: what is held, less the worth of goods that were sent again."""
        return self.held_minor - self.resent_minor()

    def resent_minor(self, further_minor: int = 0) -> int:
        """Return the worth of what was sent again, and of further goods at list price, at the price the order paid."""
        prices = self.prices()
        listed = sum(
            sum(sorted(prices.get(name, ()), reverse=True)[:count]) for name, count in self._sent_again.items()
        )
        return self.worth(listed + further_minor)

    def worth(self, listed_minor: int) -> int:
        """Return what goods of this list price cost in this order: a reduced total reduces each in proportion."""
        goods, total = sum(map(sum, self.prices().values())), self._order.total.amount_minor
        return listed_minor if total >= goods else -(-listed_minor * total // goods)

    def settled(self) -> dict[str, int]:
        """Return how many of each line were paid back or sent again: neither can be had of them any more."""
        used = used_up(self._past, _MONEY)
        return {name: used.get(name, 0) + self._sent_again.get(name, 0) for name in {*used, *self._sent_again}}

    def prices(self) -> dict[str, list[int]]:
        """Return the price of each unit by line; lines the shop does not tell apart are one."""
        prices: dict[str, list[int]] = {}
        for line in self._order.lines:
            prices.setdefault(line_id(line), []).extend([line.unit_price.amount_minor] * line.quantity)
        return prices

    def _billed(self, kind: str) -> int:
        return sum(event.amount.amount_minor for event in self._bill if event.kind == kind)


def line_id(line: OrderLine) -> str:
    """Return what a line is called: the shop's own id, or the SKU where it has none."""
    return line.line_id or line.sku


def state_of(order: Order) -> str:
    """Return the order's state as it is compared: folded, blanks and hyphens alike."""
    return re.sub(r"[\s-]+", "_", order.status.strip().casefold())


def used_up(past: Iterable[EffectRow], types: Iterable[ActionType]) -> dict[str, int]:
    """Return how many of each line the effects of these kinds used up."""
    kinds, used = frozenset(types), dict[str, int]()
    for effect in past:
        for line in effect.lines if effect.type in kinds else ():
            used[line.line_id] = used.get(line.line_id, 0) + line.quantity
    return used


def _sent_again(past: Sequence[EffectRow], *, are_back: bool) -> dict[str, int]:
    """Return what was sent again, less what came back of it; a return that is only asked for brings nothing back."""
    sent: dict[str, int] = {}
    for effect in sorted(past, key=lambda effect: effect.at):
        for line in effect.lines:
            if effect.type is ActionType.RESEND:
                sent[line.line_id] = sent.get(line.line_id, 0) + line.quantity
            elif effect.type is ActionType.REQUEST_RETURN and are_back:
                sent[line.line_id] = max(0, sent.get(line.line_id, 0) - line.quantity)
    return sent
