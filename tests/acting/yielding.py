"""A store that lets others run before each call, as a database over a network does; the embedded one never would."""

import asyncio
from collections.abc import Sequence

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.ports.documents import Container, Document, Operation, Page, Query, Scope, Stored


class YieldingDocuments:
    """Real documents, real conflicts."""

    def __init__(self, inner: SqliteDocuments) -> None:
        self._inner = inner

    async def read(self, container: Container, scope: Scope, partition: str, id: str) -> Stored | None:
        """Pass it on, later."""
        await asyncio.sleep(0)
        return await self._inner.read(container, scope, partition, id)

    async def query(self, container: Container, scope: Scope, query: Query) -> Page:
        """Pass it on, later."""
        await asyncio.sleep(0)
        return await self._inner.query(container, scope, query)

    async def create(
        self, container: Container, scope: Scope, partition: str, document: Document, *, ttl_s: int | None = None
    ) -> Stored:
        """Pass it on, later."""
        await asyncio.sleep(0)
        return await self._inner.create(container, scope, partition, document, ttl_s=ttl_s)

    async def replace(
        self,
        container: Container,
        scope: Scope,
        partition: str,
        document: Document,
        *,
        etag: str,
        ttl_s: int | None = None,
    ) -> Stored:
        """Pass it on, later."""
        await asyncio.sleep(0)
        return await self._inner.replace(container, scope, partition, document, etag=etag, ttl_s=ttl_s)

    async def batch(
        self, container: Container, scope: Scope, partition: str, operations: Sequence[Operation]
    ) -> tuple[Stored | None, ...]:
        """Pass it on, later."""
        await asyncio.sleep(0)
        return await self._inner.batch(container, scope, partition, operations)
