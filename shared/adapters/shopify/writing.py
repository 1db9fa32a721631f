"""Reading before a write and writing once: what each error of either means to the executor.

A write is sent at most once a call, and only while the far side still has time to finish before anybody concludes that
it was not done. Source: AX-02, SH-03, apis.md §1.10, ports BillingWriter, Declined and NotCalled.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final, TypeVar

from shared.adapters.shopify.accounts import ShopifyAccounts
from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.operations import A, Operation, Variables
from shared.domain.errors import IntegrationError, OutcomeUnknown, RateLimited, Refused, Unavailable
from shared.domain.ids import OrderId
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.integrations import Declined, NotCalled

READS_S: Final = 6.0
"""Seconds reading may take before a write; later, nothing is sent. Value ours: of the 15 s a call has (AX-04), so that
a write that is sent has twice its own time until it counts as over."""
WRITE_S: Final = 7.0
"""Seconds one write may take, answer included. Value ours."""
PATIENCE_S: Final = 1.0
"""Seconds a write waits for its turn in the shop's budget. Value ours: later is another try's."""
WAIT_S: Final = 2.0
"""Seconds to wait after a shop that could not be read. Value ours."""
MISMATCH: Final = "IDEMPOTENCY_KEY_PARAMETER_MISMATCH"
"""Code of a key that was used with other variables: an earlier try of ours reached the shop. Source: apis.md §1.10."""

T = TypeVar("T")


class Impossible(Exception):
    """The shop would not do it, or we would not have it done; the text is in words of ours."""


def demand(is_met: bool, otherwise: str) -> None:
    """Raises: Impossible, with the reason, unless it is met."""
    if not is_met:
        raise Impossible(otherwise)


def unseen(action_id: str) -> Unavailable:
    """Return the error of an action whose order cannot be found any more: then nobody knows what was done."""
    return Unavailable(f"the order of action {action_id!r} cannot be seen at the shop")


class ShopWriting:
    """One client, as what writes to a shop needs it."""

    def __init__(
        self, client: ShopifyClient, accounts: ShopifyAccounts, *, reads_s: float = READS_S, write_s: float = WRITE_S
    ) -> None:
        self._client = client
        self._accounts = accounts
        self._reads_s = reads_s
        self._write_s = write_s

    async def order_gid(self, scope: CustomerScope, order: OrderId) -> str | None:
        """Return what the shop calls the order, if it is this customer's."""
        node = await self._accounts.owned_order(scope, order)
        return None if node is None else node.id

    async def query(self, scope: CustomerScope, operation: Operation[A], variables: Variables) -> A:
        """Return a read's answer. Raises: RateLimited, Unavailable, IntegrationError."""
        return await self._client.query(TenantScope(scope.tenant_id), operation, variables)

    async def before(self, reading: Awaitable[T]) -> T:
        """Return what a write starts from. Raises: NotCalled when it cannot be had now; IntegrationError."""
        try:
            async with asyncio.timeout(self._reads_s):
                return await reading
        except TimeoutError:
            raise NotCalled("the shop was not read in time", retry_after_s=WAIT_S) from None
        except RateLimited as error:
            raise NotCalled(str(error), retry_after_s=error.retry_after_s) from None
        except Unavailable as error:
            raise NotCalled(str(error), retry_after_s=WAIT_S) from None

    async def write(self, scope: CustomerScope, operation: Operation[A], variables: Variables) -> A:
        """Send a write once and return its answer.

        Raises: Declined, NotCalled: nothing was done. OutcomeUnknown: it may have been.
        """
        try:
            return await self._client.mutate(
                TenantScope(scope.tenant_id), operation, variables, timeout_s=self._write_s, patience_s=PATIENCE_S
            )
        except OutcomeUnknown:
            raise
        except Refused as error:
            if MISMATCH in error.codes:
                raise OutcomeUnknown(f"{operation.name}: an earlier try asked for something else") from None
            raise Declined(str(error)) from None
        except RateLimited as error:
            raise NotCalled(str(error), retry_after_s=error.retry_after_s) from None
        except Unavailable as error:
            raise NotCalled(str(error), retry_after_s=WAIT_S) from None
        except IntegrationError as error:
            # Whatever it is, the same call would meet it again: nothing was done, and nothing will be.
            raise Declined(str(error)) from None
