"""The embedded shop's billing: quotes a proposal, does it once for one action id, and says afterwards what it did.

Implements BillingReader and BillingWriter. An effect and everything it changes are one batch, created under the id of
the action: asked twice, or by two at once, it is done once. Never looks at who approved it; the grant was verified.
Source: AX-01…03, SH-03, fault 070.
"""

from collections.abc import AsyncIterator
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.shop_quotes import quote_order
from shared.adapters.records.shop_rows import BillingRow, EffectRow, OrderRow, billing_row, order_row, to_order_key
from shared.domain.actions import (
    RULES,
    Action,
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    Effect,
    OrderProposal,
    Quote,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
)
from shared.domain.errors import AlreadyExists, NotFound, Unavailable, VersionConflict
from shared.domain.grants import Grant
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.sources import BillingEvent, Order, Shipment
from shared.domain.verified import VerifiedGrant
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    Create,
    CustomerScope,
    Documents,
    Operation,
    Query,
    Replace,
    Stored,
    Where,
    customer_partition,
)
from shared.ports.integrations import Declined

KEYED: Final = frozenset(type_ for type_, rule in RULES.items() if rule.needs_lane)
"""The shop does every one of them once for one key."""
ROWS_PAGE: Final = 100
"""Effects or billing events read at a time. Value ours."""
CAS_ATTEMPTS: Final = 8
"""Times an effect is tried against other changes of the same order. Value ours."""
_KEY_CHARS: Final = 16
"""Characters of the action id in the shop's own reference."""


class ShopBilling:
    """One shop's billing, one partition a customer."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    @property
    def keyed(self) -> frozenset[ActionType]:
        """Return the actions this shop does once for one key: all of its own."""
        return KEYED

    async def quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        """Return what the proposal would move now; None when the order is not this customer's, or is not there."""
        found = await self._order(scope, proposal.order_id)
        if found is None:
            return None
        row = found[1]
        return quote_order(row.order, await self._past(scope, row.id), proposal, bill=await self._bill(scope, row.id))

    async def find_effect(self, scope: CustomerScope, action: Action) -> Effect | None:
        """Return what was done for the action, or None when it is certain that nothing was."""
        return await self._effect(scope, action.action_id)

    async def refund(self, verified: VerifiedGrant, proposal: RefundProposal) -> Effect:
        """Give the grant's amount back. Raises: Declined, Unavailable."""
        return await self._do(verified, proposal)

    async def credit(self, verified: VerifiedGrant, proposal: CreditProposal) -> Effect:
        """Give the grant's amount as store credit. Raises: Declined, Unavailable."""
        return await self._do(verified, proposal)

    async def request_return(self, verified: VerifiedGrant, proposal: RequestReturnProposal) -> Effect:
        """File the return. Raises: Declined, Unavailable."""
        return await self._do(verified, proposal)

    async def cancel_order(self, verified: VerifiedGrant, proposal: CancelOrderProposal) -> Effect:
        """Cancel the order and give back what was charged. Raises: Declined, Unavailable."""
        return await self._do(verified, proposal)

    async def change_address(self, verified: VerifiedGrant, proposal: ChangeAddressProposal) -> Effect:
        """Send the order elsewhere. Raises: Declined also without an address, Unavailable."""
        if proposal.address is None:
            raise Declined("an address is missing")
        return await self._do(verified, proposal)

    async def resend(self, verified: VerifiedGrant, proposal: ResendProposal) -> Effect:
        """Send the goods once more. Raises: Declined, Unavailable."""
        return await self._do(verified, proposal)

    async def _do(self, verified: VerifiedGrant, proposal: OrderProposal) -> Effect:
        grant = verified.covering(proposal)
        scope = CustomerScope(grant.tenant_id, grant.account_id)
        for _ in range(CAS_ATTEMPTS):
            done = await self._effect(scope, grant.action_id)
            if done is not None:
                return done
            found = await self._order(scope, proposal.order_id)
            if found is None:
                raise Declined("there is no such order of this customer")
            stored, row = found
            past = await self._past(scope, row.id)
            quote = quote_order(row.order, past, proposal, bill=await self._bill(scope, row.id))
            if not quote.is_possible:
                raise Declined(quote.reason)
            if quote.amount != grant.amount and not _is_part(quote.amount, grant.amount, proposal):
                raise Declined("it would move another amount than was granted")
            effect = self._effect_row(scope, row, grant, proposal, quote)
            order = order_row(scope, _changed(row.order, effect))
            operations: list[Operation] = [Create(to_document(effect)), Replace(to_document(order), stored.etag)]
            operations += [Create(to_document(event)) for event in _events(scope, effect)]
            try:
                await self._documents.batch(Container.SHOP, scope, customer_partition(scope), operations)
            except (AlreadyExists, VersionConflict, NotFound):
                continue
            return _to_effect(effect)
        raise Unavailable("the order is changing too fast")

    def _effect_row(
        self, scope: CustomerScope, row: OrderRow, grant: Grant, proposal: OrderProposal, quote: Quote
    ) -> EffectRow:
        is_money = isinstance(proposal, RefundProposal | CreditProposal)
        return EffectRow(
            id=f"effect:{grant.action_id}",
            tenant_id=scope.tenant_id,
            customer_id=scope.customer_id,
            action_id=grant.action_id,
            order_key=row.id,
            order_id=row.order.order_id,
            type=proposal.type,
            reference=f"{proposal.type.value}-{grant.action_id[:_KEY_CHARS]}",
            amount=grant.amount,
            lines=proposal.lines if is_money else quote.lines,
            address=proposal.address if isinstance(proposal, ChangeAddressProposal) else None,
            at=self._clock.now(),
        )

    async def _order(self, scope: CustomerScope, order: str) -> tuple[Stored, OrderRow] | None:
        key = to_order_key(order)
        if key is None:
            return None
        stored = await self._documents.read(Container.SHOP, scope, customer_partition(scope), f"order:{key}")
        return (stored, from_stored(OrderRow, stored)) if stored else None

    async def _past(self, scope: CustomerScope, order_key: str) -> tuple[EffectRow, ...]:
        """Return everything done to the order; the order's ETag guards it, since each effect changes the order."""
        where = (Where("kind", "=", "effect"), Where("order_key", "=", order_key))
        return tuple([from_stored(EffectRow, stored) async for stored in self._all(scope, where)])

    async def _bill(self, scope: CustomerScope, order_key: str) -> tuple[BillingEvent, ...]:
        """Return the order's charges, refunds and credits, however old."""
        rows = [from_stored(BillingRow, stored) async for stored in self._all(scope, (Where("kind", "=", "billing"),))]
        named = ((row.event, to_order_key(row.event.order_id)) for row in rows if row.event.order_id is not None)
        return tuple(event for event, key in named if key is not None and f"order:{key}" == order_key)

    async def _all(self, scope: CustomerScope, where: tuple[Where, ...]) -> AsyncIterator[Stored]:
        token: str | None = None
        while True:
            query = Query(customer_partition(scope), where=where, limit=ROWS_PAGE, continuation=token)
            page = await self._documents.query(Container.SHOP, scope, query)
            for stored in page.items:
                yield stored
            token = page.continuation
            if token is None:
                return

    async def _effect(self, scope: CustomerScope, action_id: str) -> Effect | None:
        stored = await self._documents.read(Container.SHOP, scope, customer_partition(scope), f"effect:{action_id}")
        return _to_effect(from_stored(EffectRow, stored)) if stored else None


def _to_effect(row: EffectRow) -> Effect:
    return Effect(reference=row.reference, amount=row.amount, at=row.at)


def _is_part(quoted: Money | None, granted: Money | None, proposal: OrderProposal) -> bool:
    """Tell whether the grant is for less of the money a refund or credit could move."""
    if quoted is None or granted is None or not isinstance(proposal, RefundProposal | CreditProposal):
        return False
    return quoted.currency == granted.currency and 0 < granted.amount_minor <= quoted.amount_minor


def _changed(order: Order, effect: EffectRow) -> Order:
    """Return the order as the shop shows it afterwards."""
    update: dict[str, object] = {"as_of": effect.at}
    match effect.type:
        case ActionType.REFUND | ActionType.CANCEL_ORDER:
            refunded = order.refunded
            if effect.amount is not None:
                refunded = update["refunded"] = effect.amount if refunded is None else refunded + effect.amount
            if effect.type is ActionType.CANCEL_ORDER:
                update["status"] = "cancelled"
            elif refunded is not None and refunded.amount_minor >= order.total.amount_minor:
                update["status"] = "refunded"
        case ActionType.REQUEST_RETURN:
            update["status"] = "return_requested"
        case ActionType.RESEND:
            update["shipments"] = (*order.shipments, Shipment(status="label_created"))
        case _:
            pass
    return order.model_copy(update=update)


def _events(scope: CustomerScope, effect: EffectRow) -> tuple[BillingRow, ...]:
    """Return the billing event of an effect that moved money; goods sent again cost nothing."""
    kinds = {ActionType.REFUND: "refund", ActionType.CANCEL_ORDER: "refund", ActionType.CREDIT: "credit"}
    kind = kinds.get(effect.type)
    if kind is None or effect.amount is None:
        return ()
    event = BillingEvent(
        event_id=effect.reference, kind=kind, amount=effect.amount, order_id=effect.order_id, at=effect.at
    )
    return (billing_row(scope, event),)
