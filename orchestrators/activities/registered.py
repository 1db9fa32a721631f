"""The activities as Azure Functions sees them: thin shells; what each does is in `steps`, loaded on first use.

A function's Python name is its registered name and equals its ActivityName. Source: functions.md §4.1, §8.3.
"""

import azure.durable_functions as df

from orchestrators.names import ActivityName

blueprint = df.Blueprint()


async def _run(name: ActivityName, payload: dict) -> object:  # type: ignore[type-arg]  # as below
    from orchestrators.activities.steps import STEPS

    return await STEPS[name](payload)


@blueprint.activity_trigger(input_name="payload")
async def open_turn(payload: dict) -> object:  # type: ignore[type-arg]  # functions.md §8.3 refuses dict[str, …]
    """Take the turn's snapshot."""
    return await _run(ActivityName.OPEN_TURN, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_intake_classifier(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Classify the message."""
    return await _run(ActivityName.CLASSIFY, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_escalation_detector(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Look for reasons to bring a person in."""
    return await _run(ActivityName.DETECT_ESCALATION, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_knowledge_retriever(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Search the tenant's articles."""
    return await _run(ActivityName.RETRIEVE, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_account_context(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Read the customer's own records."""
    return await _run(ActivityName.READ_ACCOUNT, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_response_composer(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Draft or revise the reply."""
    return await _run(ActivityName.COMPOSE, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_supervisor_review(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Review the draft; approve it only when every check passed."""
    return await _run(ActivityName.REVIEW, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_supervisor_authorise(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Commit the turn and decide the actions it asks for."""
    return await _run(ActivityName.AUTHORISE, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_action_executor(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Do what the grant allows, once."""
    return await _run(ActivityName.EXECUTE, payload)


@blueprint.activity_trigger(input_name="payload")
async def deliver_reply(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Write the reply in one conditional batch."""
    return await _run(ActivityName.DELIVER, payload)


@blueprint.activity_trigger(input_name="payload")
async def hand_over(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Give the conversation to a person, then tell the customer."""
    return await _run(ActivityName.HAND_OVER, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_analytics_recorder(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Record the finished turn."""
    return await _run(ActivityName.RECORD, payload)


@blueprint.activity_trigger(input_name="payload")
async def read_case(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Look at a case that waits for a person."""
    return await _run(ActivityName.READ_CASE, payload)


@blueprint.activity_trigger(input_name="payload")
async def page_on_call(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Page on-call about an overdue case."""
    return await _run(ActivityName.PAGE, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_shadow_review(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Let the second validator judge the draft; it seals nothing."""
    return await _run(ActivityName.SHADOW_REVIEW, payload)


@blueprint.activity_trigger(input_name="payload")
async def take_lane(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Ask for an account's lane, and read what lost calls came to."""
    return await _run(ActivityName.TAKE_LANE, payload)


@blueprint.activity_trigger(input_name="payload")
async def run_supervisor_grant(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Mint the grant of a decided action."""
    return await _run(ActivityName.GRANT, payload)


@blueprint.activity_trigger(input_name="payload")
async def read_action(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Look at an action that waits or is under way."""
    return await _run(ActivityName.READ_ACTION, payload)


@blueprint.activity_trigger(input_name="payload")
async def expire_action(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """End an action nobody decided about in time."""
    return await _run(ActivityName.EXPIRE_ACTION, payload)


@blueprint.activity_trigger(input_name="payload")
async def settle_action(payload: dict) -> object:  # type: ignore[type-arg]  # as above
    """Tell customer and desk how an action ended."""
    return await _run(ActivityName.SETTLE_ACTION, payload)
