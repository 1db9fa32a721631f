"""Running instances in memory: an image of the store's rows, so that an episode reads nothing from disk.

Owns the cache and what an instance takes from its inbox. An image is dropped when it is idle and old, never while it
holds unread mail. Source: functions.md §3.6 (batching, suspension, stale executions).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from local.history import Event, EventType, to_feed, to_text
from local.store import Instance, Message, Store

CAPACITY: Final = 2_000
"""Idle instances kept in memory; a history is some 10 kB."""


@dataclass(slots=True)
class Live:
    """One instance: its row, finished episodes (also as the text the SDK is fed), mail, and timers by timer id."""

    row: Instance
    past: list[Event] = field(default_factory=list)
    fed: list[str] = field(default_factory=list)
    episodes: int = 0
    inbox: list[Message] = field(default_factory=list)
    timers: dict[int, Message] = field(default_factory=dict)
    crashes: int = 0
    is_busy: bool = False
    is_ready: bool = False
    is_blocked: bool = False

    def append(self, events: list[Event]) -> str:
        """Add one finished episode and return its JSON array."""
        self.past += events
        self.fed.append(to_feed(events, is_played=True))
        self.episodes += 1
        return f"[{','.join([to_text(event) for event in events])}]"

    def begin_again(self, row: Instance) -> None:
        """Start a new execution: empty history, same mail."""
        self.row = row
        self.past, self.fed, self.episodes, self.timers, self.crashes = [], [], 0, {}, 0


class IntakeKind(StrEnum):
    """What the mail an instance takes amounts to."""

    RUN = "run"
    RECORD = "record"
    TERMINATE = "terminate"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class Intake:
    """The mail of one episode: the messages used up, and the events that enter history, in order."""

    kind: IntakeKind
    consumed: tuple[Message, ...]
    events: tuple[Event, ...]
    is_suspended: bool


def take(live: Live) -> Intake | None:
    """Return what the instance takes from its inbox now, or None when all of it must wait; the inbox stays as it is."""
    if not live.inbox:
        return None
    row = live.row
    if row.is_final:
        return Intake(IntakeKind.DISCARD, tuple(live.inbox), (), row.is_suspended)
    stale = [m for m in live.inbox if m.execution_id is not None and m.execution_id != row.execution_id]
    mail = [m for m in live.inbox if m.execution_id is None or m.execution_id == row.execution_id]
    for message in mail:
        if message.event["EventType"] == EventType.EXECUTION_TERMINATED:
            return Intake(IntakeKind.TERMINATE, tuple(live.inbox), (message.event,), row.is_suspended)
    mail.sort(key=lambda m: m.event["EventType"] != EventType.EXECUTION_STARTED)
    used = _resumed(mail) if row.is_suspended else _up_to_suspension(mail)
    if not used:
        repeats = [m for m in mail if row.is_suspended and m.event["EventType"] == EventType.SUSPENDED]
        dropped = (*stale, *repeats)
        return Intake(IntakeKind.DISCARD, dropped, (), row.is_suspended) if dropped else None
    first = used[0].event["EventType"]
    if first == EventType.SUSPENDED:
        return Intake(IntakeKind.RECORD, (*stale, used[0]), (used[0].event,), is_suspended=True)
    events = tuple(m.event for m in used if row.is_suspended or m.event["EventType"] != EventType.RESUMED)
    runs = any(event["EventType"] != EventType.RESUMED for event in events)
    kind = IntakeKind.RUN if runs else IntakeKind.RECORD if events else IntakeKind.DISCARD
    return Intake(kind, (*stale, *used), events, is_suspended=False)


def _up_to_suspension(mail: list[Message]) -> list[Message]:
    """Return the mail before the next suspension, or that suspension itself when it comes first."""
    for index, message in enumerate(mail):
        if message.event["EventType"] == EventType.SUSPENDED:
            return mail[: max(index, 1)]
    return mail


def _resumed(mail: list[Message]) -> list[Message]:
    """Return the resumption, then the mail held back in order of arrival; nothing while suspended."""
    for index, message in enumerate(mail):
        if message.event["EventType"] == EventType.RESUMED:
            held = [m for m in mail[:index] if m.event["EventType"] != EventType.SUSPENDED]
            return [message, *held, *_up_to_suspension(mail[index + 1 :])]
    return []


class Lives:
    """The cache of running instances, least recently used first."""

    def __init__(self, store: Store, capacity: int = CAPACITY) -> None:
        self._store = store
        self._capacity = capacity
        self._lives: OrderedDict[str, Live] = OrderedDict()

    def __iter__(self) -> Iterator[Live]:
        return iter(self._lives.values())

    def __len__(self) -> int:
        return len(self._lives)

    def get(self, instance_id: str) -> Live | None:
        """Return an instance, read from the store unless it is here; None when there is none."""
        live = self._lives.get(instance_id)
        if live is None:
            live = self._load(instance_id)
            if live is None:
                return None
            self._lives[instance_id] = live
        else:
            self._lives.move_to_end(instance_id)
        return live

    def peek(self, instance_id: str) -> Live | None:
        """Return an instance only if it is here."""
        return self._lives.get(instance_id)

    def put(self, live: Live) -> None:
        """Hold an instance that has just begun."""
        self._lives[live.row.id] = live
        self._lives.move_to_end(live.row.id)

    def drop(self, live: Live) -> None:
        """Let go of an instance, unless its id has begun anew."""
        if self._lives.get(live.row.id) is live:
            del self._lives[live.row.id]

    def trim(self) -> None:
        """Let go of the oldest idle instances over capacity."""
        excess = len(self._lives) - self._capacity
        if excess > 0:
            idle = [live for live in self._lives.values() if not (live.inbox or live.is_busy or live.is_blocked)]
            for live in idle[:excess]:
                del self._lives[live.row.id]

    def _load(self, instance_id: str) -> Live | None:
        row = self._store.instance(instance_id)
        if row is None:
            return None
        live = Live(row)
        if row.is_final:
            return live
        for text in self._store.episodes(instance_id):
            live.append(json.loads(text))
        for message in self._store.messages_of(instance_id):
            if message.due:
                live.timers[message.event["TimerId"]] = message
            else:
                live.inbox.append(message)
        return live
