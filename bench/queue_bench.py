"""What one page of the human queue costs when a tenant has 100,000 cases waiting.

Half of the normal and low cases are near their SLA, so every tier is merged from two severities. A page in the middle
of the walk must cost what the first costs. Source: RT-07, RK-01, fault 014.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bench.figures import Figure, Table
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.case_queue import placed
from shared.adapters.records.cases import CaseRecords
from shared.adapters.records.codec import to_document
from shared.domain.case import Case, CaseStatus
from shared.domain.human_triggers import SLA_MINUTES, HumanTrigger, Severity
from shared.domain.ids import CaseId, ConversationId, MessageId, TenantId
from shared.domain.text import MaskedText
from shared.ports.documents import Container, Create, TenantScope

CASES: Final = 100_000
"""Cases of one tenant that wait. Value ours: far above any queue people work off."""
PAGE: Final = 100
"""Cases of one page. Source: orchestrators.triggers.desk_models (default of `limit`)."""
PAGES: Final = 40
"""Pages measured at each place. Value ours."""
MAX_PAGE_MS: Final = 50
"""Most a page may take. Value ours: a person waits for it."""

_T1: Final = TenantScope(TenantId("T1"))
_NOW: Final = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
_WAITING: Final = (CaseStatus.OPEN, CaseStatus.CLAIMED)


class _Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        """Return noon."""
        return _NOW


def table() -> Table:
    """Fill a queue and read it."""
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder)))


async def _measured(folder: Path) -> Table:
    documents = SqliteDocuments(folder / "vouch.db", clock=_Noon())
    cases = CaseRecords(documents, _Noon())
    for start in range(0, CASES, 100):
        rows = [Create(to_document(placed(_case(n)))) for n in range(start, start + 100)]
        await documents.batch(Container.CASES, _T1, _T1.tenant_id, rows)
    first = await _median_ms(lambda: cases.queue(_T1, _WAITING, PAGE))
    begin = time.perf_counter()
    pages = [token async for token in _walk(cases)]
    walk_ms = (time.perf_counter() - begin) * 1e3 / len(pages)
    middle = await _median_ms(lambda: cases.queue(_T1, _WAITING, PAGE, pages[len(pages) // 2]))
    last = await _median_ms(lambda: cases.queue(_T1, _WAITING, PAGE, pages[-2]))
    named = await _median_ms(lambda: cases.queue(_T1, _WAITING, PAGE, trigger=HumanTrigger.LOOP), times=5)
    count = await _median_ms(lambda: CaseRecords(documents, _Noon()).waiting_count(_T1, 500))
    await documents.close()
    return Table(
        f"human queue, {CASES:,} waiting cases, pages of {PAGE}",
        (
            Figure("first page", first, "ms", MAX_PAGE_MS),
            Figure("page in the middle", middle, "ms", MAX_PAGE_MS),
            Figure("last page", last, "ms", MAX_PAGE_MS),
            Figure("page of a whole walk, mean", walk_ms, "ms", MAX_PAGE_MS),
            Figure("page of one trigger that names none", named, "ms"),
            Figure("count up to 501, not remembered", count, "ms"),
        ),
    )


async def _walk(cases: CaseRecords) -> AsyncIterator[str | None]:
    token: str | None = None
    while True:
        yield token
        _, token = await cases.queue(_T1, _WAITING, PAGE, token)
        if token is None:
            return


async def _median_ms(call: Callable[[], Awaitable[object]], times: int = PAGES) -> float:
    took = []
    for _ in range(times):
        begin = time.perf_counter()
        await call()
        took.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(took)


def _case(n: int) -> Case:
    """Return one of the cases: severities in turn, ages over twice the SLA, a draft the size of a reply."""
    severity = tuple(Severity)[n % 4]
    sla = timedelta(minutes=SLA_MINUTES[severity])
    opened = _NOW - sla * 1.5 * (n % 9_973) / 9_973
    return Case(
        id=CaseId(f"c-{n:040}"),
        tenant_id=_T1.tenant_id,
        conversation_id=ConversationId(f"talk-{n}"),
        message_id=MessageId(f"m-{n}"),
        status=_WAITING[n % 10 == 0],
        severity=severity,
        triggers=(HumanTrigger.EXPLICIT_WISH.value,),
        reason="the customer asks for a person",
        draft=MaskedText("Your order is on its way and should arrive on Monday. " * 8),
        opened_at=opened,
        due_at=opened + sla,
    )
