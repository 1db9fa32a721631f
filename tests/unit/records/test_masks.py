"""Mask and data-key rows on a real store, and the vault at work over them. Source: PV-02, design §6."""

import asyncio
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.masks import DataKeyRecords, MaskRecords
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.ports.documents import TenantScope
from shared.ports.vault import MASK_TTL_DAYS, ConversationScope, KeyRow
from shared.privacy.keys import KeyRing
from shared.privacy.vault import Vault
from tests.conftest import FixedClock
from tests.unit.records.conftest import bytes_on_disk

TALK = ConversationScope(TenantId("t1"), ConversationId("c1"))
OTHER_TALK = ConversationScope(TenantId("t1"), ConversationId("c2"))
OTHER_TENANT = ConversationScope(TenantId("t2"), ConversationId("c1"))
MESSAGE = "write to ana@shop.example please"


@pytest.fixture
def vault(masks: MaskRecords, data_keys: KeyRing, clock: FixedClock) -> Vault:
    """The vault over these rows."""
    return Vault(rows=masks, keys=data_keys, clock=clock, ids=RandomIds())


async def _mask(vault: Vault, scope: ConversationScope) -> str:
    masked = await vault.mask_message(scope, MESSAGE, regions=("US",), exempt=frozenset())
    (mapping,) = masked.mappings
    return mapping.token


@pytest.mark.req("PV-01", "PV-02")
async def test_a_mapping_is_readable_in_its_conversation_and_encrypted_on_disk(
    vault: Vault, masks: MaskRecords, documents: SqliteDocuments, tmp_path: Path
) -> None:
    masked = await vault.mask_message(TALK, MESSAGE, regions=("US",), exempt=frozenset())
    documents.empty_log()

    restored = await vault.restore_text(TALK, masked.text, language="en")

    assert restored == MESSAGE
    assert b"ana@shop" not in bytes_on_disk(tmp_path)
    assert len(await masks.list(TALK)) == 1


@pytest.mark.req("PV-02", "ME-07")
async def test_mappings_of_another_conversation_or_tenant_are_not_listed(vault: Vault, masks: MaskRecords) -> None:
    await _mask(vault, TALK)

    assert await masks.list(OTHER_TALK) == ()
    assert await masks.list(OTHER_TENANT) == ()


@pytest.mark.req("PV-02")
async def test_two_messages_with_one_value_at_once_share_one_row(vault: Vault, masks: MaskRecords) -> None:
    tokens = await asyncio.gather(*(_mask(vault, TALK) for _ in range(4)))

    assert len(set(tokens)) == 1
    assert len(await masks.list(TALK)) == 1


@pytest.mark.req("PV-02", "PV-05")
async def test_a_mapping_is_gone_after_seven_days_and_purged_from_the_store(
    vault: Vault, masks: MaskRecords, documents: SqliteDocuments, clock: FixedClock
) -> None:
    await _mask(vault, TALK)
    clock.forward(days=MASK_TTL_DAYS, seconds=-1)
    assert len(await masks.list(TALK)) == 1

    clock.forward(seconds=1)

    assert await masks.list(TALK) == ()
    assert documents.purge_expired(clock.now(), 100) == 1


@pytest.mark.req("PV-02", "PV-04")
async def test_forgetting_a_conversation_deletes_its_rows_of_both_owners_and_no_others(
    vault: Vault, masks: MaskRecords
) -> None:
    known = ConversationScope(TALK.tenant_id, TALK.conversation_id, CustomerId("ana"))
    await _mask(vault, TALK)
    await masks.create(known, (await masks.list(TALK))[0].model_copy(update={"id": "x", "customer_id": "ana"}))
    await _mask(vault, OTHER_TALK)

    deleted = await masks.delete_all(TALK)

    assert deleted == 2
    assert await masks.list(TALK) == ()
    assert len(await masks.list(OTHER_TALK)) == 1


@pytest.mark.req("PV-02")
async def test_a_row_already_there_is_returned_and_not_overwritten(vault: Vault, masks: MaskRecords) -> None:
    await _mask(vault, TALK)
    (row,) = await masks.list(TALK)

    stored = await masks.create(TALK, row.model_copy(update={"token": "other"}))

    assert stored == row


@pytest.mark.req("PV-04")
async def test_a_data_key_is_made_once_and_destroyed_for_good(documents: SqliteDocuments, clock: FixedClock) -> None:
    records, scope, other = DataKeyRecords(documents), TenantScope(TenantId("t1")), TenantScope(TenantId("t2"))
    row = KeyRow(id="data:tenant", key_id="k1", wrapped="w1", created_at=clock.now())

    first = await records.create(scope, row)
    second = await records.create(scope, row.model_copy(update={"key_id": "k2"}))

    assert first == second == await records.read(scope, row.id) == row
    assert await records.read(other, row.id) is None
    assert await records.find(scope, "k1") == row
    assert (await records.find(scope, "k2"), await records.find(other, "k1")) == (None, None)
    assert await records.delete(other, row.id) is False
    assert await records.delete(scope, row.id) is True
    assert await records.delete(scope, row.id) is False
    assert await records.read(scope, row.id) is None
