"""What a caller may ask of the orchestrations: start, raise, suspend, resume, terminate, purge, look up.

Checks what the Durable extension checks and returns once the request is durable. Knows nothing of HTTP.
Source: functions.md §5, §3.6.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Sequence
from typing import Final

from local.engine import Engine
from local.history import EventType, incoming
from local.limits import MAX_INSTANCE_ID_CHARS, check_payload
from local.scribe import CannotStart, Start
from local.store import Instance

_BAD_ID: Final = re.compile(r"[/\\#?\x00-\x1f\x7f-\x9f]")


class NotFound(LookupError):
    """There is no instance of this id."""


class Ended(RuntimeError):
    """The instance has ended and takes no more requests."""


class Operations:
    """The client side of an engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def start(
        self,
        name: str,
        instance_id: str | None = None,
        input_text: str | None = None,
        *,
        version: str | None = None,
        traceparent: str | None = None,
    ) -> str:
        """Start an orchestration and return its id; `input_text` is the JSON text of the wire value.

        Raises: CannotStart, AlreadyActive, TooLarge.
        """
        chosen = instance_id or uuid.uuid4().hex
        if chosen.startswith("@") or _BAD_ID.search(chosen) or len(chosen) > MAX_INSTANCE_ID_CHARS:
            raise CannotStart(
                f"Instance ids must not start with '@', nor contain / \\ # ? or control characters, nor be longer than "
                f"{MAX_INSTANCE_ID_CHARS} characters."
            )
        check_payload(input_text, f"the input of {name!r}")
        self._engine.scribe.begin(Start(name, chosen, input_text, version, traceparent))
        await self._engine.commit()
        return chosen

    def find(self, instance_id: str) -> Instance | None:
        """Return an instance as it is now."""
        live = self._engine.lives.peek(instance_id)
        return live.row if live is not None else self._engine.store.instance(instance_id)

    async def wait(self, instance_id: str, timeout_s: float) -> Instance:
        """Return the instance when it has ended, or as it is when the time is up.

        Raises: NotFound.
        """
        row = self._known(instance_id)
        if not row.is_final:
            await asyncio.wait([self._engine.finished(instance_id)], timeout=timeout_s)
            row = self._known(instance_id)
        return row

    async def raise_event(self, instance_id: str, name: str, input_text: str | None) -> None:
        """Send an external event; `input_text` is the JSON text of the wire value.

        Raises: NotFound, Ended, TooLarge.
        """
        check_payload(input_text, f"the event {name!r}")
        self._running(instance_id)
        self._engine.scribe.send(instance_id, incoming(EventType.EVENT_RAISED, Name=name, Input=input_text))
        await self._engine.commit()

    async def terminate(self, instance_id: str, reason: str | None) -> None:
        """End an instance at once. Raises: NotFound, Ended."""
        self._running(instance_id)
        self._engine.scribe.send(instance_id, incoming(EventType.EXECUTION_TERMINATED, Input=reason))
        await self._engine.commit()

    async def suspend(self, instance_id: str, reason: str | None) -> None:
        """Hold an instance's mail back. Raises: NotFound, Ended."""
        self._running(instance_id)
        self._engine.scribe.send(instance_id, incoming(EventType.SUSPENDED, Reason=reason))
        await self._engine.commit()

    async def resume(self, instance_id: str, reason: str | None) -> None:
        """Hand over the mail held back. Raises: NotFound, Ended."""
        self._running(instance_id)
        self._engine.scribe.send(instance_id, incoming(EventType.RESUMED, Reason=reason))
        await self._engine.commit()

    async def purge(self, instance_id: str) -> int:
        """Remove an ended instance and return how many were removed: 0 while it runs. Raises: NotFound."""
        if not self._known(instance_id).is_final:
            return 0
        self._engine.scribe.forget(instance_id)
        await self._engine.commit()
        return 1

    async def purge_all(self, *, created_from: str, created_to: str | None = None, statuses: Sequence[str] = ()) -> int:
        """Remove every ended instance created in a span of time and return how many there were."""
        removed, after = 0, None
        while page := self._engine.store.instances(
            created_from=created_from, created_to=created_to, statuses=statuses, after=after
        ):
            after = (page[-1].created_at, page[-1].id)
            for row in page:
                if row.is_final:
                    self._engine.scribe.forget(row.id)
                    removed += 1
            await self._engine.commit()
        return removed

    def _known(self, instance_id: str) -> Instance:
        row = self.find(instance_id)
        if row is None:
            raise NotFound(f"no instance {instance_id!r}")
        return row

    def _running(self, instance_id: str) -> Instance:
        row = self._known(instance_id)
        if row.is_final:
            raise Ended(f"instance {instance_id!r} has ended")
        return row
