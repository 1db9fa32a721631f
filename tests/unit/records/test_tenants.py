"""Tenants and their policies on a real store: versions, change log, sealed secrets, isolation."""

import asyncio
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.tenants import TenantRecords
from shared.domain.errors import AlreadyExists, AuthorityError, NotFound, SchemaError, VersionConflict
from shared.domain.human_triggers import HumanTrigger
from shared.domain.ids import TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.tenant import OPERATOR_TENANT, TenantStatus
from shared.domain.tiers import Tier
from shared.ports.documents import Container, TenantScope
from shared.privacy.keys import KeyRing
from tests.conftest import FixedClock
from tests.unit.records.conftest import bytes_on_disk

OTHER = TenantScope(TenantId("t2"))


@pytest.mark.req("GW-01", "ME-07")
async def test_a_created_tenant_is_read_back_and_is_nobody_elses(tenants: TenantRecords, tenant: TenantScope) -> None:
    created, _ = await tenants.create(tenant.tenant_id, name="Hollin", tier=Tier.PROFESSIONAL)

    assert await tenants.get(tenant) == created
    assert (created.tier, created.status) == (Tier.PROFESSIONAL, TenantStatus.ACTIVE)
    assert await tenants.get(OTHER) is None


async def test_a_tenant_exists_once(tenants: TenantRecords, tenant: TenantScope) -> None:
    await tenants.create(tenant.tenant_id, name="Hollin")

    with pytest.raises(AlreadyExists):
        await tenants.create(tenant.tenant_id, name="Again")

    found = await tenants.get(tenant)
    assert found is not None
    assert found.name == "Hollin"


@pytest.mark.parametrize("tenant_id", [OPERATOR_TENANT, "", "a|b", "a b", "x" * 65])
async def test_an_id_no_merchant_may_have_is_refused(tenants: TenantRecords, tenant_id: str) -> None:
    with pytest.raises(SchemaError):
        await tenants.create(TenantId(tenant_id), name="Hollin")

    assert await tenants.list() == ((), None)


async def test_tenants_are_listed_in_pages_by_id(tenants: TenantRecords) -> None:
    for name in ("t3", "t1", "t2"):
        await tenants.create(TenantId(name), name=name)

    first, token = await tenants.list(limit=2)
    rest, end = await tenants.list(limit=2, continuation=token)

    assert [tenant.tenant_id for tenant in (*first, *rest)] == ["t1", "t2", "t3"]
    assert end is None


async def test_a_patch_changes_what_it_names_only(
    tenants: TenantRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    created, secret = await tenants.create(tenant.tenant_id, name="Hollin")
    clock.forward(hours=1)

    changed = await tenants.patch(tenant, status=TenantStatus.SUSPENDED)

    assert changed == created.model_copy(update={"status": TenantStatus.SUSPENDED, "updated_at": clock.now()})
    assert await tenants.identity_secret(tenant) == secret
    with pytest.raises(SchemaError):
        await tenants.patch(tenant, name="")
    with pytest.raises(NotFound):
        await tenants.patch(OTHER, name="Nobody")


@pytest.mark.req("GW-03")
async def test_the_identity_secret_is_readable_for_its_tenant_and_nowhere_on_disk(
    tenants: TenantRecords, documents: SqliteDocuments, tenant: TenantScope, tmp_path: Path
) -> None:
    created, secret = await tenants.create(tenant.tenant_id, name="Hollin")
    documents.empty_log()

    stored = bytes_on_disk(tmp_path)

    assert await tenants.identity_secret(tenant) == secret
    assert len(secret) >= 43
    assert secret.encode() not in stored
    assert created.sealed_identity_secret not in repr(created)
    assert await tenants.identity_secret(OTHER) is None


@pytest.mark.req("GW-03")
async def test_a_renewed_identity_secret_replaces_the_old(tenants: TenantRecords, tenant: TenantScope) -> None:
    _, old = await tenants.create(tenant.tenant_id, name="Hollin")

    new = await tenants.renew_identity_secret(tenant)

    assert new != old
    assert await tenants.identity_secret(tenant) == new


@pytest.mark.req("GW-03", "ME-07")
async def test_a_sealed_secret_copied_to_another_tenant_does_not_open(
    tenants: TenantRecords, documents: SqliteDocuments, tenant: TenantScope
) -> None:
    created, _ = await tenants.create(tenant.tenant_id, name="Hollin")
    await tenants.create(OTHER.tenant_id, name="Thief")
    theirs = await documents.read(Container.TENANTS, OTHER, OTHER.tenant_id, "tenant")
    assert theirs is not None
    body = {**theirs.body, "sealed_identity_secret": created.sealed_identity_secret}
    await documents.replace(Container.TENANTS, OTHER, OTHER.tenant_id, body, etag=theirs.etag)

    with pytest.raises(AuthorityError):
        await tenants.identity_secret(OTHER)


@pytest.mark.req("GW-03")
async def test_fail_closed_once_the_tenants_key_is_destroyed(
    tenants: TenantRecords, data_keys: KeyRing, tenant: TenantScope
) -> None:
    await tenants.create(tenant.tenant_id, name="Hollin")
    await data_keys.destroy(tenant)

    with pytest.raises(AuthorityError):
        await tenants.identity_secret(tenant)


@pytest.mark.req("CO-02")
async def test_without_a_saved_policy_the_default_is_in_force_as_version_one(
    tenants: TenantRecords, tenant: TenantScope
) -> None:
    assert await tenants.policy(tenant) == TenantPolicy(version=1)
    assert await tenants.policy_history(tenant) == ()


@pytest.mark.req("CO-02", "ES-03")
async def test_fault_038_each_saved_policy_has_its_version_author_time_and_difference(
    tenants: TenantRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    await tenants.create(tenant.tenant_id, name="Hollin")
    first_at = clock.now()
    first = await tenants.save_policy(
        tenant, TenantPolicy(shop_name="Hollin", origins=("https://h.example",)), over_version=1, author="key-1"
    )
    clock.forward(hours=1)

    second = await tenants.save_policy(
        tenant, first.model_copy(update={"greeting": "Hello", "version": 77}), over_version=2, author="key-2"
    )

    assert await tenants.policy(tenant) == second
    assert (first.version, second.version) == (2, 3)
    log = await tenants.policy_history(tenant)
    assert [(line.version, line.author, line.saved_at, line.changed) for line in log] == [
        (3, "key-2", clock.now(), ("greeting",)),
        (2, "key-1", first_at, ("shop_name", "origins")),
    ]
    assert [line.policy for line in log] == [second, first]
    assert await tenants.all_origins() == {"https://h.example"}


@pytest.mark.req("CO-02")
async def test_a_policy_written_over_an_old_version_is_refused(tenants: TenantRecords, tenant: TenantScope) -> None:
    await tenants.create(tenant.tenant_id, name="Hollin")
    saved = await tenants.save_policy(tenant, TenantPolicy(greeting="one"), over_version=1, author="a")

    with pytest.raises(VersionConflict):
        await tenants.save_policy(tenant, TenantPolicy(greeting="two"), over_version=1, author="b")

    assert await tenants.policy(tenant) == saved
    assert len(await tenants.policy_history(tenant)) == 1


@pytest.mark.req("CO-02")
async def test_of_policies_saved_at_once_exactly_one_becomes_the_next_version(
    tenants: TenantRecords, tenant: TenantScope
) -> None:
    await tenants.create(tenant.tenant_id, name="Hollin")

    results = await asyncio.gather(
        *(tenants.save_policy(tenant, TenantPolicy(greeting=str(n)), over_version=1, author=str(n)) for n in range(5)),
        return_exceptions=True,
    )

    assert sum(isinstance(result, TenantPolicy) for result in results) == 1
    assert sum(isinstance(result, VersionConflict) for result in results) == 4
    assert len(await tenants.policy_history(tenant)) == 1


@pytest.mark.req("ES-03")
@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(TenantPolicy(disabled_triggers=(HumanTrigger.SAFETY,)), id="safety off"),
        pytest.param(TenantPolicy(disabled_triggers=(HumanTrigger.EXPLICIT_WISH,)), id="wish for a person off"),
        pytest.param(TenantPolicy(default_language="fr"), id="language not listed"),
        pytest.param(TenantPolicy(phone_regions=("UK",)), id="no such telephone region"),
    ],
)
async def test_fault_041_a_policy_that_cannot_hold_is_refused_when_saved(
    tenants: TenantRecords, tenant: TenantScope, policy: TenantPolicy
) -> None:
    await tenants.create(tenant.tenant_id, name="Hollin")

    with pytest.raises(SchemaError):
        await tenants.save_policy(tenant, policy, over_version=1, author="a")

    assert (await tenants.policy(tenant)).version == 1


async def test_a_policy_of_no_tenant_is_refused(tenants: TenantRecords) -> None:
    with pytest.raises(NotFound):
        await tenants.save_policy(OTHER, TenantPolicy(), over_version=1, author="a")
