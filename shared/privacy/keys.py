"""Data keys and what is done with them: encrypt a value, name it by a keyed hash, compare in constant time.

Each tenant, each customer and each conversation of an unknown visitor has one data key, kept only wrapped: by the
master key, or a conversation's by its tenant's key, which spares a call of the master key's service for each visitor. A
customer's values are readable as long as that one row exists, so deleting it shreds every copy of them once the row's
own backups have run out. Key material never enters an error or a representation.
Source: design §6 row `vault_keys`, "Append-only and erasure agree by destroying the customer's key".
"""

import base64
import binascii
import hashlib
import hmac
import os
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from shared.domain.errors import AuthorityError
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.vault import ConversationScope, KeyRow, KeyRows, KeyWrapper

KeyOwner = TenantScope | CustomerScope | ConversationScope
"""Whose data key: a conversation has one of its own as long as nobody has proven who they are."""

KEY_BYTES: Final = 32
"""Bytes of a data key: AES-256. Source: NIST SP 800-38D."""
NONCE_BYTES: Final = 12
"""Bytes of a random nonce, fresh for each encryption. Source: NIST SP 800-38D §8.2.2."""
CACHE_S: Final = 300
"""Seconds an unwrapped key stays in memory; also how long another process may still read after destruction. Ours."""
CACHE_KEYS: Final = 2048
"""Most unwrapped keys in memory. Ours: about 0.5 MB."""
_FORMAT: Final = "v1."
"""Prefix of a ciphertext: AES-256-GCM, nonce then ciphertext and tag, URL-safe base64."""


@dataclass(frozen=True, slots=True)
class DataKey:
    """An unwrapped data key and the id of the row it came from."""

    key_id: str
    material: bytes

    def __repr__(self) -> str:
        """Name the key, never show it."""
        return f"DataKey({self.key_id})"

    def encrypt(self, plaintext: str, *, bound_to: bytes) -> str:
        """Return the ciphertext; it decrypts only together with the same `bound_to`."""
        nonce = os.urandom(NONCE_BYTES)
        sealed = AESGCM(self._subkey(b"encrypt")).encrypt(nonce, plaintext.encode(), bound_to)
        return _FORMAT + base64.urlsafe_b64encode(nonce + sealed).decode()

    def decrypt(self, ciphertext: str, *, bound_to: bytes) -> str:
        """Return the plaintext.

        Raises: AuthorityError when the ciphertext was changed, moved to another place or made with another key.
        """
        try:
            raw = base64.urlsafe_b64decode(ciphertext.removeprefix(_FORMAT))
            return AESGCM(self._subkey(b"encrypt")).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], bound_to).decode()
        except (InvalidTag, binascii.Error, ValueError) as error:
            raise AuthorityError(f"a ciphertext does not belong to key {self.key_id!r} or its place") from error

    def value_id(self, *parts: str) -> str:
        """Return the keyed hash of the parts, hex: equal for equal parts, telling nothing without the key."""
        return hmac.new(self._subkey(b"identify"), join_parts(*parts), hashlib.sha256).hexdigest()

    def _subkey(self, purpose: bytes) -> bytes:
        """Return the key for one purpose, so that no key serves two algorithms."""
        return HKDFExpand(algorithm=SHA256(), length=KEY_BYTES, info=b"vouch:" + purpose).derive(self.material)


class KeyRing:
    """The data keys of all tenants and customers, unwrapped on use and forgotten soon after."""

    def __init__(self, *, rows: KeyRows, wrapper: KeyWrapper, clock: Clock, ids: IdSource) -> None:
        self._rows = rows
        self._wrapper = wrapper
        self._clock = clock
        self._ids = ids
        self._unwrapped: OrderedDict[tuple[str, str], tuple[datetime, DataKey]] = OrderedDict()

    async def key_for(self, owner: KeyOwner) -> DataKey:
        """Return the owner's data key, making it on first use. Two makers at once end with the same key."""
        found = await self.existing_key(owner)
        if found is not None:
            return found
        row_id = key_row_id(owner)
        material = os.urandom(KEY_BYTES)
        row = KeyRow(
            id=row_id,
            key_id=self._ids.new_id(),
            wrapped=await self._wrap(owner, material),
            created_at=self._clock.now(),
            customer_id=owner.customer_id if isinstance(owner, CustomerScope) else None,
            conversation_id=owner.conversation_id if isinstance(owner, ConversationScope) else None,
        )
        return await self._open(owner, await self._rows.create(TenantScope(owner.tenant_id), row))

    async def existing_key(self, owner: KeyOwner) -> DataKey | None:
        """Return the owner's data key, or None when it was never made or has been destroyed."""
        kept = self._unwrapped.get((owner.tenant_id, key_row_id(owner)))
        if kept is not None and kept[0] > self._clock.now():
            self._unwrapped.move_to_end((owner.tenant_id, key_row_id(owner)))
            return kept[1]
        row = await self._rows.read(TenantScope(owner.tenant_id), key_row_id(owner))
        if row is None:
            self._unwrapped.pop((owner.tenant_id, key_row_id(owner)), None)
            return None
        return await self._open(owner, row)

    async def key_of(self, scope: TenantScope, key_id: str) -> DataKey | None:
        """Return the key with that id, whosever it is, or None when it has been destroyed; read from the store."""
        row = await self._rows.find(scope, key_id)
        return None if row is None else await self._open(_owner(scope, row), row)

    async def destroy(self, owner: KeyOwner) -> bool:
        """Destroy the owner's data key: everything it encrypted is unreadable for good. Tell whether there was one."""
        was_there = await self._rows.delete(TenantScope(owner.tenant_id), key_row_id(owner))
        self._unwrapped.pop((owner.tenant_id, key_row_id(owner)), None)
        return was_there

    async def _open(self, owner: KeyOwner, row: KeyRow) -> DataKey:
        key = DataKey(row.key_id, await self._unwrap(owner, row.wrapped))
        self._unwrapped[owner.tenant_id, row.id] = (self._clock.now() + timedelta(seconds=CACHE_S), key)
        self._unwrapped.move_to_end((owner.tenant_id, row.id))
        if len(self._unwrapped) > CACHE_KEYS:
            self._unwrapped.popitem(last=False)
        return key

    async def _wrap(self, owner: KeyOwner, material: bytes) -> str:
        if not isinstance(owner, ConversationScope):
            return await self._wrapper.wrap(material, bound_to=_place(owner))
        tenant = await self.key_for(TenantScope(owner.tenant_id))
        return tenant.encrypt(base64.urlsafe_b64encode(material).decode(), bound_to=_place(owner).encode())

    async def _unwrap(self, owner: KeyOwner, wrapped: str) -> bytes:
        if not isinstance(owner, ConversationScope):
            return await self._wrapper.unwrap(wrapped, bound_to=_place(owner))
        tenant = await self.existing_key(TenantScope(owner.tenant_id))
        if tenant is None:
            raise AuthorityError(f"the data key of tenant {owner.tenant_id!r} is gone")
        return base64.urlsafe_b64decode(tenant.decrypt(wrapped, bound_to=_place(owner).encode()))


def key_row_id(owner: KeyOwner) -> str:
    """Return the id of the owner's key row within the tenant's partition."""
    match owner:
        case TenantScope():
            return "data:tenant"
        case CustomerScope():
            return f"data:customer:{owner.customer_id}"
        case ConversationScope():
            return f"data:conversation:{owner.conversation_id}"
        case _:
            assert_never(owner)


def is_equal(left: str, right: str) -> bool:
    """Compare two secrets or hashes in time that does not depend on where they differ."""
    return hmac.compare_digest(left.encode(), right.encode())


def join_parts(*parts: str) -> bytes:
    """Return the parts length-prefixed, so that no two different lists give the same bytes."""
    raw = [part.encode() for part in parts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in raw)


def _owner(scope: TenantScope, row: KeyRow) -> KeyOwner:
    if row.conversation_id is not None:
        return ConversationScope(scope.tenant_id, row.conversation_id)
    return scope if row.customer_id is None else CustomerScope(scope.tenant_id, row.customer_id)


def _place(owner: KeyOwner) -> str:
    """Name where a wrapped key belongs, so that a row copied to another owner does not unwrap."""
    return f"{owner.tenant_id}|{key_row_id(owner)}"
