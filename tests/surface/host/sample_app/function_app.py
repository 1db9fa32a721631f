"""A lending library: the app the host's own tests run. Every trigger kind and every Durable action once."""

import asyncio
import json
import threading
import time
from datetime import timedelta
from pathlib import Path

import azure.durable_functions as df
import azure.functions as func
from shelves import shelves

app = df.DFApp(http_auth_level=func.AuthLevel.FUNCTION)
app.register_functions(shelves)

RETRY = df.RetryOptions(first_retry_interval_in_milliseconds=20, max_number_of_attempts=3)
SEEN: list[object] = []
"""What timer and change-feed functions were given, for tests that run in this process."""
FAILURES_LEFT = {"feed": 0, "timer": 0}


# ---- HTTP ------------------------------------------------------------------------------------------------------------


@app.route(route="hello/{name?}", auth_level=func.AuthLevel.ANONYMOUS)
def hello(req: func.HttpRequest) -> str:
    return f"hello {req.route_params.get('name', 'nobody')} {req.params.get('tag', '')}".strip()


@app.route(route="books/{isbn:int}", methods=["GET"])
def book(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse(json.dumps({"isbn": int(req.route_params["isbn"])}), mimetype="application/json")


@app.route(route="books/new", methods=["GET"])
def new_books(req: func.HttpRequest) -> func.HttpResponse:
    return func.HttpResponse("new")


@app.route(route="files/{*rest}", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
def files(req: func.HttpRequest) -> str:
    return req.route_params.get("rest", "-")


@app.route(route="echo", auth_level=func.AuthLevel.ANONYMOUS)
def echo(req: func.HttpRequest) -> func.HttpResponse:
    response = func.HttpResponse(req.get_body(), mimetype="application/octet-stream")
    response.headers["X-Method"] = req.method
    response.headers["X-Url"] = req.url
    response.headers["X-Multi"] = req.headers.get("x-multi", "")
    response.headers["X-Forwarded"] = req.headers.get("x-forwarded-for", "")
    response.headers.add("Set-Cookie", "a=1; Path=/; HttpOnly")
    response.headers.add("Set-Cookie", "b=2; Secure")
    return response


@app.route(route="nothing", methods=["GET", "HEAD", "OPTIONS"], auth_level=func.AuthLevel.ANONYMOUS)
def nothing(req: func.HttpRequest) -> None:
    return None


@app.route(route="raises", auth_level=func.AuthLevel.ANONYMOUS)
def raises(req: func.HttpRequest) -> str:
    raise ValueError("the shelf is empty")


@app.route(route="slow", auth_level=func.AuthLevel.ANONYMOUS)
async def slow_answer(req: func.HttpRequest) -> str:
    await asyncio.sleep(float(req.params.get("s", "1")))
    return "late"


@app.route(route="vault", auth_level=func.AuthLevel.ADMIN)
def vault(req: func.HttpRequest) -> str:
    return "gold"


@app.route(route="context", auth_level=func.AuthLevel.ANONYMOUS)
def with_context(req: func.HttpRequest, context: func.Context) -> str:
    return context.function_name


@app.route(route="switched-off", auth_level=func.AuthLevel.ANONYMOUS)
def switched_off(req: func.HttpRequest) -> str:
    return "on"


@app.route(route="client/{verb}/{id}", methods=["POST"], auth_level=func.AuthLevel.ANONYMOUS)
@app.durable_client_input(client_name="client")
async def use_client(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Call one method of the real Durable client and return what it returned, or the text it raised."""
    verb, instance_id = req.route_params["verb"], req.route_params["id"]
    body = req.get_json() if req.get_body() else None
    try:
        result = await _call_client(client, verb, instance_id, body, req)
    except Exception as error:  # noqa: BLE001 - the SDK raises plain exceptions
        return func.HttpResponse(json.dumps({"error": str(error)}), status_code=409, mimetype="application/json")
    if isinstance(result, func.HttpResponse):
        return result
    return func.HttpResponse(json.dumps({"result": result}), mimetype="application/json")


async def _call_client(client: df.DurableOrchestrationClient, verb: str, instance_id: str, body, req):
    match verb:
        case "start":
            return await client.start_new(body["name"], instance_id, body.get("input"), body.get("version"))
        case "check":
            return client.create_check_status_response(req, instance_id)
        case "wait":
            return await client.wait_for_completion_or_create_check_status_response(req, instance_id, 5000, 50)
        case "status":
            status = await client.get_status(instance_id, show_history=True, show_history_output=True)
            return status.to_json() if status else None
        case "all":
            return [status.instance_id for status in await client.get_status_all()]
        case "by":
            found = await client.get_status_by(instance_id_prefix=instance_id)
            return [status.instance_id for status in found]
        case "raise":
            return await client.raise_event(instance_id, body["name"], body.get("data"))
        case "terminate":
            return await client.terminate(instance_id, "a good reason")
        case "suspend":
            return await client.suspend(instance_id, "a pause")
        case "resume":
            return await client.resume(instance_id, "go on")
        case "purge":
            return (await client.purge_instance_history(instance_id)).instances_deleted
        case "rewind":
            return await client.rewind(instance_id, "again")
        case "restart":
            return await client.restart(instance_id)
        case "entity":
            return await client.signal_entity(df.EntityId("shelf", instance_id), "add", 1)


# ---- timer and change feed -------------------------------------------------------------------------------------------


@app.timer_trigger(arg_name="timer", schedule="0 0 3 * * *", use_monitor=True)
def nightly(timer: func.TimerRequest) -> None:
    if FAILURES_LEFT["timer"] > 0:
        FAILURES_LEFT["timer"] -= 1
        raise RuntimeError("the night watch overslept")
    SEEN.append(("nightly", timer.past_due, dict(timer.schedule_status)))


@app.cosmos_db_trigger(
    arg_name="docs",
    connection="COSMOS",
    database_name="library",
    container_name="books",
    lease_container_name="leases",
    feed_poll_delay=20,
    max_items_per_invocation=3,
    start_from_beginning=True,
)
@app.retry(strategy="fixed_delay", max_retry_count="2", delay_interval="00:00:00")
@app.durable_client_input(client_name="client")
async def on_books(docs: func.DocumentList, client: df.DurableOrchestrationClient) -> None:
    if FAILURES_LEFT["feed"] > 0:
        FAILURES_LEFT["feed"] -= 1
        raise RuntimeError("the catalogue is locked")
    SEEN.append([dict(doc) for doc in docs])


# ---- orchestrators ---------------------------------------------------------------------------------------------------


@app.orchestration_trigger(context_name="context")
def eight_steps(context: df.DurableOrchestrationContext):
    value = context.get_input() or 0
    for _ in range(8):
        value = yield context.call_activity("increment", value)
    return value


@app.orchestration_trigger(context_name="context")
def fan_out(context: df.DurableOrchestrationContext):
    return (yield context.task_all([context.call_activity("increment", n) for n in range(context.get_input())]))


@app.orchestration_trigger(context_name="context")
def every_action(context: df.DurableOrchestrationContext):
    context.set_custom_status({"at": "activity"})
    one = yield context.call_activity("increment", 0)
    flaky = yield context.call_activity_with_retry("fails_twice", RETRY, context.instance_id)
    yield context.create_timer(context.current_utc_datetime + timedelta(milliseconds=20))
    child = yield context.call_sub_orchestrator("child", {"n": 20})
    named = yield context.call_sub_orchestrator("child", {"n": 30}, f"{context.instance_id}-named")
    try:
        yield context.call_sub_orchestrator_with_retry("failing", df.RetryOptions(10, 2), None)
    except Exception as error:  # noqa: BLE001 - the SDK raises plain exceptions
        failed = str(error)
    context.set_custom_status({"at": "event"})
    deadline = context.create_timer(context.current_utc_datetime + timedelta(days=14))
    answer = context.wait_for_external_event("answer")
    winner = yield context.task_any([answer, deadline])
    if winner == answer:
        deadline.cancel()
    return {
        "one": one,
        "flaky": flaky,
        "child": child,
        "named": named,
        "failed": failed,
        "answer": answer.result,
        "guid": str(context.new_guid()),
        "version": context.version,
        "parent": context.parent_instance_id,
    }


@app.orchestration_trigger(context_name="context")
def child(context: df.DurableOrchestrationContext):
    n = yield context.call_activity("increment", context.get_input()["n"])
    return {"n": n, "version": context.version, "has_parent": context.parent_instance_id is not None}


@app.orchestration_trigger(context_name="context")
def failing(context: df.DurableOrchestrationContext):
    yield context.call_activity("increment", 1)
    raise ValueError("out of stock")


@app.orchestration_trigger(context_name="context")
def two_events(context: df.DurableOrchestrationContext):
    first = yield context.wait_for_external_event("first")
    second = yield context.wait_for_external_event("second")
    return [first, second]


@app.orchestration_trigger(context_name="context")
def late_listener(context: df.DurableOrchestrationContext):
    """Does some work before it listens: an event may be there already."""
    yield context.call_activity("nap", 0.15)
    return (yield context.wait_for_external_event("claimed"))


@app.orchestration_trigger(context_name="context")
def deadline_flow(context: df.DurableOrchestrationContext):
    claimed = context.wait_for_external_event("claimed")
    deadline = context.create_timer(context.current_utc_datetime + timedelta(days=14))
    winner = yield context.task_any([claimed, deadline])
    if winner == claimed and not context.get_input():
        deadline.cancel()
    return "claimed" if winner == claimed else "too late"


@app.orchestration_trigger(context_name="context")
def short_deadline(context: df.DurableOrchestrationContext):
    claimed = context.wait_for_external_event("claimed")
    deadline = context.create_timer(context.current_utc_datetime + timedelta(milliseconds=30))
    winner = yield context.task_any([claimed, deadline])
    return "claimed" if winner == claimed else "too late"


@app.orchestration_trigger(context_name="context")
def uncancelled(context: df.DurableOrchestrationContext):
    yield context.task_any(
        [
            context.call_activity("increment", 1),
            context.create_timer(context.current_utc_datetime + timedelta(milliseconds=400)),
        ]
    )
    return "done"


@app.orchestration_trigger(context_name="context")
def countdown(context: df.DurableOrchestrationContext):
    left = context.get_input()
    context.set_custom_status({"left": left})
    if left == 0:
        return "lift-off"
    yield context.call_activity("increment", left)
    context.continue_as_new(left - 1)


@app.orchestration_trigger(context_name="context")
def collector(context: df.DurableOrchestrationContext):
    """Collects three events, one each generation."""
    got = context.get_input() or []
    got.append((yield context.wait_for_external_event("item")))
    if len(got) == 3:
        return got
    context.continue_as_new(got)


@app.orchestration_trigger(context_name="context")
def napper(context: df.DurableOrchestrationContext):
    naps = []
    for seconds in context.get_input():
        naps.append((yield context.call_activity("nap", seconds)))
    return naps


@app.orchestration_trigger(context_name="context")
def big(context: df.DurableOrchestrationContext):
    """Exceeds one limit, named by the input."""
    what = context.get_input()
    text = "x" * 1_100_000
    match what:
        case "activity-input":
            yield context.call_activity("increment", text)
        case "activity-output":
            yield context.call_activity("inflate", 1_100_000)
        case "output":
            return text
        case "custom-status":
            context.set_custom_status("x" * 9_000)
            yield context.call_activity("increment", 1)
        case "continue-as-new":
            context.continue_as_new(text)
        case "error":
            yield context.call_activity("shout", 200_000)
        case "own-error":
            raise ValueError(text)


@app.orchestration_trigger(context_name="context")
def drifting(context: df.DurableOrchestrationContext):
    """Decides by a module global, which is what no orchestrator may do."""
    yield context.call_activity("increment" if DRIFT["is_first"] else "nap", 0)
    yield context.wait_for_external_event("go")
    return "steady"


DRIFT = {"is_first": True}


@app.orchestration_trigger(context_name="context")
def forbidden(context: df.DurableOrchestrationContext):
    match context.get_input():
        case "entity":
            yield context.call_entity(df.EntityId("shelf", "1"), "get")
        case "signal":
            context.signal_entity(df.EntityId("shelf", "1"), "add", 1)
            yield context.call_activity("increment", 1)
        case "http":
            yield context.call_http("GET", "http://localhost")


@app.orchestration_trigger(context_name="context")
def versioned(context: df.DurableOrchestrationContext):
    """Branches on its version: instances begun before 2.0.0 keep the old step."""
    if context.version == "1.0.0":
        yield context.call_activity("increment", 1)
    yield context.wait_for_external_event("go")
    inner = yield context.call_sub_orchestrator("child", {"n": 1})
    return {"version": context.version, "child": inner["version"]}


@app.orchestration_trigger(context_name="context")
def bad_models(context: df.DurableOrchestrationContext):
    return (yield context.call_activity("returns_model", context.get_input()))


@app.orchestration_trigger(context_name="context")
def missing_activity(context: df.DurableOrchestrationContext):
    yield context.call_activity("no_such_activity", 1)


@app.orchestration_trigger(context_name="context")
def missing_child(context: df.DurableOrchestrationContext):
    yield context.call_sub_orchestrator("no_such_child", 1)


@app.orchestration_trigger(context_name="context")
def log_lines(context: df.DurableOrchestrationContext):
    """Writes one line a step through an activity that is not idempotent, so that repeats show."""
    for number in range(context.get_input()["steps"]):
        yield context.call_activity("append_line", {"path": context.get_input()["path"], "line": number})
    return "written"


@app.orchestration_trigger(context_name="context")
def parent_of_waiter(context: df.DurableOrchestrationContext):
    return (yield context.call_sub_orchestrator("two_events", None, f"{context.instance_id}-child"))


@app.orchestration_trigger(context_name="context")
def traced(context: df.DurableOrchestrationContext):
    return (yield context.call_activity("current_trace", None))


@app.orchestration_trigger(context_name="context")
def naps_at_once(context: df.DurableOrchestrationContext):
    return (yield context.task_all([context.call_activity("nap", seconds) for seconds in context.get_input()]))


# ---- activities ------------------------------------------------------------------------------------------------------

RUNNING = {"now": 0, "most": 0}
ATTEMPTS: dict[str, int] = {}
_lock = threading.Lock()


@app.activity_trigger(input_name="n")
async def increment(n: int) -> int:
    return n + 1


@app.activity_trigger(input_name="key")
def fails_twice(key: str) -> str:
    ATTEMPTS[key] = ATTEMPTS.get(key, 0) + 1
    if ATTEMPTS[key] < 3:
        raise RuntimeError(f"attempt {ATTEMPTS[key]}")
    return f"attempt {ATTEMPTS.pop(key)}"


@app.activity_trigger(input_name="seconds")
async def nap(seconds: float) -> float:
    RUNNING["now"] += 1
    RUNNING["most"] = max(RUNNING["most"], RUNNING["now"])
    await asyncio.sleep(seconds)
    RUNNING["now"] -= 1
    return seconds


@app.activity_trigger(input_name="seconds")
def blocking_nap(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@app.activity_trigger(input_name="size")
def inflate(size: int) -> str:
    return "x" * size


@app.activity_trigger(input_name="size")
def shout(size: int) -> str:
    raise ValueError("A" * size)


@app.activity_trigger(input_name="what")
def returns_model(what: str) -> object:
    from datetime import UTC, datetime
    from decimal import Decimal

    values = {"plain": {"at": "2026-01-01T00:00:00Z", "price": "9.99", "none": None, "n": 1.5}}
    bad = {"datetime": datetime.now(UTC), "decimal": Decimal("9.99"), "set": {1}}
    return values[what] if what in values else bad[what]


@app.activity_trigger(input_name="entry")
def append_line(entry: dict) -> None:
    with _lock, Path(entry["path"]).open("a") as file:
        file.write(f"{entry['line']}\n")
    time.sleep(0.02)


@app.activity_trigger(input_name="nothing")
async def current_trace(nothing: object) -> str:
    from opentelemetry import trace

    return trace.format_trace_id(trace.get_current_span().get_span_context().trace_id)
