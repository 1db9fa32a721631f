"""Our subscriptions to a shop's events: after eight failed deliveries the shop deletes one, and says nothing.

Source: SH-01, apis.md §1.4, §1.6, fault 068.
"""

from typing import Protocol

from shared.domain.shop_events import Topic
from shared.ports.documents import TenantScope


class WebhookSubscriptions(Protocol):
    """The subscriptions of every tenant's shop."""

    async def mend(self, scope: TenantScope) -> tuple[Topic, ...]:
        """Create the subscriptions that are missing and return their topics.

        Raises: Unavailable, RateLimited, Refused, IntegrationError.
        """
        ...
