"""A Durable blueprint: functions registered from another module, one under another name."""

import azure.durable_functions as df
import azure.functions as func

shelves = df.Blueprint()


@shelves.function_name("renamed")
@shelves.route(route="shelves/{shelf=top}", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
def shelf(req: func.HttpRequest) -> str:
    return req.route_params["shelf"]


@shelves.orchestration_trigger(context_name="context", orchestration="From Another Module")
def renamed_flow(context: df.DurableOrchestrationContext):
    return (yield context.call_activity("Renamed Activity", 1))


@shelves.activity_trigger(input_name="n", activity="Renamed Activity")
def renamed_activity(n: int) -> int:
    return n + 100
