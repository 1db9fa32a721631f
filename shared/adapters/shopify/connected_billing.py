"""Which system does a tenant's billing: its Shopify shop once one was connected, the embedded shop until then.

Asks the store about every tenant that is not known to have a shop: whoever took an old answer for a new one would look
for an effect in the wrong books, find none, and pay again. Source: AX-02, AX-03, design §8 (each switch alone).
"""

from typing import Final, Protocol

from shared.adapters.records.installations import InstallationRecords
from shared.domain.actions import (
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
from shared.domain.errors import RateLimited, Unavailable
from shared.domain.ids import TenantId
from shared.domain.intents import ActionType
from shared.domain.verified import VerifiedGrant
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.integrations import BillingWriter, NotCalled
from shared.ports.readers import BillingReader

STORE_WAIT_S: Final = 1.0
"""Seconds to wait when the store cannot be read. Value ours."""


class Billing(BillingReader, BillingWriter, Protocol):
    """Both sides of one billing system."""


class ConnectedBilling:
    """Implements BillingReader and BillingWriter by asking the system that has the tenant's orders."""

    def __init__(self, installations: InstallationRecords, *, shopify: Billing, embedded: Billing) -> None:
        self._installations = installations
        self._shopify = shopify
        self._embedded = embedded
        self._connected: set[TenantId] = set()

    @property
    def keyed(self) -> frozenset[ActionType]:
        """Return the actions both systems do once for one key: which of them will do one, is not known here."""
        return self._shopify.keyed & self._embedded.keyed

    async def quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        """Return what the proposal would move now; None when the order is not this customer's, or is not there."""
        return await (await self._billing(scope.tenant_id)).quote(scope, proposal)

    async def find_effect(self, scope: CustomerScope, action: Action) -> Effect | None:
        """Return what was done for the action, or None when it is certain that nothing was."""
        return await (await self._billing(scope.tenant_id)).find_effect(scope, action)

    async def refund(self, verified: VerifiedGrant, proposal: RefundProposal) -> Effect:
        """Pass it on."""
        return await (await self._of(verified)).refund(verified, proposal)

    async def credit(self, verified: VerifiedGrant, proposal: CreditProposal) -> Effect:
        """Pass it on."""
        return await (await self._of(verified)).credit(verified, proposal)

    async def request_return(self, verified: VerifiedGrant, proposal: RequestReturnProposal) -> Effect:
        """Pass it on."""
        return await (await self._of(verified)).request_return(verified, proposal)

    async def cancel_order(self, verified: VerifiedGrant, proposal: CancelOrderProposal) -> Effect:
        """Pass it on."""
        return await (await self._of(verified)).cancel_order(verified, proposal)

    async def change_address(self, verified: VerifiedGrant, proposal: ChangeAddressProposal) -> Effect:
        """Pass it on."""
        return await (await self._of(verified)).change_address(verified, proposal)

    async def resend(self, verified: VerifiedGrant, proposal: ResendProposal) -> Effect:
        """Pass it on."""
        return await (await self._of(verified)).resend(verified, proposal)

    async def _of(self, verified: VerifiedGrant) -> Billing:
        try:
            return await self._billing(verified.grant.tenant_id)
        except (RateLimited, Unavailable) as error:
            raise NotCalled("the tenant's shop cannot be looked up", retry_after_s=STORE_WAIT_S) from error

    async def _billing(self, tenant: TenantId) -> Billing:
        if tenant in self._connected:
            return self._shopify
        # A shop once connected stays the tenant's system for good, so only its absence has to be asked about again.
        if await self._installations.get(TenantScope(tenant)) is None:
            return self._embedded
        self._connected.add(tenant)
        return self._shopify
