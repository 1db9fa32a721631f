"""API key records: issue, check, rotate with an overlap, revoke. Holds digests, never a key's text.

Each key has a partition of its own, since a request names a key id and nothing else. A checked row is remembered for
REVOKED_WITHIN_S, so a revocation made by another process takes effect within that time and one made here at once; the
secret is compared on every request all the same. Source: GW-02, design §6 row `keys`.
"""

import hashlib
import hmac
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.domain.api_key import (
    KEY_ID_CHARS,
    SALT_BYTES,
    SECRET_BYTES,
    ApiKey,
    DeskRole,
    KeyScope,
    digest_secret,
    format_key,
    is_secret_of,
    parse_key,
)
from shared.domain.errors import NotFound, SchemaError, StalenessError, VersionConflict
from shared.domain.ids import KeyId
from shared.domain.tenant import OPERATOR_TENANT
from shared.ports.clock import Clock, IdSource
from shared.ports.documents import Container, Documents, PlatformScope, Query, Stored, TenantScope, Where
from shared.wire import decode

REVOKED_WITHIN_S: Final = 5
"""Seconds another process may still accept a revoked key. Value ours."""
REMEMBERED_KEYS: Final = 1024
"""Most rows remembered. Value ours: about 2 MB."""
KEPT_AFTER_END_S: Final = 30 * 24 * 3600
"""Seconds a revoked or expired key's row is kept. Source: design §6 (revoked + 30 d)."""
MAX_OVERLAP_S: Final = 30 * 24 * 3600
"""Longest time a rotated key may go on working. Value ours."""
CAS_ATTEMPTS: Final = 5
"""Times a revocation is tried against other changes of the same key. Value ours."""

_LOOK_UP: Final = PlatformScope("a request names a key id only")


class KeyRecords:
    """The API keys of all tenants."""

    def __init__(self, documents: Documents, *, clock: Clock, ids: IdSource, first_operator_sha256: str = "") -> None:
        """Take the SHA-256 hex of a first operator key, which a new deployment has before any key is stored."""
        self._documents = documents
        self._clock = clock
        self._ids = ids
        self._first_operator_sha256 = first_operator_sha256
        self._remembered: OrderedDict[KeyId, tuple[datetime, ApiKey]] = OrderedDict()
        self._nobody = self._new_key(
            TenantScope(OPERATOR_TENANT), KeyId("0" * KEY_ID_CHARS), KeyScope.OPERATOR, "nobody", None, None, "nobody"
        )

    async def issue(
        self,
        scope: TenantScope,
        key_scope: KeyScope,
        *,
        owner: str,
        role: DeskRole | None = None,
        expires_at: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        """Store a new key and return it with its text, which is shown this once and cannot be had again.

        Raises: SchemaError when a desk key has no role, another has one, or an operator key's tenant is not
        OPERATOR_TENANT.
        """
        kid = KeyId(self._ids.new_id().replace("-", "")[-KEY_ID_CHARS:])
        secret = self._ids.new_secret(SECRET_BYTES)
        key = self._new_key(scope, kid, key_scope, owner, role, expires_at, secret)
        await self._documents.create(Container.KEYS, scope, kid, to_document(key), ttl_s=self._ttl_s(key))
        return key, format_key(key_scope, kid, secret)

    async def authenticate(self, text: str) -> ApiKey | None:
        """Return the key whose text this is, if it may be used now; None for every other text alike.

        An unknown or malformed text costs one comparison too, so that time does not tell which ids exist.
        Raises: Unavailable, RateLimited: without an answer nobody is let in.
        """
        parsed = parse_key(text)
        key = None if parsed is None else await self._look_up(parsed.kid)
        is_proven = is_secret_of(key or self._nobody, parsed.secret if parsed is not None else "")
        if parsed is not None and parsed.scope is KeyScope.OPERATOR and self._is_first_operator(text):
            return self._new_key(
                TenantScope(OPERATOR_TENANT), parsed.kid, KeyScope.OPERATOR, "first operator", None, None, parsed.secret
            )
        if parsed is None or key is None or not is_proven or key.scope is not parsed.scope:
            return None
        return key if key.is_valid_at(self._clock.now()) else None

    async def rotate(self, scope: TenantScope, kid: KeyId, *, overlap_s: int) -> tuple[ApiKey, str]:
        """Issue a key with the same rights and let the old one end after `overlap_s`; return the new key and its text.

        The successor is stored first: a crash in between leaves two good keys, never none.
        Raises: NotFound; SchemaError for an overlap outside 0 … MAX_OVERLAP_S; StalenessError when the key was rotated
        before or is over; VersionConflict when somebody else changed it meanwhile.
        """
        if not 0 <= overlap_s <= MAX_OVERLAP_S:
            raise SchemaError(f"overlap_s must be 0 to {MAX_OVERLAP_S}")
        stored, old = await self._current(scope, kid)
        now = self._clock.now()
        if old.successor is not None or not old.is_valid_at(now):
            raise StalenessError(f"key {kid!r} was rotated, revoked or has expired")
        new, text = await self.issue(scope, old.scope, owner=old.owner, role=old.role, expires_at=old.expires_at)
        end = now + timedelta(seconds=overlap_s)
        ending = old.model_copy(
            update={"successor": new.id, "expires_at": end if old.expires_at is None else min(end, old.expires_at)}
        )
        try:
            await self._put(scope, stored, ending)
        except (VersionConflict, NotFound):
            await self._documents.delete(Container.KEYS, scope, new.id, new.id)
            raise
        return new, text

    async def revoke(self, scope: TenantScope, kid: KeyId) -> ApiKey:
        """End the key at once, everywhere within REVOKED_WITHIN_S; revoking again changes nothing. Raises: NotFound."""
        for _ in range(CAS_ATTEMPTS):
            stored, key = await self._current(scope, kid)
            if key.revoked_at is not None:
                return key
            revoked = key.model_copy(update={"revoked_at": self._clock.now()})
            try:
                await self._put(scope, stored, revoked)
            except VersionConflict:
                continue
            return revoked
        raise VersionConflict(f"key {kid!r} changed {CAS_ATTEMPTS} times meanwhile")

    async def list(self, scope: TenantScope) -> tuple[ApiKey, ...]:
        """Return every key of the tenant, oldest first, ended ones included while they are kept."""
        keys: list[ApiKey] = []
        continuation: str | None = None
        while True:
            query = Query(
                None,
                where=(Where("kind", "=", "api_key"),),
                order_by="created_at",
                continuation=continuation,
                reason="a tenant's keys have a partition each",
            )
            page = await self._documents.query(Container.KEYS, scope, query)
            keys.extend(from_stored(ApiKey, stored) for stored in page.items)
            continuation = page.continuation
            if continuation is None:
                return tuple(keys)

    def _is_first_operator(self, text: str) -> bool:
        found = hashlib.sha256(text.encode()).hexdigest()
        return bool(self._first_operator_sha256) and hmac.compare_digest(found, self._first_operator_sha256)

    async def _look_up(self, kid: KeyId) -> ApiKey | None:
        now = self._clock.now()
        remembered = self._remembered.get(kid)
        if remembered is not None and now < remembered[0]:
            return remembered[1]
        stored = await self._documents.read(Container.KEYS, _LOOK_UP, kid, kid)
        if stored is None:
            self._remembered.pop(kid, None)
            return None
        key = from_stored(ApiKey, stored)
        self._remembered[kid] = (now + timedelta(seconds=REVOKED_WITHIN_S), key)
        self._remembered.move_to_end(kid)
        if len(self._remembered) > REMEMBERED_KEYS:
            self._remembered.popitem(last=False)
        return key

    async def _current(self, scope: TenantScope, kid: KeyId) -> tuple[Stored, ApiKey]:
        stored = await self._documents.read(Container.KEYS, scope, kid, kid) if kid else None
        if stored is None:
            raise NotFound(f"key {kid!r} does not exist")
        return stored, from_stored(ApiKey, stored)

    async def _put(self, scope: TenantScope, stored: Stored, key: ApiKey) -> None:
        await self._documents.replace(
            Container.KEYS, scope, key.id, to_document(key), etag=stored.etag, ttl_s=self._ttl_s(key)
        )
        self._remembered.pop(key.id, None)

    def _ttl_s(self, key: ApiKey) -> int | None:
        ends = [end for end in (key.expires_at, key.revoked_at) if end is not None]
        if not ends:
            return None
        return max(0, int((min(ends) - self._clock.now()).total_seconds())) + KEPT_AFTER_END_S

    def _new_key(
        self,
        scope: TenantScope,
        kid: KeyId,
        key_scope: KeyScope,
        owner: str,
        role: DeskRole | None,
        expires_at: datetime | None,
        secret: str,
    ) -> ApiKey:
        salt = self._ids.new_secret(SALT_BYTES)
        fields = {
            "id": kid,
            "tenant_id": scope.tenant_id,
            "scope": key_scope,
            "role": role,
            "owner": owner,
            "salt": salt,
            "digest": digest_secret(salt, secret),
            "created_at": self._clock.now(),
            "expires_at": expires_at,
        }
        return decode(ApiKey, fields)
