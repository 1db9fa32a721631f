"""Mappings live seven days, one conversation, one key; losing any of them loses the value and nothing else."""

import asyncio
import re
from datetime import timedelta

import pytest

from shared.domain.errors import AuthorityError
from shared.domain.ids import ConversationId, CustomerId, TenantId
from shared.domain.text import MaskedText
from shared.ports.vault import MASK_TTL_DAYS, RENEW_BELOW_H, ConversationScope, Masked, MaskReader, MaskWriter
from shared.privacy.keys import KeyRing
from shared.privacy.masking import TOKEN_PATTERN
from shared.privacy.vault import Vault
from tests.conftest import FixedClock
from tests.unit.privacy.memory_rows import MemoryMaskRows

SCOPE = ConversationScope(TenantId("t1"), ConversationId("c1"), CustomerId("ana"))
ANONYMOUS = ConversationScope(TenantId("t1"), ConversationId("c1"))
ELSEWHERE = (
    ConversationScope(TenantId("t1"), ConversationId("c2"), CustomerId("ana")),
    ConversationScope(TenantId("t2"), ConversationId("c1"), CustomerId("ana")),
)
MESSAGE = "mail ana@x.example or call 020 7946 0958"


async def mask(vault: Vault, text: str = MESSAGE, scope: ConversationScope = SCOPE) -> Masked:
    writer: MaskWriter = vault
    return await writer.mask_message(scope, text, regions=("GB",), exempt=frozenset())


async def restored(vault: Vault, masked: Masked, scope: ConversationScope = SCOPE) -> str:
    reader: MaskReader = vault
    return await reader.restore_text(scope, masked.text, language="en")


@pytest.mark.req("PV-01")
async def test_a_reply_is_restored_from_its_own_conversation(vault: Vault) -> None:
    """Also by a reader who does not know the customer: the conversation is the scope."""
    masked = await mask(vault)

    assert "ana@x.example" not in masked.text.value
    assert await restored(vault, masked) == MESSAGE
    assert await restored(vault, masked, ANONYMOUS) == MESSAGE


@pytest.mark.req("PV-01", "ME-07")
@pytest.mark.parametrize("scope", ELSEWHERE, ids=["other conversation", "other tenant"])
async def test_a_token_tells_another_conversation_nothing(vault: Vault, scope: ConversationScope) -> None:
    """Not even one of the same customer."""
    masked = await mask(vault)

    text = await restored(vault, masked, scope)

    assert text == "mail the e-mail address you gave us or call the phone number you gave us"


@pytest.mark.req("PV-01")
async def test_stored_messages_come_back_as_written(vault: Vault) -> None:
    """One read restores a whole thread."""
    first, second = await mask(vault), await mask(vault, "or ben@x.example")

    thread = await vault.restore_stored(SCOPE, [first.text, MaskedText("ok"), second.text], language="en")

    assert thread == (MESSAGE, "ok", "or ben@x.example")


@pytest.mark.req("PV-01")
async def test_a_value_keeps_its_token_from_message_to_message(vault: Vault, mask_rows: MemoryMaskRows) -> None:
    """Written once: the second mention stores nothing."""
    first = await mask(vault, "ana@x.example")
    second = await mask(vault, "I said ana@x.example")

    assert second.text.value == f"I said {first.text.value}"
    assert len(await mask_rows.list(SCOPE)) == 1


@pytest.mark.req("PV-01")
async def test_a_value_brought_by_two_messages_at_once_has_one_token(vault: Vault, mask_rows: MemoryMaskRows) -> None:
    """The rows' ids meet; the loser uses what is stored."""
    both = await asyncio.gather(*(mask(vault, "ana@x.example") for _ in range(5)))

    assert len({masked.text for masked in both}) == 1
    assert len(await mask_rows.list(SCOPE)) == 1


@pytest.mark.req("PV-01")
async def test_a_value_keeps_its_token_when_the_visitor_identifies(vault: Vault) -> None:
    """The row made under the tenant's key serves on; new values lie under the customer's."""
    before = await mask(vault, "ana@x.example", ANONYMOUS)
    after = await mask(vault, "ana@x.example and ben@x.example", SCOPE)

    assert after.text.value.startswith(before.text.value)
    assert await restored(vault, after) == "ana@x.example and ben@x.example"


@pytest.mark.req("PV-02")
async def test_fault_045_rows_hold_no_plain_value(vault: Vault, mask_rows: MemoryMaskRows) -> None:
    """What a store, its backup or a history dump shows is ciphertext and tokens."""
    masked = await mask(vault)

    dump = masked.text.value + "".join(row.model_dump_json() for row in await mask_rows.list(SCOPE))
    assert "ana" not in dump.replace('"customer_id":"ana"', "")
    assert "7946" not in re.sub(r"[0-9a-f]{64}|v1\.[\w=-]+|" + TOKEN_PATTERN, "", dump)


@pytest.mark.req("PV-02")
async def test_a_mapping_lives_seven_days_and_is_never_prolonged(
    vault: Vault, mask_rows: MemoryMaskRows, clock: FixedClock
) -> None:
    """Even when the store is late to delete it."""
    masked = await mask(vault, "ana@x.example")
    clock.forward(days=3)
    await mask(vault, "ana@x.example")

    (row,) = await mask_rows.list(SCOPE)
    assert row.expires_at - row.created_at == timedelta(days=MASK_TTL_DAYS)

    clock.forward(days=4)
    assert await restored(vault, masked) == "the e-mail address you gave us"


@pytest.mark.req("PV-02")
async def test_a_late_mention_gets_a_token_that_lasts(vault: Vault, clock: FixedClock) -> None:
    """With less than RENEW_BELOW_H left a new generation starts; both restore while they live."""
    old = await mask(vault, "ana@x.example")
    clock.forward(days=MASK_TTL_DAYS, hours=-RENEW_BELOW_H, seconds=1)

    new = await mask(vault, "ana@x.example")

    assert new.text != old.text
    assert (await mask(vault, "ana@x.example")).text == new.text
    assert await restored(vault, old) == await restored(vault, new) == "ana@x.example"
    clock.forward(hours=RENEW_BELOW_H)
    assert await restored(vault, new) == "ana@x.example"
    assert await restored(vault, old) == "the e-mail address you gave us"


@pytest.mark.req("PV-02")
async def test_an_expired_row_that_is_still_there_is_not_used_again(vault: Vault, clock: FixedClock) -> None:
    """Stores delete late; a new mention must not revive a dead token."""
    old = await mask(vault, "ana@x.example")
    clock.forward(days=MASK_TTL_DAYS * 3)

    new = await mask(vault, "ana@x.example")

    assert new.text != old.text
    assert await restored(vault, new) == "ana@x.example"


@pytest.mark.req("PV-02", "PV-04")
async def test_mappings_go_at_once_on_erasure(vault: Vault) -> None:
    """Deleting them leaves neutral phrases."""
    masked = await mask(vault)

    assert await vault.forget_conversation(SCOPE) == 2
    assert await vault.forget_conversation(SCOPE) == 0
    assert await restored(vault, masked) == "mail the e-mail address you gave us or call the phone number you gave us"


@pytest.mark.req("PV-02", "PV-04")
async def test_destroying_the_customers_key_shreds_their_values_only(vault: Vault, keys: KeyRing) -> None:
    """Rows that a backup brings back stay unreadable, also under the customer's next key."""
    ben = ConversationScope(SCOPE.tenant_id, ConversationId("c9"), CustomerId("ben"))
    anas, bens = await mask(vault, "ana@x.example"), await mask(vault, "ben@x.example", ben)

    await keys.destroy(SCOPE.owner)
    await keys.key_for(SCOPE.owner)

    assert await restored(vault, anas) == "the e-mail address you gave us"
    assert await restored(vault, bens, ben) == "ben@x.example"


@pytest.mark.req("PV-02")
async def test_a_row_moved_into_another_conversation_is_refused(vault: Vault, mask_rows: MemoryMaskRows) -> None:
    """Whoever can write the store cannot make one conversation read another's value."""
    masked = await mask(vault, "ana@x.example")
    (row,) = await mask_rows.list(SCOPE)
    await mask_rows.create(ELSEWHERE[0], row)

    with pytest.raises(AuthorityError):
        await restored(vault, masked, ELSEWHERE[0])


@pytest.mark.req("PV-01")
async def test_text_without_contacts_touches_no_store(vault: Vault, mask_rows: MemoryMaskRows) -> None:
    """Most messages cost no read."""
    assert (await mask(vault, "where is order 1001?")).text == MaskedText("where is order 1001?")
    assert mask_rows.rows == {}
