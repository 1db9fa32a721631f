"""In-process hints that a turn has ended, so that a waiting request need not poll; the turn row is the truth.

A hint may be missed (another instance delivered); the waiter then finds the row at its next look.
Source: design §3 "Events are hints, the store is the truth".
"""

import asyncio
from collections import defaultdict

from shared.domain.ids import InstanceId


class TurnSignals:
    """One future a waiter, keyed by the turn's instance; all on the worker's single event loop."""

    def __init__(self) -> None:
        self._waiters: defaultdict[InstanceId, set[asyncio.Future[None]]] = defaultdict(set)

    async def wait(self, instance: InstanceId, timeout_s: float) -> None:
        """Return when the turn is announced or the time is over; never raises for either."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[instance].add(future)
        try:
            async with asyncio.timeout(timeout_s):
                await future
        except TimeoutError:
            pass
        finally:
            self._waiters[instance].discard(future)
            if not self._waiters[instance]:
                del self._waiters[instance]

    def announce(self, instance: InstanceId) -> None:
        """Wake everybody who waits for the turn."""
        for future in self._waiters.get(instance, ()):
            if not future.done():
                future.set_result(None)
