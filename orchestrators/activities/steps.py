"""What each activity does, by name: decode, find the services, run one agent or mechanism, encode.

The registered shells look here when they first run, so that a cold start only registers. Source: conventions
"Activities", functions.md §4.1.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from orchestrators.activities import acting, agents, authorising, case, reviewing, turn
from orchestrators.activities.persistence import persist
from orchestrators.names import ActivityName
from shared.container import Services, services
from shared.domain.actions import ActionRef
from shared.domain.turns import CaseInput, DeliverInput, HandOverInput, LaneAsked, TurnInput
from shared.wire import Json, decode, encode, pack, unpack

Step = Callable[[Json], Awaitable[object]]
"""Plain JSON in, plain JSON out."""


def _agent(run: Callable[[Json, Services], Awaitable[str]]) -> Step:
    async def step(payload: Json) -> str:
        return await run(payload, services())

    return step


async def _open_turn(payload: Json) -> str:
    return pack(await persist(lambda: turn.open_turn(decode(TurnInput, payload), services())))


async def _deliver(payload: Json) -> Json:
    return encode(await persist(lambda: turn.deliver_reply(unpack(DeliverInput, payload["request"]), services())))


async def _hand_over(payload: Json) -> Json:
    return encode(await persist(lambda: turn.hand_over(unpack(HandOverInput, payload["request"]), services())))


async def _read_case(payload: Json) -> Json:
    return encode(await persist(lambda: case.read_case(decode(CaseInput, payload), services())))


async def _page(payload: Json) -> bool:
    return await persist(lambda: case.page_on_call(decode(CaseInput, payload), services()))


async def _take_lane(payload: Json) -> Json:
    return encode(await persist(lambda: acting.take_lane(decode(LaneAsked, payload), services())))


async def _read_action(payload: Json) -> Json:
    return encode(await persist(lambda: acting.read_action(decode(ActionRef, payload), services())))


async def _expire_action(payload: Json) -> bool:
    return await persist(lambda: acting.expire_action(decode(ActionRef, payload), services()))


async def _settle_action(payload: Json) -> bool:
    return await persist(lambda: acting.settle_action(decode(ActionRef, payload), services()))


STEPS: Final[dict[ActivityName, Step]] = {
    ActivityName.OPEN_TURN: _open_turn,
    ActivityName.CLASSIFY: _agent(agents.run_classifier),
    ActivityName.DETECT_ESCALATION: _agent(agents.run_escalation),
    ActivityName.RETRIEVE: _agent(agents.run_retriever),
    ActivityName.READ_ACCOUNT: _agent(agents.run_account),
    ActivityName.COMPOSE: _agent(agents.run_composer),
    ActivityName.REVIEW: _agent(reviewing.run_review),
    ActivityName.SHADOW_REVIEW: _agent(reviewing.run_shadow_review),
    ActivityName.AUTHORISE: _agent(authorising.run_authorise),
    ActivityName.TAKE_LANE: _take_lane,
    ActivityName.GRANT: _agent(authorising.run_grant),
    ActivityName.EXECUTE: _agent(acting.run_executor),
    ActivityName.DELIVER: _deliver,
    ActivityName.HAND_OVER: _hand_over,
    ActivityName.RECORD: _agent(agents.run_recorder),
    ActivityName.READ_CASE: _read_case,
    ActivityName.PAGE: _page,
    ActivityName.READ_ACTION: _read_action,
    ActivityName.EXPIRE_ACTION: _expire_action,
    ActivityName.SETTLE_ACTION: _settle_action,
}
"""Total over ActivityName."""
