"""Keys that can be destroyed, ciphertexts that cannot be moved."""

import base64

import pytest

from shared.domain.errors import AuthorityError
from shared.domain.ids import CustomerId, TenantId
from shared.ports.documents import CustomerScope, TenantScope
from shared.privacy.keys import CACHE_S, DataKey, KeyRing, is_equal, join_parts
from tests.conftest import FixedClock
from tests.unit.privacy.memory_rows import MemoryKeyRows

ANA = CustomerScope(TenantId("t1"), CustomerId("ana"))
BEN = CustomerScope(TenantId("t1"), CustomerId("ben"))
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
    assert len({(await keys.key_for(owner)).material for owner in (ANA, BEN, TenantScope(ANA.tenant_id))}) == 3


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
async def test_a_key_destroyed_elsewhere_is_forgotten_within_minutes(
    keys: KeyRing, key_rows: MemoryKeyRows, clock: FixedClock
) -> None:
    """Another process destroys the key; this one reads with it at most CACHE_S longer."""
    await keys.key_for(ANA)
    key_rows.rows.clear()

    clock.forward(seconds=CACHE_S + 1)

    assert await keys.existing_key(ANA) is None


@pytest.mark.req("GW-02")
def test_comparison_tells_equal_from_different() -> None:
    """Constant time is hmac.compare_digest's; ours is that any text may be compared."""
    assert is_equal("sécret", "sécret")
    assert not is_equal("sécret", "secret")
