"""What every document store refuses, whichever database is behind it: foreign scopes, broken documents, wild queries.

Pure checks both adapters call before they touch their database; the WHERE of each statement filters a second time.
Source: design §6, ME-07, faults 050, 093; limits of Azure Cosmos DB (id 1,023 bytes, key 2,048 bytes).
"""

import json
import math
import re
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.domain.errors import SchemaError, ScopeError
from shared.ports.documents import (
    MAX_DOCUMENT_BYTES,
    Container,
    CustomerScope,
    Document,
    PlatformScope,
    Query,
    Scope,
    TenantScope,
    Where,
)

MAX_ID_BYTES: Final = 1023
"""Longest document id, UTF-8. Source: Azure Cosmos DB service limits."""
MAX_PARTITION_BYTES: Final = 2048
"""Longest partition key value, UTF-8. Source: Azure Cosmos DB service limits."""
MAX_VECTOR_DIMENSIONS: Final = 4096
"""Most dimensions of a vector. Source: Azure Cosmos DB vector policy limit (float32)."""
MAX_TTL_S: Final = 2_147_483_647
"""Longest time to live, seconds. Source: Azure Cosmos DB item ttl."""

_ID = re.compile(r"[^/\\?#\x00-\x1f]+")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class PartitionShape(StrEnum):
    """What a container's partition key is made of."""

    TENANT = "tenant"
    UNDER_TENANT = "tenant|something"
    CUSTOMER = "tenant|customer"
    KEY = "key id"


SHAPES: Final[dict[Container, PartitionShape]] = {
    Container.TENANTS: PartitionShape.TENANT,
    Container.KEYS: PartitionShape.KEY,
    Container.VAULT_KEYS: PartitionShape.TENANT,
    Container.ARTICLES: PartitionShape.TENANT,
    Container.ARTICLE_VERSIONS: PartitionShape.TENANT,
    Container.TICKETS: PartitionShape.UNDER_TENANT,
    Container.MASKS: PartitionShape.UNDER_TENANT,
    Container.PROFILES: PartitionShape.CUSTOMER,
    Container.MEMORIES: PartitionShape.CUSTOMER,
    Container.ARCHIVE: PartitionShape.CUSTOMER,
    Container.LEDGER: PartitionShape.UNDER_TENANT,
    Container.CASES: PartitionShape.TENANT,
    Container.ANALYTICS: PartitionShape.TENANT,
    Container.ACTIONS: PartitionShape.UNDER_TENANT,
    Container.INBOX: PartitionShape.TENANT,
    Container.DEAD_LETTERS: PartitionShape.TENANT,
    Container.SHOP: PartitionShape.CUSTOMER,
}
"""Partition key of each container. Source: design §6."""


def check_scope(scope: object) -> None:
    """Refuse a call that names no tenant, customer or reason. Raises: ScopeError."""
    match scope:
        case CustomerScope():
            _check_part(scope.tenant_id, "tenant")
            _check_part(scope.customer_id, "customer")
        case TenantScope():
            _check_part(scope.tenant_id, "tenant")
        case PlatformScope():
            if not scope.reason.strip():
                raise ScopeError("a platform scope needs a reason")
        case _:
            raise ScopeError("a call needs a scope")


def check_partition(container: Container, scope: Scope, partition: str) -> None:
    """Refuse a partition the scope does not cover. Raises: ScopeError."""
    check_scope(scope)
    if not partition or len(partition.encode(errors="replace")) > MAX_PARTITION_BYTES:
        raise ScopeError(f"a partition of {container.value} must have 1 to {MAX_PARTITION_BYTES} bytes")
    if isinstance(scope, PlatformScope):
        return
    shape = SHAPES[container]
    tenant, bar, rest = partition.partition("|")
    if shape is PartitionShape.KEY:
        return
    is_covered = tenant == scope.tenant_id and (not bar if shape is PartitionShape.TENANT else bool(rest))
    if shape is PartitionShape.CUSTOMER and isinstance(scope, CustomerScope):
        is_covered = is_covered and rest == scope.customer_id
    if not is_covered:
        raise ScopeError(f"the scope does not cover this partition of {container.value}")


def check_owner_scope(container: Container, scope: Scope, partition: str) -> TenantScope | CustomerScope:
    """Return a scope that owns documents: the platform may look, not write or search by meaning. Raises: ScopeError."""
    check_partition(container, scope, partition)
    if isinstance(scope, PlatformScope):
        raise ScopeError("a platform scope may look, not write or search by meaning")
    return scope


def check_document(
    container: Container, scope: TenantScope | CustomerScope, partition: str, document: Document
) -> tuple[str, str | None]:
    """Return the document's id and customer after holding its owner fields against scope and partition.

    Raises: SchemaError without a usable id; ScopeError when tenant_id or customer_id differ.
    """
    id = check_id(document.get("id"))
    if document.get("tenant_id") != scope.tenant_id:
        raise ScopeError(f"the document's tenant_id is not the scope's, in {container.value}")
    customer = document.get("customer_id")
    if customer is not None and (not isinstance(customer, str) or not customer):
        raise SchemaError("customer_id must be a non-empty text or null")
    if isinstance(scope, CustomerScope) and customer != scope.customer_id:
        raise ScopeError(f"the document's customer_id is not the scope's, in {container.value}")
    if SHAPES[container] is PartitionShape.CUSTOMER and partition != f"{scope.tenant_id}|{customer}":
        raise ScopeError(f"the document's customer_id is not the partition's, in {container.value}")
    return id, customer


def check_id(id: object) -> str:
    """Return a document id both databases accept. Raises: SchemaError."""
    if not isinstance(id, str) or _ID.fullmatch(id) is None or len(id.encode(errors="replace")) > MAX_ID_BYTES:
        raise SchemaError(f"a document needs an id of 1 to {MAX_ID_BYTES} bytes without / \\ ? # or control characters")
    return id


def check_query(container: Container, scope: Scope, query: Query) -> None:
    """Refuse a query without partition and reason, or with a malformed part. Raises: ScopeError, SchemaError."""
    if query.partition is not None:
        check_partition(container, scope, query.partition)
    else:
        check_scope(scope)
        if not query.reason.strip() and not isinstance(scope, PlatformScope):
            raise ScopeError(f"a query over partitions of {container.value} needs a reason")
    if query.limit < 1:
        raise SchemaError("limit must be at least 1")
    check_conditions(query.where)
    for field in (*query.fields, *(() if query.order_by is None else (query.order_by,))):
        _check_field(field)


def check_conditions(where: tuple[Where, ...]) -> None:
    """Refuse conditions no adapter can answer alike: a bad field name, or a value the operator cannot compare."""
    for condition in where:
        _check_field(condition.field)
        value, op = condition.value, str(condition.op)
        match op:
            case "=" | "!=":
                is_right = _is_scalar(value)
            case "<" | "<=" | ">" | ">=":
                is_right = _is_scalar(value) and not isinstance(value, bool)
            case "in":
                is_right = isinstance(value, list | tuple) and all(_is_scalar(item) for item in value)
            case "is_null":
                is_right = value is None
            case _:
                is_right = False
        if not is_right:
            raise SchemaError(f"the value of {condition.field} {condition.op} has the wrong type")


def check_ttl(ttl_s: int | None) -> None:
    """Refuse a time to live outside 1 … MAX_TTL_S. Raises: SchemaError."""
    if ttl_s is not None and not 1 <= ttl_s <= MAX_TTL_S:
        raise SchemaError(f"ttl_s must be 1 to {MAX_TTL_S} or None")


def encode_body(document: Document) -> tuple[str, int]:
    """Return the document as compact JSON and its length in UTF-8 bytes.

    Raises: SchemaError when it is no JSON or above MAX_DOCUMENT_BYTES.
    """
    try:
        body = _ENCODER.encode(document if isinstance(document, dict) else dict(document))
        n_bytes = len(body) if body.isascii() else len(body.encode())
    except (TypeError, ValueError, RecursionError):
        # The message of the encoder may quote the value; only the id is ours to show.
        raise SchemaError(f"document {document.get('id')!r} is not JSON") from None
    if n_bytes > MAX_DOCUMENT_BYTES:
        raise SchemaError(f"document {document.get('id')!r} is above {MAX_DOCUMENT_BYTES} bytes")
    return body, n_bytes


def check_vector(vector: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
    """Return the vector as a contiguous float32 row. Raises: SchemaError when it is not one, or not finite."""
    if vector is None:
        return None
    row = np.ascontiguousarray(vector, dtype="<f4")
    if vector.ndim != 1 or not 1 <= row.size <= MAX_VECTOR_DIMENSIONS or not np.isfinite(row).all():
        raise SchemaError(f"a vector must be one row of 1 to {MAX_VECTOR_DIMENSIONS} finite numbers")
    return row


def _check_part(part: object, name: str) -> None:
    if not isinstance(part, str) or not part or "|" in part:
        raise ScopeError(f"a scope needs a {name}")


def _check_field(field: str) -> None:
    if _FIELD.fullmatch(field) is None:
        raise SchemaError("a query may only name top-level fields")


def _is_scalar(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int)
