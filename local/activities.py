"""Runs activities: at most as many at once as host.json allows, each until it has an outcome.

Turns a result or an exception into the completion event the orchestration gets. An activity that is running when the
process dies runs again: at least once, as on Azure. Source: functions.md §4.1.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping

from local.history import Event, EventType, incoming
from local.indexing import Fn
from local.limits import TooLarge, cap_error, check_payload
from local.store import Work
from local.worker import Call, FunctionWorker, InvokeError, datum


class Activities:
    """The queue of activities and those that run."""

    def __init__(
        self, worker: FunctionWorker, by_name: Mapping[str, Fn], limit: int, done: Callable[[Work, Event], None]
    ) -> None:
        self._worker = worker
        self._by_name = by_name
        self._limit = limit
        self._done = done
        self._queue: deque[Work] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._is_open = True

    @property
    def running(self) -> int:
        """Return how many activities run now."""
        return len(self._running)

    def add(self, work: Work) -> None:
        """Queue an activity whose row is durable."""
        self._queue.append(work)
        self._dispatch()

    def forget(self, instance_id: str) -> None:
        """Unqueue the activities of a purged instance."""
        self._queue = deque(work for work in self._queue if work.instance_id != instance_id)

    async def stop(self, deadline_s: float) -> None:
        """Start no more and let those that run end; what is left when the deadline passes runs again next time."""
        self._is_open = False
        if self._running:
            await asyncio.wait(self._running, timeout=deadline_s)
        for task in self._running:
            task.cancel()

    def _dispatch(self) -> None:
        while self._is_open and self._queue and len(self._running) < self._limit:
            task = asyncio.get_running_loop().create_task(self._run(self._queue.popleft()))
            self._running.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._dispatch()

    async def _run(self, work: Work) -> None:
        try:
            event = incoming(EventType.TASK_COMPLETED, TaskScheduledId=work.task_id, Result=await self._invoke(work))
        except Exception as caught:  # noqa: BLE001 - whatever the worker raises, the orchestration must hear of it
            error = caught if isinstance(caught, InvokeError) else InvokeError.of(caught)
            event = incoming(
                EventType.TASK_FAILED,
                TaskScheduledId=work.task_id,
                Reason=cap_error(f"Activity function '{work.name}' failed:  {error.message}"),
                Details=json.dumps(
                    {
                        "$type": "System.Exception",
                        "Message": cap_error(error.message),
                        "StackTraceString": cap_error(error.stack),
                    }
                ),
            )
        self._done(work, event)

    async def _invoke(self, work: Work) -> str | None:
        fn = self._by_name.get(work.name.lower())
        if fn is None:
            raise InvokeError(f"LookupError: the app has no activity function {work.name!r}", "")
        call = Call(traceparent=work.traceparent)
        result = await self._worker.invoke(fn, {fn.argument: datum(work.input, "string")}, call)
        text = None if result is None or result.value == "null" else str(result.value)
        try:
            check_payload(text, f"the output of {work.name!r}")
        except TooLarge as error:
            raise InvokeError(f"TooLarge: {error}", "") from error
        return text
