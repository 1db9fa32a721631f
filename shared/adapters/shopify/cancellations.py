"""Cancelling a whole order: a job at the shop, without a key, irreversible, and once by nature.

A cancelled order cannot be cancelled again, whoever did it: what was wished for is then done, and its amount is what
the shop shows to have gone back. A job that is not over is doubt; so is a cancelled order whose money is not back yet.
Source: SH-03, AX-02, AX-03, apis.md §1.10.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.shopify.marks import bears_mark, is_marked, to_mark
from shared.adapters.shopify.money_orders import MoneyOrder
from shared.adapters.shopify.operations import Answer, Operation
from shared.adapters.shopify.refunds import read_money, suggestion_of
from shared.adapters.shopify.shops import from_gid
from shared.adapters.shopify.standing import RETURNING, has_left
from shared.adapters.shopify.writing import Impossible, ShopWriting, demand, unseen
from shared.domain.actions import Action, CancelOrderProposal, Effect, Quote
from shared.domain.errors import IntegrationError, OutcomeUnknown, Unavailable
from shared.domain.grants import Grant
from shared.domain.money import Money
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope
from shared.ports.integrations import Declined

LOOKS_S: Final = (0.25, 0.5, 1.0, 1.5)
"""Seconds before each look at a job. Value ours: with reading and writing they stay within the call's deadline."""
JOB_S: Final = 120.0
"""Seconds after which a job that has changed nothing is taken for one that never was. Value ours: a late one still
cancels only once, and the action is looked at again."""
MONEY_S: Final = 120.0
"""Seconds the money of a cancelled order may take to show. Value ours."""
TOGETHER_S: Final = 300.0
"""Seconds before the cancellation from which a refund counts as part of it. Value ours."""


class _JobNode(Answer):
    id: str
    done: bool = False


class _CancelPayload(Answer):
    job: _JobNode | None = None


class _CancelAnswer(Answer):
    order_cancel: _CancelPayload


class _JobAnswer(Answer):
    job: _JobNode | None = None


CANCEL: Final = Operation(
    "orderCancel",
    "mutation Cancel($id: ID!, $note: String!) { orderCancel(orderId: $id, reason: CUSTOMER, restock: true,"
    " refundMethod: { originalPaymentMethodsRefund: true }, notifyCustomer: true, staffNote: $note)"
    " { job { id done } orderCancelUserErrors { code field message } } }",
    _CancelAnswer,
    cost=20.0,
    effect="job",
)
JOB: Final = Operation("job", "query Job($id: ID!) { job(id: $id) { id done } }", _JobAnswer, cost=1.0)


class Cancellations:
    """Cancellations of one customer's order."""

    def __init__(
        self, shop: ShopWriting, clock: Clock, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._shop = shop
        self._clock = clock
        self._sleep = sleep

    async def quote(self, scope: CustomerScope, proposal: CancelOrderProposal) -> Quote | None:
        """Return what cancelling would pay back now; None when the order is not theirs. Raises: Impossible."""
        order = await read_money(self._shop, scope, proposal, ())
        if order is None:
            return None
        amount = _weigh(order, proposal)
        return Quote(
            order_id=proposal.order_id,
            owner=scope.customer_id,
            amount=amount,
            is_possible=True,
            lines=suggestion_of(order).lines(),
        )

    async def find(self, scope: CustomerScope, proposal: CancelOrderProposal, action: Action) -> Effect | None:
        """Return the cancellation; None when it is certain that there is none.

        Raises: Unavailable while a job of ours may be under way; IntegrationError.
        """
        order = await read_money(self._shop, scope, proposal, ())
        if order is None:
            raise unseen(action.action_id)
        started_at = action.started_at or action.requested_at
        found = self._made(order, action.action_id, action.amount, since=started_at)
        if found is None and self._clock.now() < started_at + timedelta(seconds=JOB_S):
            raise Unavailable(f"the cancellation of action {action.action_id!r} may still be under way")
        return found

    async def do(self, scope: CustomerScope, grant: Grant, proposal: CancelOrderProposal) -> Effect:
        """Cancel the order and wait for it. Raises: Declined, NotCalled, OutcomeUnknown, IntegrationError."""
        started_at = self._clock.now()
        order = await self._shop.before(read_money(self._shop, scope, proposal, ()))
        if order is None:
            raise Declined("there is no such order of this customer")
        done = self._made(order, grant.action_id, grant.amount, since=started_at)
        if done is not None:
            return done
        try:
            demand(_weigh(order, proposal) == grant.amount, "it would move another amount than was granted")
        except Impossible as no:
            raise Declined(str(no)) from None
        declined: Declined | None = None
        try:
            answer = await self._shop.write(scope, CANCEL, {"id": order.id, "note": to_mark(grant.action_id)})
            await self._wait(scope, answer.order_cancel.job)
        except Declined as error:
            # The shop also declines what is cancelled already, by an earlier try of ours or by the merchant.
            declined = error
        found = await self._read_back(scope, proposal, grant, since=started_at)
        if found is not None:
            return found
        raise declined or OutcomeUnknown("orderCancel: the order is not cancelled yet")

    async def _read_back(
        self, scope: CustomerScope, proposal: CancelOrderProposal, grant: Grant, *, since: datetime
    ) -> Effect | None:
        order = await read_money(self._shop, scope, proposal, ())
        if order is None:
            raise unseen(grant.action_id)
        return self._made(order, grant.action_id, grant.amount, since=since)

    async def _wait(self, scope: CustomerScope, job: _JobNode | None) -> None:
        """Return when the job is over, or when it has been looked at often enough."""
        for pause_s in LOOKS_S:
            if job is None or job.done:
                return
            await self._sleep(pause_s)
            job = (await self._shop.query(scope, JOB, {"id": job.id})).job

    def _made(self, order: MoneyOrder, action_id: str, granted: Money | None, *, since: datetime) -> Effect | None:
        """Return the order's cancellation with what went back for it, or None.

        Raises: Unavailable while that is less than was granted and may still come; IntegrationError when a cancellation
        of ours did not bring it.
        """
        at = order.cancelled_at
        if at is None:
            return None
        paid = _paid_with(order, at)
        if granted is not None and paid.amount_minor < granted.amount_minor:
            if self._clock.now() < max(since, at) + timedelta(seconds=MONEY_S):
                raise Unavailable(f"the order of action {action_id!r} is cancelled, its money is not back yet")
            if order.cancellation is not None and bears_mark(order.cancellation.staff_note, action_id):
                raise IntegrationError(f"action {action_id!r} cancelled its order, and not all of its money went back")
        return Effect(reference=from_gid(order.id), amount=paid, at=at)


def _weigh(order: MoneyOrder, proposal: CancelOrderProposal) -> Money:
    """Return what cancelling would pay back now. Raises: Impossible."""
    demand(not proposal.lines, "an order is cancelled whole")
    demand(order.cancelled_at is None, "the order is cancelled already")
    demand(not has_left(order.display_fulfillment_status, order.fulfillments), "the order has left already")
    demand(order.return_status not in RETURNING, "goods of it are on their way back")
    suggestion = suggestion_of(order)
    demand(not suggestion.is_paid_outside, "it was paid outside the shop: a person pays it back")
    demand(suggestion.held().amount_minor > 0, "the shop holds no money for it")
    return suggestion.held()


def _paid_with(order: MoneyOrder, cancelled_at: datetime) -> Money:
    """Return what went back with the cancellation: refunds of about that time that are not of another action."""
    nothing = Money(amount_minor=0, currency=order.presentment_currency_code)
    since = cancelled_at - timedelta(seconds=TOGETHER_S)
    with_it = (
        refund.paid()
        for refund in order.all_refunds()
        if not is_marked(refund.note) and refund.created_at is not None and refund.created_at >= since
    )
    return sum(with_it, nothing)
