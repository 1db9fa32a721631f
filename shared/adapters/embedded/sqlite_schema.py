"""The one SQLite file of the embedded store: its table, its indexes, and how a connection to it is opened.

One table for all containers: they share every column, and a purge, an erasure check or a backup is one statement. The
hot fields are plain columns filled at write time from the dict in hand, so that no index parses JSON again. No second
copy of a document exists: the change log is the column `change_seq`, so a deleted document is gone from it too.
Source: design §6 (WAL, secure_delete).
"""

import sqlite3
from pathlib import Path
from typing import Final

BUSY_TIMEOUT_S: Final = 2.0
"""Seconds one call waits for another process's write before it is Unavailable. Value ours."""
CACHED_STATEMENTS: Final = 512
"""Prepared statements kept a connection: more than the distinct query shapes of the product. Value ours."""

HOT_FIELDS: Final = {
    "kind": "f_kind",
    "status": "f_status",
    "seq": "f_seq",
    "instance_id": "f_instance_id",
    "queue_key": "f_queue_key",
    "near_at": "f_near_at",
}
"""Document fields that have a column. They hold texts and numbers; any other JSON value is NULL there."""
OWN_FIELDS: Final = {"id": "id", "tenant_id": "tenant_id", "customer_id": "customer_id"}
"""Document fields that are columns of the store itself."""

CHECKPOINT_PAGES: Final = 4000
"""Pages of 4 KB the log may hold before a commit folds it into the file, with two fsyncs: about every 400th write."""

_PRAGMAS: Final = f"""
pragma journal_mode = wal;
pragma wal_autocheckpoint = {CHECKPOINT_PAGES};
pragma synchronous = normal;
pragma secure_delete = on;
pragma cache_size = -32768;
pragma temp_store = memory;
"""
"""NORMAL in WAL mode survives a killed process whole; a power cut may lose the last commits, never consistency."""

_TABLES: Final = """
begin immediate;
create table if not exists documents(
  key integer primary key, container text not null, partition text not null, id text not null,
  tenant_id text not null, customer_id text, etag text not null, change_seq integer not null, expires_at real,
  f_kind, f_status, f_seq, f_instance_id, f_queue_key, f_near_at, body text not null, vector blob);
create unique index if not exists by_id on documents(container, partition, id);
create index if not exists by_kind on documents(container, partition, f_kind, id) where f_kind is not null;
create index if not exists by_status on documents(container, partition, f_status, id) where f_status is not null;
create index if not exists by_sweep on documents(container, f_kind, f_status) where f_kind is not null;
create index if not exists by_state on documents(container, f_status) where f_status is not null;
create index if not exists by_seq on documents(container, partition, f_seq, f_kind);
create index if not exists by_owner on documents(container, tenant_id, f_kind, customer_id);
create index if not exists by_queue on documents(container, partition, f_status, f_queue_key, id, f_near_at)
  where f_queue_key is not null;
create index if not exists by_instance on documents(container, f_instance_id) where f_instance_id is not null;
create index if not exists by_change on documents(container, change_seq);
create index if not exists by_expiry on documents(expires_at) where expires_at is not null;
create table if not exists sequence(only_row integer primary key check(only_row = 1), value integer not null);
insert or ignore into sequence values(1, 0);
commit;
"""


def open_database(path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Return a connection to the file, created with its schema when absent; a crash left in it is rolled back."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    db = sqlite3.connect(
        path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False, cached_statements=CACHED_STATEMENTS
    )
    try:
        db.executescript(_PRAGMAS)
        _add_columns(db)
        db.executescript(_TABLES)
    except BaseException:
        db.close()
        raise
    return db


def _add_columns(db: sqlite3.Connection) -> None:
    """Give a file that was made before a hot field had its column that column."""
    known = {str(row[1]) for row in db.execute("pragma table_info(documents)")}
    for column in HOT_FIELDS.values() if known else ():
        if column not in known:
            db.execute(f"alter table documents add column {column}")
