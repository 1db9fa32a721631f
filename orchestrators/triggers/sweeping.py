"""The sweep: finds what an event, a start or a crash has missed. The store is the truth, events are hints.

Source: design §3 "one sweeper timer (not one poll per flow)", PV-05, RK-03, faults 009, 083.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import azure.durable_functions as df

from orchestrators.activities.agents import record_without_flow
from orchestrators.activities.authorising import open_approval, ref_of
from orchestrators.activities.turn import finish_lost_handoff, hand_over_lost_turn
from orchestrators.triggers.starting import is_running, start_case, start_turn, wake_action
from shared.container import Services
from shared.domain.actions import Action
from shared.domain.case import Case
from shared.domain.human_triggers import SLA_MINUTES, Severity
from shared.domain.priority import priority
from shared.domain.ticket import HandoffRow, TurnRow
from shared.domain.turns import TurnInput
from shared.ports.documents import TenantScope

STARTER_GRACE: Final = timedelta(seconds=30)
"""Time an accepted row may wait for its starter before the sweeper starts it. Source: design §3."""
HANDOFF_GRACE: Final = timedelta(minutes=2)
"""Time a flow has to finish its own handoff: longer than the activity's deadline and its repeats. Value ours."""
FLOW_GRACE: Final = timedelta(minutes=2)
"""Time a started turn may take before the sweeper looks whether its flow still runs. Value ours."""
ACTION_GRACE: Final = timedelta(seconds=30)
"""Time a turn has to do, and to tell of, an action it was allowed, before an instance of its own sees to it.
Value ours: longer than a turn waits for a lane."""
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


@dataclass(frozen=True, slots=True)
class Chore:
    """Something a sweep has to do, as the one ordering of waiting work sees it (RT-07)."""

    what: str
    is_human: bool
    severity: Severity
    queued_at: datetime
    due_at: datetime
    queue_id: str
    do: Callable[[], Awaitable[None]]


async def sweep(client: df.DurableOrchestrationClient, parts: Services) -> None:
    """Find what was missed and do it, the most urgent first: what a person asked for or has to do before the rest."""
    now = parts.clock.now()
    chores = [
        *[_handoff(row, parts) for row in await parts.tickets.unprojected_handoffs(now - HANDOFF_GRACE, SWEEP_BATCH)],
        *[_case(case, client) for case in await parts.cases.overdue(now, SWEEP_BATCH)],
        *[_unopened(row, parts) for row in await parts.actions.pending_without_case(now - HANDOFF_GRACE, SWEEP_BATCH)],
        *[_action(row, client) for row in await parts.actions.pending_expired(now, SWEEP_BATCH)],
        *[_action(row, client) for row in await parts.actions.approved_idle(now - ACTION_GRACE, SWEEP_BATCH)],
        *[_action(row, client) for row in await parts.actions.untold(now - ACTION_GRACE, SWEEP_BATCH)],
        *[_action(row, client) for row in await parts.actions.held(now, SWEEP_BATCH)],
        *[_start(row, client, parts) for row in await _unstarted(now, parts)],
        *[_revival(row, client, parts) for row in await parts.tickets.started_not_done(now - FLOW_GRACE, SWEEP_BATCH)],
    ]
    for chore in sorted(chores, key=lambda chore: priority(chore, now)):
        try:
            await chore.do()
        except Exception as error:  # noqa: BLE001 - the sweep's edge: one bad row must not end the sweep of all tenants
            _log.error("sweeper cannot %s %s: %s", chore.what, chore.queue_id, type(error).__name__)


async def _unstarted(now: datetime, parts: Services) -> tuple[TurnRow, ...]:
    return await parts.tickets.accepted_not_started(now - STARTER_GRACE, SWEEP_BATCH)


def _start(row: TurnRow, client: df.DurableOrchestrationClient, parts: Services) -> Chore:
    async def do() -> None:
        _log.warning("sweeper starts turn %s", row.instance_id)
        await start_turn(client, row, parts)

    return _automated("start turn", row.accepted_at, row.instance_id, do)


def _revival(row: TurnRow, client: df.DurableOrchestrationClient, parts: Services) -> Chore:
    async def do() -> None:
        if await is_running(client, row):
            return
        if row.starts >= MAX_STARTS:
            _log.error("sweeper gives turn %s to a person after %d starts", row.instance_id, row.starts)
            await hand_over_lost_turn(row, parts)
            await _record(row, parts)
        else:
            _log.warning("sweeper revives turn %s", row.instance_id)
            await start_turn(client, row, parts)

    return _automated("revive turn", row.accepted_at, row.instance_id, do)


def _handoff(row: HandoffRow, parts: Services) -> Chore:
    async def do() -> None:
        _log.warning("sweeper finishes handoff %s", row.case_id)
        await finish_lost_handoff(row, parts)
        await _record(row, parts)

    return _human("finish handoff", Severity(row.severity), row.at, row.case_id, do)


def _case(case: Case, client: df.DurableOrchestrationClient) -> Chore:
    async def do() -> None:
        await start_case(client, case.tenant_id, case.id)

    return Chore("wait for case", True, case.severity, case.queued_at, case.due_at, case.id, do)


def _unopened(action: Action, parts: Services) -> Chore:
    async def do() -> None:
        policy = await parts.tenants.policy(TenantScope(action.tenant_id))
        await open_approval(action, policy, parts)

    return _human("open approval", Severity(action.severity), action.requested_at, action.action_id, do)


def _action(action: Action, client: df.DurableOrchestrationClient) -> Chore:
    async def do() -> None:
        await wake_action(client, ref_of(action))

    # Somebody waits for their money, and mostly a person has decided it: before any automated turn.
    return _human("see action through", Severity(action.severity), action.requested_at, action.action_id, do)


def _human(what: str, severity: Severity, since: datetime, id: str, do: Callable[[], Awaitable[None]]) -> Chore:
    return Chore(what, True, severity, since, since + timedelta(minutes=SLA_MINUTES[severity]), id, do)


def _automated(what: str, since: datetime, id: str, do: Callable[[], Awaitable[None]]) -> Chore:
    """Return a chore nobody has weighed yet; a retry keeps the moment its message came (RT-07)."""
    severity = Severity.NORMAL
    return Chore(what, False, severity, since, since + timedelta(minutes=SLA_MINUTES[severity]), id, do)


async def _record(of: TurnRow | HandoffRow, parts: Services) -> None:
    """Record a turn that ended without its flow; one that has not ended, or is on record, is left alone."""
    turn = TurnInput(tenant_id=of.tenant_id, conversation_id=of.conversation_id, message_id=of.message_id, seq=of.seq)
    await record_without_flow(turn, parts)


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
