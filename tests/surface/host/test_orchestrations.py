"""Orchestrations end to end: the sample app's own functions, the real Durable client, real HTTP."""

import asyncio
import json

import aiohttp
import pytest

from local.serve import running_host
from tests.surface.host.conftest import APP, Caller, eventually

pytestmark = pytest.mark.req("DC-03")


async def test_every_action_type_runs_to_the_end(caller):
    """Rule: activity, retry, timer, children, event against deadline, guid and version. Source: functions.md §3."""
    await caller.start("every_action", "all")
    await caller.until("all", custom={"at": "event"})
    await caller.client("raise", "all", {"name": "answer", "data": {"x": 1}})

    status, output = await caller.ended("all")

    assert status == "Completed"
    assert output.pop("guid")
    assert output == {
        "one": 1,
        "flaky": "attempt 3",
        "child": {"n": 21, "version": "2.0.0", "has_parent": True},
        "named": {"n": 31, "version": "2.0.0", "has_parent": True},
        "failed": "Orchestrator function 'failing' failed: out of stock \n None",
        "answer": '{"x": 1}',
        "version": "2.0.0",
        "parent": None,
    }


async def test_sequence_takes_one_episode_a_step(caller):
    """Rule: an episode per completion and one for the start, no more."""
    await caller.start("eight_steps", "s", 5)

    assert await caller.ended("s") == ("Completed", 13)
    assert caller.host.engine.episodes == 9


async def test_wide_fan_out_comes_back_in_order_and_within_the_limit(caller):
    """Rule: all due messages of an instance make one episode; host.json limits concurrent activities."""
    await caller.start("fan_out", "wide", 200)

    assert await caller.ended("wide") == ("Completed", list(range(1, 201)))
    assert caller.host.engine.episodes < 120


async def test_activities_keep_to_the_limit_of_host_json(caller):
    """Rule: maxConcurrentActivityFunctions bounds what runs at once (8 in the sample)."""
    import function_app

    function_app.RUNNING["most"] = 0
    await caller.start("naps_at_once", "n", [0.2] * 12)

    assert await caller.ended("n") == ("Completed", [0.2] * 12)
    assert function_app.RUNNING["most"] == 8


async def test_failing_orchestrator_fails_with_its_message(caller):
    """Rule: failure output is `Orchestrator function '<name>' failed: <message>`."""
    await caller.start("failing", "f")

    assert await caller.ended("f") == ("Failed", "Orchestrator function 'failing' failed: out of stock")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing_activity", "no activity function 'no_such_activity'"),
        ("missing_child", "'no_such_child' doesn't exist"),
    ],
)
async def test_unknown_activity_or_child_fails_the_caller(caller, name, message):
    """Rule: an unknown activity is TaskFailed, an unknown child SubOrchestrationInstanceFailed."""
    await caller.start(name, "m")

    status, output = await caller.ended("m")

    assert status == "Failed"
    assert message in output


async def test_names_are_found_without_case_and_under_their_durable_name(caller):
    """Rule: lookups ignore case; `orchestration=` and `activity=` rename."""
    await caller.start("from another MODULE", "r")

    assert await caller.ended("r") == ("Completed", 101)


async def test_continue_as_new_keeps_identity_and_forgets_history(caller):
    """Rule: a new execution keeps id, name, creation and custom status; history begins anew."""
    await caller.start("countdown", "c", 5)
    created = caller.host.operations.find("c").created_at

    assert await caller.ended("c") == ("Completed", "lift-off")
    row = caller.host.operations.find("c")
    assert row.created_at == created
    assert len(caller.host.store.export_history("c")) < 6


async def test_events_queued_behind_a_generation_reach_the_next(caller):
    """Rule: events later in the batch are carried over to the next generation."""
    await caller.start("collector", "k")
    await asyncio.gather(*(caller.client("raise", "k", {"name": "item", "data": {"n": n}}) for n in range(3)))

    status, output = await caller.ended("k")

    assert status == "Completed"
    assert sorted(json.loads(item)["n"] for item in output) == [0, 1, 2]


async def test_three_events_in_one_batch_feed_three_generations(caller):
    """Rule: nothing later in the same batch is lost."""
    await caller.start("collector", "b")
    await caller.until("b", "Running")
    operations = caller.host.operations
    await asyncio.gather(*(operations.raise_event("b", "item", str(number)) for number in range(3)))

    assert await caller.ended("b") == ("Completed", [0, 1, 2])


async def test_suspended_instance_holds_its_mail_until_resumed(caller):
    """Rule: Resumed comes first, then what was held, in order of arrival."""
    await caller.start("two_events", "s")
    await caller.until("s", "Running")
    await caller.client("suspend", "s")
    await caller.until("s", "Suspended")
    await caller.client("raise", "s", {"name": "first", "data": {"n": 1}})
    await caller.client("raise", "s", {"name": "second", "data": {"n": 2}})
    assert caller.host.operations.find("s").status == "Suspended"

    await caller.client("resume", "s")

    assert await caller.ended("s") == ("Completed", ['{"n": 1}', '{"n": 2}'])
    kinds = [event["EventType"] for event in caller.host.store.export_history("s")]
    assert kinds[kinds.index(20) :][:3] == [20, 15, 15]


async def test_suspended_instance_can_be_terminated(caller):
    """Rule: Resume and Terminate pass while suspended."""
    await caller.start("two_events", "s")
    await caller.client("suspend", "s")
    await caller.client("suspend", "s")
    await caller.until("s", "Suspended")

    await caller.client("terminate", "s")

    assert await caller.ended("s") == ("Terminated", "a good reason")


async def test_terminating_is_immediate_and_drops_timers(caller):
    """Rule: terminate does not wait for what is open."""
    await caller.start("deadline_flow", "t")
    await caller.until("t", "Running")

    await caller.client("terminate", "t")

    assert await caller.ended("t") == ("Terminated", "a good reason")
    assert caller.host.store.alarms() == []


async def test_terminated_child_fails_its_parent(caller):
    """Rule: a terminated child is a failed one, with the reason."""
    await caller.start("parent_of_waiter", "p")
    await caller.until("p-child", "Running")

    await caller.client("terminate", "p-child")

    status, output = await caller.ended("p")
    assert status == "Failed"
    assert "a good reason" in output


async def test_fault_077_cancelled_deadline_lets_the_instance_complete(caller):
    """Rule: a claim cancels its 14-day timer and nothing of it stays (fault 077)."""
    await caller.start("deadline_flow", "d")
    await caller.until("d", "Running")
    await caller.client("raise", "d", {"name": "claimed", "data": {}})

    assert await caller.ended("d") == ("Completed", "claimed")
    assert caller.host.store.alarms() == []


async def test_fault_077_uncancelled_deadline_keeps_the_instance_running(caller):
    """Rule: an open timer keeps an ended orchestrator Running, here as on Azure, so that tests see it (fault 077)."""
    await caller.start("deadline_flow", "d", "keep the timer")
    await caller.until("d", "Running")
    await caller.client("raise", "d", {"name": "claimed", "data": {}})
    await eventually(lambda: not caller.host.store.messages_of("d")[1:])

    assert caller.host.operations.find("d").status == "Running"
    assert len(caller.host.store.alarms()) == 1


async def test_short_deadline_fires(caller):
    """Rule: the timer wins when no event comes."""
    await caller.start("short_deadline", "d")

    assert await caller.ended("d") == ("Completed", "too late")


async def test_orchestrator_with_an_open_timer_ends_when_it_fires(caller):
    """Rule: the outcome waits for the last open task."""
    await caller.start("uncancelled", "u")

    assert await caller.ended("u") == ("Completed", "done")
    kinds = [event["EventType"] for event in caller.host.store.export_history("u")]
    assert 11 in kinds


@pytest.mark.parametrize("what", ["entity", "signal", "http"])
async def test_features_not_offered_fail_the_instance_clearly(caller, what):
    """Rule: entities and call_http are refused by name. Source: design section 11."""
    await caller.start("forbidden", "x", what)

    status, output = await caller.ended("x")

    assert status == "Failed"
    assert "is not offered by this host" in output


async def test_fault_078_plain_values_cross_the_border_unchanged(caller):
    """Rule: JSON values come back as they went (fault 078)."""
    await caller.start("bad_models", "m", "plain")

    expected = {"at": "2026-01-01T00:00:00Z", "price": "9.99", "none": None, "n": 1.5}
    assert await caller.ended("m") == ("Completed", expected)


@pytest.mark.parametrize("what", ["datetime", "decimal", "set"])
async def test_fault_078_values_that_are_not_json_fail_at_the_border(caller, what):
    """Rule: what is not JSON fails there and then, it never comes back as something else (fault 078)."""
    await caller.start("bad_models", "m", what)

    status, output = await caller.ended("m")

    assert status == "Failed"
    assert "must be json serializable" in output


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("activity-input", "the input of 'increment' is 1100002 bytes"),
        ("activity-output", "the output of 'inflate' is 1100002 bytes"),
        ("output", "the orchestration's output is 1100002 bytes"),
        ("custom-status", "the custom status is 18004 bytes of UTF-16"),
        ("continue-as-new", "the input of continue_as_new is 1100002 bytes"),
    ],
)
async def test_fault_081_oversized_payload_fails_the_instance(caller, what, message):
    """Rule: payloads over 1 MB and custom statuses over 16 KB fail as on the Durable Task Scheduler (fault 081)."""
    await caller.start("big", "b", what)

    status, output = await caller.ended("b")

    assert status == "Failed"
    assert message in output


@pytest.mark.parametrize("what", ["error", "own-error"])
async def test_fault_081_long_error_text_is_cut_and_the_instance_fails(caller, what):
    """Rule: an exception text of 200 KB is cut, the instance is Failed and never hangs (fault 081)."""
    await caller.start("big", "b", what)

    status, output = await caller.ended("b")

    assert status == "Failed"
    assert "[cut, " in output
    assert len(output) < 30_000


async def test_fault_082_event_raised_before_the_wait_is_kept(caller):
    """Rule: an event that comes while the instance is Pending, or before it listens, is not lost (fault 082)."""
    await caller.start("late_listener", "l")
    await caller.client("raise", "l", {"name": "claimed", "data": {"by": "Ana"}})

    assert await caller.ended("l") == ("Completed", '{"by": "Ana"}')


async def test_fault_083_two_parallel_starts_of_one_id_make_one_run(caller):
    """Rule: the second of two starts is refused while the first is active (fault 083)."""
    attempts = [caller.start("late_listener", "consolidate-T1-ana") for _ in range(8)]

    results = await asyncio.gather(*attempts, return_exceptions=True)

    refused = [result for result in results if isinstance(result, Exception)]
    assert len(refused) == 7
    assert all("already exists" in str(error) for error in refused)
    await caller.client("raise", "consolidate-T1-ana", {"name": "claimed", "data": {}})
    assert (await caller.ended("consolidate-T1-ana"))[0] == "Completed"


async def test_fault_106_same_message_id_is_the_same_instance(caller):
    """Rule: a repeat with the same id while the turn runs starts nothing; status and result are shared (fault 106)."""
    await caller.start("napper", "turn-T1-m1", [0.2])
    with pytest.raises(RuntimeError, match="already exists"):
        await caller.start("napper", "turn-T1-m1", [0.2])

    assert await caller.ended("turn-T1-m1") == ("Completed", [0.2])


async def test_ended_instance_is_replaced_by_a_start_of_its_id(caller):
    """Rule: ended instances are replaced silently, so callers must decide by their own row."""
    for value in (1, 2):
        await caller.start("eight_steps", "again", value)
        assert await caller.ended("again") == ("Completed", value + 8)
    assert len([e for e in caller.host.store.export_history("again") if e["EventType"] == 0]) == 1


async def test_fault_079_code_that_changed_under_a_live_instance_fails_it(tmp_path, caller):
    """Rule: non-determinism fails the instance with a message that names both sides (fault 079)."""
    import function_app

    await caller.start("drifting", "n")
    await eventually(lambda: len(caller.host.store.episodes("n")) == 2)
    function_app.DRIFT["is_first"] = False
    try:
        await caller.client("raise", "n", {"name": "go", "data": {}})
        status, output = await caller.ended("n")
    finally:
        function_app.DRIFT["is_first"] = True

    assert status == "Failed"
    assert "Non-deterministic orchestrator" in output
    assert "TASK_SCHEDULED increment with id 0" in output


async def test_fault_080_instance_keeps_its_version_and_old_branch(tmp_path):
    """Rule: an instance begun on 1.0.0 keeps its old branch on a 2.0.0 host; children get the host's (fault 080)."""
    async with running_host(APP, tmp_path) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)
        await caller.start("versioned", "old", version="1.0.0")
        await caller.start("versioned", "new")
        await eventually(lambda: len(host.store.episodes("old")) == 2 and len(host.store.episodes("new")) == 1)
    async with running_host(APP, tmp_path) as host, aiohttp.ClientSession() as session:
        caller = Caller(host, session)
        for instance_id in ("old", "new"):
            await caller.client("raise", instance_id, {"name": "go", "data": {}})

        assert await caller.ended("old") == ("Completed", {"version": "1.0.0", "child": "2.0.0"})
        assert await caller.ended("new") == ("Completed", {"version": "2.0.0", "child": "2.0.0"})


async def test_instance_of_a_newer_version_fails_under_the_fail_strategy(caller):
    """Rule: CurrentOrOlder refuses newer instances; Fail fails them."""
    await caller.start("versioned", "future", version="3.0.0")

    status, output = await caller.ended("future")

    assert status == "Failed"
    assert "version mismatch" in output


async def test_fault_080_history_that_grows_long_is_told(caller, caplog, monkeypatch):
    """Rule: a history that passes another thousand events is warned of (fault 080); twenty here."""
    monkeypatch.setattr("local.scribe.HISTORY_ALARM_EVENTS", 20)
    await caller.start("eight_steps", "long", 0)

    assert (await caller.ended("long"))[0] == "Completed"
    assert caplog.text.count("the history of instance long has") == 1
