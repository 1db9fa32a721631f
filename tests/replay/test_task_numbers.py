"""The numbers our shim gives tasks are the numbers the SDK looks them up by."""

import random
from datetime import timedelta

import azure.durable_functions as df
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.decisions import Completed, Failed
from local.replay import NonDeterminism
from tests.replay.simulation import Mismatch, Simulation, Stuck

RETRY = df.RetryOptions(1000, 3)
STEPS = (
    "activity",
    "activity with retry",
    "fan-out",
    "fan-out with retry",
    "mixed fan-out",
    "activity or timer",
    "timer",
    "child",
    "child with retry",
    "event",
    "event or deadline",
    "two events",
)


def orchestrator_of(plan):
    """Return an orchestrator that does the plan's steps, all of them within the safe patterns."""

    def code(context):
        done = []
        for number, step in enumerate(plan):
            soon = context.current_utc_datetime + timedelta(seconds=5)
            match step:
                case "activity":
                    seen = {"n": number, "at": str(context.current_utc_datetime), "guid": str(context.new_guid())}
                    done.append((yield context.call_activity("steady", seen)))
                case "activity with retry":
                    try:
                        done.append((yield context.call_activity_with_retry("flaky", RETRY, number)))
                    except Exception:  # noqa: BLE001 - the SDK raises plain exceptions
                        done.append("gave up")
                case "fan-out":
                    done.append((yield context.task_all([context.call_activity("steady", n) for n in range(3)])))
                case "fan-out with retry":
                    try:
                        tasks = [context.call_activity_with_retry("flaky", RETRY, n) for n in range(3)]
                        done.append((yield context.task_all(tasks)))
                    except Exception:  # noqa: BLE001 - the SDK raises plain exceptions
                        return [*done, "left"]
                case "mixed fan-out":
                    tasks = [context.call_activity("steady"), context.create_timer(soon)]
                    tasks.append(context.call_sub_orchestrator("steady_child"))
                    yield context.task_all(tasks)
                case "activity or timer":
                    task, timer = context.call_activity("steady", number), context.create_timer(soon)
                    winner = yield context.task_any([task, timer])
                    if winner == task:
                        timer.cancel()
                    done.append(winner == task)
                case "timer":
                    yield context.create_timer(soon)
                case "child":
                    done.append((yield context.call_sub_orchestrator("steady_child", number)))
                case "child with retry":
                    try:
                        done.append((yield context.call_sub_orchestrator_with_retry("flaky_child", RETRY, number)))
                    except Exception:  # noqa: BLE001 - the SDK raises plain exceptions
                        done.append("gave up")
                case "event":
                    done.append((yield context.wait_for_external_event(f"event-{number}")))
                case "event or deadline":
                    event, deadline = context.wait_for_external_event(f"event-{number}"), context.create_timer(soon)
                    if (yield context.task_any([event, deadline])) == event:
                        deadline.cancel()
                case "two events":
                    names = [f"event-{number}-{side}" for side in "ab"]
                    yield context.task_all([context.wait_for_external_event(name) for name in names])
        return done

    return code


@pytest.mark.req("DC-03")
@settings(max_examples=500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(plan=st.lists(st.sampled_from(STEPS), min_size=1, max_size=6), seed=st.integers(0, 2**32))
def test_shim_and_sdk_number_tasks_alike_in_safe_orchestrations(plan, seed):
    """Rule: ids the shim chooses are ids the SDK looks up, whatever completes first. Source: functions.md §3.5."""
    simulation = Simulation(orchestrator_of(plan), random.Random(seed))

    outcome = simulation.run()

    assert isinstance(outcome, Completed)


@pytest.mark.req("DC-03")
@settings(max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(plan=st.lists(st.sampled_from(STEPS), min_size=1, max_size=6), seed=st.integers(0, 2**32))
def test_sdk_answers_the_short_feed_as_the_whole_history(plan, seed):
    """Rule: events only the extension reads may stay at home. Source: azure-functions-durable 1.7, `process_event`."""
    simulation = Simulation(orchestrator_of(plan), random.Random(seed), compares_feeds=True)

    simulation.run()


# ---- patterns the SDK and the extension number differently ----------------------------------------------------------


def retry_or_timer(context):
    """A retry inside task_any, with a timer beside it: the extension and the SDK number apart."""
    for number in range(3):
        timer = context.create_timer(context.current_utc_datetime + timedelta(seconds=5))
        retry = context.call_activity_with_retry("flaky", RETRY, number)
        winner = yield context.task_any([retry, timer])
        if winner == retry:
            timer.cancel()
        yield context.call_activity("steady", number)
    return "done"


def rolling_window_of_retries(context):
    """A second task_any over tasks already scheduled."""
    running = [context.call_activity_with_retry("flaky", RETRY, n) for n in range(3)]
    for number in range(4):
        winner = yield context.task_any(running)
        running.remove(winner)
        running.append(context.call_activity_with_retry("flaky", RETRY, 10 + number))
    return "done"


def caught_fan_out_of_retries(context):
    """A fan-out that goes on after a failure while its siblings still retry."""
    try:
        yield context.task_all([context.call_activity_with_retry("flaky", RETRY, n) for n in range(3)])
    except Exception:  # noqa: BLE001 - the SDK raises plain exceptions
        yield context.call_activity("steady", 1)
        yield context.call_activity("steady", 2)
    return "done"


@pytest.mark.req("DC-03")
@pytest.mark.parametrize(
    "code", [retry_or_timer, rolling_window_of_retries, caught_fan_out_of_retries], ids=lambda f: f.__name__
)
def test_unsafe_pattern_fails_loudly_and_never_hangs(code):
    """Rule: where Azure would hang or fail, some run here is non-deterministic or stuck, and says so.

    Source: functions.md §8.2; issue 603 of azure-functions-durable-python.
    """
    loud = 0
    for seed in range(120):
        try:
            outcome = Simulation(code, random.Random(seed)).run()
        except (Mismatch, NonDeterminism, Stuck):
            loud += 1
        else:
            loud += isinstance(outcome, Failed)

    assert loud > 0


def changed_activity(context):
    yield context.call_activity("new name", 1)


def changed_kind(context):
    yield context.create_timer(context.current_utc_datetime + timedelta(seconds=1))


def returns_early(context):
    return "nothing"
    yield


@pytest.mark.req("DC-03")
@pytest.mark.parametrize("code", [changed_activity, changed_kind, returns_early], ids=lambda f: f.__name__)
def test_fault_079_code_that_decides_otherwise_than_its_history_is_non_deterministic(code):
    """Rule: another decision on replay fails the instance with a clear message (fault 079)."""

    def original(context):
        return (yield context.call_activity("steady", 1))

    simulation = Simulation(original, random.Random(1))
    simulation.run()
    simulation.code = code
    del simulation.history[4:]

    with pytest.raises(NonDeterminism, match="the history records TASK_SCHEDULED steady with id 0"):
        simulation._episode([])
