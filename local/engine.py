"""The pump: takes mail, runs episodes, applies their conclusions, commits, and lets the effects out.

Runs on the host's loop in turns: a turn steps every ready instance for at most a slice of time, then commits all of it
in one transaction. Owns when things happen; what an episode decides is `episode` and `replay`, what callers may ask is
`operations`. Source: contract.md "Local host design", "Other engine rules".
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from azure.functions.meta import Datum

from local import episode, versions
from local.activities import Activities
from local.alarms import Alarms
from local.episode import Conclusion
from local.faults import CrashPlan, CrashPoint
from local.history import Event, EventType, execution_started, from_iso, incoming, scheduled, to_iso
from local.host_json import HostJson
from local.indexing import Fn
from local.ledger import Ledger
from local.limits import cap_error
from local.live import Intake, IntakeKind, Live, Lives, take
from local.replay import Completed, Continued, Failed, RunActivity, StartChild, StartTimer, Verdict
from local.store import Instance, Message, Store, Work
from local.versions import FailureStrategy
from local.worker import FunctionWorker, InvokeError, datum

log = logging.getLogger(__name__)

SLICE_S: Final = 0.004
"""Longest run of episodes before the loop sees to HTTP again."""

POISON_AFTER: Final = 5
"""Episodes in a row that may crash the host's own machinery before their instance fails."""

FIRST_BACKOFF_S: Final = 0.1
"""Wait after the first crash of an episode; doubles with each."""


class CannotStart(ValueError):
    """An orchestration cannot be started with these arguments."""


class AlreadyActive(RuntimeError):
    """An instance of this id has not ended yet."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a new instance is started with; `input` is the raw JSON text of the wire value."""

    name: str
    instance_id: str
    input: str | None
    version: str | None
    traceparent: str | None = None
    parent: Live | None = None
    parent_task_id: int | None = None


class Engine:
    """Runs the orchestrations and activities of one app on one store."""

    def __init__(self, store: Store, worker: FunctionWorker, settings: HostJson, crashes: CrashPlan) -> None:
        self.store = store
        self.settings = settings
        self.ledger = Ledger(store, crashes)
        self.lives = Lives(store)
        self.episodes = 0
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._worker = worker
        self._replay: Callable[[Fn, Mapping[str, Datum]], Datum | None] | None = getattr(worker, "replay", None)
        self._orchestrators = _by_name(worker, "orchestrationTrigger")
        self.activities = Activities(
            worker, _by_name(worker, "activityTrigger"), settings.max_activities, self._activity_done
        )
        self._alarms = Alarms(self._ring)
        self._ready: deque[Live] = deque()
        self._invoking: set[asyncio.Task[None]] = set()
        self._finished: dict[str, list[asyncio.Future[None]]] = {}
        self._turn_handle: asyncio.Handle | None = None
        self._is_open = True

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Pick up whatever the store holds: a restart is nothing special."""
        self._alarms.load(self.store.alarms())
        for work in self.store.all_work():
            self.activities.add(work)
        for instance_id in self.store.inboxes():
            live = self.lives.get(instance_id)
            if live is not None:
                self._make_ready(live)

    async def stop(self, deadline_s: float) -> None:
        """Start nothing more, let running activities end up to the deadline, commit, and fall silent."""
        self._alarms.close()
        await self.activities.stop(deadline_s)
        if self._invoking:
            await asyncio.wait(self._invoking, timeout=deadline_s)
        self._turn()
        self._is_open = False
        if self._turn_handle is not None:
            self._turn_handle.cancel()

    def wake(self) -> None:
        """Have a turn soon."""
        if self._turn_handle is None and self._is_open:
            self._turn_handle = asyncio.get_running_loop().call_soon(self._turn)

    async def commit(self) -> None:
        """Return once everything written so far is durable."""
        committed = self.ledger.committed()
        self.wake()
        await committed

    def finished(self, instance_id: str) -> asyncio.Future[None]:
        """Return a future that ends when the running instance of this id does."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._finished.setdefault(instance_id, []).append(future)
        return future

    # -- starting and sending ------------------------------------------------------------------------------------------

    def begin(self, start: Start) -> None:
        """Write a new instance and its first message; an ended instance of the same id is replaced.

        Raises: CannotStart for an unknown orchestrator, AlreadyActive while an instance of the id runs.
        """
        if start.name.lower() not in self._orchestrators:
            raise CannotStart(
                f"The function '{start.name}' doesn't exist, is disabled, or is not an orchestrator function."
            )
        old = self.lives.get(start.instance_id)
        if old is not None:
            if not old.row.is_final:
                raise AlreadyActive(f"An Orchestration instance with the status {old.row.status} already exists.")
            self.lives.drop(old)
            self.ledger.batch.delete_instance(start.instance_id)
        now = to_iso(datetime.now(UTC))
        parent = start.parent.row if start.parent else None
        row = Instance(
            id=start.instance_id,
            execution_id=uuid.uuid4().hex,
            name=start.name,
            version=start.version if start.version is not None else self.settings.default_version,
            status="Pending",
            input=start.input,
            output=None,
            custom_status=None,
            created_at=now,
            updated_at=now,
            is_suspended=False,
            parent_id=parent.id if parent else None,
            parent_execution_id=parent.execution_id if parent else None,
            parent_task_id=start.parent_task_id,
            traceparent=start.traceparent,
        )
        live = Live(row)
        self.lives.put(live)
        self.ledger.batch.put_instance(row)
        self.ledger.mark(CrashPoint.BEFORE_START_COMMIT, CrashPoint.START_COMMIT)
        self._send_started(row)

    def send(self, instance_id: str, event: Event, *, execution_id: str | None = None, due: float = 0.0) -> None:
        """Put an event into an instance's mail, to be read at once or when it is due; no such instance, no mail."""
        live = self.lives.get(instance_id)
        if live is None or live.row.is_final:
            return
        message = Message(self.store.new_id(), instance_id, execution_id, due, event)
        self.ledger.batch.put_message(message)
        if due:
            live.timers[event["TimerId"]] = message
            self._alarms.add(due, message.id, instance_id)
        else:
            live.inbox.append(message)
            self._make_ready(live)

    def forget(self, instance_id: str) -> None:
        """Remove an ended instance and all that belongs to it."""
        live = self.lives.get(instance_id)
        if live is not None:
            self.lives.drop(live)
        self.activities.forget(instance_id)
        self.ledger.batch.delete_instance(instance_id)

    def _send_started(self, row: Instance) -> None:
        parent = None
        if row.parent_id is not None:
            parent = {
                "OrchestrationInstance": {"InstanceId": row.parent_id, "ExecutionId": row.parent_execution_id},
                "TaskScheduleId": row.parent_task_id,
                "Name": None,
                "Version": None,
            }
        started = execution_started(
            name=row.name,
            version=row.version,
            input_text=row.input,
            instance_id=row.id,
            execution_id=row.execution_id,
            parent=parent,
            traceparent=row.traceparent,
        )
        self.send(row.id, started, execution_id=row.execution_id)

    def _ring(self, message_id: int, instance_id: str) -> None:
        live = self.lives.get(instance_id)
        if live is None:
            return
        for timer_id, message in live.timers.items():
            if message.id == message_id:
                del live.timers[timer_id]
                live.inbox.append(message)
                self._make_ready(live)
                return

    def _activity_done(self, work: Work, event: Event) -> None:
        self.ledger.batch.delete_work(work.id)
        self.ledger.mark(CrashPoint.BEFORE_ACTIVITY_COMMIT, CrashPoint.ACTIVITY_COMMIT)
        self.send(work.instance_id, event, execution_id=work.execution_id)
        self.wake()

    # -- turns ---------------------------------------------------------------------------------------------------------

    def _make_ready(self, live: Live) -> None:
        if not (live.is_ready or live.is_busy or live.is_blocked):
            live.is_ready = True
            self._ready.append(live)
        self.wake()

    def _turn(self) -> None:
        self._turn_handle = None
        if not self._is_open:
            return
        end = time.perf_counter() + SLICE_S
        while self._ready and time.perf_counter() < end and len(self._invoking) < self.settings.max_orchestrators:
            live = self._ready.popleft()
            live.is_ready = False
            self._step(live)
        try:
            self.ledger.flush()
        except Exception as error:  # noqa: BLE001 - memory is ahead of the disk now: only a restart is right
            log.critical("the store cannot be written, the host stops: %s", error)
            self._is_open = False
            if not self.broken.done():
                self.broken.set_exception(error)
            return
        self.lives.trim()
        if self._ready and len(self._invoking) < self.settings.max_orchestrators:
            self.wake()

    def _step(self, live: Live) -> None:
        intake = take(live)
        if intake is None:
            return
        if intake.kind is not IntakeKind.RUN:
            self._record(live, intake)
            return
        if not versions.may_run(live.row.version, self.settings.default_version, self.settings.match):
            self._mismatched(live, intake)
            return
        now = self._now(live)
        events = [scheduled(EventType.ORCHESTRATOR_STARTED, -1, now)]
        events += [{**event, "Timestamp": now} for event in intake.events]
        fn = self._orchestrators.get(live.row.name.lower())
        if fn is None:
            self._fail(live, intake, events, f"the app has no orchestrator function {live.row.name!r} any more")
            return
        try:
            data = {fn.argument: datum(episode.payload(live, events), "string")}
            if self._replay is None:
                live.is_busy = True
                task = asyncio.get_running_loop().create_task(self._invoke(live, intake, events, fn, data))
                self._invoking.add(task)
                task.add_done_callback(self._invoking.discard)
                return
            answer: Datum | InvokeError | None
            try:
                answer = self._replay(fn, data)
            except InvokeError as error:
                answer = error
            self._apply(live, intake, events, episode.conclude(live, events, answer))
        except Exception as error:  # noqa: BLE001 - a crash of the machinery must not take the other instances along
            self._crashed(live, intake, events, error)

    async def _invoke(self, live: Live, intake: Intake, events: list[Event], fn: Fn, data: Mapping[str, Datum]) -> None:
        """Run the orchestrator on a worker that cannot replay in place."""
        try:
            answer: Datum | InvokeError | None
            try:
                answer = await self._worker.invoke(fn, data)
            except InvokeError as error:
                answer = error
            conclusion = episode.conclude(live, events, answer)
            live.is_busy = False
            self._apply(live, intake, events, conclusion)
        except Exception as error:  # noqa: BLE001 - as in _step
            live.is_busy = False
            self._crashed(live, intake, events, error)
        if live.inbox:
            self._make_ready(live)
        self.wake()

    @staticmethod
    def _now(live: Live) -> str:
        """Return the episode's clock, which never runs backwards within an execution."""
        now = to_iso(datetime.now(UTC))
        return max(now, live.past[-1]["Timestamp"]) if live.past else now

    # -- conclusions ---------------------------------------------------------------------------------------------------

    def _apply(self, live: Live, intake: Intake, events: list[Event], conclusion: Conclusion) -> None:
        self.episodes += 1
        live.crashes = 0
        now = events[0]["Timestamp"]
        self._consume(live, intake)
        self.ledger.mark(CrashPoint.BEFORE_EPISODE_COMMIT, CrashPoint.EPISODE_COMMIT)
        if conclusion.custom_status is not None:
            live.row = replace(live.row, custom_status=conclusion.custom_status)
        if conclusion.verdict is not None:
            events += self._decide(live, conclusion.verdict, now)
        match conclusion.outcome:
            case None:
                self._close(live, replace(live.row, status="Running", updated_at=now), events)
            case Completed(output):
                self._end(live, events, "Completed", None if output is None else json.dumps(output))
            case Failed(reason):
                text = f"Orchestrator function '{live.row.name}' failed: {reason}"
                self._end(live, events, "Failed", json.dumps(text))
            case Continued(text):
                assert conclusion.verdict is not None
                self._continue(live, conclusion.verdict, text, now)

    def _decide(self, live: Live, verdict: Verdict, now: str) -> list[Event]:
        row, batch, confirmations = live.row, self.ledger.batch, []
        for decision in verdict.decisions:
            match decision:
                case RunActivity(number, name, text):
                    work = Work(self.store.new_id(), row.id, row.execution_id, number, name, text, row.traceparent)
                    batch.put_work(work)
                    self.ledger.after(lambda work=work: self.activities.add(work))  # type: ignore[misc]
                    fields: dict[str, Any] = {"Name": name, "Version": None, "Input": None}
                    confirmations.append(scheduled(EventType.TASK_SCHEDULED, number, now, **fields))
                case StartTimer(number, fire_at, is_cancelled):
                    confirmations.append(scheduled(EventType.TIMER_CREATED, number, now, FireAt=fire_at))
                    if not is_cancelled:
                        fired = incoming(EventType.TIMER_FIRED, TimerId=number, FireAt=fire_at)
                        due = max(from_iso(fire_at).timestamp(), 0.001)
                        self.send(row.id, fired, execution_id=row.execution_id, due=due)
                case StartChild(number, name, text, instance_id, version):
                    fields = {"Name": name, "Version": version, "InstanceId": instance_id, "Input": None}
                    confirmations.append(scheduled(EventType.CHILD_CREATED, number, now, **fields))
                    self._begin_child(live, decision)
        for timer_id in verdict.cancelled & live.timers.keys():
            message = live.timers.pop(timer_id)
            self._alarms.cancel(message.id)
            batch.delete_message(message.id)
        return confirmations

    def _begin_child(self, live: Live, child: StartChild) -> None:
        wire_input = None if child.input is None else json.dumps(child.input)
        start = Start(child.name, child.instance_id, wire_input, child.version, live.row.traceparent, live, child.id)
        try:
            self.begin(start)
        except (CannotStart, AlreadyActive) as error:
            failed = incoming(EventType.CHILD_FAILED, TaskScheduledId=child.id, Reason=str(error), Details=None)
            self.send(live.row.id, failed, execution_id=live.row.execution_id)

    def _close(self, live: Live, row: Instance, events: list[Event]) -> None:
        """Append the episode to history and write the row."""
        live.row = row
        events.append(scheduled(EventType.ORCHESTRATOR_COMPLETED, -1, events[0]["Timestamp"]))
        number = live.episodes
        self.ledger.batch.put_episode(row.id, number, live.append(events))
        self.ledger.batch.put_instance(row)
        if live.inbox:
            self._make_ready(live)

    def _end(self, live: Live, events: list[Event], status: str, output: str | None) -> None:
        now, row = events[0]["Timestamp"], live.row
        events.append(scheduled(EventType.EXECUTION_COMPLETED, -1, now, OrchestrationStatus=status, Result=output))
        for message in (*live.inbox, *live.timers.values()):
            self._alarms.cancel(message.id)
        live.inbox, live.timers = [], {}
        self.ledger.batch.delete_messages_of(row.id)
        self._close(live, replace(row, status=status, output=output, updated_at=now, is_suspended=False), events)
        if row.parent_id is not None:
            self.send(row.parent_id, _to_parent(live.row), execution_id=row.parent_execution_id)
        self.ledger.after(lambda: self._ended(live))

    def _ended(self, live: Live) -> None:
        self.lives.drop(live)
        for future in self._finished.pop(live.row.id, ()):
            if not future.done():
                future.set_result(None)

    def _continue(self, live: Live, verdict: Verdict, text: str | None, now: str) -> None:
        """Begin the next execution; events after the end of the code come along, those it left unread are lost."""
        if verdict.unread:
            log.warning(
                "instance %s continues as new and loses the events %s, which it never awaited",
                live.row.id,
                ", ".join(verdict.unread),
            )
        for message in live.timers.values():
            self._alarms.cancel(message.id)
            self.ledger.batch.delete_message(message.id)
        self.ledger.batch.delete_history(live.row.id)
        row = replace(
            live.row,
            execution_id=uuid.uuid4().hex,
            status="Running",
            input=None if text is None else json.dumps(text),
            updated_at=now,
        )
        queued, live.inbox = live.inbox, []
        live.begin_again(row)
        self.ledger.batch.put_instance(row)
        self._send_started(row)
        for event in verdict.late:
            self.send(row.id, incoming(EventType.EVENT_RAISED, Name=event["Name"], Input=event.get("Input")))
        for message in queued:
            self.ledger.batch.delete_message(message.id)
            if message.execution_id is None:
                self.send(row.id, message.event)

    def _record(self, live: Live, intake: Intake) -> None:
        """Write down mail that needs no code to run: suspension, resumption, termination."""
        self._consume(live, intake)
        if intake.kind is IntakeKind.DISCARD:
            if live.inbox:
                self._make_ready(live)
            return
        now = self._now(live)
        events = [scheduled(EventType.ORCHESTRATOR_STARTED, -1, now)]
        events += [{**event, "Timestamp": now} for event in intake.events]
        if intake.kind is IntakeKind.TERMINATE:
            reason = intake.events[0].get("Input")
            self._end(live, events, "Terminated", None if reason is None else json.dumps(reason))
            return
        status = "Suspended" if intake.is_suspended else "Running"
        row = replace(live.row, status=status, is_suspended=intake.is_suspended, updated_at=now)
        self._close(live, row, events)

    def _consume(self, live: Live, intake: Intake) -> None:
        used = {message.id for message in intake.consumed}
        for message_id in used:
            self.ledger.batch.delete_message(message_id)
        live.inbox = [message for message in live.inbox if message.id not in used]
        if live.row.is_suspended and not intake.is_suspended:
            live.row = replace(live.row, is_suspended=False)

    # -- what goes wrong -----------------------------------------------------------------------------------------------

    def _fail(self, live: Live, intake: Intake, events: list[Event], reason: str) -> None:
        self._apply(live, intake, events, Conclusion(Failed(reason), None, None))

    def _mismatched(self, live: Live, intake: Intake) -> None:
        told = f"version {live.row.version!r}, this host runs {self.settings.default_version!r}"
        if self.settings.on_mismatch is FailureStrategy.FAIL:
            now = self._now(live)
            events = [scheduled(EventType.ORCHESTRATOR_STARTED, -1, now)]
            events += [{**event, "Timestamp": now} for event in intake.events]
            self._fail(live, intake, events, f"version mismatch: the instance has {told}")
        else:
            live.is_blocked = True
            log.warning("instance %s waits for another host: it has %s", live.row.id, told)

    def _crashed(self, live: Live, intake: Intake, events: list[Event], error: Exception) -> None:
        """Back off and try again; an episode that keeps crashing is poison, and its instance fails."""
        live.crashes += 1
        log.error("episode of instance %s crashed (%d in a row)", live.row.id, live.crashes, exc_info=error)
        if live.crashes >= POISON_AFTER:
            told = cap_error(f"{type(error).__name__}: {error}")
            self._fail(live, intake, events, f"its episode crashed {live.crashes} times in a row: {told}")
            return
        live.is_blocked = True
        wait = FIRST_BACKOFF_S * 2 ** (live.crashes - 1)
        asyncio.get_running_loop().call_later(wait, self._unblock, live)

    def _unblock(self, live: Live) -> None:
        live.is_blocked = False
        self._make_ready(live)


def _by_name(worker: FunctionWorker, kind: str) -> dict[str, Fn]:
    """Return the enabled functions of a kind by lower-case durable name: names compare without case."""
    return {fn.durable_name.lower(): fn for fn in worker.fns.values() if fn.kind == kind and not fn.is_disabled}


def _to_parent(row: Instance) -> Event:
    if row.status == "Completed":
        return incoming(EventType.CHILD_COMPLETED, TaskScheduledId=row.parent_task_id, Result=row.output)
    reason = json.loads(row.output) if row.output else None
    return incoming(EventType.CHILD_FAILED, TaskScheduledId=row.parent_task_id, Reason=reason, Details=None)
