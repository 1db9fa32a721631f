"""Billing behind a token bucket all instances share: a shop is never called more often than its budget allows.

BillingWriter in, BillingWriter out. An empty bucket is `NotCalled`: certain that nothing was done, so that nothing has
to be read back. Source: AX-04 (billing calls pass a shared token bucket), RK-02.
"""

from typing import Final

from shared.domain.actions import (
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    Effect,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
)
from shared.domain.errors import IntegrationError
from shared.domain.intents import ActionType
from shared.domain.verified import VerifiedGrant
from shared.ports.buckets import TokenBucket
from shared.ports.documents import TenantScope
from shared.ports.integrations import BillingWriter, NotCalled

BUCKET: Final = "billing"
"""The bucket's name within its tenant."""
CAPACITY: Final = 20.0
"""Billing calls a shop takes at once. Unit: calls. Value ours."""
PER_SECOND: Final = 5.0
"""Billing calls a shop takes in the long run. Unit: calls a second. Value ours: a part of a
standard shop's 100 points a second (apis.md §1.11), so that reads and the catalogue have theirs."""
STORE_WAIT_S: Final = 1.0
"""Seconds to wait when the bucket itself cannot be reached. Value ours."""


class ThrottledBilling:
    """A billing system that is called within its budget."""

    def __init__(
        self,
        billing: BillingWriter,
        buckets: TokenBucket,
        *,
        capacity: float = CAPACITY,
        per_second: float = PER_SECOND,
    ) -> None:
        self._billing = billing
        self._buckets = buckets
        self._capacity = capacity
        self._per_second = per_second

    @property
    def keyed(self) -> frozenset[ActionType]:
        """Return what the billing system behind keys."""
        return self._billing.keyed

    async def refund(self, verified: VerifiedGrant, proposal: RefundProposal) -> Effect:
        """Pass it on within the budget. Raises: NotCalled."""
        await self._take(verified)
        return await self._billing.refund(verified, proposal)

    async def credit(self, verified: VerifiedGrant, proposal: CreditProposal) -> Effect:
        """Pass it on within the budget. Raises: NotCalled."""
        await self._take(verified)
        return await self._billing.credit(verified, proposal)

    async def request_return(self, verified: VerifiedGrant, proposal: RequestReturnProposal) -> Effect:
        """Pass it on within the budget. Raises: NotCalled."""
        await self._take(verified)
        return await self._billing.request_return(verified, proposal)

    async def cancel_order(self, verified: VerifiedGrant, proposal: CancelOrderProposal) -> Effect:
        """Pass it on within the budget. Raises: NotCalled."""
        await self._take(verified)
        return await self._billing.cancel_order(verified, proposal)

    async def change_address(self, verified: VerifiedGrant, proposal: ChangeAddressProposal) -> Effect:
        """Pass it on within the budget. Raises: NotCalled."""
        await self._take(verified)
        return await self._billing.change_address(verified, proposal)

    async def resend(self, verified: VerifiedGrant, proposal: ResendProposal) -> Effect:
        """Pass it on within the budget. Raises: NotCalled."""
        await self._take(verified)
        return await self._billing.resend(verified, proposal)

    async def _take(self, verified: VerifiedGrant) -> None:
        scope = TenantScope(verified.grant.tenant_id)
        try:
            wait_s = await self._buckets.take(scope, BUCKET, 1.0, capacity=self._capacity, per_second=self._per_second)
        except IntegrationError as error:
            raise NotCalled("the billing budget cannot be read", retry_after_s=STORE_WAIT_S) from error
        if wait_s > 0:
            raise NotCalled("the billing budget is used up", retry_after_s=wait_s)
