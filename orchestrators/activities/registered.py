"""The activities as Azure Functions sees them: thin shells that find the services and hand plain JSON on.

A function's Python name is its registered name and equals its ActivityName. Source: functions.md §4.1, §8.3.
"""

import azure.durable_functions as df

from orchestrators.activities import agents, case, turn
from orchestrators.activities.persistence import persist
from shared.container import services
from shared.domain.turns import CaseInput, DeliverInput, HandOverInput, TurnInput
from shared.wire import decode, encode, pack, unpack

blueprint = df.Blueprint()


@blueprint.activity_trigger(input_name="payload")
async def open_turn(payload: dict) -> str:  # type: ignore[type-arg]  # functions.md §8.3 refuses dict[str, …]
    """Take the turn's snapshot."""
    return pack(await persist(lambda: turn.open_turn(decode(TurnInput, payload), services())))


@blueprint.activity_trigger(input_name="payload")
async def run_intake_classifier(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Classify the message."""
    return encode(await agents.run_classifier(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_escalation_detector(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Look for reasons to bring a person in."""
    return encode(await agents.run_escalation(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_knowledge_retriever(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Search the tenant's articles."""
    return encode(await agents.run_retriever(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_account_context(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Read the customer's own records."""
    return encode(await agents.run_account(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_response_composer(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Draft or revise the reply."""
    return encode(await agents.run_composer(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_supervisor_review(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Review the draft; approve it only when every check passed."""
    return encode(await agents.run_review(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_supervisor_authorise(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Commit the turn and mint a grant."""
    return encode(await agents.run_authorise(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def run_action_executor(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Do what the grant allows, once."""
    return encode(await agents.run_executor(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def deliver_reply(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Write the reply in one conditional batch."""
    return encode(await persist(lambda: turn.deliver_reply(unpack(DeliverInput, payload["request"]), services())))


@blueprint.activity_trigger(input_name="payload")
async def hand_over(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Give the conversation to a person, then tell the customer."""
    return encode(await persist(lambda: turn.hand_over(unpack(HandOverInput, payload["request"]), services())))


@blueprint.activity_trigger(input_name="payload")
async def run_analytics_recorder(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Record the finished turn."""
    return encode(await agents.run_recorder(payload, services()))


@blueprint.activity_trigger(input_name="payload")
async def read_case(payload: dict) -> dict:  # type: ignore[type-arg]  # as above
    """Look at a case that waits for a person."""
    return encode(await persist(lambda: case.read_case(decode(CaseInput, payload), services())))


@blueprint.activity_trigger(input_name="payload")
async def page_on_call(payload: dict) -> bool:  # type: ignore[type-arg]  # as above
    """Page on-call about an overdue case."""
    return await persist(lambda: case.page_on_call(decode(CaseInput, payload), services()))
