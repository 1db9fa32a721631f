"""Slots for reviews in one process, sharded by severity, so that the critical lane stays clear however many wait.

A review takes a slot of its own lane or a free one of a less severe lane, never one kept for the more severe. A slot
that is given back goes to the most severe review that may use it, the oldest first. Waiting is bounded and counted;
nothing here judges. All on the worker's single event loop. Source: SU-06, RT-07, RT-08, OB-03 (depth and hold).
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from shared.domain.errors import Unavailable
from shared.domain.human_triggers import Severity
from shared.domain.priority import TIER

SLOTS: Final = {Severity.CRITICAL: 16, Severity.HIGH: 32, Severity.NORMAL: 64, Severity.LOW: 32}
"""Reviews at a time, by lane. Values ours: a review waits for a model, and the model's own limit lies beyond."""
MAX_WAITING: Final = 500
"""Reviews that may wait in one lane; more is not kept but refused, which ends at a person (RT-08). Value ours."""


@dataclass(frozen=True, slots=True)
class Hold:
    """How a review came to its slot."""

    depth: int
    """Reviews that waited in its lane when it came."""
    waited_ms: int


@dataclass(frozen=True, slots=True)
class LaneFigures:
    """What has happened in one lane since the process began."""

    waiting: int
    """Now."""
    served: int
    refused: int
    waited_ms: int
    """All waits together."""
    longest_ms: int
    deepest: int
    """Most that waited at once, as newcomers found it."""


class ReviewLanes:
    """The lanes of one process."""

    def __init__(self, slots: Mapping[Severity, int] = SLOTS, *, now: Callable[[], float] = time.monotonic) -> None:
        """`now`: seconds of a steady clock."""
        self._order = sorted(slots, key=TIER.__getitem__)
        self._free = dict(slots)
        self._waiting: dict[Severity, deque[asyncio.Future[Severity]]] = {lane: deque() for lane in slots}
        self._figures = {lane: LaneFigures(0, 0, 0, 0, 0, 0) for lane in slots}
        self._now = now

    @asynccontextmanager
    async def slot(self, severity: Severity) -> AsyncIterator[Hold]:
        """Hold a slot for the review inside; leaving gives it back, whatever happened.

        Raises: Unavailable when the lane's queue is full; nothing was waited for then.
        """
        began, depth = self._now(), len(self._waiting[severity])
        lane = self._take(severity)
        if lane is None:
            lane = await self._wait(severity)
        try:
            hold = Hold(depth, round((self._now() - began) * 1000))
            self._note(severity, hold)
            yield hold
        finally:
            self._give(lane)

    def figures(self) -> dict[Severity, LaneFigures]:
        """Return each lane's figures, for metrics."""
        return {lane: replace(self._figures[lane], waiting=len(self._waiting[lane])) for lane in self._order}

    def _take(self, severity: Severity) -> Severity | None:
        """Take a free slot the severity may use, its own lane's first."""
        for lane in self._order[self._order.index(severity) :]:
            if self._free[lane] > 0:
                self._free[lane] -= 1
                return lane
        return None

    async def _wait(self, severity: Severity) -> Severity:
        queue = self._waiting[severity]
        if len(queue) >= MAX_WAITING:
            known = self._figures[severity]
            self._figures[severity] = replace(known, refused=known.refused + 1)
            raise Unavailable(f"{len(queue)} reviews wait in lane {severity.value}")
        given: asyncio.Future[Severity] = asyncio.get_running_loop().create_future()
        queue.append(given)
        try:
            return await given
        except asyncio.CancelledError:
            if given.cancelled():
                queue.remove(given)
            else:
                # The slot was given in the moment the review was called off.
                self._give(given.result())
            raise

    def _give(self, lane: Severity) -> None:
        """Pass a slot of the lane on, or lay it back."""
        for severity in self._order[: self._order.index(lane) + 1]:
            queue = self._waiting[severity]
            given = next((future for future in queue if not future.done()), None)
            if given is not None:
                queue.remove(given)
                given.set_result(lane)
                return
        self._free[lane] += 1

    def _note(self, severity: Severity, hold: Hold) -> None:
        known = self._figures[severity]
        self._figures[severity] = replace(
            known,
            served=known.served + 1,
            waited_ms=known.waited_ms + hold.waited_ms,
            longest_ms=max(known.longest_ms, hold.waited_ms),
            deepest=max(known.deepest, hold.depth),
        )
