"""The ladder of failing well, as data: which rung follows which, how long each waits.

The first rungs run inside the activity; the flow and the sweeper take the later ones. Source: GO-02, PR-04, design §5.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Rung(StrEnum):
    """S2's retry ladder in order."""

    IDENTICAL = "identical"
    BACKOFF = "backoff"
    REDUCED = "reduced_scope"
    TEMPLATE = "template"
    """An acknowledgment without claims."""
    HOLD = "hold"
    """Kept, marked needs_review."""
    PERSON = "person"
    """The human queue, with the trace and the draft."""
    PAGE = "page"
    """On-call, when nobody claimed it within its severity's SLA."""


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
    RungSpec(Rung.BACKOFF, 2, 0.2, only_transient=True),
    RungSpec(Rung.REDUCED, 1, 0.0, only_transient=False),
)
"""Rungs an activity climbs before it reports failure. Attempts beside the first call. Source: GO-02; waits ours."""
LATER: Final = (Rung.TEMPLATE, Rung.HOLD, Rung.PERSON, Rung.PAGE)
"""Rungs after the activity has given up, in order. Source: PR-04."""
JITTER_SHARE: Final = 0.25
"""Most that is added to a wait, so that those who failed together do not come back together. Unit: share of the wait.
Source: fault 094; value ours."""
PATIENCE: Final = 2.0
"""Time an activity may spend on all rungs and waits. Unit: times the deadline of one attempt. Value ours: an attempt
that hangs to its deadline leaves room for one more."""
MAX_REVISIONS: Final = 2
"""Drafts a composer may revise before a person takes over. Source: SU-02."""
MAX_REISSUES: Final = 2
"""Fresh snapshots given after a stale delta before the ladder. Source: design §3."""


def climbing(ladder: tuple[RungSpec, ...] = LADDER) -> Iterator[tuple[RungSpec, float]]:
    """Yield each further attempt with its rung and the seconds it waits first."""
    for spec in ladder:
        for nth in range(spec.attempts):
            yield spec, spec.wait_s * 2**nth


def pause_s(wait_s: float, retry_after_s: float, dice: float) -> float:
    """Return the seconds to wait: never less than the rung says or the other side asked for, with jitter on top.

    `dice`: 0–1, uniform.
    """
    return max(wait_s, retry_after_s) * (1 + JITTER_SHARE * dice)
