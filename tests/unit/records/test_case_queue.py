"""The human queue on a real store: one order over all cases, page by page, held against a sort of everything.

Source: RT-07, RK-01, fault 014.
"""

import asyncio
import base64
import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.cases import CaseRecords
from shared.domain.case import Case, CaseStatus
from shared.domain.errors import SchemaError
from shared.domain.human_triggers import SLA_MINUTES, HumanTrigger, Severity
from shared.domain.ids import CaseId, ConversationId, MessageId, TenantId
from shared.domain.priority import priority
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock

WAITING = (CaseStatus.OPEN, CaseStatus.CLAIMED)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def new_case(id: str, tenant: TenantScope, *, opened_at: datetime = NOON, **more: object) -> Case:
    """Return an open case due by the usual SLA."""
    severity = Severity(str(more.get("severity", Severity.NORMAL)))
    told: dict[str, object] = {"due_at": opened_at + timedelta(minutes=SLA_MINUTES[severity])} | more
    return Case(
        id=CaseId(id),
        tenant_id=tenant.tenant_id,
        conversation_id=ConversationId("c1"),
        message_id=MessageId("m1"),
        opened_at=opened_at,
        **told,  # type: ignore[arg-type]
    )


async def walk(cases: CaseRecords, tenant: TenantScope, limit: int, **more: object) -> list[Case]:
    """Return the whole queue, read page by page."""
    seen: list[Case] = []
    continuation: str | None = None
    while True:
        page, continuation = await cases.queue(tenant, WAITING, limit, continuation, **more)  # type: ignore[arg-type]
        assert len(page) <= limit
        seen += page
        if continuation is None:
            return seen


_AGES = st.integers(min_value=0, max_value=3_000) | st.sampled_from([0, 1, 45, 180, 240, 1_080])
"""Minutes a case has waited: around the moments at which the usual SLAs promote, and ties."""


@st.composite
def _queues(draw: st.DrawFn) -> list[Case]:
    tenant = TenantScope(TenantId("t1"))
    made: list[Case] = []
    for n in range(draw(st.integers(0, 25))):
        severity = draw(st.sampled_from(Severity))
        opened = NOON - timedelta(minutes=draw(_AGES))
        # An SLA that was changed meanwhile, or a case that came back: age and due time need not go together.
        minutes = draw(st.just(SLA_MINUTES[severity]) | st.integers(1, 4_000))
        status = draw(st.sampled_from(CaseStatus))
        due = opened + timedelta(minutes=minutes)
        case = new_case(f"k{n}", tenant, opened_at=opened, severity=severity, due_at=due, status=status)
        made.append(case)
    return made


@pytest.mark.req("RT-07")
@settings(max_examples=60, deadline=None)
@given(made=_queues(), limit=st.integers(1, 7))
def test_pages_of_the_queue_are_what_sorting_all_of_it_would_give(made: list[Case], limit: int) -> None:
    """Priority over every case of the tenant, whatever the page size; closed cases and other tenants left out."""

    async def run(folder: str) -> tuple[list[str], list[str]]:
        clock, tenant = FixedClock(), TenantScope(TenantId("t1"))
        clock.at = NOON
        documents = SqliteDocuments(Path(folder) / "vouch.db", clock=clock)
        cases = CaseRecords(documents, clock)
        for case in made:
            await cases.open(tenant, case)
        other = TenantScope(TenantId("t2"))
        await cases.open(other, new_case("foreign", other, severity=Severity.CRITICAL))
        seen = await walk(cases, tenant, limit)
        await documents.close()
        waiting = [case for case in made if case.status in WAITING]
        return [case.id for case in seen], [c.id for c in sorted(waiting, key=lambda c: priority(c, NOON))]

    with tempfile.TemporaryDirectory() as folder:
        seen, expected = asyncio.run(run(folder))

    assert seen == expected


@pytest.fixture
def cases(documents: SqliteDocuments, clock: FixedClock) -> CaseRecords:
    """Case records at noon."""
    clock.at = NOON
    return CaseRecords(documents, clock)


@pytest.mark.req("RT-07")
async def test_a_walk_neither_repeats_nor_loses_a_case_when_time_passes_and_cases_are_taken(
    cases: CaseRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """The walk keeps the moment it began at; what a person takes meanwhile is not skipped over."""
    for n in range(8):
        await cases.open(tenant, new_case(f"k{n}", tenant, opened_at=NOON - timedelta(minutes=n)))

    first, token = await cases.queue(tenant, (CaseStatus.OPEN,), 3)
    for case in first:
        await cases.claim(tenant, case.id, "dana")
    clock.forward(hours=3)  # by now every one of them is near its SLA
    rest, end = await cases.queue(tenant, (CaseStatus.OPEN,), 50, token)

    assert [case.id for case in (*first, *rest)] == [f"k{n}" for n in reversed(range(8))]
    assert end is None


@pytest.mark.req("RT-07")
async def test_a_case_that_came_back_keeps_its_age_and_gets_a_new_due_time(
    cases: CaseRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Retries keep their priority; on-call is paged anew when nobody takes it again."""
    await cases.open(tenant, new_case("old", tenant, opened_at=NOON - timedelta(hours=2)))
    await cases.open(tenant, new_case("young", tenant))
    await cases.mark_paged(tenant, CaseId("old"))
    await cases.claim(tenant, CaseId("old"), "dana")
    due = clock.now() + timedelta(hours=4)

    back = await cases.reopen(tenant, CaseId("old"), "the amount has changed", due_at=due)
    again = await cases.reopen(tenant, CaseId("old"), "the amount has changed", due_at=due + timedelta(hours=1))

    assert (back.status, back.claimed_by, back.is_paged, back.due_at) == (CaseStatus.OPEN, None, False, due)
    assert (back.opened_at, back.reason) == (NOON - timedelta(hours=2), "the amount has changed")
    assert again == back
    assert [case.id for case in await walk(cases, tenant, 10)] == ["old", "young"]
    assert (await cases.claim(tenant, CaseId("old"), "eli")).claimed_by == "eli"


@pytest.mark.req("RK-03")
async def test_the_queue_of_one_trigger_lists_the_cases_it_names(cases: CaseRecords, tenant: TenantScope) -> None:
    """Across pages, in the queue's own order."""
    for n in range(6):
        named = HumanTrigger.LOOP if n % 2 else HumanTrigger.LEGAL
        triggers = (named.value, HumanTrigger.DISTRESS.value)
        await cases.open(tenant, new_case(f"k{n}", tenant, opened_at=NOON - timedelta(minutes=n), triggers=triggers))

    found = await walk(cases, tenant, 2, trigger=HumanTrigger.LOOP)

    assert [case.id for case in found] == ["k5", "k3", "k1"]


@pytest.mark.req("PR-04")
async def test_fault_014_what_nobody_claims_is_late_by_the_clock_of_its_severity(
    cases: CaseRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Friday 18:05 or not: on-call hears of each case once its own time is over, whoever is at the desk."""
    for severity in Severity:
        await cases.open(tenant, new_case(severity.value, tenant, severity=severity))

    late: dict[int, set[str]] = {}
    for minutes in (14, 16, 61, 241, 1_441):
        at = NOON + timedelta(minutes=minutes)
        late[minutes] = {case.id for case in await cases.overdue(at, 10)}
    await cases.claim(tenant, CaseId("high"), "dana")
    await cases.mark_paged(tenant, CaseId("critical"))
    left = {case.id for case in await cases.overdue(NOON + timedelta(days=2), 10)}

    assert late == {
        14: set(),
        16: {"critical"},
        61: {"critical", "high"},
        241: {"critical", "high", "normal"},
        1_441: {"critical", "high", "normal", "low"},
    }
    assert left == {"normal", "low"}


@pytest.mark.req("GW-06", "RT-07")
async def test_hostile_continuations_of_the_queue_are_refused(cases: CaseRecords, tenant: TenantScope) -> None:
    """A token is this walk's own, or an error that names nothing of what was sent."""
    for n in range(3):
        await cases.open(tenant, new_case(f"k{n}", tenant))
    _, token = await cases.queue(tenant, WAITING, 1)
    assert token is not None
    asked, as_of, tier, after = json.loads(base64.urlsafe_b64decode(token + "=="))

    def forged(*parts: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")

    hostile = [
        "", "x", "é", "A" * 10_000, token[:-3], forged(), forged(asked), forged(asked, as_of, tier, after, 1),
        forged("0" * 16, as_of, tier, after), forged(asked, as_of, True, after), forged(asked, as_of, 4, after),
        forged(asked, as_of, -1, after), forged(asked, as_of, tier, "' or 1=1 --"), forged(asked, as_of, tier, None),
        forged(asked, as_of, tier, after + "\ud800"), forged(asked, as_of, tier, after + "~"),
        forged(asked, "2026-03-02", tier, after), forged(asked, "0001-01-01T00:00:00+23:59", tier, after),
        forged(asked, "yesterday", tier, after), forged(asked, 5, tier, after),
        base64.urlsafe_b64encode(b"[" * 5000).decode(),
    ]  # fmt: skip
    foreign = TenantScope(TenantId("t2"))

    for text in hostile:
        with pytest.raises(SchemaError):
            await cases.queue(tenant, WAITING, 1, text)
    with pytest.raises(SchemaError):
        await cases.queue(tenant, (CaseStatus.OPEN,), 1, token)
    with pytest.raises(SchemaError):
        await cases.queue(tenant, WAITING, 1, token, trigger=HumanTrigger.LOOP)
    with pytest.raises(SchemaError):
        await cases.queue(foreign, WAITING, 1, token)


@pytest.mark.req("RK-01")
async def test_fault_014_the_count_of_waiting_cases_stops_at_the_cap(
    cases: CaseRecords, tenant: TenantScope, clock: FixedClock
) -> None:
    """Admission control needs to know whether the queue is above its cap, never how far."""
    for n in range(5):
        await cases.open(tenant, new_case(f"k{n}", tenant))
    other = TenantScope(TenantId("t2"))
    await cases.open(other, new_case("foreign", other))

    counts = [await cases.waiting_count(tenant, cap) for cap in (2, 4, 5, 100)]

    assert counts == [3, 5, 5, 5]


@pytest.mark.req("RK-01")
async def test_the_count_is_remembered_and_knows_what_this_process_does(
    cases: CaseRecords, documents: SqliteDocuments, tenant: TenantScope, clock: FixedClock
) -> None:
    """Own openings and claims count at once, another process's within seconds."""
    elsewhere = CaseRecords(documents, clock)
    await cases.open(tenant, new_case("k1", tenant))
    first = await cases.waiting_count(tenant, 10)

    await cases.open(tenant, new_case("k2", tenant))
    await cases.open(tenant, new_case("k2", tenant))
    own = await cases.waiting_count(tenant, 10)
    await elsewhere.open(tenant, new_case("k3", tenant))
    unseen = await cases.waiting_count(tenant, 10)
    clock.forward(seconds=6)
    seen = await cases.waiting_count(tenant, 10)
    await cases.claim(tenant, CaseId("k1"), "dana")
    claimed = await cases.waiting_count(tenant, 10)

    assert (first, own, unseen, seen, claimed) == (1, 2, 2, 3, 2)
