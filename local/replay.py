"""The shim: turns the SDK's action list plus history into decisions, exactly as the Durable extension does.

The Python SDK does not number its tasks; the extension does, by executing the action list against the history. This
module is that execution. It is re-run from scratch for each episode and keeps nothing: ids depend on history and
actions only. Never corrects an orchestrator that numbers differently from the SDK — that fails here as it fails there.
Source: functions.md §3.5.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from datetime import datetime, timedelta
from enum import IntEnum
from typing import Any, Final

from local.decisions import (
    Completed,
    Continued,
    Decision,
    Failed,
    Outcome,
    RunActivity,
    StartChild,
    StartTimer,
    Verdict,
)
from local.history import Event, EventType, from_iso, to_iso

MIN_SCHEMA: Final = 1
"""Replay schema V2; V1 groups actions per yield and no SDK since 1.2 produces it."""


class ActionType(IntEnum):
    """The kinds of action an orchestrator's result may hold."""

    ACTIVITY = 0
    ACTIVITY_RETRY = 1
    CHILD = 2
    CHILD_RETRY = 3
    CONTINUE_AS_NEW = 4
    TIMER = 5
    EVENT = 6
    ENTITY_CALL = 7
    HTTP_CALL = 8
    ENTITY_SIGNAL = 9
    ENTITY_SIGNAL_LATER = 10
    ANY = 11
    ALL = 12


REFUSED: Final = {
    ActionType.ENTITY_CALL: "call_entity",
    ActionType.ENTITY_SIGNAL: "signal_entity",
    ActionType.ENTITY_SIGNAL_LATER: "signal_entity",
    ActionType.HTTP_CALL: "call_http",
}
"""Durable features this host does not offer, by the SDK method that asks for them."""


class NonDeterminism(Exception):
    """The replayed code decided otherwise than its history records."""


class Refused(Exception):
    """The orchestrator asked for a Durable feature this host does not offer."""


class _Promise:
    """A value to come, with callbacks; settles once."""

    __slots__ = ("_then", "failed", "settled", "value")

    def __init__(self) -> None:
        self.settled = False
        self.failed = False
        self.value: Any = None
        self._then: list[Callable[[_Promise], None]] = []

    def settle(self, value: Any = None, *, failed: bool = False) -> None:
        if self.settled:
            return
        self.settled, self.failed, self.value = True, failed, value
        waiting, self._then = self._then, []
        for callback in waiting:
            callback(self)

    def then(self, callback: Callable[[_Promise], None]) -> None:
        if self.settled:
            callback(self)
        else:
            self._then.append(callback)


_Steps = Generator[_Promise, _Promise, Any]


class _StepFailed(Exception):
    """Ends a driven generator with a failure instead of a value."""


def _drive(steps: _Steps) -> _Promise:
    """Run a generator of promises to its end; the promise returned settles with what it returns."""
    result = _Promise()

    def advance(settled: _Promise | None) -> None:
        while True:
            try:
                awaited = next(steps) if settled is None else steps.send(settled)
            except StopIteration as end:
                result.settle(end.value)
                return
            except _StepFailed as failure:
                result.settle(failure.args[0], failed=True)
                return
            if not awaited.settled:
                awaited.then(advance)
                return
            settled = awaited

    advance(None)
    return result


def _settled() -> _Promise:
    promise = _Promise()
    promise.settle()
    return promise


class Replay:
    """One execution of an orchestrator's result against its history."""

    def __init__(self, execution_id: str, result: Event) -> None:
        self._execution_id = execution_id
        self._result = result
        self._next_id = 0
        self._pending: dict[int, Decision] = {}
        self._open: dict[int, _Promise] = {}
        self._cancelled: set[int] = set()
        self._waiters: dict[str, list[_Promise]] = {}
        self._unread: dict[str, deque[str | None]] = {}
        self._now: datetime | None = None
        self._main: _Promise | None = None
        self._is_parked = False
        self._continued: Continued | None = None

    def judge(self, history: Iterable[Event]) -> Verdict:
        """Replay the history and return what is decided at its end.

        Raises: NonDeterminism when the history records another decision, Refused on a feature this host does not offer.
        """
        late: list[Event] = []
        for event in history:
            ended = self._main is not None and self._main.settled
            kind = event["EventType"]
            if ended and kind == EventType.EVENT_RAISED:
                late.append(event)
            else:
                self._apply(kind, event)
        return Verdict(
            decisions=tuple(self._pending[key] for key in sorted(self._pending)),
            outcome=self._outcome(),
            cancelled=frozenset(self._cancelled),
            open_ids=frozenset(self._open),
            awaited=frozenset(name for name, waiters in self._waiters.items() if waiters),
            late=tuple(late),
            unread=tuple(name for name, values in self._unread.items() if values),
        )

    # -- history -----------------------------------------------------------------------------------------------------

    def _apply(self, kind: int, event: Event) -> None:
        match kind:
            case EventType.ORCHESTRATOR_STARTED:
                self._now = from_iso(event["Timestamp"])
            case EventType.EXECUTION_STARTED:
                self._main = _drive(self._run())
            case EventType.TASK_SCHEDULED:
                self._confirm(event, RunActivity, event["Name"])
            case EventType.CHILD_CREATED:
                self._confirm(event, StartChild, event["Name"])
            case EventType.TIMER_CREATED:
                self._confirm(event, StartTimer, None)
            case EventType.EVENT_SENT:
                self._confirm(event, None, None)
            case EventType.TASK_COMPLETED | EventType.CHILD_COMPLETED:
                self._settle(event["TaskScheduledId"], event.get("Result"), failed=False)
            case EventType.TASK_FAILED | EventType.CHILD_FAILED:
                self._settle(event["TaskScheduledId"], event.get("Reason"), failed=True)
            case EventType.TIMER_FIRED:
                self._settle(event["TimerId"], None, failed=False)
            case EventType.EVENT_RAISED:
                self._deliver(event["Name"], event.get("Input"))
            case _:
                pass

    def _confirm(self, event: Event, kind: type[Decision] | None, name: str | None) -> None:
        decision = self._pending.pop(event["EventId"], None)
        same_kind = decision is not None and kind is not None and isinstance(decision, kind)
        decided = None if decision is None or isinstance(decision, StartTimer) else decision.name
        if same_kind and (name is None or decided is None or decided.lower() == name.lower()):
            return
        recorded = f"{EventType(event['EventType']).name} {name or ''}".strip()
        replayed = "nothing" if decision is None else f"{type(decision).__name__} {decided or ''}".strip()
        raise NonDeterminism(f"the history records {recorded} with id {event['EventId']}, the code now does {replayed}")

    def _settle(self, task_id: int, value: Any, *, failed: bool) -> None:
        promise = self._open.pop(task_id, None)
        if promise is not None:
            promise.settle(value, failed=failed)

    def _deliver(self, name: str, value: str | None) -> None:
        """Hand an event to the latest waiter of its name, or keep it; names compare without case."""
        waiters = self._waiters.get(name.lower())
        if waiters:
            waiters.pop().settle(value)
        else:
            self._unread.setdefault(name.lower(), deque()).append(value)

    # -- actions -----------------------------------------------------------------------------------------------------

    def _run(self) -> _Steps:
        if int(self._result.get("schemaVersion", 0)) < MIN_SCHEMA:
            raise Refused("replay schema V1 is not supported: the azure-functions-durable package is too old")
        for action in self._result["actions"][0]:
            yield self._start(action)
        if self._result.get("error"):
            raise _StepFailed(self._result["error"])
        if not self._result.get("isDone"):
            self._is_parked = True
            yield _Promise()
        return self._result.get("output")

    def _start(self, action: Event) -> _Promise:
        kind = ActionType(int(action["actionType"]))
        match kind:
            case ActionType.ACTIVITY:
                return self._activity(action)
            case ActionType.CHILD:
                return self._child(action)
            case ActionType.ACTIVITY_RETRY:
                return _drive(self._retry(lambda: self._activity(action), action["retryOptions"]))
            case ActionType.CHILD_RETRY:
                return _drive(self._retry(lambda: self._child(action), action["retryOptions"]))
            case ActionType.TIMER:
                return self._timer(action["fireAt"], is_cancelled=bool(action.get("isCanceled")))
            case ActionType.EVENT:
                return self._wait(action["externalEventName"])
            case ActionType.CONTINUE_AS_NEW:
                self._continued = Continued(action.get("input"))
                return _settled()
            case ActionType.ALL | ActionType.ANY:
                children = [self._start(child) for child in action["compoundActions"]]
                return self._gather(children, needed=1 if kind is ActionType.ANY else len(children))
            case _:
                raise Refused(f"{REFUSED[kind]} is not offered by this host; use an activity and the store instead")

    def _take(self, decision: Decision) -> _Promise:
        promise = _Promise()
        self._pending[decision.id] = decision
        self._open[decision.id] = promise
        self._next_id = decision.id + 1
        return promise

    def _activity(self, action: Event) -> _Promise:
        return self._take(RunActivity(self._next_id, action["functionName"], action.get("input")))

    def _child(self, action: Event) -> _Promise:
        number = self._next_id
        instance_id = action.get("instanceId") or f"{self._execution_id}:{number}"
        return self._take(
            StartChild(number, action["functionName"], action.get("input"), instance_id, action.get("version"))
        )

    def _timer(self, fire_at: str, *, is_cancelled: bool = False) -> _Promise:
        number = self._next_id
        promise = self._take(StartTimer(number, fire_at, is_cancelled))
        if is_cancelled:
            del self._open[number]
            self._cancelled.add(number)
            promise.settle(failed=True)
        return promise

    def _wait(self, name: str) -> _Promise:
        promise = _Promise()
        unread = self._unread.get(name.lower())
        if unread:
            promise.settle(unread.popleft())
        else:
            self._waiters.setdefault(name.lower(), []).append(promise)
        return promise

    def _retry(self, attempt: Callable[[], _Promise], options: Event) -> _Steps:
        """Attempt, wait, attempt …; after the last failure one more timer fires at once, as in the extension."""
        attempts = int(options["maxNumberOfAttempts"])
        interval = timedelta(milliseconds=options["firstRetryIntervalInMilliseconds"])
        reason: Any = None
        for number in range(1, attempts + 1):
            result = yield attempt()
            if not result.failed:
                return result.value
            reason = result.value
            assert self._now is not None
            yield self._timer(to_iso(self._now + (interval if number < attempts else timedelta())))
        raise _StepFailed(reason)

    @staticmethod
    def _gather(children: list[_Promise], *, needed: int) -> _Promise:
        if not children:
            return _settled()
        result, left = _Promise(), needed

        def count(_: _Promise) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                result.settle()

        for child in children:
            child.then(count)
        return result

    # -- outcome -----------------------------------------------------------------------------------------------------

    def _outcome(self) -> Outcome | None:
        if self._main is None:
            return None
        if not self._main.settled:
            return self._stuck()
        if self._open:
            return None
        if self._main.failed:
            return Failed(str(self._main.value))
        return self._continued or Completed(self._main.value)

    def _stuck(self) -> Failed | None:
        """An instance that awaits nothing can never wake: on Azure it hangs, here it fails and says so."""
        if self._is_parked and not self._open and not any(self._waiters.values()):
            return Failed(
                "the orchestrator waits for a task the host never scheduled: its task numbers differ from the host's "
                "(a retry or a cancelled timer inside task_any, or a task reused in a second compound)"
            )
        return None
