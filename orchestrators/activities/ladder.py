"""The first rungs of the ladder, inside the activity: same call, back-off, reduced scope; all under a deadline.

The flow sees only the outcome; what is beyond these rungs (template, person) is its choice. Never raises for an
agent's failure, never waits past its deadline. Source: GO-01 (watchdog), GO-02, PR-04, design §5, fault 094.
"""

import asyncio
import logging
import math
import random
import time
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from shared.domain.agents import SPECS, AgentName
from shared.domain.errors import AgentTimeout, ErrorClass, RateLimited, VouchError
from shared.domain.outcome import Failure, Outcome
from shared.domain.retries import PATIENCE, Rung, climbing, pause_s
from shared.wire import MAX_ERROR_CHARS

_log = logging.getLogger(__name__)


class Attempt(Protocol):
    """One call of an agent; `is_reduced` asks for a narrower query and a smaller context."""

    def __call__(self, *, is_reduced: bool) -> Awaitable[str]:
        """Return the packed delta. Raises: VouchError."""
        ...


async def climb(
    agent: AgentName,
    attempt: Attempt,
    *,
    sleep: Callable[[float], Awaitable[None]],
    now: Callable[[], float] = time.monotonic,
    dice: Callable[[], float] = random.random,
    within_s: float = math.inf,
) -> Outcome:
    """Return the first success of the ladder, or the last failure, with the rungs that were climbed.

    `now`: seconds of a steady clock. `dice`: 0–1, spreads the waits. `within_s`: what is left of the turn; the ladder
    ends before it, and before PATIENCE attempts' deadlines are over, rather than wait for longer than that.
    """
    timeout_s = SPECS[agent].timeout_s
    started = now()
    ends = started + min(PATIENCE * timeout_s, within_s)
    rungs: list[str] = []
    result = await _try(agent, attempt, is_reduced=False, timeout_s=min(timeout_s, ends - started))
    for spec, wait_s in climbing():
        if isinstance(result, str) or (spec.only_transient and not result.is_transient):
            continue
        pause = pause_s(wait_s, result.retry_after_s, dice())
        if now() + pause >= ends:
            break
        if pause:
            await sleep(pause)
        rungs.append(spec.rung.value)
        left_s = min(timeout_s, ends - now())
        result = await _try(agent, attempt, is_reduced=spec.rung is Rung.REDUCED, timeout_s=left_s)
    took_ms = round((now() - started) * 1000)
    if isinstance(result, str):
        return Outcome(ok=True, value=result, rungs=tuple(rungs), took_ms=took_ms)
    return Outcome(ok=False, error=result.failure, rungs=tuple(rungs), took_ms=took_ms)


@dataclass(frozen=True, slots=True)
class _Failed:
    """How an attempt failed."""

    failure: Failure
    is_transient: bool
    """The identical call may succeed."""
    retry_after_s: float = 0.0
    """What the other side asked us to wait."""


async def _try(agent: AgentName, attempt: Attempt, *, is_reduced: bool, timeout_s: float) -> str | _Failed:
    try:
        async with asyncio.timeout(timeout_s) as watchdog:
            return await attempt(is_reduced=is_reduced)
    except TimeoutError:
        late = AgentTimeout(f"{agent.value} passed {timeout_s:.3g} s")
        # Whatever ran into the whole deadline would do so again: only less of it is worth the time that is left.
        failure = Failure(error_class=late.error_class, message=str(late))
        return _Failed(failure, is_transient=not watchdog.expired())
    except VouchError as error:
        failure = Failure(error_class=error.error_class, message=str(error)[:MAX_ERROR_CHARS])
        retry_after_s = error.retry_after_s if isinstance(error, RateLimited) else 0.0
        return _Failed(failure, error.is_transient, retry_after_s)
    except Exception as error:  # noqa: BLE001 - the activity edge: an agent's defect must not hang the turn
        # Type and place only: a library's message may quote what the customer wrote.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        _log.error("agent %s: %s at %s:%s", agent.value, type(error).__name__, frame.name, frame.lineno)
        failure = Failure(error_class=ErrorClass.INTEGRATION, message=type(error).__name__)
        return _Failed(failure, is_transient=False)
