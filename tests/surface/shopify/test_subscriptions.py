"""Webhook subscriptions over the Admin API, against the protocol-true shop. Source: apis.md §1.6, fault 068."""

import pytest

from shared.adapters.shopify.subscriptions import TOPICS, ShopSubscriptions
from shared.domain.errors import Unavailable
from shared.domain.installation import Installation
from shared.domain.shop_events import Topic
from shared.ports.documents import TenantScope
from tests.servers.shopify import Shop, ShopifyServer, Trouble
from tests.surface.shopify.conftest import Instance

URI = "https://vouch.example/api/webhooks/shopify"


@pytest.mark.req("SH-01")
async def test_fault_068_a_subscription_the_shop_deleted_is_made_anew_and_told(
    instance: Instance, installed: Installation, shop: Shop, tenant: TenantScope
) -> None:
    """All at first, none the next night, then the two that went; another address's is not ours."""
    subscriptions = ShopSubscriptions(instance.client, URI)

    first = await subscriptions.mend(tenant)
    second = await subscriptions.mend(tenant)
    gone = ("PRODUCTS_UPDATE", "APP_UNINSTALLED")
    shop.subscriptions = [s for s in shop.subscriptions if s["topic"] not in gone]
    shop.subscriptions.append({"topic": "PRODUCTS_UPDATE", "uri": "https://old.example/"})
    third = await subscriptions.mend(tenant)

    assert (first, second) == (TOPICS, ())
    assert set(third) == {Topic.PRODUCTS_UPDATE, Topic.APP_UNINSTALLED}
    assert len(shop.subscriptions) == len(TOPICS) + 1


@pytest.mark.req("SH-01")
async def test_an_app_that_declares_its_subscriptions_asks_for_none(
    instance: Instance, installed: Installation, server: ShopifyServer, tenant: TenantScope
) -> None:
    """The shop does not list those: looking for them would double every delivery."""
    assert await ShopSubscriptions(instance.client, "").mend(tenant) == ()
    assert server.calls["webhookSubscriptions"] == 0


@pytest.mark.req("SH-01")
async def test_privacy_topics_are_never_asked_for_over_the_api() -> None:
    """They can be declared in the app only."""
    assert {Topic.CUSTOMERS_REDACT, Topic.CUSTOMERS_DATA_REQUEST, Topic.SHOP_REDACT}.isdisjoint(TOPICS)


@pytest.mark.req("SH-01")
async def test_an_answer_that_is_lost_is_found_the_next_night(
    instance: Instance, installed: Installation, shop: Shop, server: ShopifyServer, tenant: TenantScope
) -> None:
    """The subscription was made; nobody makes it twice."""
    server.faults.next("webhookSubscriptionCreate", Trouble.DROP_AFTER)
    subscriptions = ShopSubscriptions(instance.client, URI)

    await subscriptions.mend(tenant)

    assert await subscriptions.mend(tenant) == ()
    assert len(shop.subscriptions) == len(TOPICS)


@pytest.mark.req("SH-01")
async def test_a_shop_that_does_not_answer_is_unavailable(
    instance: Instance, installed: Installation, server: ShopifyServer, tenant: TenantScope
) -> None:
    """Nothing is concluded from silence."""
    server.faults.next("webhookSubscriptions", Trouble.DROP_BEFORE)

    with pytest.raises(Unavailable):
        await ShopSubscriptions(instance.client, URI).mend(tenant)
