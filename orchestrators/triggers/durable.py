"""The flows as Azure Functions sees them. A function's Python name is its registered name and equals its FlowName.

A flow's module is loaded when it first runs: a cold start only registers (design §10).
"""

import azure.durable_functions as df

from orchestrators.context import Flow, FlowContext

blueprint = df.Blueprint()


@blueprint.orchestration_trigger(context_name="context")
def answer_message(context: df.DurableOrchestrationContext) -> Flow:
    """Answer one accepted message."""
    from orchestrators.flows.answer_message import answer_message_flow

    return (yield from answer_message_flow(FlowContext(context)))


@blueprint.orchestration_trigger(context_name="context")
def human_handoff(context: df.DurableOrchestrationContext) -> Flow:
    """Wait for a person to claim a case."""
    from orchestrators.flows.human_handoff import human_handoff_flow

    return (yield from human_handoff_flow(FlowContext(context)))


@blueprint.orchestration_trigger(context_name="context")
def run_action(context: df.DurableOrchestrationContext) -> Flow:
    """See one action through: wait for its decision, do it, tell of it."""
    from orchestrators.flows.run_action import run_action_flow

    return (yield from run_action_flow(FlowContext(context)))
