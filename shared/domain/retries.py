"""The ladder of failing well, as data: which rung follows which, how long each waits.

The first rungs run inside the activity; the flow chooses fallback, hold or person. Source: GO-02, PR-04, design §5.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Rung(StrEnum):
    """S2's retry ladder in order."""

    IDENTICAL = "identical"
    BACKOFF = "backoff"
    REDUCED = "reduced_scope"
    TEMPLATE = "template"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class RungSpec:
    """One rung: how often it is tried and how long it waits before each try."""

    rung: Rung
    attempts: int
    wait_s: float
    """Seconds before the first attempt of this rung; doubles with each further one."""
    only_transient: bool


LADDER: Final = (
    RungSpec(Rung.IDENTICAL, 2, 0.0, only_transient=True),
    RungSpec(Rung.BACKOFF, 1, 0.2, only_transient=True),
    RungSpec(Rung.REDUCED, 1, 0.0, only_transient=False),
)
"""Rungs an activity climbs before it reports failure. Attempts beside the first call. Source: GO-02; waits ours."""
MAX_REVISIONS: Final = 2
"""Drafts a composer may revise before a person takes over. Source: SU-02."""
MAX_REISSUES: Final = 2
"""Fresh snapshots given after a stale delta before the ladder. Source: design §3."""
