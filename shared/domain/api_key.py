"""API keys: how one is written, read and compared. The text of a key exists once, when it is issued.

The stored digest is a salted HMAC-SHA-256, not scrypt or Argon2: those slow down the guessing of secrets that people
choose. This secret is 256 random bits, which no hash speed makes guessable, and it is checked on every request.
Source: GW-02, design §6 row `keys`, §7 "X-Api-Key".
"""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Self

from pydantic import Field, model_validator

from shared.domain.ids import KeyId, TenantId
from shared.domain.tenant import OPERATOR_TENANT
from shared.domain.wire_model import Wire

SECRET_BYTES: Final = 32
"""Bytes of randomness in a key: 256 bits, 43 characters of URL-safe base64. Value ours."""
MAX_SECRET_CHARS: Final = 64
"""Longest secret looked at. Value ours."""
SALT_BYTES: Final = 16
"""Bytes of the salt of a digest. Source: NIST SP 800-132 (at least 128 bits)."""
KEY_ID_CHARS: Final = 16
"""Hex characters of a key id. Value ours: 62 random bits never meet by chance."""


class KeyScope(StrEnum):
    """What a key may do, each its own set; none includes another (GW-02)."""

    PUBLISHABLE = "publishable"
    SECRET = "secret"  # noqa: S105 - the name of a scope
    DESK = "desk"
    ADMIN = "admin"
    OPERATOR = "operator"


class DeskRole(StrEnum):
    """What a person at the desk may do."""

    AGENT = "agent"
    APPROVER = "approver"


_KEY: Final = re.compile(
    rf"vk_({'|'.join(KeyScope)})_([0-9a-f]{{{KEY_ID_CHARS}}})_([A-Za-z0-9_-]{{{SECRET_BYTES},{MAX_SECRET_CHARS}}})"
)


@dataclass(frozen=True, slots=True)
class ParsedKey:
    """The parts of a well-formed key text; well-formed proves nothing."""

    scope: KeyScope
    kid: KeyId
    secret: str

    def __repr__(self) -> str:
        """Name the key, never show its secret."""
        return f"ParsedKey({self.scope.value}, {self.kid})"


class ApiKey(Wire):
    """A key as stored: everything but its secret."""

    id: KeyId
    """The key id, in a partition of its own."""
    kind: str = "api_key"
    tenant_id: TenantId
    scope: KeyScope
    role: DeskRole | None = None
    """Of desk keys only."""
    owner: str = Field(min_length=1, max_length=200)
    """Who holds it: a person or a system, as the issuer names them."""
    salt: str = Field(repr=False)
    digest: str = Field(repr=False)
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    successor: KeyId | None = None
    """The key that replaces this one; both work until `expires_at`."""

    @model_validator(mode="after")
    def _is_coherent(self) -> Self:
        if (self.scope is KeyScope.DESK) is not (self.role is not None):
            raise ValueError("a desk key has a role, other keys have none")
        if (self.scope is KeyScope.OPERATOR) is not (self.tenant_id == OPERATOR_TENANT):
            raise ValueError("operator keys, and only they, belong to the operator")
        return self

    def is_valid_at(self, now: datetime) -> bool:
        """Tell whether the key may be used at this moment."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def format_key(scope: KeyScope, kid: KeyId, secret: str) -> str:
    """Return the text a key's holder sends."""
    return f"vk_{scope.value}_{kid}_{secret}"


def parse_key(text: str) -> ParsedKey | None:
    """Return the parts of a key text, or None for anything else; never raises, whatever arrives."""
    match = _KEY.fullmatch(text)
    return None if match is None else ParsedKey(KeyScope(match[1]), KeyId(match[2]), match[3])


def digest_secret(salt: str, secret: str) -> str:
    """Return the salted digest of a secret, hex."""
    return hmac.new(salt.encode(), secret.encode(), hashlib.sha256).hexdigest()


def is_secret_of(key: ApiKey, secret: str) -> bool:
    """Tell whether the secret is this key's, in time that does not depend on where they differ."""
    return hmac.compare_digest(digest_secret(key.salt, secret), key.digest)
