"""A host made of chance: runs an orchestrator to its end with random completions, checking the numbers on the way.

Each episode is replayed by the official SDK and by our shim; the two must agree on which tasks are open.
"""

import json
import random
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.durable_functions.models import DurableOrchestrationContext
from azure.durable_functions.orchestrator import Orchestrator

from local.decisions import Outcome, RunActivity, StartChild, StartTimer, Verdict
from local.episode import OUT_OF_PROCESS
from local.history import Event, EventType, incoming, scheduled, to_feed, to_iso
from local.replay import Replay

OrchestratorCode = Callable[[Any], Generator[Any, Any, Any]]


class Stuck(AssertionError):
    """Nothing is under way and nothing is awaited, yet the orchestrator has not ended."""


class Mismatch(AssertionError):
    """The SDK and the shim disagree on the open tasks."""


def run_sdk(code: OrchestratorCode, history: list[Event]) -> tuple[Event, set[int]]:
    """Return the SDK's result and the numbers of the tasks it holds open."""
    document = {
        "history": history,
        "input": None,
        "instanceId": "i",
        "isReplaying": False,
        "parentInstanceId": None,
        "upperSchemaVersion": 1,
        "upperSchemaVersionNew": 2,
    }
    context = DurableOrchestrationContext.from_json(json.dumps(document))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = json.loads(Orchestrator(code).handle(context))
        except Exception as error:  # noqa: BLE001 - the SDK raises plain exceptions
            result = json.loads(str(error).rpartition(OUT_OF_PROCESS)[2])
    return result, {key for key, task in context.open_tasks.items() if isinstance(key, int) and task}


@dataclass
class Simulation:
    """One run. `may_fail` names the activities and children that fail half the time."""

    code: OrchestratorCode
    dice: random.Random
    may_fail: frozenset[str] = frozenset({"flaky", "flaky_child"})
    compares_feeds: bool = False
    history: list[Event] = field(default_factory=list)
    episodes: int = 0
    _clock: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    _under_way: list[tuple[str, int | str, str]] = field(default_factory=list)

    def run(self) -> Outcome:
        """Run to the end. Raises: Mismatch, Stuck, NonDeterminism."""
        arrived = [incoming(EventType.EXECUTION_STARTED, Name="o", Version=None, Input=None)]
        while self.episodes < 200:
            verdict = self._episode(arrived)
            if verdict.outcome is not None:
                return verdict.outcome
            arrived = self._arrivals(verdict)
        raise Stuck("two hundred episodes")

    def _episode(self, arrived: list[Event]) -> Verdict:
        self.episodes += 1
        self._clock += timedelta(seconds=1)
        now = to_iso(self._clock)
        started = scheduled(EventType.ORCHESTRATOR_STARTED, -1, now)
        self.history += [{**event, "Timestamp": now, "IsPlayed": False} for event in (started, *arrived)]
        result, numbers = run_sdk(self.code, self.history)
        if self.compares_feeds:
            past = [event for event in self.history if event["IsPlayed"]]
            new = [event for event in self.history if not event["IsPlayed"]]
            feed = ",".join(filter(None, [to_feed(past, is_played=True), to_feed(new, is_played=False)]))
            short = run_sdk(self.code, json.loads(f"[{feed}]"))
            assert short == (result, numbers)
        verdict = Replay("x", result).judge(self.history)
        is_running = not (result.get("isDone") or result.get("error")) and verdict.outcome is None
        # The SDK keeps a cancelled timer open for ever; nobody else may be open on one side only.
        agree = verdict.open_ids <= numbers and numbers - verdict.open_ids <= verdict.cancelled
        if is_running and not agree:
            raise Mismatch(f"sdk {sorted(numbers)}, shim {sorted(verdict.open_ids)}")
        self._schedule(verdict, now)
        return verdict

    def _schedule(self, verdict: Verdict, now: str) -> None:
        for decision in verdict.decisions:
            match decision:
                case RunActivity(number, name, _):
                    event = scheduled(EventType.TASK_SCHEDULED, number, now, Name=name)
                    self._under_way.append(("task", number, name))
                case StartTimer(number, fire_at, is_cancelled):
                    event = scheduled(EventType.TIMER_CREATED, number, now, FireAt=fire_at)
                    if not is_cancelled:
                        self._under_way.append(("timer", number, fire_at))
                case StartChild(number, name, _, instance_id, _):
                    event = scheduled(EventType.CHILD_CREATED, number, now, Name=name, InstanceId=instance_id)
                    self._under_way.append(("child", number, name))
            self.history.append({**event, "IsPlayed": False})
        self.history.append({**scheduled(EventType.ORCHESTRATOR_COMPLETED, -1, now), "IsPlayed": False})
        for event in self.history:
            event["IsPlayed"] = True

    def _arrivals(self, verdict: Verdict) -> list[Event]:
        raised = {name for kind, name, _ in self._under_way if kind == "event"}
        self._under_way += [("event", name, name) for name in sorted(verdict.awaited - raised)]
        if not self._under_way:
            raise Stuck("nothing is under way")
        self.dice.shuffle(self._under_way)
        taken = self._under_way[: self.dice.randint(1, 3)]
        del self._under_way[: len(taken)]
        return [self._arrival(*thing) for thing in taken]

    def _arrival(self, kind: str, number: int | str, name: str) -> Event:
        fails = name in self.may_fail and self.dice.random() < 0.5
        match kind:
            case "task" if fails:
                return incoming(EventType.TASK_FAILED, TaskScheduledId=number, Reason="r", Details="d")
            case "task":
                return incoming(EventType.TASK_COMPLETED, TaskScheduledId=number, Result="1")
            case "child" if fails:
                return incoming(EventType.CHILD_FAILED, TaskScheduledId=number, Reason="r", Details="d")
            case "child":
                return incoming(EventType.CHILD_COMPLETED, TaskScheduledId=number, Result="1")
            case "timer":
                return incoming(EventType.TIMER_FIRED, TimerId=number, FireAt=name)
            case _:
                return incoming(EventType.EVENT_RAISED, Name=number, Input="1")
