"""A small engine that runs the product's flows step by step, in whatever order somebody draws.

One step runs one activity of one instance, for real; between two steps anything may happen. An activity may be run
twice, as the host does after a crash before its commit. It is no replay: tests/replay is about that.
Source: functions.md §3 (at least once), issue "300 seeded random interleavings".
"""

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import azure.durable_functions as df

from orchestrators.activities.steps import STEPS
from orchestrators.context import FlowContext
from orchestrators.flows.answer_message import answer_message_flow
from orchestrators.flows.human_handoff import human_handoff_flow
from orchestrators.flows.run_action import run_action_flow
from orchestrators.names import ActivityName, FlowName
from shared.ports.clock import Clock

FLOWS: Final[dict[str, Callable[[FlowContext], Generator[Any, Any, Any]]]] = {
    FlowName.ANSWER_MESSAGE.value: answer_message_flow,
    FlowName.HUMAN_HANDOFF.value: human_handoff_flow,
    FlowName.RUN_ACTION.value: run_action_flow,
}
RUNNING: Final = df.OrchestrationRuntimeStatus.Running
COMPLETED: Final = df.OrchestrationRuntimeStatus.Completed


@dataclass(eq=False, slots=True)
class Task:
    """What a flow waits for."""

    kind: str
    name: str = ""
    payload: Any = None
    due: datetime | None = None
    parts: tuple["Task", ...] = ()
    is_done: bool = False
    result: Any = None

    def cancel(self) -> None:
        """Cancel a timer: it never fires."""
        self.is_done = True

    def leaves(self) -> list["Task"]:
        """Return the tasks that can be done one by one."""
        return [leaf for part in self.parts for leaf in part.leaves()] if self.parts else [self]

    def settle(self) -> None:
        """Take over what the parts came to."""
        if self.kind == "all" and all(part.is_done for part in self.parts):
            self.is_done, self.result = True, [part.result for part in self.parts]
        if self.kind == "any" and (first := next((part for part in self.parts if part.is_done), None)) is not None:
            self.is_done, self.result = True, first


@dataclass(eq=False, slots=True)
class Instance:
    """One orchestration; also the context its flow sees, as far as our flows touch it."""

    engine: "Engine"
    instance_id: str
    flow: str
    value: Any
    status: df.OrchestrationRuntimeStatus = RUNNING
    waits_for: Task | None = None
    events: list[str] = field(default_factory=list)
    output: Any = None
    _running: Generator[Any, Any, Any] | None = None
    _again: Any = None

    # -- what the Durable context offers -------------------------------------------------------------------------------

    @property
    def current_utc_datetime(self) -> datetime:
        """Return the engine's time."""
        return self.engine.clock.now()

    def get_input(self) -> Any:
        """Return the input."""
        return self.value

    def call_activity(self, name: str, payload: Any) -> Task:
        """Plan an activity; only JSON crosses."""
        return Task("activity", name, json.dumps(payload))

    def create_timer(self, due: datetime) -> Task:
        """Plan a timer."""
        return Task("timer", due=due)

    def wait_for_external_event(self, name: str) -> Task:
        """Wait for an event."""
        return Task("event", name)

    def task_all(self, tasks: list[Task]) -> Task:
        """Wait for all."""
        return Task("all", parts=tuple(tasks))

    def task_any(self, tasks: list[Task]) -> Task:
        """Wait for the first."""
        return Task("any", parts=tuple(tasks))

    def continue_as_new(self, value: Any) -> None:
        """Start over once the generator has ended."""
        self._again = value

    # -- running -------------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Run up to the first thing to wait for."""
        self._again, self.waits_for = None, None
        self._running = FLOWS[self.flow](FlowContext(self))  # type: ignore[arg-type]  # the part our flows touch
        self._send(None)

    def ready(self) -> list[Task]:
        """Return what could be done now."""
        if self.status is not RUNNING or self.waits_for is None:
            return []
        return [leaf for leaf in self.waits_for.leaves() if not leaf.is_done and self._is_ready(leaf)]

    def _is_ready(self, task: Task) -> bool:
        if task.kind == "timer":
            return task.due is not None and task.due <= self.engine.clock.now()
        return task.kind == "activity" or task.name in self.events

    async def do(self, task: Task, *, is_twice: bool) -> None:
        """Do one thing and let the flow go on as far as it can."""
        if task.kind == "activity":
            step = STEPS[ActivityName(task.name)]
            for _ in range(2 if is_twice else 1):
                result = await step(json.loads(task.payload))
            task.result = json.loads(json.dumps(result))
        elif task.kind == "event":
            self.events.remove(task.name)
        task.is_done = True
        waiting = self.waits_for
        if waiting is not None:
            waiting.settle()
            if waiting.is_done:
                self._send(waiting.result)

    def _send(self, value: Any) -> None:
        assert self._running is not None
        try:
            self.waits_for = self._running.send(value)
        except StopIteration as end:
            if self._again is not None:
                self.value = self._again
                self.begin()
            else:
                self.status, self.waits_for, self.output = COMPLETED, None, end.value


class Engine:
    """Every instance of one world; also the client the product's triggers start and hint instances with."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.instances: dict[str, Instance] = {}

    async def start_new(self, flow: str, instance_id: str, value: Any) -> str:
        """Start an instance. Raises: Exception when one of that id runs, as the SDK does."""
        known = self.instances.get(instance_id)
        if known is not None and known.status is RUNNING:
            raise Exception(f"instance {instance_id} runs")
        instance = Instance(self, instance_id, flow, value)
        self.instances[instance_id] = instance
        instance.begin()
        return instance_id

    async def get_status(self, instance_id: str) -> "Status | None":
        """Return the state of an instance."""
        known = self.instances.get(instance_id)
        return None if known is None else Status(known.status)

    async def raise_event(self, instance_id: str, name: str, value: Any) -> None:
        """Send an event. Raises: Exception when nothing of that id runs."""
        known = self.instances.get(instance_id)
        if known is None or known.status is not RUNNING:
            raise Exception(f"nothing to hint at {instance_id}")
        known.events.append(name)

    def ready(self) -> list[tuple[Instance, Task]]:
        """Return everything that could be done now, in a stable order."""
        return [(one, task) for one in self.instances.values() for task in one.ready()]


@dataclass(frozen=True, slots=True)
class Status:
    """What the client says of an instance."""

    runtime_status: df.OrchestrationRuntimeStatus
