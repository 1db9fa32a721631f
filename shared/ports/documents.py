"""The document store: partitions, ETags, TTL, batches within one partition; the smallest API two databases share.

Every call carries a scope, and the adapter also filters by it; there is no call without one. What Cosmos DB cannot do
(a batch over two partitions, a query over partitions without a reason) is refused by every adapter.
Source: design §6, ME-07, faults 050, 093.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from shared.domain.ids import ConversationId, CustomerId, TenantId

MAX_BATCH_OPERATIONS: Final = 100
"""Most operations of one transactional batch. Source: Azure Cosmos DB service limits."""
MAX_DOCUMENT_BYTES: Final = 2 * 1024 * 1024
"""Largest document, UTF-8 JSON. Source: Azure Cosmos DB service limits."""


class Container(StrEnum):
    """The containers of design §6."""

    TENANTS = "tenants"
    KEYS = "keys"
    VAULT_KEYS = "vault_keys"
    ARTICLES = "articles"
    ARTICLE_VERSIONS = "article_versions"
    TICKETS = "tickets"
    MASKS = "masks"
    PROFILES = "profiles"
    MEMORIES = "memories"
    ARCHIVE = "archive"
    LEDGER = "ledger"
    CASES = "cases"
    ANALYTICS = "analytics"
    ACTIONS = "actions"
    INBOX = "inbox"
    DEAD_LETTERS = "dead_letters"
    SHOP = "shop"
    """Embedded stand-in for the shop's own system: its customers and orders. Not deployed."""


@dataclass(frozen=True, slots=True)
class TenantScope:
    """The right to touch one tenant's documents."""

    tenant_id: TenantId


@dataclass(frozen=True, slots=True)
class CustomerScope:
    """The right to touch one customer's documents within one tenant."""

    tenant_id: TenantId
    customer_id: CustomerId


@dataclass(frozen=True, slots=True)
class PlatformScope:
    """The right to look across tenants, for a stated reason: key look-up, tenant list, sweeps."""

    reason: str


Scope = TenantScope | CustomerScope | PlatformScope


def conversation_partition(scope: TenantScope | CustomerScope, conversation: ConversationId) -> str:
    """Return the partition of one conversation (`tenant|conversation`)."""
    return f"{scope.tenant_id}|{conversation}"


def customer_partition(scope: CustomerScope) -> str:
    """Return the partition of one customer (`tenant|customer`)."""
    return f"{scope.tenant_id}|{scope.customer_id}"


Document = Mapping[str, JsonValue]
"""A JSON object with at least `id`; the adapter adds nothing to it.

Documents of a tenant hold `tenant_id`, personal ones also `customer_id` (null when anonymous); a write whose values
differ from the scope's is refused.
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as read: its body, and the ETag a conditional write must present."""

    body: Document
    etag: str
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """One condition on a top-level field."""

    field: str
    op: Literal["=", "!=", "<", "<=", ">", ">=", "in", "is_null"]
    value: JsonValue = None


@dataclass(frozen=True, slots=True)
class Query:
    """A filtered, ordered page of documents.

    partition None crosses partitions of the scope and needs `reason`. `fields` selects top-level fields only
    (id always included), so that vectors and big text stay where they are.
    """

    partition: str | None
    where: tuple[Where, ...] = ()
    order_by: str | None = None
    is_descending: bool = False
    limit: int = 100
    continuation: str | None = None
    reason: str = ""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a query and the token of the next, if any."""

    items: tuple[Stored, ...]
    continuation: str | None = None


@dataclass(frozen=True, slots=True)
class Create:
    """Create if absent. Raises AlreadyExists."""

    document: Document
    ttl_s: int | None = None
    """Seconds until the document expires; None keeps it."""
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Replace:
    """Replace the version named by the ETag. Raises VersionConflict, NotFound."""

    document: Document
    etag: str
    ttl_s: int | None = None
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete. Raises NotFound; VersionConflict when an ETag is given and differs."""

    id: str
    etag: str | None = None


Operation = Create | Replace | Delete


class Documents(Protocol):
    """One database: SQLite on a laptop, Cosmos DB on Azure.

    Raises (every method): ScopeError when the scope does not cover the partition or document; Unavailable and
    RateLimited when the database does not answer; SchemaError for documents without id or above MAX_DOCUMENT_BYTES.
    """

    async def read(self, container: Container, scope: Scope, partition: str, id: str) -> Stored | None:
        """Return the document, or None when it is absent, expired or outside the scope."""
        ...

    async def create(
        self,
        container: Container,
        scope: Scope,
        partition: str,
        document: Document,
        *,
        ttl_s: int | None = None,
        vector: NDArray[np.float32] | None = None,
    ) -> Stored:
        """Create the document. Raises: AlreadyExists."""
        ...

    async def replace(
        self,
        container: Container,
        scope: Scope,
        partition: str,
        document: Document,
        *,
        etag: str,
        ttl_s: int | None = None,
        vector: NDArray[np.float32] | None = None,
    ) -> Stored:
        """Replace exactly the version named by the ETag. Raises: VersionConflict, NotFound."""
        ...

    async def delete(
        self, container: Container, scope: Scope, partition: str, id: str, *, etag: str | None = None
    ) -> None:
        """Delete the document. Raises: NotFound, VersionConflict."""
        ...

    async def query(self, container: Container, scope: Scope, query: Query) -> Page:
        """Return one page. Raises: ScopeError when partitions are crossed without a reason."""
        ...

    async def count(self, container: Container, scope: Scope, query: Query) -> int:
        """Return how many documents the query finds, at most its limit; order, page and fields are not looked at.

        Raises: ScopeError when partitions are crossed without a reason.
        """
        ...

    async def batch(
        self, container: Container, scope: Scope, partition: str, operations: Sequence[Operation]
    ) -> tuple[Stored | None, ...]:
        """Apply all operations of one partition or none.

        Shapes: one result an operation, None for a delete; at most MAX_BATCH_OPERATIONS.
        Raises: AlreadyExists, VersionConflict, NotFound for the first operation that fails.
        """
        ...

    async def nearest(
        self,
        container: Container,
        scope: TenantScope | CustomerScope,
        partition: str,
        vector: NDArray[np.float32],
        *,
        top_k: int,
        where: tuple[Where, ...] = (),
    ) -> tuple[tuple[str, float], ...]:
        """Return (id, cosine similarity) of the nearest documents that hold a vector, best first, ties by id."""
        ...


class ChangeLog(Protocol):
    """The change feed the embedded host reads; on Azure the Functions trigger takes its place."""

    def read_changes(self, container: str, after_seq: int, limit: int) -> Sequence[tuple[int, dict[str, JsonValue]]]:
        """Return (sequence, document) of writes after `after_seq`, oldest first, deletes left out."""
        ...
