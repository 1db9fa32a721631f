"""The vault at work: masks a message and keeps its mappings encrypted; restores text of the same conversation.

Owns generations and expiry: a mapping is written once and lives seven days, a value mentioned late in that time gets a
new token, so that no token in fresh text dies early. Never logs and never returns another conversation's values.
Source: PV-01, PV-02, design §6 row `masks`.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from shared.domain.errors import StalenessError
from shared.domain.text import MaskedText
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.vault import (
    MASK_TTL_DAYS,
    RENEW_BELOW_H,
    ContactKind,
    ConversationScope,
    Masked,
    MaskRow,
    MaskRows,
    TokenMapping,
)
from shared.privacy.altered_tokens import TOKEN, may_hold_token
from shared.privacy.keys import DataKey, KeyRing, join_parts
from shared.privacy.masking import replace_contacts, restore, restore_stored, to_token
from shared.privacy.patterns import find_contacts

MAX_GENERATIONS: Final = 4096
"""Generations of one value tried before giving up; one lasts at least five days. Ours: a loop must end."""


class Vault:
    """MaskReader and MaskWriter over one store of rows and one ring of keys."""

    def __init__(self, *, rows: MaskRows, keys: KeyRing, clock: Clock, ids: IdSource) -> None:
        self._rows = rows
        self._keys = keys
        self._clock = clock
        self._ids = ids

    async def mask_message(
        self, scope: ConversationScope, text: str, *, regions: tuple[str, ...], exempt: frozenset[str]
    ) -> Masked:
        """Return the masked text once every new mapping is stored.

        Two messages that bring the same value at once get the same token: the rows' ids decide, the loser reads.
        Raises: Unavailable, RateLimited: without a stored mapping nothing is masked, and nothing may go on.
        """
        contacts = find_contacts(text, regions=regions, exempt=exempt)
        tokens = await self._lasting_tokens(scope) if contacts else {}
        for contact in contacts:
            value = contact.written_in(text)
            if value not in tokens:
                tokens[value] = await self._store(scope, value, contact.kind)
        return replace_contacts(text, contacts, tokens)

    async def restore_text(self, scope: ConversationScope, text: MaskedText, *, language: str) -> str:
        """Return approved text with its values. Raises: RestoreError when a token is not certain: hold the text."""
        mappings = await self._mappings(scope) if may_hold_token(text.value) else ()
        return restore(text, mappings, language=language)

    async def restore_stored(
        self, scope: ConversationScope, texts: Sequence[MaskedText], *, language: str
    ) -> tuple[str, ...]:
        """Return stored messages as they were written."""
        mappings = await self._mappings(scope) if any(TOKEN.search(text.value) for text in texts) else ()
        return tuple(restore_stored(text, mappings, language=language) for text in texts)

    async def forget_conversation(self, scope: ConversationScope) -> int:
        """Delete the conversation's mappings at once, for erasure; return how many there were. Source: PV-02."""
        return await self._rows.delete_all(scope)

    async def _lasting_tokens(self, scope: ConversationScope) -> dict[str, str]:
        """Return value → token of mappings that live long enough to be used in fresh text."""
        latest = self._clock.now() + timedelta(hours=RENEW_BELOW_H)
        rows = [row for row in await self._rows.list(scope) if row.expires_at >= latest]
        rows.sort(key=lambda row: (row.created_at, row.id))
        return {mapping.value: mapping.token for mapping in await self._opened(scope, rows)}

    async def _mappings(self, scope: ConversationScope) -> tuple[TokenMapping, ...]:
        now = self._clock.now()
        return await self._opened(scope, [row for row in await self._rows.list(scope) if row.expires_at > now])

    async def _opened(self, scope: ConversationScope, rows: Sequence[MaskRow]) -> tuple[TokenMapping, ...]:
        """Decrypt rows; those whose key is destroyed are gone, as if they had expired."""
        mappings = []
        for row in rows:
            key = await self._keys.existing_key(_owner(scope, row))
            if key is not None and key.key_id == row.key_id:
                value = key.decrypt(row.ciphertext, bound_to=_place(scope, row.token))
                mappings.append(TokenMapping(row.token, ContactKind(row.kind), value))
        return tuple(mappings)

    async def _store(self, scope: ConversationScope, value: str, kind: ContactKind) -> str:
        """Store a mapping of the value, or find the one another message just stored; return its token."""
        key = await self._keys.key_for(scope.owner)
        latest = self._clock.now() + timedelta(hours=RENEW_BELOW_H)
        for generation in range(1, MAX_GENERATIONS + 1):
            row = self._new_row(scope, key, value, kind, generation)
            stored = await self._rows.create(scope, row)
            if stored.key_id == key.key_id and stored.expires_at >= latest:
                return stored.token
        raise StalenessError("a value has more generations of mappings than one conversation can have")

    def _new_row(
        self, scope: ConversationScope, key: DataKey, value: str, kind: ContactKind, generation: int
    ) -> MaskRow:
        token = to_token(kind, self._ids.new_id())
        now = self._clock.now()
        return MaskRow(
            id=key.value_id(scope.conversation_id, value, str(generation)),
            token=token,
            kind=kind.value,
            ciphertext=key.encrypt(value, bound_to=_place(scope, token)),
            key_id=key.key_id,
            generation=generation,
            created_at=now,
            expires_at=now + timedelta(days=MASK_TTL_DAYS),
            customer_id=scope.customer_id,
        )


def _owner(scope: ConversationScope, row: MaskRow) -> TenantScope | CustomerScope:
    """Return whose key encrypted the row: the tenant's before the customer was known, the customer's after."""
    if row.customer_id is None:
        return TenantScope(scope.tenant_id)
    return CustomerScope(scope.tenant_id, row.customer_id)


def _place(scope: ConversationScope, token: str) -> bytes:
    """Name where a ciphertext belongs: moved to another tenant, conversation or token it does not decrypt."""
    return join_parts(scope.tenant_id, scope.conversation_id, token)
