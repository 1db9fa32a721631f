"""Group commit: everything decided in one turn becomes durable in one transaction, then its effects leave.

Owns the open batch. Nothing that was promised to happen `after` runs before the commit that covers it, so no activity
starts and no caller hears of anything the disk does not know. Source: functions.md §7.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from local.faults import CrashPlan, CrashPoint
from local.store import Batch, Store


class Ledger:
    """The batch being filled and what follows its commit."""

    def __init__(self, store: Store, crashes: CrashPlan) -> None:
        self.batch = Batch()
        self._store = store
        self._crashes = crashes
        self._after: list[Callable[[], None]] = []
        self._points: list[tuple[CrashPoint, CrashPoint]] = []
        self._waiting: list[asyncio.Future[None]] = []

    def after(self, effect: Callable[[], None]) -> None:
        """Run an effect once the batch is durable."""
        self._after.append(effect)

    def mark(self, before: CrashPoint, behind: CrashPoint) -> None:
        """Place one unit of work between its two crash points."""
        if self._crashes.is_armed:
            self._points.append((before, behind))

    def committed(self) -> asyncio.Future[None]:
        """Return a future that ends with the commit of what is in the batch now."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return future

    def flush(self) -> None:
        """Commit the batch and release its effects; an error of the store reaches every waiter and the caller."""
        batch, self.batch = self.batch, Batch()
        effects, self._after = self._after, []
        points, self._points = self._points, []
        waiting, self._waiting = self._waiting, []
        for before, _ in points:
            self._crashes.passing(before)
        try:
            if batch:
                self._store.commit(batch)
        except Exception as error:
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
            raise
        for _, behind in points:
            self._crashes.passing(behind)
        for effect in effects:
            effect()
        for future in waiting:
            if not future.done():
                future.set_result(None)
