"""Keeping snapshots of what can always be made again from the store: plain bytes by tenant and name.

A missing, old or damaged snapshot costs time, never an answer; whoever reads one checks it. The embedded adapter keeps
files; blob storage is the other. Source: design §6 "Keyword index".
"""

from typing import Protocol

from shared.ports.documents import TenantScope


class Snapshots(Protocol):
    """Bytes by name, each tenant's apart. Names are `[a-z0-9-]{1,64}`. Raises (every method): Unavailable."""

    async def put(self, scope: TenantScope, name: str, data: bytes) -> None:
        """Keep the bytes under the name, whole or not at all; what was there is replaced."""
        ...

    async def get(self, scope: TenantScope, name: str) -> bytes | None:
        """Return the bytes, or None when there are none."""
        ...

    async def list(self, scope: TenantScope) -> tuple[str, ...]:
        """Return the tenant's names, sorted."""
        ...

    async def delete(self, scope: TenantScope, name: str) -> None:
        """Remove the bytes, if there are any."""
        ...
