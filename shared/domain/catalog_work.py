"""One product to look at again: what many events about it come down to, and what is already known of it.

Pure. An event never says what a product is, only that the shop should be asked (SH-01); so events of one product
coalesce into one row, the newest by the shop's own clock stands for all, and one older than what is known changes
nothing: a late update does not bring a deleted product back. Source: faults 064, 065, 067, 088.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from shared.domain.ids import TenantId
from shared.domain.wire_model import Wire

LEASE: Final = timedelta(seconds=60)
"""Time a row belongs to the worker that took it. Value ours: three times what one product may take (WORK_LIMIT_S)."""
MAX_ATTEMPTS: Final = 6
"""Tries of a product that cannot be read after which it is a dead letter. Value ours: some three minutes."""
MAX_TROUBLES: Final = 150
"""Tries of a product whose shop does not answer after which it is a dead letter. Value ours: a day of outage."""
FIRST_BACKOFF: Final = timedelta(seconds=5)
"""Wait after the first failure; each further one doubles it. Value ours."""
LONGEST_BACKOFF: Final = timedelta(minutes=10)
"""Longest wait between two tries. Value ours."""
LOOK_AGAIN: Final = timedelta(seconds=60)
"""Wait before a shop that answered with an older product than its own event told of is asked again. Value ours."""
MAX_LOOKS: Final = 3
"""Times such a shop is asked again; the nightly comparison finds the rest. Value ours."""


class Subject(StrEnum):
    """What an event names: the product itself, or an inventory item of it."""

    PRODUCT = "product"
    ITEM = "item"


class WorkStatus(StrEnum):
    """Whether somebody has to look."""

    WAITING = "waiting"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Hint:
    """That something changed, by the shop's own clock where it said."""

    subject: Subject
    subject_id: str
    changed_at: datetime | None
    event_id: str
    is_deletion: bool = False
    """Nothing comes after it, whatever its time says: that stands in an unsigned header."""


class CatalogWork(Wire):
    """The one row of a product (or item): waiting to be looked at, being looked at, or what came of it."""

    id: str
    kind: str = "catalog_work"
    tenant_id: TenantId
    subject: Subject
    subject_id: str
    status: WorkStatus = WorkStatus.WAITING
    seq: int | None = None
    """Microseconds since the epoch at which it is due: while a worker has it, when its lease ends. None once done."""
    hints: int = 1
    """Events so far; tells a worker that one arrived while it worked."""
    hint_at: datetime | None = None
    """Source time of the newest event."""
    hint_event: str = ""
    """Its event id, which decides between two of the same time."""
    known_at: datetime | None = None
    """Source time of the state last applied, a deletion included."""
    attempts: int = 0
    """Tries since the last success."""
    looks: int = 0
    """Times the shop answered with something older than the newest event."""


def work_id(subject: Subject, subject_id: str) -> str:
    """Return the id of the one row of a product or item."""
    return f"{subject.value}-{subject_id}"


def to_due(moment: datetime) -> int:
    """Return a moment as rows hold it in `seq`."""
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))


def hinted(work: CatalogWork | None, tenant: TenantId, hint: Hint, now: datetime) -> CatalogWork | None:
    """Return the row after an event, or None when the event is older than what is known and no deletion.

    A time ahead of our clock counts as now, so that no event can silence later ones. Items have no time of their own
    to compare, so their events always count.
    """
    at = None if hint.changed_at is None else min(hint.changed_at, now)
    if work is None:
        return CatalogWork(
            id=work_id(hint.subject, hint.subject_id),
            tenant_id=tenant,
            subject=hint.subject,
            subject_id=hint.subject_id,
            seq=to_due(now),
            hint_at=at,
            hint_event=hint.event_id,
        )
    if not hint.is_deletion and at is not None and work.known_at is not None and at < work.known_at:
        return None
    update: dict[str, object] = {"hints": work.hints + 1}
    if _is_newer(at, hint.event_id, work):
        update |= {"hint_at": at or work.hint_at, "hint_event": hint.event_id, "looks": 0}
    if work.status is WorkStatus.DONE:
        update |= {"status": WorkStatus.WAITING, "seq": to_due(now), "attempts": 0, "looks": 0}
    elif work.attempts == 0:
        # Nobody has it; what waits for a second look need not wait longer.
        update |= {"seq": min(work.seq or 0, to_due(now))}
    return work.model_copy(update=update)


def taken(work: CatalogWork, now: datetime) -> CatalogWork:
    """Return the row as its worker holds it; the attempt counts from here, so that one that kills workers ends."""
    return work.model_copy(update={"seq": to_due(now + LEASE), "attempts": work.attempts + 1})


def looked_at(current: CatalogWork, mine: CatalogWork, known_at: datetime | None, now: datetime) -> CatalogWork:
    """Return the row after the shop was asked and what it said was applied; `known_at` None knows no time.

    It waits again when an event arrived meanwhile, when the lease was lost (somebody else may have written too), or
    when the shop's answer was older than its own event.
    """
    known = max(filter(None, (current.known_at, known_at)), default=None)
    update: dict[str, object] = {"known_at": known, "attempts": 0}
    if current.hints != mine.hints or current.seq != mine.seq:
        update |= {"status": WorkStatus.WAITING, "seq": to_due(now)}
    elif _is_behind(known_at, mine.hint_at) and mine.looks < MAX_LOOKS:
        update |= {"seq": to_due(now + LOOK_AGAIN), "looks": mine.looks + 1}
    else:
        update |= {"status": WorkStatus.DONE, "seq": None}
    return current.model_copy(update=update)


def failed(current: CatalogWork, now: datetime, *, is_of_shop: bool) -> CatalogWork:
    """Return the row after a failure, the product's own or the shop's: due later each time, then given up."""
    if current.attempts >= (MAX_TROUBLES if is_of_shop else MAX_ATTEMPTS):
        return current.model_copy(update={"status": WorkStatus.DONE, "seq": None, "attempts": 0})
    doubled = FIRST_BACKOFF * 2 ** min(max(0, current.attempts - 1), MAX_ATTEMPTS + 1)
    return current.model_copy(update={"seq": to_due(now + min(doubled, LONGEST_BACKOFF))})


def put_back(current: CatalogWork, now: datetime) -> CatalogWork:
    """Return the row as it was before it was taken: nobody has looked at it."""
    return current.model_copy(update={"seq": to_due(now), "attempts": max(0, current.attempts - 1)})


def _is_behind(known_at: datetime | None, hint_at: datetime | None) -> bool:
    """Tell whether an answer is older than the event that made us ask; answers have whole seconds."""
    return known_at is not None and hint_at is not None and known_at < hint_at.replace(microsecond=0)


def _is_newer(at: datetime | None, event_id: str, work: CatalogWork) -> bool:
    if at is None or work.hint_at is None:
        return at is not None or work.hint_at is None
    return (at, event_id) > (work.hint_at, work.hint_event)
