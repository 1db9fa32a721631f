"""The history of an orchestration: event numbers, constructors and their JSON text.

Owns the wire form the Durable extension feeds to the Python SDK. Never decides anything and never reads a clock.
Source: functions.md §3.3; event numbers are those of DTFx.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, Final

Event = dict[str, Any]
"""One history event, keys in PascalCase as on the wire, without `IsPlayed`."""


class EventType(IntEnum):
    """The kinds of history event the host writes or reads."""

    EXECUTION_STARTED = 0
    EXECUTION_COMPLETED = 1
    EXECUTION_TERMINATED = 3
    TASK_SCHEDULED = 4
    TASK_COMPLETED = 5
    TASK_FAILED = 6
    CHILD_CREATED = 7
    CHILD_COMPLETED = 8
    CHILD_FAILED = 9
    TIMER_CREATED = 10
    TIMER_FIRED = 11
    ORCHESTRATOR_STARTED = 12
    ORCHESTRATOR_COMPLETED = 13
    EVENT_SENT = 14
    EVENT_RAISED = 15
    SUSPENDED = 19
    RESUMED = 20


INCOMING_ID: Final = -1
"""EventId of everything that arrives; what an orchestration schedules carries its own id instead."""

CONFIRMATIONS: Final = frozenset(
    {
        int(EventType.TASK_SCHEDULED),
        int(EventType.CHILD_CREATED),
        int(EventType.TIMER_CREATED),
        int(EventType.ORCHESTRATOR_COMPLETED),
    }
)
"""Events only the extension reads: the SDK's replay loop passes over them without looking."""


def to_iso(moment: datetime) -> str:
    """Return the wire text of an aware moment, in UTC with microseconds."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_iso(text: str) -> datetime:
    """Return the aware moment a wire text names; a text without a zone is UTC, digits past microseconds are cut."""
    body = text.removesuffix("Z")
    whole, dot, fraction = body.partition(".")
    digits = len(fraction) - len(fraction.lstrip("0123456789"))
    if digits > 6:
        body = whole + dot + fraction[:6] + fraction[digits:]
    moment = datetime.fromisoformat(body)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def incoming(kind: EventType, **fields: Any) -> Event:
    """Build an event that reaches an instance from outside; its timestamp is set when an episode takes it."""
    return {"EventType": int(kind), "EventId": INCOMING_ID, **fields}


def scheduled(kind: EventType, event_id: int, timestamp: str, **fields: Any) -> Event:
    """Build the event that records one decision of an episode under the id the decision took."""
    return {"EventType": int(kind), "EventId": event_id, "Timestamp": timestamp, **fields}


def execution_started(
    *,
    name: str,
    version: str | None,
    input_text: str | None,
    instance_id: str,
    execution_id: str,
    parent: Event | None,
    traceparent: str | None,
) -> Event:
    """Build the first message of an execution."""
    return incoming(
        EventType.EXECUTION_STARTED,
        Name=name,
        Version=version,
        Input=input_text,
        Tags=None,
        OrchestrationInstance={"InstanceId": instance_id, "ExecutionId": execution_id},
        ParentInstance=parent,
        Correlation=None,
        ScheduledStartTime=None,
        ParentTraceContext={"TraceParent": traceparent} if traceparent else None,
    )


def to_text(event: Event) -> str:
    """Return the event as compact ASCII JSON, so that a lone surrogate survives the store."""
    return json.dumps(event, separators=(",", ":"))


def to_feed(events: Iterable[Event], *, is_played: bool) -> str:
    """Return events as the comma-joined JSON the SDK is fed, without those it passes over.

    Reading timestamps is half of the SDK's time. It uses those of OrchestratorStarted alone, which are given in full;
    the others name their second. Both in ISO-8601's basic form, which its parser reads fastest.
    """
    head = '{"IsPlayed":true,' if is_played else '{"IsPlayed":false,'
    texts = []
    for event in events:
        kind = event["EventType"]
        if kind not in CONFIRMATIONS:
            moment = event["Timestamp"].replace("-", "").replace(":", "")
            if kind != EventType.ORCHESTRATOR_STARTED:
                moment = moment[:8] + moment[9:15]
            texts.append(head + to_text({**event, "Timestamp": moment})[1:])
    return ",".join(texts)


def to_export(episodes: Sequence[str]) -> list[Event]:
    """Return stored episodes as the flat list the management API and stored-history tests use."""
    return [{"IsPlayed": True, **event} for text in episodes for event in json.loads(text)]
