"""Trouble on demand: what goes wrong with the next calls of a kind, before or after the shop has carried them out.

`Trouble.DROP_AFTER` on a mutation is the one that matters most: the shop did it, and nobody can tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum


class Trouble(Enum):
    """What goes wrong."""

    DROP_BEFORE = "the connection is cut, nothing happened"
    DROP_AFTER = "it happened, the connection is cut before the answer"
    HANG_BEFORE = "nothing happens and no answer comes until the client gives up"
    HANG_AFTER = "it happened, no answer comes until the client gives up"
    ERROR_BEFORE = "status 500, nothing happened"
    ERROR_AFTER = "it happened, status 500"
    INTERNAL_BEFORE = "status 200 with INTERNAL_SERVER_ERROR, nothing happened"
    INTERNAL_AFTER = "it happened, status 200 with INTERNAL_SERVER_ERROR"
    GARBAGE_BEFORE = "status 200 with a body that is no JSON, nothing happened"
    GARBAGE_AFTER = "it happened, status 200 with a body that is no JSON"
    CUT_AFTER = "it happened, half of the answer's body, then the connection is cut"
    THROTTLE = "status 200 with THROTTLED, nothing happened"
    TOO_MANY = "status 429 with Retry-After: 7, nothing happened"
    REDIRECT = "status 302 to elsewhere, nothing happened"
    HUGE = "status 200 with a body above any bound"


@dataclass
class _Planned:
    field: str
    trouble: Trouble
    times: int


@dataclass
class Faults:
    """The plan. A field is a root field ("refundCreate", "orders", …), "token", "bulk" (downloads) or "*"."""

    planned: list[_Planned] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def next(self, field: str, trouble: Trouble, *, times: int = 1) -> None:
        """Let the next `times` calls of the field meet this trouble."""
        self.planned.append(_Planned(field, trouble, times))

    def hold(self, field: str) -> asyncio.Event:
        """Make calls of the field wait, their idempotency key taken, until the returned event is set."""
        return self.gates.setdefault(field, asyncio.Event())

    def take(self, fields: Iterable[str]) -> Trouble | None:
        """Return what these fields meet now, and count it."""
        wanted = {*fields, "*"}
        for plan in self.planned:
            if plan.field in wanted and plan.times > 0:
                plan.times -= 1
                return plan.trouble
        return None

    async def wait(self, field: str) -> None:
        """Wait at the field's gate, if there is one."""
        gate = self.gates.get(field)
        if gate is not None:
            await gate.wait()
