"""The sweep: finds what an event, a start or a crash has missed. The store is the truth, events are hints.

Source: design §3 "one sweeper timer (not one poll per flow)", PV-05, RK-03, faults 009, 083.
"""

import logging
from datetime import timedelta
from typing import Final

import azure.durable_functions as df

from orchestrators.activities.turn import finish_lost_handoff, hand_over_lost_turn
from orchestrators.triggers.starting import is_running, start_case, start_turn
from shared.container import Services
from shared.ports.documents import TenantScope

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
SWEEP_BATCH: Final = 200
"""Most rows of one kind a sweep takes, so that it ends well inside its interval. Value ours."""

_log = logging.getLogger(__name__)


async def sweep(client: df.DurableOrchestrationClient, parts: Services) -> None:
    """Start turns nobody started, revive those whose flow died, finish lost handoffs, wait for overdue cases."""
    now = parts.clock.now()
    for row in await parts.tickets.accepted_not_started(now - STARTER_GRACE, SWEEP_BATCH):
        _log.warning("sweeper starts turn %s", row.instance_id)
        await start_turn(client, row, parts)
    for row in await parts.tickets.started_not_done(now - FLOW_GRACE, SWEEP_BATCH):
        if await is_running(client, row):
            continue
        if row.starts >= MAX_STARTS:
            _log.error("sweeper gives turn %s to a person after %d starts", row.instance_id, row.starts)
            await hand_over_lost_turn(row, parts)
        else:
            _log.warning("sweeper revives turn %s", row.instance_id)
            await start_turn(client, row, parts)
    for handoff in await parts.tickets.unprojected_handoffs(now - HANDOFF_GRACE, SWEEP_BATCH):
        _log.warning("sweeper finishes handoff %s", handoff.case_id)
        await finish_lost_handoff(handoff, parts)
    for case in await parts.cases.overdue(now, SWEEP_BATCH):
        await start_case(client, case.tenant_id, case.id)


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
