"""Ports that write to the outside world. Only the action executor, its activity, container and adapters import this.

Each method takes a VerifiedGrant: no verified grant, no write. The grant's action id is the idempotency key.
Source: AX-01…03, HD-01, design §2.
"""

from typing import Protocol

from shared.domain.actions import (
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    CrmNoteProposal,
    Effect,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
    TicketUpdateProposal,
)
from shared.domain.errors import IntegrationError, RateLimited
from shared.domain.ids import ConversationId
from shared.domain.intents import ActionType
from shared.domain.verified import VerifiedGrant


class Declined(IntegrationError):
    """The shop understood and will not do it; nothing was done. The message is in words of ours."""


class NotCalled(RateLimited):
    """We kept to a limit of our own before calling: it is certain that nothing was done."""


class BillingWriter(Protocol):
    """What an executor may do at the shop.

    Raises (every method): Declined when the shop refuses and has done nothing; NotCalled when it was not asked;
    AuthorityError, nothing done, when the grant is not for the proposal; Unavailable, RateLimited or IntegrationError
    when it is not known whether anything was done: the caller reads before it repeats.
    """

    @property
    def keyed(self) -> frozenset[ActionType]:
        """Return the actions of which the shop itself does one for one key, however often it is asked."""
        ...

    async def refund(self, verified: VerifiedGrant, proposal: RefundProposal) -> Effect:
        """Give the grant's amount back the way it came."""
        ...

    async def credit(self, verified: VerifiedGrant, proposal: CreditProposal) -> Effect:
        """Give the grant's amount as store credit."""
        ...

    async def request_return(self, verified: VerifiedGrant, proposal: RequestReturnProposal) -> Effect:
        """Ask the merchant to accept a return."""
        ...

    async def cancel_order(self, verified: VerifiedGrant, proposal: CancelOrderProposal) -> Effect:
        """Cancel the order and give its money back."""
        ...

    async def change_address(self, verified: VerifiedGrant, proposal: ChangeAddressProposal) -> Effect:
        """Send the order elsewhere. Raises: Declined also without an address."""
        ...

    async def resend(self, verified: VerifiedGrant, proposal: ResendProposal) -> Effect:
        """Send the goods once more, free of charge."""
        ...


class CrmWriter(Protocol):
    """Logs interactions on the customer's record. Idempotent by action id."""

    async def add_note(
        self, verified: VerifiedGrant, proposal: CrmNoteProposal, *, conversation: ConversationId
    ) -> Effect:
        """Write the note; the same action id writes it once."""
        ...


class TicketDesk(Protocol):
    """The help desk's ticket of a conversation. Idempotent by action id."""

    async def update(
        self, verified: VerifiedGrant, proposal: TicketUpdateProposal, *, conversation: ConversationId
    ) -> Effect:
        """Add the tags and the note; the same action id adds them once."""
        ...
