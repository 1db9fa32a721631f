"""Webhook subscriptions made through the Admin API, one a topic, for deployments that do not declare them in the app.

An app that lists its topics in `shopify.app.toml` needs none of this: those are never deleted, and the shop does not
list them here either, so that looking for them would double every delivery. Privacy topics cannot be made this way.
Source: apis.md §1.4, §1.6, fault 068.
"""

from typing import Final

from shared.adapters.shopify.client import ShopifyClient
from shared.adapters.shopify.operations import Answer, Connection, Operation
from shared.domain.errors import OutcomeUnknown
from shared.domain.shop_events import Concern, Topic, concern_of
from shared.ports.documents import TenantScope

PATIENCE_S: Final = 60.0
"""Seconds a call waits for the shop's budget: nobody is waiting for the answer. Value ours."""
TOPICS: Final = tuple(topic for topic in Topic if concern_of(topic) is not Concern.COMPLIANCE)
"""What a shop is to tell us of."""


class _Node(Answer):
    topic: str
    uri: str = ""


class _Listed(Answer):
    webhook_subscriptions: Connection[_Node]


class _Payload(Answer):
    webhook_subscription: _Node | None = None


class _Created(Answer):
    webhook_subscription_create: _Payload


LIST: Final = Operation(
    "webhookSubscriptions",
    "query Subscriptions($after: String) { webhookSubscriptions(first: 100, after: $after)"
    " { nodes { topic uri } pageInfo { hasNextPage endCursor } } }",
    _Listed,
    cost=25.0,
)
CREATE: Final = Operation(
    "webhookSubscriptionCreate",
    "mutation Subscribe($topic: WebhookSubscriptionTopic!, $uri: String!)"
    " { webhookSubscriptionCreate(topic: $topic, webhookSubscription: { uri: $uri })"
    " { webhookSubscription { topic uri } userErrors { field message } } }",
    _Created,
    cost=10.0,
    effect="webhookSubscription",
)


class ShopSubscriptions:
    """Implements WebhookSubscriptions; does nothing without an address of its own."""

    def __init__(self, client: ShopifyClient, uri: str) -> None:
        self._client = client
        self._uri = uri

    async def mend(self, scope: TenantScope) -> tuple[Topic, ...]:
        """Create the subscriptions that are missing and return their topics."""
        if not self._uri:
            return ()
        listed = self._client.walk(scope, LIST, {}, lambda answer: answer.webhook_subscriptions, patience_s=PATIENCE_S)
        present = {node.topic async for node in listed if node.uri == self._uri}
        missing = tuple(topic for topic in TOPICS if _spelled(topic) not in present)
        for topic in missing:
            try:
                await self._client.mutate(
                    scope, CREATE, {"topic": _spelled(topic), "uri": self._uri}, patience_s=PATIENCE_S
                )
            except OutcomeUnknown:
                # It is listed tomorrow, or made tomorrow; a second one would be refused as taken.
                continue
        return missing


def _spelled(topic: Topic) -> str:
    """Return the topic as GraphQL spells it."""
    return topic.value.upper().replace("/", "_")
