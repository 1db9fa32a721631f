# ruff: noqa: S608 - every piece put into a statement is a constant of this package; values are always bound.
"""One create, replace or delete as SQL: checked and encoded first, then applied inside the caller's transaction.

Source: shared/ports/documents.py (Create, Replace, Delete), faults 083 (compare-and-swap, never check-then-act).
"""

import secrets
import sqlite3
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.document_rules import check_document, check_ttl, check_vector, encode_body
from shared.adapters.embedded.sqlite_queries import IS_LIVE, Sql, Value, hot_value, scope_sql
from shared.adapters.embedded.sqlite_schema import HOT_FIELDS
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.ports.documents import Container, Create, CustomerScope, Delete, Operation, Replace, TenantScope

ETAG_BYTES: Final = 12
"""Random bytes of an ETag: unguessable, never reused. Value ours."""

_AT: Final = " where container = ? and partition = ? and id = ?"
_WRITTEN: Final = (
    "tenant_id",
    "customer_id",
    "etag",
    "change_seq",
    "expires_at",
    *HOT_FIELDS.values(),
    "body",
    "vector",
)
_INSERT: Final = (
    f"insert into documents(container, partition, id, {', '.join(_WRITTEN)}) "
    f"values(?, ?, ?, {', '.join('?' for _ in _WRITTEN)}) on conflict(container, partition, id) do update set "
    f"{', '.join(f'{name} = excluded.{name}' for name in _WRITTEN)} where documents.expires_at <= ?"
)
_UPDATE: Final = f"update documents set {', '.join(f'{name} = ?' for name in _WRITTEN)}{_AT} and etag = ?{IS_LIVE}"


@dataclass(frozen=True, slots=True)
class WriteRow:
    """One operation, checked and encoded."""

    at: tuple[str, str, str]
    """Container, partition, id."""
    owner: tuple[str, str | None] = ("", None)
    etag: str = ""
    content: tuple[Value | memoryview, ...] = ()
    """Expiry, hot fields, body, vector."""
    vector: NDArray[np.float32] | None = None
    n_bytes: int = 0


def prepare_write(
    container: Container, writer: TenantScope | CustomerScope, partition: str, operation: Operation, now_s: float
) -> WriteRow:
    """Return the operation ready to apply. Raises: ScopeError, SchemaError, before anything touches the database."""
    if isinstance(operation, Delete):
        return WriteRow((container.value, partition, operation.id))
    document = operation.document
    id, customer = check_document(container, writer, partition, document)
    check_ttl(operation.ttl_s)
    vector = check_vector(operation.vector)
    body, n_bytes = encode_body(document)
    expires_at = None if operation.ttl_s is None else now_s + operation.ttl_s
    hot = tuple(hot_value(document.get(field)) for field in HOT_FIELDS)
    return WriteRow(
        at=(container.value, partition, id),
        owner=(writer.tenant_id, customer),
        etag=secrets.token_urlsafe(ETAG_BYTES),
        content=(expires_at, *hot, body, None if vector is None else vector.data),
        vector=vector,
        n_bytes=n_bytes,
    )


def apply_write(
    db: sqlite3.Connection,
    writer: TenantScope | CustomerScope,
    operation: Operation,
    row: WriteRow,
    seq: int,
    now_s: float,
) -> None:
    """Apply one prepared operation in the open transaction. Raises: AlreadyExists, VersionConflict, NotFound."""
    match operation:
        case Create():
            values = (*row.at, *row.owner, row.etag, seq, *row.content)
            if db.execute(_INSERT, (*values, now_s)).rowcount == 0:
                raise AlreadyExists(f"{row.at[0]} {row.at[2]!r} exists")
            return
        case Replace(etag=etag):
            values = (*row.owner, row.etag, seq, *row.content, *row.at)
            where = scope_sql(writer)
            cursor = db.execute(_UPDATE + where.text, (*values, etag, now_s, *where.values))
        case Delete(etag=etag):
            where = Sql(IS_LIVE, (now_s,)) + scope_sql(writer)
            where = where if etag is None else where + Sql(" and etag = ?", (etag,))
            cursor = db.execute(f"delete from documents{_AT}{where.text}", (*row.at, *where.values))
    if cursor.rowcount == 0:
        where = scope_sql(writer)
        is_there = db.execute(
            f"select 1 from documents{_AT}{IS_LIVE}{where.text}",
            (*row.at, now_s, *where.values),
        ).fetchone()
        if is_there:
            raise VersionConflict(f"{row.at[0]} {row.at[2]!r} has another version")
        raise NotFound(f"{row.at[0]} {row.at[2]!r} does not exist")


def next_seq(db: sqlite3.Connection, n: int) -> int:
    """Return the last of `n` fresh sequence numbers; the row is in the transaction, so a rollback gives them back."""
    row = db.execute("update sequence set value = value + ? returning value", (n,)).fetchone()
    return int(row[0])
