"""What survives the process: instances, histories, messages, work, timers and checkpoints in one SQLite file.

Owns every SQL statement of the host. Writes go through a Batch and become durable together, in one transaction; reads
see committed rows only. Never decides anything. Only the engine's loop may use it.
Source: functions.md §7: one episode is one transaction, a restart needs no recovery code.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from local.history import Event, to_export

SCHEMA: Final = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma secure_delete = on;
create table if not exists instance(
  id text primary key, execution_id text not null, name text not null, version text, status text not null, input text,
  output text, custom_status text, created_at text not null, updated_at text not null, is_suspended integer not null,
  parent_id text, parent_execution_id text, parent_task_id integer, traceparent text) without rowid;
create index if not exists instance_by_created on instance(created_at, id);
create table if not exists history(
  instance_id text not null, episode integer not null, events text not null,
  primary key(instance_id, episode)) without rowid;
create table if not exists message(
  id integer primary key, instance_id text not null, execution_id text, due real not null, event text not null);
create index if not exists message_by_instance on message(instance_id);
create table if not exists work(
  id integer primary key, instance_id text not null, execution_id text not null, task_id integer not null,
  name text not null, input text, traceparent text);
create index if not exists work_by_instance on work(instance_id);
create table if not exists timer(
  name text primary key, schedule text not null, last text, next text not null, updated text not null) without rowid;
create table if not exists checkpoint(name text primary key, seq integer not null) without rowid;
"""
PAGE: Final = 100
"""Instances per page of a listing. Source: Durable extension."""

FINAL: Final = frozenset({"Completed", "Failed", "Terminated", "Canceled"})
"""States an instance never leaves."""


@dataclass(frozen=True, slots=True)
class Instance:
    """One orchestration instance; texts are raw JSON as stored, timestamps ISO-8601 UTC."""

    id: str
    execution_id: str
    name: str
    version: str | None
    status: str
    input: str | None
    output: str | None
    custom_status: str | None
    created_at: str
    updated_at: str
    is_suspended: bool
    parent_id: str | None
    parent_execution_id: str | None
    parent_task_id: int | None
    traceparent: str | None

    @property
    def is_final(self) -> bool:
        """Return whether the instance has ended."""
        return self.status in FINAL


@dataclass(frozen=True, slots=True)
class Message:
    """One event on its way to an instance; due 0 means at once, and a null execution means whichever runs."""

    id: int
    instance_id: str
    execution_id: str | None
    due: float
    event: Event


@dataclass(frozen=True, slots=True)
class Work:
    """One activity to run."""

    id: int
    instance_id: str
    execution_id: str
    task_id: int
    name: str
    input: str | None
    traceparent: str | None


@dataclass(frozen=True, slots=True)
class TimerState:
    """What the timer monitor remembers of one timer function; moments are ISO-8601 UTC."""

    name: str
    schedule: str
    last: str | None
    next: str
    updated: str


_instance_values: Final = attrgetter(*(field.name for field in fields(Instance)))
_work_values: Final = attrgetter(*(field.name for field in fields(Work)))
_timer_values: Final = attrgetter(*(field.name for field in fields(TimerState)))
_INSTANCE_FIELDS: Final = tuple(field.name for field in fields(Instance))
_INSTANCE_COLUMNS: Final = ", ".join(_INSTANCE_FIELDS)
_INSTANCE_MARKS: Final = ", ".join("?" for _ in _INSTANCE_FIELDS)


class Batch:
    """Writes that become durable together; a message added and consumed within one batch never reaches the disk."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, tuple[Any, ...]]] = []
        self.messages: dict[int, Message] = {}

    def __bool__(self) -> bool:
        return bool(self.statements or self.messages)

    def put_instance(self, row: Instance) -> None:
        """Write an instance row over the one of its id."""
        self._add(
            f"insert or replace into instance({_INSTANCE_COLUMNS}) values({_INSTANCE_MARKS})",
            _instance_values(row),
        )

    def put_episode(self, instance_id: str, episode: int, events: str) -> None:
        """Append one episode, a JSON array of events."""
        self._add("insert into history values(?, ?, ?)", (instance_id, episode, events))

    def delete_history(self, instance_id: str) -> None:
        """Forget the episodes of an instance."""
        self._add("delete from history where instance_id = ?", (instance_id,))

    def put_message(self, message: Message) -> None:
        """Add a message."""
        self.messages[message.id] = message

    def delete_message(self, message_id: int) -> None:
        """Remove a consumed message."""
        if self.messages.pop(message_id, None) is None:
            self._add("delete from message where id = ?", (message_id,))

    def delete_messages_of(self, instance_id: str) -> None:
        """Remove every message of an instance."""
        for message in [m for m in self.messages.values() if m.instance_id == instance_id]:
            del self.messages[message.id]
        self._add("delete from message where instance_id = ?", (instance_id,))

    def put_work(self, work: Work) -> None:
        """Add an activity to run."""
        self._add("insert into work values(?, ?, ?, ?, ?, ?, ?)", _work_values(work))

    def delete_work(self, work_id: int) -> None:
        """Remove an activity that ended."""
        self._add("delete from work where id = ?", (work_id,))

    def delete_instance(self, instance_id: str) -> None:
        """Remove everything of an instance."""
        self.delete_history(instance_id)
        self.delete_messages_of(instance_id)
        self._add("delete from work where instance_id = ?", (instance_id,))
        self._add("delete from instance where id = ?", (instance_id,))

    def _add(self, sql: str, values: tuple[Any, ...]) -> None:
        self.statements.append((sql, values))


class Store:
    """The host's SQLite file."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.executescript(SCHEMA)
        self._next_id: int = 1 + max(
            self._db.execute(f"select coalesce(max(id), 0) from {table}").fetchone()[0]  # noqa: S608 - constants
            for table in ("message", "work")
        )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def new_id(self) -> int:
        """Return a message or work id no row of this file carries."""
        self._next_id += 1
        return self._next_id - 1

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, whole or not at all."""
        execute = self._db.execute
        execute("begin immediate")
        try:
            for sql, values in batch.statements:
                execute(sql, values)
            if batch.messages:
                self._db.executemany(
                    "insert into message values(?, ?, ?, ?, ?)",
                    [
                        (m.id, m.instance_id, m.execution_id, m.due, json.dumps(m.event))
                        for m in batch.messages.values()
                    ],
                )
            execute("commit")
        except BaseException:
            execute("rollback")
            raise

    # -- instances ---------------------------------------------------------------------------------------------------

    def instance(self, instance_id: str) -> Instance | None:
        """Return one instance."""
        row = self._db.execute(
            f"select {_INSTANCE_COLUMNS} from instance where id = ?",  # noqa: S608 - constants
            (instance_id,),
        ).fetchone()
        return None if row is None else _to_instance(row)

    def instances(
        self,
        *,
        prefix: str = "",
        statuses: Sequence[str] = (),
        created_from: str | None = None,
        created_to: str | None = None,
        after: tuple[str, str] | None = None,
        limit: int = PAGE,
    ) -> list[Instance]:
        """Return instances by creation, oldest first, beginning after a (created_at, id) pair."""
        conditions, values = ["substr(id, 1, ?) = ?"], [len(prefix), prefix]
        if statuses:
            conditions.append(f"status in ({', '.join('?' for _ in statuses)})")
            values.extend(statuses)
        for condition, value in (("created_at >= ?", created_from), ("created_at <= ?", created_to)):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        if after is not None:
            conditions.append("(created_at, id) > (?, ?)")
            values.extend(after)
        rows = self._db.execute(
            f"select {_INSTANCE_COLUMNS} from instance where {' and '.join(conditions)} "  # noqa: S608 - constants
            "order by created_at, id limit ?",
            (*values, limit),
        )
        return [_to_instance(row) for row in rows]

    def counts(self) -> Mapping[str, int]:
        """Return how many instances are in each status."""
        return dict(self._db.execute("select status, count(*) from instance group by status"))

    def episodes(self, instance_id: str) -> list[str]:
        """Return the finished episodes of an instance, each a JSON array."""
        rows = self._db.execute("select events from history where instance_id = ? order by episode", (instance_id,))
        return [row[0] for row in rows]

    def export_history(self, instance_id: str) -> list[Event]:
        """Return the history of an instance as a flat list of events, ready for a stored-history replay test."""
        return to_export(self.episodes(instance_id))

    # -- messages and work -------------------------------------------------------------------------------------------

    def messages_of(self, instance_id: str) -> list[Message]:
        """Return the messages of an instance in order of arrival."""
        rows = self._db.execute(
            "select id, instance_id, execution_id, due, event from message where instance_id = ? order by id",
            (instance_id,),
        )
        return [Message(row[0], row[1], row[2], row[3], json.loads(row[4])) for row in rows]

    def inboxes(self) -> list[str]:
        """Return the instances that have mail to read at once."""
        return [row[0] for row in self._db.execute("select distinct instance_id from message where due = 0")]

    def alarms(self) -> list[tuple[float, int, str]]:
        """Return every message with a due time as (due, message id, instance id)."""
        return list(self._db.execute("select due, id, instance_id from message where due > 0"))

    def all_work(self) -> Iterator[Work]:
        """Yield the activities that have not ended, oldest first."""
        rows = self._db.execute(
            "select id, instance_id, execution_id, task_id, name, input, traceparent from work order by id"
        )
        return (Work(*row) for row in rows.fetchall())

    # -- timers and change feeds -------------------------------------------------------------------------------------

    def timer(self, name: str) -> TimerState | None:
        """Return what is remembered of a timer function."""
        row = self._db.execute(
            "select name, schedule, last, next, updated from timer where name = ?", (name,)
        ).fetchone()
        return None if row is None else TimerState(*row)

    def put_timer(self, state: TimerState) -> None:
        """Remember a timer function's state."""
        self._db.execute("insert or replace into timer values(?, ?, ?, ?, ?)", _timer_values(state))

    def checkpoint(self, name: str) -> int | None:
        """Return the last sequence number a change feed has done with."""
        row = self._db.execute("select seq from checkpoint where name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def put_checkpoint(self, name: str, seq: int) -> None:
        """Remember how far a change feed is."""
        self._db.execute("insert or replace into checkpoint values(?, ?)", (name, seq))


def _to_instance(row: tuple[Any, ...]) -> Instance:
    values: dict[str, Any] = dict(zip(_INSTANCE_FIELDS, row, strict=True))
    return Instance(**{**values, "is_suspended": bool(values["is_suspended"])})
