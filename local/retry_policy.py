"""Retry policies of timer and change-feed functions (`@app.retry`).

Pure: says how often and how long to wait. The count lives in memory, as on Azure. Source: functions.md §10.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """At most `max_retries` repeats (-1 without end), waiting between `first_s` and `longest_s`, doubling."""

    max_retries: int = 0
    first_s: float = 0.0
    longest_s: float = 0.0

    def may_retry(self, failures: int) -> bool:
        """Return whether another attempt follows this many failures."""
        return self.max_retries < 0 or failures <= self.max_retries

    def wait_s(self, failures: int) -> float:
        """Return the wait before the attempt that follows this many failures."""
        return min(self.first_s * 2.0 ** min(failures - 1, 30), self.longest_s)


def to_policy(settings: Mapping[str, str] | None) -> RetryPolicy:
    """Return the policy the SDK's settings describe; none means no retry."""
    if not settings:
        return RetryPolicy()
    count = int(settings.get("max_retry_count", 0))
    if settings.get("strategy") == "fixed_delay":
        delay = _seconds(settings.get("delay_interval"))
        return RetryPolicy(count, delay, delay)
    return RetryPolicy(count, _seconds(settings.get("minimum_interval")), _seconds(settings.get("maximum_interval")))


def _seconds(text: str | None) -> float:
    hours, minutes, seconds = (text or "00:00:00").split(":")
    return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
