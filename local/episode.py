"""One episode: feed the SDK an instance's history, and turn its answer into a conclusion.

Pure but for the call between its two halves: `payload` before, `conclude` after. Writes nothing.
Source: functions.md §3 (payload, result) and §10.2 (limits).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from azure.functions.meta import Datum

from local.decisions import Completed, Continued, Failed, Outcome, StartTimer, Verdict
from local.history import Event, to_feed
from local.limits import TooLarge, cap_error, check_custom_status, check_payload
from local.live import Live
from local.replay import NonDeterminism, Refused, Replay
from local.worker import InvokeError

OUT_OF_PROCESS: Final = "\n\n$OutOfProcData$:"
"""Parts an orchestrator's error text from its result. Source: azure-functions-durable."""

_HEAD: Final = '{"upperSchemaVersion":1,"upperSchemaVersionNew":2,'
_TAIL: Final = (
    ',"longRunningTimerIntervalDuration":null,"maximumShortTimerDuration":null,'
    '"defaultHttpAsyncRequestSleepTimeMillseconds":30000}'
)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What an episode comes to; a verdict only when its decisions count, no custom status to keep the old one."""

    outcome: Outcome | None
    verdict: Verdict | None
    custom_status: str | None


def payload(live: Live, events: Sequence[Event]) -> str:
    """Return the trigger's JSON: every finished episode, then the current one.

    The events only the extension reads (what was scheduled, where episodes ended) stay here: the SDK passes over them.
    `tests/replay` proves that it answers this feed as it answers the whole history.
    """
    row = live.row
    history = ",".join([*live.fed, to_feed(events, is_played=False)])
    wire_input = "null" if row.input is None else json.dumps(json.loads(row.input))
    return (
        f'{_HEAD}"history":[{history}],"input":{wire_input},"instanceId":{json.dumps(row.id)},'
        f'"isReplaying":{"true" if live.past else "false"},"parentInstanceId":{json.dumps(row.parent_id)}{_TAIL}'
    )


def conclude(live: Live, events: Sequence[Event], answer: Datum | InvokeError | None) -> Conclusion:
    """Return the conclusion of the SDK's answer: its decisions against the history, or why the instance fails."""
    if isinstance(answer, InvokeError):
        label = answer.message.rpartition(OUT_OF_PROCESS)
        if not label[1]:
            return Conclusion(Failed(cap_error(answer.message)), None, None)
        result = json.loads(label[2])
    else:
        result = json.loads(answer.value) if answer is not None else {}
    try:
        return _judge(live, events, result)
    except NonDeterminism as error:
        return Conclusion(Failed(f"Non-deterministic orchestrator: {error}"), None, None)
    except (Refused, TooLarge) as error:
        return Conclusion(Failed(str(error)), None, None)


def _judge(live: Live, events: Sequence[Event], result: Any) -> Conclusion:
    status = json.dumps(result["customStatus"]) if result.get("customStatus") is not None else None
    check_custom_status(status)
    verdict = Replay(live.row.execution_id, result).judge(chain(live.past, events))
    for decision in verdict.decisions:
        if not isinstance(decision, StartTimer):
            check_payload(decision.input, f"the input of {decision.name!r}")
    outcome = verdict.outcome
    match outcome:
        case Completed(output):
            check_payload(None if output is None else json.dumps(output), "the orchestration's output")
        case Continued(text):
            check_payload(text, "the input of continue_as_new")
        case Failed(reason):
            outcome = Failed(cap_error(reason))
        case None:
            pass
    return Conclusion(outcome, verdict, status)
