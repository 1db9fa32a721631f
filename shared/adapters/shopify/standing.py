"""What the state of an order and its parcels still allows. Pure; whatever is not known allows nothing.

Source: SH-03, apis.md §1.9, §1.10; shopify.dev enumerations of 2026-10.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from shared.adapters.shopify.operations import Answer

NOT_SENT: Final = frozenset({"UNFULFILLED", "OPEN", "SCHEDULED", "ON_HOLD"})
"""States of an order of which nothing is being packed or sent; any other is taken for sent. Source:
OrderDisplayFulfillmentStatus."""
RETURNING: Final = frozenset({"RETURN_REQUESTED", "IN_PROGRESS"})
"""States of an order with a return that is not over. Source: OrderReturnStatus."""
_GONE: Final = frozenset({"CANCELLED", "ERROR", "FAILURE"})
"""States of a parcel that never left. Source: FulfillmentStatus, apis.md §1.9."""
_ARRIVED: Final = frozenset({"DELIVERED", "PICKED_UP", "FULFILLED", "MARKED_AS_FULFILLED"})
"""What a carrier, or a merchant without one, says of goods the customer has. Source: FulfillmentDisplayStatus."""


class ParcelNode(Answer):
    """A parcel, as far as it matters here."""

    status: str
    display_status: str | None = None
    delivered_at: datetime | None = None

    @property
    def is_live(self) -> bool:
        """Whether it left, or is about to."""
        return self.status not in _GONE

    @property
    def has_arrived(self) -> bool:
        """Whether the customer has it, as far as anybody knows."""
        return self.is_live and (self.delivered_at is not None or self.display_status in _ARRIVED)


def has_left(fulfillment_status: str, parcels: Iterable[ParcelNode]) -> bool:
    """Tell whether any of an order is being packed or sent."""
    return fulfillment_status not in NOT_SENT or any(parcel.is_live for parcel in parcels)
