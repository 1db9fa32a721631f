"""The first rungs of the ladder, inside the activity: same call, back-off, reduced scope; each under a deadline.

The flow sees only the outcome; what is beyond these rungs (template, person) is its choice. Never raises for an
agent's failure. Source: GO-01 (watchdog), GO-02, PR-04, design §5.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable
from typing import Protocol

from shared.domain.agents import SPECS, AgentName
from shared.domain.errors import AgentTimeout, ErrorClass, RateLimited, VouchError
from shared.domain.outcome import Failure, Outcome
from shared.domain.retries import LADDER, Rung
from shared.wire import MAX_ERROR_CHARS

_log = logging.getLogger(__name__)


class Attempt(Protocol):
    """One call of an agent; `is_reduced` asks for a narrower query and a smaller context."""

    def __call__(self, *, is_reduced: bool) -> Awaitable[str]:
        """Return the packed delta. Raises: VouchError."""
        ...


async def climb(agent: AgentName, attempt: Attempt, *, sleep: Callable[[float], Awaitable[None]]) -> Outcome:
    """Return the first success of the ladder, or the last failure, with the rungs that were climbed."""
    started = time.perf_counter()
    rungs: list[str] = []
    value, failure = await _try(agent, attempt, is_reduced=False)
    for spec in LADDER:
        if failure is None:
            break
        wait_s = spec.wait_s
        for _ in range(spec.attempts):
            if failure is None or (spec.only_transient and not failure[1]):
                break
            pause = max(wait_s, failure[2])
            if pause:
                await sleep(pause)
                wait_s *= 2
            rungs.append(spec.rung.value)
            value, failure = await _try(agent, attempt, is_reduced=spec.rung is Rung.REDUCED)
    took_ms = round((time.perf_counter() - started) * 1000)
    if failure is not None:
        return Outcome(ok=False, error=failure[0], rungs=tuple(rungs), took_ms=took_ms)
    return Outcome(ok=True, value=value, rungs=tuple(rungs), took_ms=took_ms)


async def _try(
    agent: AgentName, attempt: Attempt, *, is_reduced: bool
) -> tuple[str | None, tuple[Failure, bool, float] | None]:
    """Return (value, None), or (None, (failure, is_transient, seconds to wait first))."""
    try:
        async with asyncio.timeout(SPECS[agent].timeout_s):
            return await attempt(is_reduced=is_reduced), None
    except TimeoutError:
        late = AgentTimeout(f"{agent.value} passed {SPECS[agent].timeout_s} s")
        return None, (Failure(error_class=late.error_class, message=str(late)), True, 0.0)
    except VouchError as error:
        retry_after_s = error.retry_after_s if isinstance(error, RateLimited) else 0.0
        text = str(error)[:MAX_ERROR_CHARS]
        return None, (Failure(error_class=error.error_class, message=text), error.is_transient, retry_after_s)
    except Exception as error:  # noqa: BLE001 - the activity edge: an agent's defect must not hang the turn
        # Type and place only: a library's message may quote what the customer wrote.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        _log.error("agent %s: %s at %s:%s", agent.value, type(error).__name__, frame.name, frame.lineno)
        return None, (Failure(error_class=ErrorClass.INTEGRATION, message=type(error).__name__), False, 0.0)
