"""Replays a finished history through the code of today: would it still decide the same?

For stored-history tests. A history that no longer replays means a deployment would break the instances in flight, so
the change needs a new orchestration version. Source: functions.md §10.9.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from typing import Any

import azure.durable_functions as df

from local.decisions import Completed, Continued, Failed, Outcome
from local.episode import OUT_OF_PROCESS, payload
from local.history import Event, EventType
from local.live import Live
from local.replay import NonDeterminism, Refused, Replay
from local.store import Instance
from local.worker import quiet_replay

OrchestratorCode = Callable[[Any], Generator[Any, Any, Any]]
"""A bare orchestrator, or what the SDK's decorator made of it."""


def replay_check(history: Sequence[Event], orchestrator: OrchestratorCode) -> tuple[str, ...]:
    """Return what today's code does otherwise than a finished history, one sentence each; empty when nothing.

    Shapes: the history is that of `Store.export_history`, whole and of one execution.
    """
    live, events, recorded = _unpack(history)
    code = getattr(orchestrator, "orchestrator_function", orchestrator)
    try:
        with quiet_replay():
            result = json.loads(df.Orchestrator.create(code)(payload(live, events)))
    except Exception as error:  # noqa: BLE001 - the SDK reports an orchestrator's failure as a plain exception
        _, label, text = str(error).rpartition(OUT_OF_PROCESS)
        if not label:
            return (f"the code fails with {type(error).__name__}: {error}",)
        result = json.loads(text)
    try:
        verdict = Replay(live.row.execution_id, result).judge(events)
    except (NonDeterminism, Refused) as error:
        return (str(error),)
    problems = [f"the code now also does {decision}" for decision in verdict.decisions]
    if recorded is not None and (difference := _differs(recorded, verdict.outcome)):
        problems.append(difference)
    return tuple(problems)


def _unpack(history: Sequence[Event]) -> tuple[Live, list[Event], Event | None]:
    started = next(event for event in history if event["EventType"] == EventType.EXECUTION_STARTED)
    ended = next((event for event in history if event["EventType"] == EventType.EXECUTION_COMPLETED), None)
    identity, parent = started["OrchestrationInstance"], started.get("ParentInstance")
    row = Instance(
        id=identity["InstanceId"],
        execution_id=identity["ExecutionId"],
        name=started["Name"],
        version=started["Version"],
        status="Running",
        input=started["Input"],
        output=None,
        custom_status=None,
        created_at=started["Timestamp"],
        updated_at=started["Timestamp"],
        is_suspended=False,
        parent_id=parent["OrchestrationInstance"]["InstanceId"] if parent else None,
        parent_execution_id=None,
        parent_task_id=None,
        traceparent=None,
    )
    events = [{key: value for key, value in event.items() if key != "IsPlayed"} for event in history]
    return Live(row), events, ended


def _differs(recorded: Event, outcome: Outcome | None) -> str | None:
    match outcome:
        case Completed(output):
            status, result = "Completed", None if output is None else json.dumps(output)
        case Failed(reason):
            # A failure's text may name what has been renamed since; that it fails is what counts.
            status, result = "Failed", recorded.get("Result")
            if recorded["OrchestrationStatus"] == "Completed":
                return f"the history ended Completed, the code now fails: {reason}"
        case Continued():
            status, result = "ContinuedAsNew", None
        case None:
            status, result = "Running", None
    if recorded["OrchestrationStatus"] == "Terminated":
        return None
    if (status, result) == (recorded["OrchestrationStatus"], recorded.get("Result")):
        return None
    return f"the history ended {recorded['OrchestrationStatus']} {recorded.get('Result')}, now {status} {result}"
