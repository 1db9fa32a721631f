"""Crash points of the host itself: kill the process at the n-th passage of a named point.

For tests only, and inert unless `VOUCH_CRASH_AT` names a point. Never touches the app's ports; their faults have a
plan of their own. Source: design §8 "Kill the process anywhere and start it again: nothing lost, nothing doubled".
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

VARIABLE: Final = "VOUCH_CRASH_AT"
"""Comma-separated `point:n`, for instance `episode-commit:7,before-activity-commit:2`; n counts from 1."""


class CrashPoint(StrEnum):
    """Where the host may be killed: just before, or just after, the commit of one piece of work."""

    BEFORE_START_COMMIT = "before-start-commit"
    START_COMMIT = "start-commit"
    BEFORE_EPISODE_COMMIT = "before-episode-commit"
    EPISODE_COMMIT = "episode-commit"
    BEFORE_ACTIVITY_COMMIT = "before-activity-commit"
    ACTIVITY_COMMIT = "activity-commit"
    BEFORE_CHECKPOINT = "before-checkpoint"
    CHECKPOINT = "checkpoint"


def kill_self() -> None:
    """End the process as `kill -9` does: no handler, no flush."""
    os.kill(os.getpid(), signal.SIGKILL)


class BadCrashPlan(ValueError):
    """A text that is no crash plan."""


class CrashPlan:
    """Counts passages of crash points and strikes at the planned ones."""

    def __init__(self, at: Mapping[CrashPoint, frozenset[int]], *, strike: Callable[[], None] = kill_self) -> None:
        self._at = dict(at)
        self._passed: Counter[CrashPoint] = Counter()
        self._strike = strike

    @property
    def is_armed(self) -> bool:
        """Return whether any point is planned at all."""
        return bool(self._at)

    def passing(self, point: CrashPoint) -> None:
        """Count one passage, and strike if it is a planned one."""
        if point in self._at:
            self._passed[point] += 1
            if self._passed[point] in self._at[point]:
                self._strike()


def parse_plan(text: str) -> CrashPlan:
    """Read a plan; an empty text is a plan that never strikes.

    Raises: BadCrashPlan naming the entry that is no `point:n`.
    """
    at: dict[CrashPoint, frozenset[int]] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = entry.partition(":")
        try:
            point, passage = CrashPoint(name), int(number)
        except ValueError as error:
            known = ", ".join(CrashPoint)
            raise BadCrashPlan(f"{VARIABLE}: {entry!r} is not point:n with a point of {known}") from error
        at[point] = at.get(point, frozenset()) | {passage}
    return CrashPlan(at)


def plan_from_environment() -> CrashPlan:
    """Return the plan of this process."""
    return parse_plan(os.environ.get(VARIABLE, ""))
