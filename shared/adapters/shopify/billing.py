"""A tenant's shop as the executor sees it: quotes a proposal, does it, and says afterwards what was done.

Implements BillingReader and BillingWriter over the Admin API. Each kind of action has a module that owns what it reads,
writes and takes for proof; this one only chooses among them. Goods are not sent again from here: the API would need an
order for nothing (a draft completed at a full discount), which has no key, moves stock, and is a person's to weigh.
Source: SH-03, AX-01…03, apis.md §1.10, fault 070.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, assert_never

from shared.adapters.shopify.accounts import ShopifyAccounts
from shared.adapters.shopify.addresses import Addresses
from shared.adapters.shopify.cancellations import Cancellations
from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.refunds import Refunds
from shared.adapters.shopify.returns import Returns
from shared.adapters.shopify.writing import READS_S, WRITE_S, Impossible, ShopWriting
from shared.domain.actions import (
    Action,
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    CrmNoteProposal,
    Effect,
    OrderProposal,
    Quote,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
    TicketUpdateProposal,
)
from shared.domain.errors import SchemaError
from shared.domain.grants import Grant
from shared.domain.intents import ActionType
from shared.domain.verified import VerifiedGrant
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope
from shared.ports.integrations import Declined

KEYED: Final = frozenset({ActionType.REFUND, ActionType.CREDIT})
"""Both are one `refundCreate`, which the shop does once for one key within 24 hours. Later it would do it again: a try
begins with reading the order's refunds, whatever the key says. Source: apis.md §1.10."""
NOT_RESENT: Final = "the shop's own staff sends goods again"
"""Why goods are not sent again."""


class ShopifyBilling:
    """The billing of all tenants' shops. A customer id is a numeric legacyResourceId; any other has no orders."""

    def __init__(
        self,
        client: ShopifyClient,
        accounts: ShopifyAccounts,
        clock: Clock,
        *,
        reads_s: float = READS_S,
        write_s: float = WRITE_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._shop = ShopWriting(client, accounts, reads_s=reads_s, write_s=write_s)
        self._refunds = Refunds(self._shop, clock)
        self._cancellations = Cancellations(self._shop, clock, sleep=sleep)
        self._returns = Returns(self._shop)
        self._addresses = Addresses(self._shop)

    @property
    def keyed(self) -> frozenset[ActionType]:
        """Return the actions of which the shop does one for one key."""
        return KEYED

    async def quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        """Return what the proposal would move now; None when the order is not this customer's, or is not there."""
        try:
            return await self._quote(scope, proposal)
        except Impossible as no:
            return Quote(order_id=proposal.order_id, owner=scope.customer_id, is_possible=False, reason=str(no))

    async def find_effect(self, scope: CustomerScope, action: Action) -> Effect | None:
        """Return what was done for the action, or None when it is certain that nothing was."""
        proposal = action.proposal
        match proposal:
            case RefundProposal() | CreditProposal():
                return await self._refunds.find(scope, proposal, action)
            case CancelOrderProposal():
                return await self._cancellations.find(scope, proposal, action)
            case RequestReturnProposal():
                return await self._returns.find(scope, proposal, action)
            case ChangeAddressProposal():
                return await self._addresses.find(scope, proposal, action)
            case ResendProposal():
                return None
            case TicketUpdateProposal() | CrmNoteProposal():
                raise SchemaError(f"{action.type.value} is nothing a shop does")
            case _:
                assert_never(proposal)

    async def refund(self, verified: VerifiedGrant, proposal: RefundProposal) -> Effect:
        """Give the grant's amount back the way it came."""
        grant = verified.covering(proposal)
        return await self._refunds.do(_scope(grant), grant, proposal)

    async def credit(self, verified: VerifiedGrant, proposal: CreditProposal) -> Effect:
        """Give the grant's amount as store credit, as a refund of the order."""
        grant = verified.covering(proposal)
        return await self._refunds.do(_scope(grant), grant, proposal)

    async def request_return(self, verified: VerifiedGrant, proposal: RequestReturnProposal) -> Effect:
        """Ask the merchant to accept a return."""
        grant = verified.covering(proposal)
        return await self._returns.do(_scope(grant), grant, proposal)

    async def cancel_order(self, verified: VerifiedGrant, proposal: CancelOrderProposal) -> Effect:
        """Cancel the order and give its money back; returns when the shop shows both."""
        grant = verified.covering(proposal)
        return await self._cancellations.do(_scope(grant), grant, proposal)

    async def change_address(self, verified: VerifiedGrant, proposal: ChangeAddressProposal) -> Effect:
        """Send the order elsewhere. Raises: Declined also without an address."""
        grant = verified.covering(proposal)
        return await self._addresses.do(_scope(grant), grant, proposal)

    async def resend(self, verified: VerifiedGrant, proposal: ResendProposal) -> Effect:
        """Raises: Declined, always."""
        verified.covering(proposal)
        raise Declined(NOT_RESENT)

    async def _quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        match proposal:
            case RefundProposal() | CreditProposal():
                return await self._refunds.quote(scope, proposal)
            case CancelOrderProposal():
                return await self._cancellations.quote(scope, proposal)
            case RequestReturnProposal():
                return await self._returns.quote(scope, proposal)
            case ChangeAddressProposal():
                return await self._addresses.quote(scope, proposal)
            case ResendProposal():
                if await self._shop.order_gid(scope, proposal.order_id) is None:
                    return None
                raise Impossible(NOT_RESENT)
            case _:
                assert_never(proposal)


def _scope(grant: Grant) -> CustomerScope:
    return CustomerScope(grant.tenant_id, grant.account_id)
