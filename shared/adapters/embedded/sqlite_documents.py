# ruff: noqa: S608 - every piece put into a statement is a constant or a checked field name; values are always bound.
"""The document store of a laptop: one SQLite file behind the Documents and ChangeLog ports.

Every statement carries the scope in its WHERE, beside the checks in code. Each call is one transaction on one
connection under one lock. The async methods call SQLite inline: a call takes 15–200 µs (`bench/store_bench.py`), about
what handing it to a thread and back costs, and nothing can interleave. A process killed at any point loses no
acknowledged write: the write-ahead log is replayed when the file is next opened.
Source: design §6, ME-07, PV-05, faults 050, 083, 093.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from shared.adapters.document_rules import (
    check_conditions,
    check_owner_scope,
    check_partition,
    check_query,
    check_vector,
)
from shared.adapters.embedded.sqlite_queries import (
    IS_LIVE,
    Value,
    count_sql,
    place_token,
    scope_sql,
    select_sql,
    where_sql,
)
from shared.adapters.embedded.sqlite_schema import BUSY_TIMEOUT_S, open_database
from shared.adapters.embedded.sqlite_vectors import CACHE_BYTES, VectorCache, to_units
from shared.adapters.embedded.sqlite_writes import apply_write, next_seq, prepare_write
from shared.domain.errors import SchemaError, Unavailable
from shared.ports.clock import Clock
from shared.ports.documents import (
    MAX_BATCH_OPERATIONS,
    MAX_DOCUMENT_BYTES,
    Container,
    Create,
    CustomerScope,
    Delete,
    Document,
    Operation,
    Page,
    Query,
    Replace,
    Scope,
    Stored,
    TenantScope,
    Where,
)


class SqliteDocuments:
    """Documents and ChangeLog over one file. Safe to share between tasks and threads of one process."""

    def __init__(
        self, path: Path, *, clock: Clock, max_vector_bytes: int = CACHE_BYTES, busy_timeout_s: float = BUSY_TIMEOUT_S
    ) -> None:
        self._clock = clock
        self._lock = RLock()
        self._vectors = VectorCache(max_vector_bytes)
        self._data_version = 0
        with _naming_failures():
            self._db = open_database(path, busy_timeout_s=busy_timeout_s)

    async def read(self, container: Container, scope: Scope, partition: str, id: str) -> Stored | None:
        """Return the document, or None when it is absent, expired or outside the scope."""
        check_partition(container, scope, partition)
        where = scope_sql(scope)
        row = self._one(
            "select body, etag, vector from documents where container = ? and partition = ? and id = ?"
            f"{where.text}{IS_LIVE}",
            (container.value, partition, id, *where.values, self._now_s()),
        )
        return None if row is None else Stored(json.loads(row[0]), row[1], _to_vector(row[2]))

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
        """Create the document; an expired one of the same id counts as absent. Raises: AlreadyExists."""
        return self._write(container, scope, partition, Create(document, ttl_s, vector))

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
        """Replace exactly the version named by the ETag, vector and expiry included.

        Raises: VersionConflict, NotFound.
        """
        return self._write(container, scope, partition, Replace(document, etag, ttl_s, vector))

    async def delete(
        self, container: Container, scope: Scope, partition: str, id: str, *, etag: str | None = None
    ) -> None:
        """Delete the document. Raises: NotFound, VersionConflict."""
        self._apply(container, scope, partition, (Delete(id, etag),))

    async def query(self, container: Container, scope: Scope, query: Query) -> Page:
        """Return one page, by `order_by` and then id, nulls lowest; without `order_by`, by partition and id.

        Raises: ScopeError when partitions are crossed without a reason; SchemaError for a foreign continuation.
        """
        check_query(container, scope, query)
        select = select_sql(container, scope, query, self._now_s())
        rows = self._all(select.text, select.values)
        token = None
        if len(rows) > query.limit:
            rows = rows[: query.limit]
            token = place_token(container, scope, query, *rows[-1][3:6])
        return Page(
            tuple(Stored(_project(json.loads(row[0]), query.fields), row[1], _to_vector(row[2])) for row in rows), token
        )

    async def count(self, container: Container, scope: Scope, query: Query) -> int:
        """Return how many documents the query finds, at most its limit; order, page and fields are not looked at."""
        check_query(container, scope, query)
        statement = count_sql(container, scope, query, self._now_s())
        return int(self._all(statement.text, statement.values)[0][0])

    async def batch(
        self, container: Container, scope: Scope, partition: str, operations: Sequence[Operation]
    ) -> tuple[Stored | None, ...]:
        """Apply all operations of one partition, in order, or none.

        Raises: AlreadyExists, VersionConflict, NotFound for the first operation that fails; SchemaError above
        MAX_BATCH_OPERATIONS or above MAX_DOCUMENT_BYTES for all bodies together (one request's limit on Cosmos DB).
        """
        return self._apply(container, scope, partition, operations)

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
        """Return (id, cosine similarity) of the nearest documents of the vector's dimension, best first, ties by id.

        Ranked blocks are held against the table (scope, expiry, conditions) until `top_k` are found: exact whatever
        the filter lets through.
        """
        check_owner_scope(container, scope, partition)
        check_conditions(where)
        row = check_vector(vector)
        if row is None or top_k < 1:
            raise SchemaError("nearest needs a vector and a top_k of at least 1")
        found: list[tuple[str, float]] = []
        conditions, extra = scope_sql(scope), where_sql(where)
        text = f"select id from documents indexed by by_id where container = ? and partition = ?{conditions.text}"
        text += f"{extra.text}{IS_LIVE} and id in (select value from json_each(?))"
        values = (container.value, partition, *conditions.values, *extra.values, self._now_s())
        with self._lock:
            self._load_vectors(container, partition)
            matrix = self._vectors.matrix((container.value, partition), row.size)
            if matrix is None:
                return ()
            for block in matrix.ranked(to_units(row[np.newaxis])[0], 2 * top_k):
                allowed = {hit[0] for hit in self._all(text, (*values, json.dumps([id for id, _ in block])))}
                found.extend(hit for hit in block if hit[0] in allowed)
                if len(found) >= top_k:
                    break
        return tuple(found[:top_k])

    def read_changes(self, container: str, after_seq: int, limit: int) -> Sequence[tuple[int, dict[str, JsonValue]]]:
        """Return (sequence, document) of the documents last written after `after_seq`, oldest first.

        A document appears once, at its newest version, as in a change feed of latest versions; sequences are never
        reused, not even after the newest document was deleted. `_rid` names the document across partitions.
        """
        rows = self._all(
            "select change_seq, key, body from documents indexed by by_change where container = ? and change_seq > ?"
            f"{IS_LIVE} order by change_seq limit ?",
            (container, after_seq, self._now_s(), limit),
        )
        return [(seq, {**json.loads(body), "_rid": str(key)}) for seq, key, body in rows]

    def purge_expired(self, now: datetime, limit: int) -> int:
        """Delete up to `limit` documents expired at `now`, oldest first, and return how many; call until 0.

        The write-ahead log is emptied after the last page, so that no purged text stays in it.
        """
        with self._transaction():
            rows = self._all(
                "delete from documents where key in (select key from documents where expires_at <= ? "
                "order by expires_at limit ?) returning container, partition, id",
                (now.timestamp(), limit),
            )
        with self._lock:
            for container, partition, id in rows:
                self._vectors.write((container, partition), id, None)
        if rows and len(rows) < limit:
            self.empty_log()
        return len(rows)

    def empty_log(self) -> None:
        """Fold the write-ahead log into the file and cut it to nothing: deleted text leaves the disk with it."""
        self._all("pragma wal_checkpoint(truncate)", ())

    async def close(self) -> None:
        """Empty the log and close the file; any later call is Unavailable."""
        with self._lock, _naming_failures():
            self._db.close()
            self._vectors.clear()

    # -- writes ------------------------------------------------------------------------------------------------------

    def _write(self, container: Container, scope: Scope, partition: str, operation: Create | Replace) -> Stored:
        (stored,) = self._apply(container, scope, partition, (operation,))
        assert stored is not None
        return stored

    def _apply(
        self, container: Container, scope: Scope, partition: str, operations: Sequence[Operation]
    ) -> tuple[Stored | None, ...]:
        writer = check_owner_scope(container, scope, partition)
        if len(operations) > MAX_BATCH_OPERATIONS:
            raise SchemaError(f"a batch holds at most {MAX_BATCH_OPERATIONS} operations")
        if not operations:
            return ()
        now_s = self._now_s()
        # Whatever can be refused without the database is refused, and encoded, before the transaction opens.
        rows = [prepare_write(container, writer, partition, operation, now_s) for operation in operations]
        if sum(row.n_bytes for row in rows) > MAX_DOCUMENT_BYTES:
            raise SchemaError(f"a batch holds at most {MAX_DOCUMENT_BYTES} bytes")
        pairs = list(zip(operations, rows, strict=True))
        with self._lock:
            with self._transaction():
                seq = next_seq(self._db, len(rows)) - len(rows)
                for operation, row in pairs:
                    seq += 1
                    apply_write(self._db, writer, operation, row, seq, now_s)
            for row in rows:
                self._vectors.write((container.value, partition), row.at[2], row.vector)
        return tuple(
            None if isinstance(operation, Delete) else Stored(operation.document, row.etag, row.vector)
            for operation, row in pairs
        )

    # -- plumbing ----------------------------------------------------------------------------------------------------

    def _load_vectors(self, container: Container, partition: str) -> None:
        """Make sure the partition's matrix is loaded and no other process has written since."""
        version = self._all("pragma data_version", ())[0][0]
        if version != self._data_version:
            self._vectors.clear()
            self._data_version = version
        key = (container.value, partition)
        if self._vectors.has(key):
            return
        rows = self._all(
            "select id, vector from documents indexed by by_id "
            "where container = ? and partition = ? and vector is not null",
            key,
        )
        self._vectors.load(key, rows)

    def _one(self, text: str, values: Sequence[Value]) -> tuple[Any, ...] | None:
        with self._lock, _naming_failures():
            row: tuple[Any, ...] | None = self._db.execute(text, values).fetchone()
        return row

    def _all(self, text: str, values: Sequence[Value]) -> list[tuple[Any, ...]]:
        with self._lock, _naming_failures():
            return self._db.execute(text, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, _naming_failures():
            self._db.execute("begin immediate")
            try:
                yield
                self._db.execute("commit")
            except BaseException:
                # A full disk has SQLite roll back by itself; asking again would hide the cause.
                if self._db.in_transaction:
                    self._db.execute("rollback")
                raise

    def _now_s(self) -> float:
        return self._clock.now().timestamp()


def _to_vector(blob: bytes | None) -> NDArray[np.float32] | None:
    return None if blob is None else np.frombuffer(blob, dtype="<f4")


def _project(body: dict[str, JsonValue], fields: tuple[str, ...]) -> dict[str, JsonValue]:
    if not fields:
        return body
    return {name: body[name] for name in ("id", *fields) if name in body}


@contextmanager
def _naming_failures() -> Iterator[None]:
    """Turn what SQLite raises into the port's errors; texts of the statement's values are never part of the message."""
    try:
        yield
    except sqlite3.Error as error:
        raise Unavailable(f"the store did not answer: {type(error).__name__}") from error
    except UnicodeEncodeError:
        raise SchemaError("a text holds half a character (a lone surrogate)") from None
