"""Starting a turn's and a case's instance: the row decides whether, "already there" is success.

Source: design §3 "Accept first", functions.md §8.4 rule 10, fault 083.
"""

import logging
from enum import Enum, auto
from typing import Final

import azure.durable_functions as df

from orchestrators.names import EventName, FlowName
from shared.container import Services
from shared.domain.actions import ActionRef
from shared.domain.ids import CaseId, InstanceId, TenantId, action_instance_id
from shared.domain.ticket import TurnRow, TurnStatus
from shared.domain.turns import CaseInput, TurnInput
from shared.ports.documents import TenantScope
from shared.wire import encode

_ALIVE: Final = frozenset(
    {
        df.OrchestrationRuntimeStatus.Running,
        df.OrchestrationRuntimeStatus.Pending,
        df.OrchestrationRuntimeStatus.Suspended,
        df.OrchestrationRuntimeStatus.ContinuedAsNew,
    }
)
"""States of an instance that will still do something."""

_log = logging.getLogger(__name__)


def case_instance_id(case: CaseId) -> InstanceId:
    """Return the one instance that waits for this case."""
    return InstanceId(f"h-{case}")


async def start_turn(client: df.DurableOrchestrationClient, row: TurnRow, services: Services) -> None:
    """Start the turn's flow unless it runs. On failure the accepted row stays and the sweeper starts it."""
    turn = TurnInput(
        tenant_id=row.tenant_id, conversation_id=row.conversation_id, message_id=row.message_id, seq=row.seq
    )
    start = await _start(client, FlowName.ANSWER_MESSAGE, row.instance_id, encode(turn))
    is_unnoted = start is _Start.RUNS and row.status is TurnStatus.ACCEPTED
    if start is _Start.STARTED or is_unnoted:
        await services.tickets.mark_started(TenantScope(row.tenant_id), row)


async def is_running(client: df.DurableOrchestrationClient, row: TurnRow) -> bool:
    """Tell whether the turn's flow will still do something."""
    status = await client.get_status(row.instance_id)
    return bool(status) and status.runtime_status in _ALIVE


async def start_case(client: df.DurableOrchestrationClient, tenant: TenantId, case: CaseId) -> None:
    """Start the case's wait; starting it again while it runs is success."""
    payload = encode(CaseInput(tenant_id=tenant, case_id=case))
    await _start(client, FlowName.HUMAN_HANDOFF, case_instance_id(case), payload)


async def hint_case(client: df.DurableOrchestrationClient, case: CaseId) -> None:
    """Tell the case's flow to look at the store; a lost hint costs nothing (fault 082)."""
    try:
        await client.raise_event(case_instance_id(case), EventName.CASE_CHANGED.value, {})
    except Exception:  # noqa: BLE001 - the trigger edge: the SDK raises bare Exception, and the hint may be lost
        _log.info("no flow to hint for case %s", case)


async def wake_action(client: df.DurableOrchestrationClient, ref: ActionRef) -> None:
    """Let the action's instance look at the store: started if none runs, hinted if one waits (fault 082).

    A hint can be lost between an instance's look and its wait; the sweeper wakes it again.
    """
    await _start(client, FlowName.RUN_ACTION, action_instance_id(ref.action_id), encode(ref))
    try:
        await client.raise_event(action_instance_id(ref.action_id), EventName.ACTION_CHANGED.value, {})
    except Exception:  # noqa: BLE001 - the trigger edge: the SDK raises bare Exception, and the hint may be lost
        _log.info("no flow to hint for action %s", ref.action_id)


class _Start(Enum):
    STARTED = auto()
    RUNS = auto()
    """Somebody else started it: their start is as good as ours (fault 083)."""
    FAILED = auto()


async def _start(
    client: df.DurableOrchestrationClient, flow: FlowName, instance: InstanceId, payload: dict[str, object]
) -> _Start:
    try:
        await client.start_new(flow.value, instance, payload)
    except Exception as error:  # noqa: BLE001 - the trigger edge: the SDK raises bare Exception for a taken id too
        status = await client.get_status(instance)
        if status and status.runtime_status in _ALIVE:
            return _Start.RUNS
        _log.warning("could not start %s %s: %s", flow.value, instance, type(error).__name__)
        return _Start.FAILED
    return _Start.STARTED
