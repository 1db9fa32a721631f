"""Timer triggers: one loop per function, one run at a time, at most one catch-up for what was missed.

Owns the monitor's rules; the next moment is computed after a run ends, so runs never overlap, and a failing run never
stops the schedule. Source: functions.md §10.6.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from azure.functions.meta import Datum

from local.history import from_iso, to_iso
from local.host_json import resolve_setting
from local.indexing import Fn
from local.ncrontab import BadSchedule, Schedule, parse_schedule
from local.retry_policy import to_policy
from local.store import Store, TimerState
from local.worker import Call, FunctionWorker, InvokeError, datum

log = logging.getLogger(__name__)

LONGEST_SLEEP_S: Final = 60.0
"""The wall clock is looked at again this often."""


@dataclass(frozen=True, slots=True)
class FirstRun:
    """What a timer does when the host starts."""

    next: datetime
    runs_now: bool
    is_past_due: bool


def first_run(
    state: TimerState | None, *, text: str, schedule: Schedule, now: datetime, uses_monitor: bool, on_startup: bool
) -> FirstRun:
    """Return when a timer runs first: one catch-up if it missed a moment, however many it missed."""
    upcoming = schedule.after(now)
    if uses_monitor and state is not None and state.schedule == text:
        stored = from_iso(state.next)
        if stored <= now:
            return FirstRun(upcoming, runs_now=True, is_past_due=True)
        return FirstRun(stored, runs_now=on_startup, is_past_due=False)
    return FirstRun(upcoming, runs_now=on_startup, is_past_due=False)


class Timer:
    """One timer function."""

    def __init__(
        self, fn: Fn, worker: FunctionWorker, store: Store, client: Datum, clock: Callable[[], datetime]
    ) -> None:
        self.fn = fn
        self._worker = worker
        self._store = store
        self._client = client
        self._clock = clock
        text = resolve_setting(str(fn.trigger["schedule"]))
        if text is None:
            raise BadSchedule(f"timer {fn.name!r}: a setting in {fn.trigger['schedule']!r} is not set")
        self._text = text
        self._schedule = parse_schedule(text)
        wanted = fn.trigger.get("useMonitor")
        self._uses_monitor = wanted is not False and not self._schedule.is_frequent(clock())
        self._lock = asyncio.Lock()

    async def run(self) -> None:
        """Follow the schedule until cancelled."""
        state = self._store.timer(self.fn.name)
        first = first_run(
            state,
            text=self._text,
            schedule=self._schedule,
            now=self._clock(),
            uses_monitor=self._uses_monitor,
            on_startup=bool(self.fn.trigger.get("runOnStartup")),
        )
        upcoming = first.next
        self._remember(state.last if state else None, upcoming)
        if first.runs_now:
            upcoming = await self._run_and_plan(is_past_due=first.is_past_due)
        while True:
            wait = (upcoming - self._clock()).total_seconds()
            if wait > 0:
                await asyncio.sleep(min(wait, LONGEST_SLEEP_S))
                # A clock that was set back must not silence the schedule for as long.
                upcoming = min(upcoming, self._schedule.after(self._clock()))
            else:
                upcoming = await self._run_and_plan(is_past_due=False)

    async def run_once(self, *, is_past_due: bool = False) -> None:
        """Run the function now, with its retries; waits for a run in progress."""
        policy, failures = to_policy(self.fn.retry), 0
        async with self._lock:
            while True:
                data = {self.fn.argument: self._info(is_past_due=is_past_due)}
                data.update(dict.fromkeys(self.fn.clients, self._client))
                try:
                    await self._worker.invoke(
                        self.fn, data, Call(retry_count=failures, max_retry_count=policy.max_retries)
                    )
                    return
                except InvokeError as error:
                    failures += 1
                    log.error("timer %s failed (%d): %s", self.fn.name, failures, error)
                    if not policy.may_retry(failures):
                        return
                    await asyncio.sleep(policy.wait_s(failures))

    async def _run_and_plan(self, *, is_past_due: bool) -> datetime:
        started = self._clock()
        await self.run_once(is_past_due=is_past_due)
        upcoming = self._schedule.after(self._clock())
        self._remember(to_iso(started), upcoming)
        return upcoming

    def _remember(self, last: str | None, upcoming: datetime) -> None:
        if self._uses_monitor:
            now = to_iso(self._clock())
            self._store.put_timer(TimerState(self.fn.name, self._text, last, to_iso(upcoming), now))

    def _info(self, *, is_past_due: bool) -> Datum:
        info: dict[str, object] = {"Schedule": {"AdjustForDST": True}, "IsPastDue": is_past_due}
        state = self._store.timer(self.fn.name) if self._uses_monitor else None
        if state is not None:
            info["ScheduleStatus"] = {
                "Last": state.last or "0001-01-01T00:00:00Z",
                "Next": state.next,
                "LastUpdated": state.updated,
            }
        return datum(json.dumps(info), "json")


def utc_now() -> datetime:
    """Return the wall clock."""
    return datetime.now(UTC)
