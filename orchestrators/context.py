"""The orchestration context as our flows see it: typed calls over the untyped Durable SDK.

The one place where the SDK's loosely typed context is touched. Must never read a clock, id source or environment:
everything comes from the context. Source: functions.md §8.4, conventions "Orchestrators".
"""

from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any

import azure.durable_functions as df

from orchestrators.names import ActivityName, EventName

Task = Any
"""An SDK task: yielded by a flow, never inspected except by `task_any`."""
Flow = Generator[Task, Any, Any]
"""What a flow is: a generator that yields tasks and returns plain JSON."""


class FlowContext:
    """A thin typed view of DurableOrchestrationContext."""

    def __init__(self, inner: df.DurableOrchestrationContext) -> None:
        self._inner = inner

    @property
    def now(self) -> datetime:
        """The episode's time, the same on every replay."""
        now: datetime = self._inner.current_utc_datetime
        return now

    @property
    def instance_id(self) -> str:
        """This instance's id."""
        return str(self._inner.instance_id)

    def input(self) -> object:
        """Return the decoded input."""
        return self._inner.get_input()

    def call(self, activity: ActivityName, payload: dict[str, Any]) -> Task:
        """Return the task of one activity call."""
        return self._inner.call_activity(activity.value, payload)

    def all(self, tasks: list[Task]) -> Task:
        """Return the task that waits for every one of a non-empty list."""
        if not tasks:
            raise ValueError("task_all of nothing never completes the same way twice")
        return self._inner.task_all(tasks)

    def timer(self, after: timedelta) -> Task:
        """Return a durable timer; cancel it when it lost a race (fault 077)."""
        return self._inner.create_timer(self._inner.current_utc_datetime + after)

    def event(self, name: EventName) -> Task:
        """Return the task of an external event: a hint, never data."""
        return self._inner.wait_for_external_event(name.value)

    def first(self, event: Task, timer: Task) -> Task:
        """Return the task that waits for exactly one event or one timer."""
        return self._inner.task_any([event, timer])

    def continue_as_new(self, payload: dict[str, Any]) -> None:
        """Start over with a new history."""
        self._inner.continue_as_new(payload)
