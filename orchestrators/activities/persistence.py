"""Steps that only touch our own store are repeated while it does not answer; what they write is idempotent.

Agents have their ladder; without this a single lost connection would end a turn between two of its writes.
Source: GO-02 (transient faults), faults 001 and 009 (both or neither).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from shared.domain.errors import RateLimited, VersionConflict, VouchError

WAITS_S: Final = (0.0, 0.05, 0.2, 1.0, 3.0)
"""Seconds before each repetition. Together less than an activity may take; values ours."""

T = TypeVar("T")


async def persist(step: Callable[[], Awaitable[T]], *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> T:
    """Return the step's value. Raises: the step's error when it is not transient, or still there after all waits."""
    for wait_s in WAITS_S:
        try:
            return await step()
        except VouchError as error:
            if not (error.is_transient or isinstance(error, VersionConflict)):
                raise
            await sleep(max(wait_s, error.retry_after_s if isinstance(error, RateLimited) else 0.0))
    return await step()
