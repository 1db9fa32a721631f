"""Sealing a tenant's own secrets for storage, behind the smallest Protocol that needs it.

Source: design §6 (identity secret and integration tokens are stored encrypted), GW-03.
"""

from typing import Protocol

from shared.domain.errors import AuthorityError
from shared.ports.documents import TenantScope
from shared.privacy.keys import KeyRing, join_parts


class SecretBox(Protocol):
    """Encrypts what must be readable again, bound to the tenant and the place it is kept."""

    async def seal(self, scope: TenantScope, secret: str, *, place: str) -> str:
        """Return the ciphertext. Raises: Unavailable."""
        ...

    async def open(self, scope: TenantScope, sealed: str, *, place: str) -> str:
        """Return the secret. Raises: AuthorityError when it was changed or moved, or its key destroyed; Unavailable."""
        ...


class KeyRingBox:
    """SecretBox under the tenant's data key."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    async def seal(self, scope: TenantScope, secret: str, *, place: str) -> str:
        """Return the ciphertext."""
        key = await self._keys.key_for(scope)
        return key.encrypt(secret, bound_to=join_parts(scope.tenant_id, place))

    async def open(self, scope: TenantScope, sealed: str, *, place: str) -> str:
        """Return the secret. Raises: AuthorityError when it was changed or moved, or its key destroyed."""
        key = await self._keys.existing_key(scope)
        if key is None:
            raise AuthorityError(f"the data key of tenant {scope.tenant_id!r} is gone")
        return key.decrypt(sealed, bound_to=join_parts(scope.tenant_id, place))
