"""Who is next: one ordering for the human queue and for queued automated work. Pure.

Human-escalated work first, then severity with near-SLA work promoted one tier, then age; a retry keeps the moment it
first queued at, so it keeps its place. Source: RT-07, S2 §5.
"""

from datetime import datetime
from typing import Final, NamedTuple, Protocol

from shared.domain.human_triggers import Severity

NEAR_SLA_SHARE: Final = 0.25
"""Part of its time left from which waiting work is promoted one tier. Unit: share of its SLA. Value ours."""
TIER: Final = {Severity.CRITICAL: 0, Severity.HIGH: 1, Severity.NORMAL: 2, Severity.LOW: 3}
"""0 is most severe; critical outranks age. Source: RT-07."""


class Queued(Protocol):
    """Anything that waits."""

    @property
    def is_human(self) -> bool:
        """Tell whether a person asked for it or has to do it."""
        ...

    @property
    def severity(self) -> Severity:
        """Return its severity."""
        ...

    @property
    def queued_at(self) -> datetime:
        """Return when it first queued; a retry does not change it."""
        ...

    @property
    def due_at(self) -> datetime:
        """Return when it is late."""
        ...

    @property
    def queue_id(self) -> str:
        """Return its id, which breaks ties."""
        ...


class Priority(NamedTuple):
    """A sort key: the smallest is next."""

    is_automated: bool
    tier: int
    queued_at: datetime
    id: str


def near_at(item: Queued) -> datetime:
    """Return the moment from which the item counts as near its SLA."""
    return item.due_at - (item.due_at - item.queued_at) * NEAR_SLA_SHARE


def promoted(tier: int) -> int:
    """Return the tier near-SLA work of a tier stands in.

    Nothing but critical work stands in the critical tier: it has its own people (RT-01, SU-06).
    """
    return max(tier - 1, 1) if tier > 0 else tier


def priority(item: Queued, now: datetime) -> Priority:
    """Return where the item stands now; of two items of one severity and SLA the older is always first."""
    tier = TIER[item.severity]
    if now >= near_at(item):
        tier = promoted(tier)
    return Priority(not item.is_human, tier, item.queued_at, item.queue_id)
