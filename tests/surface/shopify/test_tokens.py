"""Tokens that expire: refreshed in time, by one instance, surviving lost answers, crashes and removed apps."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.installations import LEASE_S
from shared.adapters.shopify.tokens import REFRESH_EARLY_S, REFRESH_IDLE_DAYS, REMEMBERED_S
from shared.domain.errors import AlreadyExists, IntegrationError, Unavailable
from shared.domain.ids import TenantId
from shared.domain.installation import Installation, TokenGrant
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock
from tests.servers.shopify import Shop, ShopifyServer, Trouble
from tests.surface.shopify.conftest import DOMAIN, Instance, to_grant
from tests.surface.shopify.test_client import SHOP
from tests.unit.records.conftest import bytes_on_disk
from tests.waiting import until

OTHER = TenantScope(TenantId("t2"))


@pytest.mark.req("SH-03")
async def test_a_token_is_used_until_shortly_before_its_end_and_then_refreshed(
    instance: Instance, installed: Installation, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    assert shop.tokens is not None
    first = shop.tokens.access
    clock.forward(seconds=3600 - REFRESH_EARLY_S - 1)
    assert (await instance.tokens.credentials(tenant)).access_token == first

    clock.forward(seconds=2)
    renewed = await instance.tokens.credentials(tenant)

    assert renewed.access_token == shop.tokens.access != first
    assert shop.refreshes == 1
    await instance.client.query(tenant, SHOP, {})


@pytest.mark.req("SH-03", "RK-04")
async def test_of_many_instances_one_refreshes_and_the_others_use_what_it_got(
    new_instance: Callable[[], Instance],
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    """apis.md §1.14: the refresh token rotates, so two instances must never use one."""
    clock.forward(hours=2)
    instances = [new_instance() for _ in range(5)]

    found = await asyncio.gather(*(one.tokens.credentials(tenant) for one in instances for _ in range(2)))

    assert shop.tokens is not None
    assert {c.access_token for c in found} == {shop.tokens.access}
    assert (server.calls["token"], shop.refreshes) == (1, 1)


@pytest.mark.req("SH-03", "RK-04")
async def test_while_another_instance_refreshes_the_old_token_serves_as_long_as_it_holds(
    new_instance: Callable[[], Instance],
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    assert shop.tokens is not None
    old = shop.tokens.access
    clock.forward(seconds=3600 - REFRESH_EARLY_S + 1)
    slow, quick = new_instance(), new_instance()
    server.faults.next("token", Trouble.HANG_BEFORE)
    refreshing = asyncio.create_task(slow.tokens.credentials(tenant))
    await until(lambda: server.calls["token"] == 1, "the refresh is under way")

    assert (await quick.tokens.credentials(tenant)).access_token == old

    refreshing.cancel()


@pytest.mark.req("SH-03")
@pytest.mark.parametrize("trouble", [Trouble.DROP_AFTER, Trouble.ERROR_AFTER, Trouble.GARBAGE_AFTER, Trouble.CUT_AFTER])
async def test_a_refresh_whose_answer_is_lost_is_made_again_with_the_stored_token(
    instance: Instance,
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
    trouble: Trouble,
) -> None:
    """Changelog of 2026-08-28: a used refresh token works until its replacement is used."""
    clock.forward(hours=2)
    server.faults.next("token", trouble)
    with pytest.raises(Unavailable):
        await instance.tokens.credentials(tenant)

    recovered = await instance.tokens.credentials(tenant)

    assert shop.tokens is not None
    assert recovered.access_token == shop.tokens.access
    assert shop.refreshes == 2


@pytest.mark.req("SH-03", "RK-04")
async def test_a_process_that_dies_between_refresh_and_store_is_survived(
    new_instance: Callable[[], Instance],
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    """It leaves its lease and the old refresh token behind; after the lease another instance uses that token."""
    clock.forward(hours=2)
    dying, heir = new_instance(), new_instance()
    server.faults.next("token", Trouble.HANG_AFTER)
    dead = asyncio.create_task(dying.tokens.credentials(tenant))
    await until(lambda: shop.refreshes == 1, "the shop has issued tokens")
    dead.cancel()

    with pytest.raises(Unavailable):
        await heir.tokens.credentials(tenant)
    clock.forward(seconds=LEASE_S)
    found = await heir.tokens.credentials(tenant)

    assert shop.tokens is not None
    assert found.access_token == shop.tokens.access
    assert (await heir.tokens.credentials(tenant)) == found


@pytest.mark.req("SH-03")
async def test_a_shop_that_keeps_no_used_token_must_be_connected_again_and_can_be(
    instance: Instance,
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    """As the protocol was before 2026-08-28: what is lost is lost, and nothing hammers the shop."""
    shop.retains_used_refresh_token = False
    clock.forward(hours=2)
    server.faults.next("token", Trouble.DROP_AFTER)
    for _ in range(4):
        with pytest.raises(IntegrationError):
            await instance.tokens.credentials(tenant)
    assert server.calls["token"] == 2

    await instance.installations.install(tenant, DOMAIN, to_grant(shop.issue_tokens(), shop))

    await instance.client.query(tenant, SHOP, {})


async def test_our_own_bad_secret_does_not_disconnect_a_shop(
    instance: Instance, installed: Installation, tenant: TenantScope, server: ShopifyServer, clock: FixedClock
) -> None:
    clock.forward(hours=2)
    secret, server.client_secret = server.client_secret, "rotated"
    with pytest.raises(IntegrationError):
        await instance.tokens.credentials(tenant)

    server.client_secret = secret

    assert (await instance.tokens.credentials(tenant)).shop_domain == DOMAIN


async def test_a_refresh_that_fails_early_leaves_the_token_that_still_holds_in_use(
    instance: Instance,
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    clock.forward(seconds=3600 - REFRESH_EARLY_S + 1)
    server.faults.next("token", Trouble.ERROR_BEFORE)

    await instance.client.query(tenant, SHOP, {})
    await instance.client.query(tenant, SHOP, {})

    assert (server.calls["token"], shop.refreshes) == (2, 1)


@pytest.mark.req("SH-03")
async def test_a_token_the_shop_refuses_is_refreshed_by_the_next_call(
    instance: Instance, installed: Installation, tenant: TenantScope, shop: Shop
) -> None:
    await instance.client.query(tenant, SHOP, {})
    assert shop.tokens is not None
    shop.tokens.access = "revoked"

    with pytest.raises(Unavailable):
        await instance.client.query(tenant, SHOP, {})
    await instance.client.query(tenant, SHOP, {})

    assert shop.refreshes == 1


@pytest.mark.req("SH-03")
async def test_a_token_that_never_ends_is_never_refreshed_and_ends_with_a_refusal(
    instance: Instance, tenant: TenantScope, shop: Shop, server: ShopifyServer, clock: FixedClock
) -> None:
    """apis.md §1.14: custom apps are exempt from expiring tokens."""
    await instance.installations.install(tenant, DOMAIN, to_grant(shop.issue_tokens(is_expiring=False), shop))
    clock.forward(days=400)
    await instance.client.query(tenant, SHOP, {})

    shop.uninstall()
    with pytest.raises(Unavailable):
        await instance.client.query(tenant, SHOP, {})
    with pytest.raises(IntegrationError, match="connected again"):
        await instance.client.query(tenant, SHOP, {})

    assert server.calls["token"] == 0


@pytest.mark.req("SH-03")
async def test_the_daily_job_keeps_an_idle_shop_from_passing_its_ninety_days(
    instance: Instance, installed: Installation, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    """apis.md §1.14: a refresh token lives 90 days."""
    runs = []
    for _ in range(400):
        clock.forward(days=1)
        runs.append(await instance.tokens.refresh_due(clock.now()))

    await instance.client.query(tenant, SHOP, {})
    assert not any(run.failed for run in runs)
    assert sum(len(run.refreshed) for run in runs) == 400 // (REFRESH_IDLE_DAYS + 1)


@pytest.mark.req("SH-03")
async def test_one_shops_failure_keeps_no_other_from_being_refreshed(
    instance: Instance,
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    other = server.add_shop("other.myshopify.com")
    await instance.installations.install(OTHER, other.domain, to_grant(other.issue_tokens(), other))
    shop.uninstall()
    clock.forward(days=REFRESH_IDLE_DAYS + 1)

    report = await instance.tokens.refresh_due(clock.now())

    assert (report.refreshed, report.failed) == ((OTHER.tenant_id,), (tenant.tenant_id,))
    assert (await instance.tokens.refresh_due(clock.now())).failed == ()


@pytest.mark.req("SH-01")
async def test_a_removed_app_forgets_the_tokens_and_stops_calling(
    instance: Instance,
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    """apis.md §1.7: tokens stop working at once; `shop/redact` comes two days later and needs the tenant."""
    await instance.client.query(tenant, SHOP, {})
    clock.forward(seconds=REMEMBERED_S)

    assert await instance.installations.uninstall(tenant, DOMAIN, at=clock.now())

    found = await instance.installations.get(tenant)
    assert found is not None
    assert (found.is_connected, found.sealed_access_token, found.sealed_refresh_token) == (False, "", "")
    assert await instance.installations.tenant_of(DOMAIN) == tenant
    calls = len(server.headers)
    with pytest.raises(IntegrationError, match="no shop is connected"):
        await instance.client.query(tenant, SHOP, {})
    assert len(server.headers) == calls


@pytest.mark.req("SH-01")
async def test_an_uninstall_that_arrives_after_a_reinstall_changes_nothing(
    instance: Instance, installed: Installation, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    """apis.md §1.7: a reinstall can happen before, and webhooks are not ordered."""
    removed_at = clock.now() + timedelta(seconds=1)
    clock.forward(minutes=1)
    await instance.installations.install(tenant, DOMAIN, to_grant(shop.issue_tokens(), shop))

    assert not await instance.installations.uninstall(tenant, DOMAIN, at=removed_at)
    assert not await instance.installations.uninstall(tenant, "else.myshopify.com", at=clock.now())

    await instance.client.query(tenant, SHOP, {})


async def test_an_uninstall_during_a_refresh_is_not_undone_by_it(
    instance: Instance,
    installed: Installation,
    tenant: TenantScope,
    shop: Shop,
    server: ShopifyServer,
    clock: FixedClock,
) -> None:
    clock.forward(hours=2)
    leased = await instance.installations.lease(installed)
    assert leased is not None
    await instance.installations.uninstall(tenant, DOMAIN, at=clock.now())

    assert await instance.installations.renew(leased, TokenGrant("new", (), 3600, "newer", 100)) is None

    found = await instance.installations.get(tenant)
    assert found is not None
    assert not found.is_connected
    assert found.sealed_access_token == ""


@pytest.mark.req("ME-07")
async def test_a_shop_is_one_tenants_until_it_removes_the_app(
    instance: Instance, installed: Installation, tenant: TenantScope, shop: Shop, clock: FixedClock
) -> None:
    grant = to_grant(shop.issue_tokens(), shop)
    with pytest.raises(AlreadyExists):
        await instance.installations.install(OTHER, DOMAIN, grant)
    with pytest.raises(AlreadyExists):
        await instance.installations.install(tenant, "else.myshopify.com", grant)
    assert await instance.installations.tenant_of(DOMAIN) == tenant

    await instance.installations.uninstall(tenant, DOMAIN, at=clock.now())
    await instance.installations.install(OTHER, DOMAIN, grant)

    assert await instance.installations.tenant_of(DOMAIN) == OTHER
    assert await instance.installations.tenant_of("nobody.myshopify.com") is None


@pytest.mark.req("GW-03")
async def test_no_token_lies_readable_on_disk(
    instance: Instance, installed: Installation, shop: Shop, documents: SqliteDocuments, tmp_path: Path
) -> None:
    documents.empty_log()
    stored = bytes_on_disk(tmp_path)

    assert shop.tokens is not None
    assert shop.tokens.access.encode() not in stored
    assert shop.tokens.refresh.encode() not in stored
    opened = await instance.installations.open_tokens(installed)
    assert (opened.access_token, opened.refresh_token) == (shop.tokens.access, shop.tokens.refresh)


async def test_without_a_shop_nothing_is_called(instance: Instance, tenant: TenantScope, server: ShopifyServer) -> None:
    with pytest.raises(IntegrationError, match="no shop is connected"):
        await instance.client.query(tenant, SHOP, {})

    assert not server.headers
