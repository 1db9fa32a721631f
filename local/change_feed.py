"""Cosmos DB triggers over a local change source: at least once, in order, newest version per id within a batch.

Reads what a store has written after the checkpoint, hands it over, and moves the checkpoint once the invocation has
returned or its retries are used up — a failing batch is skipped, as on Azure. Source: functions.md §10.7, §10.8.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from typing import Any, Final, Protocol

from azure.functions.meta import Datum

from local.faults import CrashPlan, CrashPoint
from local.host_json import resolve_setting
from local.indexing import Fn
from local.retry_policy import to_policy
from local.store import Store
from local.worker import Call, FunctionWorker, InvokeError, datum

log = logging.getLogger(__name__)

DEFAULT_POLL_MS: Final = 5_000
"""Wait between reads of a quiet feed. Source: Cosmos DB extension, `feedPollDelay`."""

DEFAULT_BATCH: Final = 100
"""Changes read at once when the trigger names no `maxItemsPerInvocation`."""


class ChangeSource(Protocol):
    """A store that numbers its writes, rising, per container."""

    def read(self, container: str, after_seq: int, limit: int) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return at most `limit` changes of a container after a sequence number, in order, as (seq, document)."""


class ChangeFeed:
    """One change-feed function."""

    def __init__(
        self,
        fn: Fn,
        worker: FunctionWorker,
        store: Store,
        source: ChangeSource,
        client: Datum,
        crashes: CrashPlan,
    ) -> None:
        self.fn = fn
        self._worker = worker
        self._store = store
        self._source = source
        self._client = client
        self._crashes = crashes
        self.container = _setting(fn, "containerName")
        self._lease = f"{fn.name}:{_setting(fn, 'leaseContainerPrefix')}:{self.container}"
        self._poll_s = float(fn.trigger.get("feedPollDelay") or DEFAULT_POLL_MS) / 1000
        self._batch = int(fn.trigger.get("maxItemsPerInvocation") or DEFAULT_BATCH)
        self._poked = asyncio.Event()

    def poke(self) -> None:
        """Read the feed at once instead of at the next poll."""
        self._poked.set()

    async def run(self) -> None:
        """Follow the feed until cancelled."""
        if self._store.checkpoint(self._lease) is None:
            self._store.put_checkpoint(self._lease, await self._beginning())
        while True:
            if not await self.run_once():
                try:
                    await asyncio.wait_for(self._poked.wait(), self._poll_s)
                except TimeoutError:
                    pass
            self._poked.clear()

    async def run_once(self) -> bool:
        """Handle one batch and return whether there was any."""
        after = self._store.checkpoint(self._lease) or 0
        changes = await asyncio.to_thread(self._source.read, self.container, after, self._batch)
        if not changes:
            return False
        await self._deliver(_newest(changes))
        self._crashes.passing(CrashPoint.BEFORE_CHECKPOINT)
        self._store.put_checkpoint(self._lease, changes[-1][0])
        self._crashes.passing(CrashPoint.CHECKPOINT)
        return True

    async def _deliver(self, documents: Sequence[dict[str, Any]]) -> None:
        data = {self.fn.argument: datum(json.dumps(documents), "json")}
        data.update(dict.fromkeys(self.fn.clients, self._client))
        policy, failures = to_policy(self.fn.retry), 0
        while True:
            try:
                await self._worker.invoke(self.fn, data, Call(retry_count=failures, max_retry_count=policy.max_retries))
                return
            except InvokeError as error:
                failures += 1
                log.error("change feed %s failed (%d): %s", self.fn.name, failures, error)
                if not policy.may_retry(failures):
                    log.error("change feed %s skips %d documents", self.fn.name, len(documents))
                    return
                await asyncio.sleep(policy.wait_s(failures))

    async def _beginning(self) -> int:
        """Return where a feed without a checkpoint begins: before everything, or after what is there now."""
        if self.fn.trigger.get("startFromBeginning"):
            return 0
        last = 0
        while changes := await asyncio.to_thread(self._source.read, self.container, last, 1_000):
            last = changes[-1][0]
        return last


def _newest(changes: Sequence[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the newest version of each document, in the order of those versions.

    A document is told by its `_rid`, as in Cosmos DB: an id alone may occur in every partition.
    """
    last = {_identity(document): seq for seq, document in changes}
    return [document for seq, document in changes if last[_identity(document)] == seq]


def _identity(document: dict[str, Any]) -> object:
    return document.get("_rid", document.get("id"))


def _setting(fn: Fn, name: str) -> str:
    text = str(fn.trigger.get(name) or "")
    return resolve_setting(text) or text
