"""Seals: HMAC-SHA-256 over canonical JSON, with the key's id, so that keys can rotate with an overlap.

Knows nothing of what it seals; a purpose keeps an approval's seal from passing as a grant's.
Source: SU-03, AX-02, design §9.
"""

import hashlib
import hmac
import json
from dataclasses import dataclass, field
from typing import Final

from shared.domain.errors import AuthorityError

MIN_SECRET_BYTES: Final = 32
"""Shortest sealing secret. Unit: bytes. Source: RFC 2104 (key at least as long as the hash)."""


@dataclass(frozen=True, slots=True)
class SealKey:
    """One sealing key; its secret never shows in a repr."""

    kid: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a key that is too short or whose id would break the seal's form. Raises: AuthorityError."""
        if len(self.secret) < MIN_SECRET_BYTES or not self.kid or ":" in self.kid:
            raise AuthorityError(f"seal key {self.kid!r} needs an id without ':' and {MIN_SECRET_BYTES} secret bytes")


@dataclass(frozen=True, slots=True)
class KeyRing:
    """Accepted keys, newest first: the first signs, all verify."""

    keys: tuple[SealKey, ...]

    def __post_init__(self) -> None:
        """Raises: AuthorityError when empty or when two keys share an id."""
        if not self.keys or len({k.kid for k in self.keys}) != len(self.keys):
            raise AuthorityError("a key ring needs at least one key and distinct ids")


def seal(payload: object, *, purpose: str, keys: KeyRing) -> str:
    """Return `kid:hex` over the payload's canonical JSON, signed with the newest key."""
    newest = keys.keys[0]
    return f"{newest.kid}:{_mac(newest, purpose, payload)}"


def is_sealed(payload: object, given: str, *, purpose: str, keys: KeyRing) -> bool:
    """Tell, in constant time, whether the seal is any accepted key's over exactly this payload and purpose."""
    kid, _, mac = given.partition(":")
    return any(hmac.compare_digest(_mac(k, purpose, payload).encode(), mac.encode()) for k in keys.keys if k.kid == kid)


def _mac(key: SealKey, purpose: str, payload: object) -> str:
    body = json.dumps([purpose, key.kid, payload], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hmac.new(key.secret, body.encode(), hashlib.sha256).hexdigest()
