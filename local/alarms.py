"""Future mail: rings the engine when the earliest timer is due.

Keeps (due, message id, instance id) in a heap and sleeps on the loop's clock; the messages themselves are rows of the
store. A cancelled alarm is forgotten at once and swept from the heap when the heap is mostly dead.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections.abc import Callable, Iterable
from typing import Final

LONGEST_SLEEP_S: Final = 60.0
"""The wall clock is looked at again this often: it may be set while the host sleeps."""

_SWEEP_FROM: Final = 1_000


class Alarms:
    """The due times of messages that must wait."""

    def __init__(self, ring: Callable[[int, str], None]) -> None:
        self._ring = ring
        self._heap: list[tuple[float, int, str]] = []
        self._set: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._set)

    def load(self, alarms: Iterable[tuple[float, int, str]]) -> None:
        """Take over the alarms of the store."""
        self._heap = list(alarms)
        heapq.heapify(self._heap)
        self._set = {message_id for _, message_id, _ in self._heap}
        self._sleep()

    def add(self, due: float, message_id: int, instance_id: str) -> None:
        """Set one alarm."""
        heapq.heappush(self._heap, (due, message_id, instance_id))
        self._set.add(message_id)
        if self._heap[0][1] == message_id:
            self._sleep()

    def cancel(self, message_id: int) -> None:
        """Forget one alarm."""
        self._set.discard(message_id)
        if len(self._heap) > _SWEEP_FROM and len(self._heap) > 2 * len(self._set):
            self._heap = [alarm for alarm in self._heap if alarm[1] in self._set]
            heapq.heapify(self._heap)

    def close(self) -> None:
        """Ring no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _sleep(self) -> None:
        self.close()
        if self._heap:
            wait = min(max(0.0, self._heap[0][0] - time.time()), LONGEST_SLEEP_S)
            self._timer = asyncio.get_running_loop().call_later(wait, self._wake)

    def _wake(self) -> None:
        now = time.time()
        while self._heap and self._heap[0][0] <= now:
            _, message_id, instance_id = heapq.heappop(self._heap)
            if message_id in self._set:
                self._set.discard(message_id)
                self._ring(message_id, instance_id)
        self._sleep()
