"""Doing one decided action: the account's lane, a fresh grant, the executor. Shared by a turn and by `run_action`.

The store says at each step how the action stands, so a repeated or a second run finds what was done and does nothing.
Source: design §9 "Lane", AX-02…04.
"""

from datetime import timedelta
from typing import Final

from orchestrators.context import Flow, FlowContext
from orchestrators.flows.exchange import Exchange
from orchestrators.names import ActivityName
from shared.domain.actions import ActionRef
from shared.domain.deltas import ActionDelta, ActionResult
from shared.domain.envelope import ReadRequest, WriteRequest
from shared.domain.outcome import Outcome
from shared.domain.turns import Acted, Granted, LaneAnswer, LaneAsked
from shared.wire import decode, encode, unpack

ROUNDS_IN_TURN: Final = 8
"""Rounds a turn waits for an account's lane before the customer is told that it is under way. Unit: about a second
each. Value ours."""
ROUNDS_ALONE: Final = 60
"""Rounds before an instance of its own starts over with a new history. Value ours."""
RETRY_AFTER: Final = timedelta(seconds=2)
"""Pause after a step that failed or a shop that could not be read. Value ours."""


def perform(context: FlowContext, exchange: Exchange, ref: ActionRef, *, base_version: int, rounds: int) -> Flow:
    """Return how the action ended as an ActionDelta, or None when it has not within the rounds."""
    for _ in range(rounds):
        asked = LaneAsked(action=ref, holder=context.instance_id)
        lane = decode(LaneAnswer, (yield context.call(ActivityName.TAKE_LANE, encode(asked))))
        if lane.over is not None:
            return _delta(lane.over, base_version)
        if lane.fence is None:
            yield context.timer(timedelta(seconds=lane.wait_s))
            continue
        request = ReadRequest(action=ref, fence=lane.fence)
        outcome: Outcome = exchange.heard((yield exchange.read(ActivityName.GRANT, request)))
        granted = unpack(Granted, outcome.value) if outcome.ok else Granted()
        if granted.standing is not None:
            return _delta(granted.standing, base_version)
        if granted.grant is not None:
            order = WriteRequest(grant=granted.grant, action=ref, base_version=base_version)
            outcome = exchange.heard((yield exchange.write(ActivityName.EXECUTE, order)))
            acted = unpack(Acted, outcome.value) if outcome.ok else None
            if acted is not None and acted.is_over:
                return acted.delta
        yield context.timer(RETRY_AFTER)
    return None


def _delta(result: ActionResult, base_version: int) -> ActionDelta:
    return ActionDelta(base_version=base_version, confidence=1.0, actions=(result,))
