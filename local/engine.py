"""The pump: takes mail, runs episodes, applies their conclusions, commits, and lets the effects out.

Runs on the host's loop in turns: a turn steps every ready instance for at most a slice of time, then commits all of it
in one transaction. Owns when things happen; what an episode decides is `episode` and `replay`, what callers may ask is
`operations`. Source: functions.md §7, §3.6.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from azure.functions.meta import Datum

from local import episode, versions
from local.activities import Activities
from local.alarms import Alarms
from local.decisions import Failed
from local.episode import Conclusion
from local.faults import CrashPlan, CrashPoint
from local.history import Event
from local.host_json import HostJson
from local.indexing import Fn
from local.ledger import Ledger
from local.limits import cap_error
from local.live import Intake, IntakeKind, Live, Lives, take
from local.scribe import Effects, Scribe
from local.store import Store, Work
from local.versions import FailureStrategy
from local.worker import FunctionWorker, InvokeError, datum

log = logging.getLogger(__name__)

SLICE_S: Final = 0.004
"""Longest run of episodes before the loop sees to HTTP again."""

POISON_AFTER: Final = 5
"""Episodes in a row that may crash the host's own machinery before their instance fails."""

FIRST_BACKOFF_S: Final = 0.1
"""Wait after the first crash of an episode; doubles with each."""


class HostStopping(RuntimeError):
    """The engine takes no more requests."""


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
        self.scribe = Scribe(
            store,
            self.ledger,
            self.lives,
            self._alarms,
            orchestrators=self._orchestrators,
            default_version=settings.default_version,
            effects=Effects(self._make_ready, self.activities.add, self.activities.forget, self._ended),
        )
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
        """Return once everything written so far is durable. Raises: HostStopping when it never will be."""
        if not self._is_open:
            raise HostStopping("the host is stopping")
        committed = self.ledger.committed()
        self.wake()
        await committed

    def finished(self, instance_id: str) -> asyncio.Future[None]:
        """Return a future that ends when the running instance of this id does."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._finished.setdefault(instance_id, []).append(future)
        return future

    # -- mail ----------------------------------------------------------------------------------------------------------

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

    def _ended(self, live: Live) -> None:
        self.lives.drop(live)
        for future in self._finished.pop(live.row.id, ()):
            if not future.done():
                future.set_result(None)

    def _activity_done(self, work: Work, event: Event) -> None:
        self.ledger.batch.delete_work(work.id)
        self.ledger.mark(CrashPoint.BEFORE_ACTIVITY_COMMIT, CrashPoint.ACTIVITY_COMMIT)
        self.scribe.send(work.instance_id, event, execution_id=work.execution_id)
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
            self.scribe.record(live, intake)
            return
        if not versions.may_run(live.row.version, self.settings.default_version, self.settings.match):
            self._mismatched(live, intake)
            return
        events = self.scribe.start_episode(live, intake)
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

    # -- what goes wrong -----------------------------------------------------------------------------------------------

    def _fail(self, live: Live, intake: Intake, events: list[Event], reason: str) -> None:
        self._apply(live, intake, events, Conclusion(Failed(reason), None, None))

    def _apply(self, live: Live, intake: Intake, events: list[Event], conclusion: Conclusion) -> None:
        self.episodes += 1
        self.scribe.apply(live, intake, events, conclusion)

    def _mismatched(self, live: Live, intake: Intake) -> None:
        told = f"version {live.row.version!r}, this host runs {self.settings.default_version!r}"
        if self.settings.on_mismatch is FailureStrategy.FAIL:
            events = self.scribe.start_episode(live, intake)
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
