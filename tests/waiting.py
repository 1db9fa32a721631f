"""Waiting for a state, never for a time. Source: conventions "Tests"."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

GIVE_UP_S: Final = 20.0
"""Longest a state may take to come about. Unit: seconds. Source: value ours; a busy machine stays well under it."""
LOOK_EVERY_S: Final = 0.005
"""Pause between two looks at a state. Unit: seconds. Source: value ours."""


async def until(holds: Callable[[], bool] | Callable[[], Awaitable[bool]], what: str) -> None:
    """Return as soon as the condition holds. Raises: AssertionError naming what never came about."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GIVE_UP_S
    while loop.time() < deadline:
        found = holds()
        if found if isinstance(found, bool) else await found:
            return
        await asyncio.sleep(LOOK_EVERY_S)
    raise AssertionError(f"never came about: {what}")
