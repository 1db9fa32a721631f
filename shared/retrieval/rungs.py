"""The calls a search makes, each with its deadline and its own breaker: a failing one costs its rung and no other.

Owns when a dependency is left alone; which rung then serves is the ladder's. Source: KB-09, RK-01.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from shared.domain.errors import IntegrationError, SchemaError
from shared.ports.clock import Clock
from shared.retrieval.breaker import Breaker

T = TypeVar("T")


class Step(StrEnum):
    """What a search asks of others."""

    HEAD = "head"
    """The tenant's knowledge version."""
    INDEX = "index"
    """The keyword index, caught up to it."""
    EMBED = "embed"
    """The question as a vector."""
    NEAREST = "nearest"
    """The articles near to it, and by vectors alone their texts."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds each step may take; together below the retriever's own deadline (agents.SPECS)."""

    head_s: float = 1.0
    index_s: float = 2.5
    embed_s: float = 2.0
    nearest_s: float = 1.5

    def of(self, step: Step) -> float:
        """Return the step's own."""
        return {
            Step.HEAD: self.head_s,
            Step.INDEX: self.index_s,
            Step.EMBED: self.embed_s,
            Step.NEAREST: self.nearest_s,
        }[step]


class Rungs:
    """The breakers of one process's search."""

    def __init__(self, clock: Clock, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._breakers = {step: Breaker(clock) for step in Step}

    @property
    def spared(self) -> frozenset[Step]:
        """Return the steps that are left alone at the moment."""
        return frozenset(step for step, breaker in self._breakers.items() if breaker.is_sparing)

    @property
    def is_search_spared(self) -> bool:
        """Tell whether neither ranking can be asked: until a trial succeeds, turns only acknowledge (RK-01)."""
        spared = self.spared
        return bool(spared & {Step.HEAD, Step.INDEX}) and bool(spared & {Step.EMBED, Step.NEAREST})

    async def ask(self, step: Step, call: Callable[[], Awaitable[T]]) -> T | None:
        """Return what the dependency answers, or None when it fails, is too slow or is being spared."""
        breaker = self._breakers[step]
        if breaker.is_open:
            return None
        try:
            async with asyncio.timeout(self._deadlines.of(step)):
                value = await call()
        except (IntegrationError, SchemaError):
            breaker.fail()
            return None
        except TimeoutError:
            # A big tenant's index that is still being built says nothing about the store; other tenants keep theirs.
            if step is not Step.INDEX:
                breaker.fail()
            return None
        breaker.succeed()
        return value
