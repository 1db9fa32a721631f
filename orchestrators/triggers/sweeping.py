"""The sweep: finds what an event, a start or a crash has missed. The store is the truth, events are hints.

Source: design §3 "one sweeper timer (not one poll per flow)", PV-05, RK-03, faults 009, 083.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, TypeVar

import azure.durable_functions as df

from orchestrators.activities.agents import run_recorder
from orchestrators.activities.turn import finish_lost_handoff, hand_over_lost_turn
from orchestrators.triggers.starting import is_running, start_case, start_turn
from shared.container import Services
from shared.domain.case import Case
from shared.domain.ticket import HandoffRow, TurnRow
from shared.domain.turns import StepTimes, TurnInput
from shared.ports.documents import TenantScope
from shared.wire import encode

STARTER_GRACE: Final = timedelta(seconds=30)
"""Time an accepted row may wait for its starter before the sweeper starts it. Source: design §3."""
HANDOFF_GRACE: Final = timedelta(minutes=2)
"""Time a flow has to finish its own handoff: longer than the activity's deadline and its repeats. Value ours."""
FLOW_GRACE: Final = timedelta(minutes=2)
"""Time a started turn may take before the sweeper looks whether its flow still runs. Value ours."""
MAX_STARTS: Final = 3
"""Starts of one turn after which it is taken for poison and given to a person. Source: RK-03; value ours."""
DELETED_KEPT: Final = timedelta(hours=1)
"""Time a deleted article's tombstone stays, so that every index has seen it. Value ours."""
HISTORY_KEPT: Final = timedelta(days=7)
"""Time the history of an ended flow is kept; it holds masked text and records, like the rows it worked on.
Source: PV-05, fault 045, design §6 (masks, message rows: 7 days)."""
ENDED: Final = [
    df.OrchestrationRuntimeStatus.Completed,
    df.OrchestrationRuntimeStatus.Failed,
    df.OrchestrationRuntimeStatus.Terminated,
]
"""States of an instance whose history nobody needs any more."""
SWEEP_BATCH: Final = 200
"""Most rows of one kind a sweep takes, so that it ends well inside its interval. Value ours."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


async def sweep(client: df.DurableOrchestrationClient, parts: Services) -> None:
    """Start turns nobody started, revive those whose flow died, finish lost handoffs, wait for overdue cases."""
    now = parts.clock.now()

    async def start(row: TurnRow) -> None:
        _log.warning("sweeper starts turn %s", row.instance_id)
        await start_turn(client, row, parts)

    async def revive(row: TurnRow) -> None:
        if await is_running(client, row):
            return
        if row.starts >= MAX_STARTS:
            _log.error("sweeper gives turn %s to a person after %d starts", row.instance_id, row.starts)
            await hand_over_lost_turn(row, parts)
            await _record(row, parts)
        else:
            _log.warning("sweeper revives turn %s", row.instance_id)
            await start_turn(client, row, parts)

    async def finish(handoff: HandoffRow) -> None:
        _log.warning("sweeper finishes handoff %s", handoff.case_id)
        await finish_lost_handoff(handoff, parts)
        await _record(handoff, parts)

    async def wait_for(case: Case) -> None:
        await start_case(client, case.tenant_id, case.id)

    await _each(await parts.tickets.accepted_not_started(now - STARTER_GRACE, SWEEP_BATCH), start)
    await _each(await parts.tickets.started_not_done(now - FLOW_GRACE, SWEEP_BATCH), revive)
    await _each(await parts.tickets.unprojected_handoffs(now - HANDOFF_GRACE, SWEEP_BATCH), finish)
    await _each(await parts.cases.overdue(now, SWEEP_BATCH), wait_for)


async def _each(items: Iterable[T], handle: Callable[[T], Awaitable[None]]) -> None:
    """Handle every item; one that cannot be handled stays for the next sweep and keeps no other waiting."""
    for item in items:
        try:
            await handle(item)
        except Exception as error:  # noqa: BLE001 - the sweep's edge: one bad row must not end the sweep of all tenants
            _log.error("sweeper cannot %s an item: %s", handle.__name__, type(error).__name__)


async def _record(of: TurnRow | HandoffRow, parts: Services) -> None:
    """Record a turn that ended without its flow; one that has not ended, or is on record, is left alone."""
    turn = TurnInput(tenant_id=of.tenant_id, conversation_id=of.conversation_id, message_id=of.message_id, seq=of.seq)
    await run_recorder({"turn": encode(turn), "times": encode(StepTimes())}, parts)


async def purge_histories(client: df.DurableOrchestrationClient, parts: Services) -> int:
    """Remove the histories of flows that ended and were started longer than HISTORY_KEPT ago; return how many."""
    result = await client.purge_instance_history_by(
        created_time_from=datetime(2000, 1, 1, tzinfo=UTC),
        created_time_to=parts.clock.now() - HISTORY_KEPT,
        runtime_status=ENDED,
    )
    if result.instances_deleted:
        _log.info("purged %d histories", result.instances_deleted)
    return int(result.instances_deleted)


async def purge_expired(parts: Services) -> int:
    """Remove what is over and return how many: expired rows (Cosmos DB does it by itself), then deleted articles."""
    removed = await parts.purge_expired()
    before, continuation = parts.clock.now() - DELETED_KEPT, None
    while True:
        tenants, continuation = await parts.tenants.list(continuation=continuation)
        for tenant in tenants:
            removed += await parts.articles.purge_deleted(TenantScope(tenant.tenant_id), before)
        if continuation is None:
            break
    if removed:
        _log.info("purged %d rows", removed)
    return removed
