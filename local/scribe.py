"""Writes down what episodes conclude: new instances, mail, history, decisions, ends and new generations.

Turns conclusions into one batch of rows and the effects that follow its commit. Never runs code and never commits.
Source: functions.md §3.6, §3.3.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from local.alarms import Alarms
from local.decisions import Completed, Continued, Failed, RunActivity, StartChild, StartTimer, Verdict
from local.episode import Conclusion
from local.faults import CrashPoint
from local.history import Event, EventType, execution_started, from_iso, incoming, scheduled, to_iso
from local.ledger import Ledger
from local.live import Intake, IntakeKind, Live, Lives
from local.store import Instance, Message, Store, Work

log = logging.getLogger(__name__)

HISTORY_ALARM_EVENTS: Final = 1_000
"""A history this long replays slowly and costs money; said once for each thousand. Source: functions.md §10.10."""


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


@dataclass(frozen=True, slots=True)
class Effects:
    """What writing sets off: an instance has mail; after the commit, an activity may run, an instance has ended."""

    has_mail: Callable[[Live], None]
    may_run: Callable[[Work], None]
    is_replaced: Callable[[str], None]
    has_ended: Callable[[Live], None]


class Scribe:
    """The writer of one engine."""

    def __init__(
        self,
        store: Store,
        ledger: Ledger,
        lives: Lives,
        alarms: Alarms,
        *,
        orchestrators: Collection[str],
        default_version: str | None,
        effects: Effects,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._lives = lives
        self._alarms = alarms
        self._orchestrators = orchestrators
        self._default_version = default_version
        self._effects = effects

    # -- starting and sending ------------------------------------------------------------------------------------------

    def begin(self, start: Start) -> None:
        """Write a new instance and its first message; an ended instance of the same id is replaced.

        Raises: CannotStart for an unknown orchestrator, AlreadyActive while an instance of the id runs.
        """
        if start.name.lower() not in self._orchestrators:
            raise CannotStart(
                f"The function '{start.name}' doesn't exist, is disabled, or is not an orchestrator function."
            )
        old = self._lives.get(start.instance_id)
        if old is not None:
            if not old.row.is_final:
                raise AlreadyActive(f"An Orchestration instance with the status {old.row.status} already exists.")
            self._lives.drop(old)
            self._effects.is_replaced(start.instance_id)
            self._ledger.batch.delete_instance(start.instance_id)
        now = to_iso(datetime.now(UTC))
        parent = start.parent.row if start.parent else None
        row = Instance(
            id=start.instance_id,
            execution_id=uuid.uuid4().hex,
            name=start.name,
            version=start.version if start.version is not None else self._default_version,
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
        self._lives.put(live)
        self._ledger.batch.put_instance(row)
        self._ledger.mark(CrashPoint.BEFORE_START_COMMIT, CrashPoint.START_COMMIT)
        self._send_started(row)

    def send(self, instance_id: str, event: Event, *, execution_id: str | None = None, due: float = 0.0) -> None:
        """Put an event into an instance's mail, to be read at once or when it is due; no such instance, no mail."""
        live = self._lives.get(instance_id)
        if live is None or live.row.is_final:
            return
        message = Message(self._store.new_id(), instance_id, execution_id, due, event)
        self._ledger.batch.put_message(message)
        if due:
            live.timers[event["TimerId"]] = message
            self._alarms.add(due, message.id, instance_id)
        else:
            live.inbox.append(message)
            self._effects.has_mail(live)

    def forget(self, instance_id: str) -> None:
        """Remove an ended instance and all that belongs to it."""
        live = self._lives.get(instance_id)
        if live is not None:
            self._lives.drop(live)
        self._effects.is_replaced(instance_id)
        self._ledger.batch.delete_instance(instance_id)

    # -- conclusions ---------------------------------------------------------------------------------------------------

    def start_episode(self, live: Live, intake: Intake) -> list[Event]:
        """Return the events an episode begins with: its clock, which never runs backwards, then the mail it took."""
        now = to_iso(datetime.now(UTC))
        if live.past:
            now = max(now, live.past[-1]["Timestamp"])
        return [
            scheduled(EventType.ORCHESTRATOR_STARTED, -1, now),
            *({**event, "Timestamp": now} for event in intake.events),
        ]

    def apply(self, live: Live, intake: Intake, events: list[Event], conclusion: Conclusion) -> None:
        """Write what an episode concludes."""
        live.crashes = 0
        now = events[0]["Timestamp"]
        self._consume(live, intake)
        self._ledger.mark(CrashPoint.BEFORE_EPISODE_COMMIT, CrashPoint.EPISODE_COMMIT)
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
        row, batch, confirmations = live.row, self._ledger.batch, []
        for decision in verdict.decisions:
            match decision:
                case RunActivity(number, name, text):
                    work = Work(self._store.new_id(), row.id, row.execution_id, number, name, text, row.traceparent)
                    batch.put_work(work)
                    self._ledger.after(partial(self._effects.may_run, work))
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
        self._ledger.batch.put_episode(row.id, number, live.append(events))
        self._ledger.batch.put_instance(row)
        before = len(live.past) - len(events)
        if before // HISTORY_ALARM_EVENTS < len(live.past) // HISTORY_ALARM_EVENTS:
            log.warning("the history of instance %s has %d events: continue as new", row.id, len(live.past))
        if live.inbox:
            self._effects.has_mail(live)

    def _end(self, live: Live, events: list[Event], status: str, output: str | None) -> None:
        now, row = events[0]["Timestamp"], live.row
        events.append(scheduled(EventType.EXECUTION_COMPLETED, -1, now, OrchestrationStatus=status, Result=output))
        for message in (*live.inbox, *live.timers.values()):
            self._alarms.cancel(message.id)
        live.inbox, live.timers = [], {}
        self._ledger.batch.delete_messages_of(row.id)
        self._close(live, replace(row, status=status, output=output, updated_at=now, is_suspended=False), events)
        if row.parent_id is not None:
            self.send(row.parent_id, _to_parent(live.row), execution_id=row.parent_execution_id)
        self._ledger.after(partial(self._effects.has_ended, live))

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
            self._ledger.batch.delete_message(message.id)
        self._ledger.batch.delete_history(live.row.id)
        row = replace(
            live.row,
            execution_id=uuid.uuid4().hex,
            status="Running",
            input=None if text is None else json.dumps(text),
            updated_at=now,
        )
        queued, live.inbox = live.inbox, []
        live.begin_again(row)
        self._ledger.batch.put_instance(row)
        self._send_started(row)
        for event in verdict.late:
            self.send(row.id, incoming(EventType.EVENT_RAISED, Name=event["Name"], Input=event.get("Input")))
        for message in queued:
            self._ledger.batch.delete_message(message.id)
            if message.execution_id is None:
                self.send(row.id, message.event)

    def record(self, live: Live, intake: Intake) -> None:
        """Write down mail that needs no code to run: suspension, resumption, termination."""
        self._consume(live, intake)
        if intake.kind is IntakeKind.DISCARD:
            if live.inbox:
                self._effects.has_mail(live)
            return
        events = self.start_episode(live, intake)
        now = events[0]["Timestamp"]
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
            self._ledger.batch.delete_message(message_id)
        live.inbox = [message for message in live.inbox if message.id not in used]
        if live.row.is_suspended and not intake.is_suspended:
            live.row = replace(live.row, is_suspended=False)

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


def _to_parent(row: Instance) -> Event:
    if row.status == "Completed":
        return incoming(EventType.CHILD_COMPLETED, TaskScheduledId=row.parent_task_id, Result=row.output)
    reason = json.loads(row.output) if row.output else None
    return incoming(EventType.CHILD_FAILED, TaskScheduledId=row.parent_task_id, Reason=reason, Details=None)
