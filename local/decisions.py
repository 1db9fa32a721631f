"""What an episode may decide, and how an orchestration may end: plain values between replay and scribe.

Holds no rule. Source: functions.md §3.4, §3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from local.history import Event


@dataclass(frozen=True, slots=True)
class RunActivity:
    """Schedule an activity under an id."""

    id: int
    name: str
    input: str | None


@dataclass(frozen=True, slots=True)
class StartTimer:
    """Create a timer under an id; a cancelled one is recorded and never fires."""

    id: int
    fire_at: str
    is_cancelled: bool


@dataclass(frozen=True, slots=True)
class StartChild:
    """Start a child orchestration under an id."""

    id: int
    name: str
    input: str | None
    instance_id: str
    version: str | None


Decision = RunActivity | StartTimer | StartChild


@dataclass(frozen=True, slots=True)
class Completed:
    """The orchestrator returned."""

    output: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """The orchestrator raised, or can never go on."""

    reason: str


@dataclass(frozen=True, slots=True)
class Continued:
    """The orchestrator starts over with a new input (JSON text or None)."""

    input: str | None


Outcome = Completed | Failed | Continued


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one episode decides.

    Shapes: decisions ascend by id. `outcome` is None while the instance runs. `late` are the events of this history
    that came after the code had ended; `unread` the names of events that arrived and were never awaited.
    """

    decisions: tuple[Decision, ...]
    outcome: Outcome | None
    cancelled: frozenset[int]
    open_ids: frozenset[int]
    awaited: frozenset[str]
    late: tuple[Event, ...]
    unread: tuple[str, ...]
