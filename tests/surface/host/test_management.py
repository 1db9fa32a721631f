"""The Durable management API: each method of the real SDK client, and the raw contract behind it."""

import asyncio
import json

import aiohttp
import pytest

from tests.surface.host.conftest import Caller

pytestmark = [
    pytest.mark.req("DC-03"),
    # aiohttp's advice to the one who sends more than 1 MB, which is what some tests are about.
    pytest.mark.filterwarnings("ignore:Sending a large body"),
]


# ---- what the SDK's client sees --------------------------------------------------------------------------------------


async def test_client_reads_the_status_of_an_ended_instance(caller):
    """Rule: get_status returns name, status, input as text, output and history. Source: functions.md §5."""
    await caller.start("eight_steps", "s", 1)
    await caller.ended("s")

    status = await caller.client("status", "s")

    assert status["name"] == "eight_steps"
    assert status["runtimeStatus"] == "Completed"
    assert status["output"] == 9
    assert json.loads(status["input"]) == 1


async def test_client_gets_nothing_for_an_unknown_instance(caller):
    """Rule: 404 is a falsy status, a purge of 0 and an exception elsewhere."""
    assert await caller.client("status", "nobody") is None
    assert await caller.client("purge", "nobody") == 0
    for verb in ("terminate", "suspend", "resume"):
        with pytest.raises(RuntimeError, match="No instance with ID 'nobody' found"):
            await caller.client(verb, "nobody")
    with pytest.raises(RuntimeError, match="No instance with ID nobody found"):
        await caller.client("raise", "nobody", {"name": "x", "data": 1})


async def test_client_learns_why_a_start_was_refused(caller):
    """Rule: 400 carries ExceptionMessage, which start_new raises."""
    with pytest.raises(RuntimeError, match="'nope' doesn't exist, is disabled, or is not an orchestrator"):
        await caller.start("nope", "n")
    with pytest.raises(RuntimeError, match="must not start with '@'"):
        await caller.start("eight_steps", "@n")
    with pytest.raises(RuntimeError, match="longer than 100"):
        await caller.start("eight_steps", "n" * 101)
    with pytest.raises(RuntimeError, match="the limit is 1048576"):
        await caller.start("eight_steps", "n", "x" * 1_100_000)


async def test_client_waits_for_completion(caller):
    """Rule: 200 with the output, 500 for a failed instance."""
    await caller.start("eight_steps", "ok", 0)
    await caller.start("failing", "bad")

    status, body, _ = await caller.call("POST", "/api/client/wait/ok")
    failed, _, _ = await caller.call("POST", "/api/client/wait/bad")

    assert (status, json.loads(body)) == (200, 8)
    assert failed == 500


async def test_client_builds_a_check_status_response_whose_urls_work(caller):
    """Rule: the URLs point at the public path and carry the system key."""
    await caller.start("eight_steps", "u", 0)
    await caller.ended("u")

    status, body, headers = await caller.call("POST", "/api/client/check/u")
    urls = json.loads(body)
    async with caller.session.get(urls["statusQueryGetUri"]) as response:
        found = await response.json()

    assert status == 202
    assert headers["Location"] == urls["statusQueryGetUri"]
    assert found["runtimeStatus"] == "Completed"


async def test_client_lists_and_filters_instances(caller):
    """Rule: get_status_all and get_status_by read the first page."""
    for name in ("a-1", "a-2", "b-1"):
        await caller.start("eight_steps", name, 0)

    assert sorted(await caller.client("all", "-")) == ["a-1", "a-2", "b-1"]
    assert sorted(await caller.client("by", "a-")) == ["a-1", "a-2"]


async def test_client_purges_only_what_has_ended(caller):
    """Rule: a running instance is not purged; a purged one is gone with its history."""
    await caller.start("two_events", "p")
    await caller.until("p", "Running")
    assert await caller.client("purge", "p") == 0
    await caller.client("terminate", "p")
    await caller.ended("p")

    assert await caller.client("purge", "p") == 1
    assert await caller.client("status", "p") is None
    assert caller.host.store.export_history("p") == []


async def test_client_may_terminate_an_ended_instance_twice(caller):
    """Rule: 410 is silently fine."""
    await caller.start("eight_steps", "t", 0)
    await caller.ended("t")

    assert await caller.client("terminate", "t") is None
    assert (await caller.ended("t"))[0] == "Completed"


@pytest.mark.parametrize("verb", ["rewind", "restart", "entity"])
async def test_client_is_refused_what_the_host_does_not_offer(caller, verb):
    """Rule: rewind, restart and entities answer 501. Source: design section 11."""
    await caller.start("failing", "r")
    await caller.ended("r")

    with pytest.raises(RuntimeError, match="501"):
        await caller.client(verb, "r")


# ---- the raw contract ------------------------------------------------------------------------------------------------


async def test_start_answers_202_with_location_and_urls(caller):
    """Rule: POST orchestrators answers 202, Location, Retry-After 10; an id of 32 hex digits when none is given."""
    status, body, headers = await caller.manage("POST", "orchestrators/eight_steps", json="0")

    assert status == 202
    assert headers["Retry-After"] == "10"
    assert headers["Location"] == body["statusQueryGetUri"]
    assert len(body["id"]) == 32
    assert set(body) == {
        "id",
        "statusQueryGetUri",
        "sendEventPostUri",
        "terminatePostUri",
        "rewindPostUri",
        "purgeHistoryDeleteUri",
        "restartPostUri",
        "suspendPostUri",
        "resumePostUri",
    }


async def test_start_may_wait_for_the_end(caller):
    """Rule: with `timeout` the answer is the output, or 202 when the time is up."""
    path = "orchestrators/{}?timeout={}&pollingInterval=1"

    done = await caller.manage("POST", path.format("eight_steps/w1", 10), json="1")
    late = await caller.manage("POST", path.format("two_events/w2", 0.05))
    failed = await caller.manage("POST", path.format("failing/w3", 10))

    assert done[:2] == (200, 9)
    assert late[0] == 202
    assert failed[0] == 200
    assert failed[1]["runtimeStatus"] == "Failed"


@pytest.mark.parametrize("body", ["{", "\xff", "[1,"])
async def test_start_refuses_a_body_that_is_not_json(caller, body):
    """Rule: bad JSON is 400."""
    status, answer, _ = await caller.manage("POST", "orchestrators/eight_steps", data=body.encode("latin-1"))

    assert status == 400
    assert "not JSON" in answer["Message"]


async def test_running_instance_answers_202_and_an_ended_one_200_or_500(caller):
    """Rule: 202 with Location and Retry-After 5 while it runs; 500 for Failed only when asked."""
    await caller.start("two_events", "r")
    await caller.start("failing", "f")
    await caller.ended("f")

    running, _, headers = await caller.manage("GET", "instances/r")
    plain, _, _ = await caller.manage("GET", "instances/f")
    asked, _, _ = await caller.manage("GET", "instances/f?returnInternalServerErrorOnFailure=true")
    missing, body, _ = await caller.manage("GET", "instances/nobody")

    assert (running, headers["Retry-After"]) == (202, "5")
    assert "instances/r" in headers["Location"]
    assert (plain, asked) == (200, 500)
    assert (missing, body) == (404, None)


async def test_status_shows_what_it_is_asked_for(caller):
    """Rule: showInput defaults to true for one instance; history and its outputs come when asked for."""
    await caller.start("eight_steps", "s", 1)
    await caller.ended("s")

    _, plain, _ = await caller.manage("GET", "instances/s")
    _, hidden, _ = await caller.manage("GET", "instances/s?showInput=false&showHistory=true")
    _, full, _ = await caller.manage("GET", "instances/s?showHistory=true&showHistoryOutput=true")

    assert plain["input"] == "1"
    assert "historyEvents" not in plain
    assert plain["createdTime"].endswith("Z")
    assert len(plain["createdTime"]) == 20
    assert hidden["input"] is None
    assert all("Result" not in event for event in hidden["historyEvents"])
    assert any(event.get("Result") == "2" for event in full["historyEvents"])


async def test_event_posted_as_an_object_arrives_as_an_object(caller):
    """Rule: a direct POST is encoded once, the SDK's event twice (issue 295)."""
    await caller.start("two_events", "e")
    for name in ("first", "second"):
        assert (await caller.manage("POST", f"instances/e/raiseEvent/{name}", json={"n": name}))[0] == 202

    assert await caller.ended("e") == ("Completed", [{"n": "first"}, {"n": "second"}])


async def test_event_is_refused_for_ended_unknown_wrong_type_and_size(caller):
    """Rule: 410, 404, 400 for another content type, 400 for more than 1 MB."""
    await caller.start("two_events", "open")
    await caller.start("eight_steps", "ended", 0)
    await caller.ended("ended")

    async def post(instance_id: str, **options: object) -> int:
        return (await caller.manage("POST", f"instances/{instance_id}/raiseEvent/x", **options))[0]

    assert await post("ended", json=1) == 410
    assert await post("nobody", json=1) == 404
    assert await post("open", data=b"1", headers={"content-type": "text/plain"}) == 400
    assert await post("open", json="x" * 1_100_000) == 400


async def test_list_pages_by_hundred_with_a_token(caller):
    """Rule: 100 a page and a continuation token; `top` makes it fewer."""
    await asyncio.gather(*(caller.manage("POST", f"orchestrators/two_events/l-{n:03}") for n in range(103)))

    _, first, headers = await caller.manage("GET", "instances/?instanceIdPrefix=l-")
    token = headers["x-ms-continuation-token"]
    _, second, last = await caller.manage(
        "GET", "instances/?instanceIdPrefix=l-", headers={"x-ms-continuation-token": token}
    )
    _, few, _ = await caller.manage("GET", "instances?top=5")
    bad, _, _ = await caller.manage("GET", "instances/", headers={"x-ms-continuation-token": "nonsense!"})

    ids = [row["instanceId"] for row in (*first, *second)]
    assert (len(first), len(second), len(few)) == (100, 3, 5)
    assert len(set(ids)) == 103
    assert "x-ms-continuation-token" not in last
    assert bad == 400


async def test_list_filters_by_status_and_creation(caller):
    """Rule: runtimeStatus is a comma list; createdTimeFrom and createdTimeTo bound the creation."""
    await caller.start("eight_steps", "done", 0)
    await caller.ended("done")
    await caller.start("two_events", "open")
    await caller.until("open", "Running")

    async def ids(query: str) -> list[str]:
        return [row["instanceId"] for row in (await caller.manage("GET", f"instances/?{query}"))[1]]

    assert await ids("runtimeStatus=Completed") == ["done"]
    assert sorted(await ids("runtimeStatus=Completed,Running")) == ["done", "open"]
    assert await ids("createdTimeFrom=2100-01-01T00:00:00Z") == []
    assert sorted(await ids("createdTimeTo=2100-01-01T00:00:00Z")) == ["done", "open"]
    assert (await caller.manage("GET", "instances/?createdTimeFrom=soon"))[0] == 400
    for top in ("many", "nan", "inf"):
        assert (await caller.manage("GET", f"instances/?top={top}"))[0] == 400


async def test_purging_many_needs_a_beginning_and_spares_the_running(caller):
    """Rule: DELETE instances needs createdTimeFrom, removes ended ones only, 404 when there are none."""
    await caller.start("eight_steps", "done", 0)
    await caller.ended("done")
    await caller.start("two_events", "open")

    assert (await caller.manage("DELETE", "instances/"))[0] == 400
    since = "instances/?createdTimeFrom=2020-01-01T00:00:00Z"
    assert (await caller.manage("DELETE", since))[:2] == (200, {"instancesDeleted": 1})
    assert (await caller.manage("DELETE", since))[0] == 404
    assert caller.host.operations.find("open") is not None


async def test_public_path_needs_the_system_or_master_key(caller):
    """Rule: the same API under /runtime/webhooks/durabletask/ is closed without the key."""
    path = "/runtime/webhooks/durabletask/instances/"

    assert (await caller.call("GET", path))[0] == 401
    assert (await caller.call("GET", path + "?code=wrong"))[0] == 401
    for key in (caller.host.keys.system, caller.host.keys.master):
        assert (await caller.call("GET", path + f"?code={key}"))[0] == 200
        assert (await caller.call("GET", path, headers={"x-functions-key": key}))[0] == 200


async def test_loopback_listener_refuses_what_a_browser_could_send(caller):
    """Rule: the key-less listener answers neither a foreign Host nor a request with an Origin."""
    assert (await caller.manage("GET", "instances/", headers={"Host": "evil.example"}))[0] == 403
    assert (await caller.manage("POST", "orchestrators/failing", headers={"Origin": "https://evil.example"}))[0] == 403
    async with caller.session.get(caller.host.rpc_url.replace("durabletask/", "api/hello")) as response:
        assert response.status == 404


async def test_unknown_paths_and_methods_are_404(caller):
    """Rule: nothing else is served."""
    for method, path in (("GET", "orchestrators/failing"), ("PUT", "instances/x"), ("POST", "instances/x/dance")):
        assert (await caller.manage(method, path))[0] == 404
    assert (await caller.manage("GET", "entities/shelf/1"))[0] == 501


async def test_traceparent_of_a_start_reaches_the_activities(caller):
    """Rule: the trace is kept on the instance and given to each activity. Source: functions.md §7 (15)."""
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    async with aiohttp.ClientSession() as session:
        traced = Caller(caller.host, session)
        await traced.call(
            "POST",
            "/api/client/start/traced",
            json={"name": "traced", "input": None},
            headers={"traceparent": parent},
        )

    status, seen = await caller.ended("traced")

    assert status == "Completed"
    assert seen == "0af7651916cd43dd8448eb211c80319c"
    assert caller.host.operations.find("traced").traceparent.split("-")[1] == seen
