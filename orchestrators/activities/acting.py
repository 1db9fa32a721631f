"""The executor's side as activities: the lane, the call under its grant, and how a long-lived action stands and ends.

Holds the ports that write to the outside; decides nothing. Source: AX-01…04, design §9 "Lane", "Approvals".
"""

from typing import Final

from agents.action_executor import execute_action, reconcile_action
from orchestrators.activities.hop import Said, answer, received_write
from orchestrators.activities.telling import tell
from shared.container import Services
from shared.domain.action_results import to_result
from shared.domain.actions import RULES, SETTLED, Action, ActionOp, ActionRef, ActionState
from shared.domain.agents import AgentName
from shared.domain.deltas import ActionDelta, ActionResult, ActionStatus
from shared.domain.errors import NotFound, StalenessError
from shared.domain.lanes import POLL_S
from shared.domain.turns import Acted, ActionStanding, LaneAnswer, LaneAsked
from shared.ports.documents import CustomerScope
from shared.wire import Json

OVER: Final = SETTLED | {ActionState.PENDING, ActionState.UNCLEAR}
"""States in which the executor has nothing to do."""


async def take_lane(asked: LaneAsked, services: Services) -> LaneAnswer:
    """Ask for the lane; with it, first find out what became of every call of the account that has no answer yet."""
    scope = CustomerScope(asked.action.tenant_id, asked.action.account_id)
    action = await services.actions.get(scope, asked.action.action_id)
    if action is None:
        return LaneAnswer(over=ActionResult(type="", status=ActionStatus.REFUSED, reason="the action is gone"))
    if action.state in OVER:
        return LaneAnswer(over=to_result(action))
    if not RULES[action.type].needs_lane:
        action = await _reconciled(action, services)
        if action.state in OVER:
            return LaneAnswer(over=to_result(action))
        return LaneAnswer(fence=0) if action.state is ActionState.APPROVED else LaneAnswer(wait_s=POLL_S)
    standing = await services.actions.take_lane(scope, action.action_id, asked.holder)
    if standing.fence is None:
        return LaneAnswer(wait_s=standing.wait_s)
    unknown = [await _reconciled(other, services) for other in await services.actions.under_way(scope)]
    if any(other.state is ActionState.EXECUTING for other in unknown):
        # The lane is kept: leaving it would send the head of the queue to its end; its holder just asks again.
        return LaneAnswer(wait_s=POLL_S)
    action = await services.actions.get(scope, action.action_id) or action
    if action.state in OVER:
        await services.actions.free_lane(scope, action.action_id, standing.fence)
        return LaneAnswer(over=to_result(action))
    return LaneAnswer(fence=standing.fence)


async def run_executor(payload: Json, services: Services) -> str:
    """Let the executor do what its grant allows."""
    request = received_write(payload, AgentName.ACTION_EXECUTOR)
    order = request.payload

    async def call(*, is_reduced: bool) -> Said:
        action = await execute_action(
            order.grant,
            order.action,
            keys=services.seal_keys,
            clock=services.clock,
            actions=services.actions,
            claims=services.actions,
            records=services.billing_records,
            billing=services.billing,
            crm=services.crm,
            desk=services.desk,
        )
        delta = ActionDelta(base_version=order.base_version, confidence=1.0, actions=(to_result(action),))
        return Said(Acted(delta=delta, is_over=action.state in OVER), delta)

    return await answer(request, AgentName.ACTION_EXECUTOR, call, clock=services.clock)


async def read_action(ref: ActionRef, services: Services) -> ActionStanding:
    """Return how the action stands. Raises: NotFound."""
    action = await _action(ref, services)
    return ActionStanding(
        conversation_id=action.conversation_id,
        state=action.state,
        expires_in_s=(action.expires_at - services.clock.now()).total_seconds(),
        is_told=action.is_told,
    )


async def expire_action(ref: ActionRef, services: Services) -> bool:
    """End an action nobody decided about in time; False when somebody did meanwhile."""
    scope = CustomerScope(ref.tenant_id, ref.account_id)
    try:
        await services.actions.decide(scope, ref.action_id, ActionOp.EXPIRE, reason="nobody decided in time")
    except StalenessError:
        return False
    return True


async def settle_action(ref: ActionRef, services: Services) -> bool:
    """Tell the customer and the desk how the action ended; False when they know, or cannot be told yet.

    What became known of an unclear one meanwhile stays untold: the sweep sees to it.
    """
    action = await _action(ref, services)
    if action.is_told:
        return False
    scope = CustomerScope(ref.tenant_id, ref.account_id)
    if not await tell(action, services):
        await services.actions.hold(scope, ref.action_id)
        return False
    await services.actions.mark_told(scope, ref.action_id, told=action.state)
    return True


async def _reconciled(action: Action, services: Services) -> Action:
    return await reconcile_action(
        action,
        clock=services.clock,
        claims=services.actions,
        records=services.billing_records,
        billing=services.billing,
    )


async def _action(ref: ActionRef, services: Services) -> Action:
    action = await services.actions.get(CustomerScope(ref.tenant_id, ref.account_id), ref.action_id)
    if action is None:
        raise NotFound(f"action {ref.action_id!r} does not exist")
    return action
