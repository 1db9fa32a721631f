"""Keys that can be destroyed, ciphertexts that cannot be moved."""

import base64

import pytest

from shared.domain.errors import AuthorityError
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.vault import ConversationScope
from shared.privacy.keys import CACHE_KEYS, CACHE_S, DataKey, KeyRing, is_equal, join_parts
from tests.conftest import FixedClock
from tests.unit.privacy.memory_rows import MemoryKeyRows

ANA = CustomerScope(TenantId("t1"), CustomerId("ana"))
BEN = CustomerScope(TenantId("t1"), CustomerId("ben"))
VISIT = ConversationScope(TenantId("t1"), ConversationId("c1"))
KEY = DataKey("k1", bytes(range(32)))


@pytest.mark.req("PV-02")
def test_a_ciphertext_decrypts_only_in_its_place() -> None:
    """Moved to another tenant, conversation or token it is worth nothing."""
    sealed = KEY.encrypt("ana@x.example", bound_to=join_parts("t1", "c1", "token"))

    assert KEY.decrypt(sealed, bound_to=join_parts("t1", "c1", "token")) == "ana@x.example"
    for elsewhere in (("t2", "c1", "token"), ("t1", "c2", "token"), ("t1", "c1", "other"), ("t1c", "1", "token")):
        with pytest.raises(AuthorityError):
            KEY.decrypt(sealed, bound_to=join_parts(*elsewhere))


@pytest.mark.req("PV-02")
@pytest.mark.parametrize("at", [0, 12, -1])
def test_a_changed_ciphertext_is_refused(at: int) -> None:
    """Nonce, text and tag are all protected."""
    sealed = KEY.encrypt("ana@x.example", bound_to=b"")
    raw = bytearray(base64.urlsafe_b64decode(sealed.removeprefix("v1.")))
    raw[at] ^= 1

    with pytest.raises(AuthorityError):
        KEY.decrypt("v1." + base64.urlsafe_b64encode(bytes(raw)).decode(), bound_to=b"")


@pytest.mark.req("PV-02")
@pytest.mark.parametrize("text", ["", "v1.", "v1.AAAA", "v2.????", "ana@x.example"])
def test_what_is_no_ciphertext_is_refused(text: str) -> None:
    """Garbage from a store is an error of ours, named, not a crash."""
    with pytest.raises(AuthorityError):
        KEY.decrypt(text, bound_to=b"")


@pytest.mark.req("PV-02")
def test_equal_values_have_different_ciphertexts_and_equal_ids() -> None:
    """Nobody sees from the store that two customers share an address; we find a value's row by its keyed id."""
    other = DataKey("k2", bytes(32))

    assert KEY.encrypt("ana@x.example", bound_to=b"") != KEY.encrypt("ana@x.example", bound_to=b"")
    assert KEY.value_id("c1", "ana@x.example", "1") == KEY.value_id("c1", "ana@x.example", "1")
    assert KEY.value_id("c1", "ana@x.example", "1") != KEY.value_id("c1a", "na@x.example", "1")
    assert KEY.value_id("c1", "ana@x.example", "1") != other.value_id("c1", "ana@x.example", "1")


@pytest.mark.req("PV-05")
def test_a_key_never_shows_itself() -> None:
    """Traces print representations."""
    assert repr(KEY) == "DataKey(k1)"


@pytest.mark.req("PV-02")
async def test_each_owner_has_one_key(keys: KeyRing) -> None:
    """The same on every call, another for every customer and for the tenant."""
    first = await keys.key_for(ANA)

    assert await keys.key_for(ANA) == first
    owners = (ANA, BEN, TenantScope(ANA.tenant_id), VISIT)
    assert len({(await keys.key_for(owner)).material for owner in owners}) == 4


@pytest.mark.req("PV-02")
async def test_stored_keys_are_wrapped(keys: KeyRing, key_rows: MemoryKeyRows) -> None:
    """The store never holds key material."""
    key = await keys.key_for(ANA)

    (row,) = key_rows.rows.values()
    assert base64.urlsafe_b64encode(key.material).decode().rstrip("=") not in row.wrapped
    assert row.customer_id == "ana"


@pytest.mark.req("PV-02")
async def test_a_wrapped_key_copied_to_another_owner_does_not_unwrap(keys: KeyRing, key_rows: MemoryKeyRows) -> None:
    """Whoever can write the store cannot read ana's values as ben."""
    await keys.key_for(ANA)
    (row,) = key_rows.rows.values()
    key_rows.rows[BEN.tenant_id, "data:customer:ben"] = row.model_copy(update={"id": "data:customer:ben"})

    with pytest.raises(AuthorityError):
        await keys.key_for(BEN)


@pytest.mark.req("PV-04")
async def test_a_destroyed_key_is_gone_and_its_successor_is_another(keys: KeyRing) -> None:
    """Destroying one row shreds everything under it; others keep theirs."""
    before, ben = await keys.key_for(ANA), await keys.key_for(BEN)

    assert await keys.destroy(ANA)

    assert await keys.existing_key(ANA) is None
    assert not await keys.destroy(ANA)
    assert (await keys.key_for(ANA)).key_id != before.key_id
    assert await keys.existing_key(BEN) == ben


@pytest.mark.req("PV-04")
async def test_a_key_is_found_by_its_id_whosever_it_is_and_not_once_it_is_destroyed(keys: KeyRing) -> None:
    """A ciphertext names its key and not its owner: with the row goes the last tie between them."""
    tenant = TenantScope(ANA.tenant_id)
    owners = (ANA, BEN, tenant, VISIT)
    ids = {owner: (await keys.key_for(owner)).key_id for owner in owners}

    assert [await keys.key_of(tenant, ids[owner]) for owner in owners] == [await keys.key_for(o) for o in owners]
    assert await keys.key_of(TenantScope(TenantId("t2")), ids[ANA]) is None

    await keys.destroy(ANA)
    await keys.destroy(VISIT)

    assert await keys.key_of(tenant, ids[ANA]) is None
    assert await keys.key_of(tenant, ids[VISIT]) is None
    assert await keys.key_of(tenant, ids[BEN]) is not None


@pytest.mark.req("PV-02")
async def test_a_conversations_key_is_wrapped_by_its_tenants(keys: KeyRing, key_rows: MemoryKeyRows) -> None:
    """The master key's service is asked once a tenant, not once a visitor; moved, such a key does not unwrap either."""
    await keys.key_for(VISIT)
    elsewhere = ConversationScope(VISIT.tenant_id, ConversationId("c2"))
    row = key_rows.rows[VISIT.tenant_id, "data:conversation:c1"]
    key_rows.rows[VISIT.tenant_id, "data:conversation:c2"] = row

    with pytest.raises(AuthorityError):
        await keys.key_for(elsewhere)

    await keys.destroy(TenantScope(VISIT.tenant_id))
    with pytest.raises(AuthorityError):
        await keys.key_of(TenantScope(VISIT.tenant_id), row.key_id)


@pytest.mark.req("PV-04")
async def test_a_key_destroyed_elsewhere_is_forgotten_within_minutes(
    keys: KeyRing, key_rows: MemoryKeyRows, clock: FixedClock
) -> None:
    """Another process destroys the key; this one reads with it at most CACHE_S longer."""
    await keys.key_for(ANA)
    key_rows.rows.clear()

    clock.forward(seconds=CACHE_S + 1)

    assert await keys.existing_key(ANA) is None


@pytest.mark.req("SC-01")
async def test_many_visitors_do_not_push_out_the_keys_that_are_in_use(keys: KeyRing, key_rows: MemoryKeyRows) -> None:
    """A tenant's key wraps each conversation's: it stays at hand however many there are."""
    tenant = TenantScope(VISIT.tenant_id)
    key = await keys.key_for(tenant)

    for number in range(CACHE_KEYS + 1):
        await keys.key_for(ConversationScope(VISIT.tenant_id, ConversationId(f"c{number}")))
    del key_rows.rows[tenant.tenant_id, "data:tenant"]

    assert await keys.existing_key(tenant) == key


@pytest.mark.req("GW-02")
def test_comparison_tells_equal_from_different() -> None:
    """Constant time is hmac.compare_digest's; ours is that any text may be compared."""
    assert is_equal("sécret", "sécret")
    assert not is_equal("sécret", "secret")
