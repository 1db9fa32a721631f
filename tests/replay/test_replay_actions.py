"""The shim, one action type at a time: which decisions follow, under which ids, and when the instance ends."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from local.decisions import Completed, Continued, Failed, RunActivity, StartChild, StartTimer
from local.history import EventType, from_iso, incoming, scheduled, to_iso
from local.replay import NonDeterminism, Refused, Replay

T0 = datetime(2026, 1, 1, tzinfo=UTC)
LATER = "2026-01-02T00:00:00.000000Z"
ACTIVITY = {"actionType": 0, "functionName": "work", "input": '"in"'}
RETRY = {"firstRetryIntervalInMilliseconds": 1500, "maxNumberOfAttempts": 2}
EVENT = {"actionType": 6, "externalEventName": "go", "reason": "ExternalEvent"}
TIMER = {"actionType": 5, "fireAt": LATER, "isCanceled": False}


def result(*actions, **fields):
    return {"isDone": False, "schemaVersion": 2, "actions": [list(actions)], **fields}


def episode(*events, second=0):
    now = to_iso(T0 + timedelta(seconds=second))
    return [scheduled(EventType.ORCHESTRATOR_STARTED, -1, now), *({**event, "Timestamp": now} for event in events)]


STARTED = incoming(EventType.EXECUTION_STARTED, Name="o", Version=None, Input=None)


def judge(answer, *events):
    return Replay("x1", answer).judge([*episode(STARTED), *events])


def confirmed(kind, number, **fields):
    return scheduled(kind, number, to_iso(T0), **fields)


def completed(number, text="1"):
    return incoming(EventType.TASK_COMPLETED, TaskScheduledId=number, Result=text)


def failed(number):
    return incoming(EventType.TASK_FAILED, TaskScheduledId=number, Reason="broken")


def fired(number):
    return incoming(EventType.TIMER_FIRED, TimerId=number, FireAt=LATER)


def raised(name, text="1"):
    return incoming(EventType.EVENT_RAISED, Name=name, Input=text)


pytestmark = pytest.mark.req("DC-03")


def test_activity_takes_the_next_id_and_keeps_its_input():
    """Rule: ids count from 0 in the order the extension invokes. Source: functions.md §3.5."""
    verdict = judge(result(ACTIVITY))

    assert verdict.decisions == (RunActivity(0, "work", '"in"'),)
    assert verdict.outcome is None


def test_second_action_is_decided_only_after_the_first_completes():
    """Rule: top-level actions are awaited one after the other."""
    answer = result(ACTIVITY, {**ACTIVITY, "functionName": "more"})

    waiting = judge(answer)
    going_on = judge(answer, confirmed(EventType.TASK_SCHEDULED, 0, Name="work"), completed(0))

    assert [d.name for d in waiting.decisions] == ["work"]
    assert going_on.decisions == (RunActivity(1, "more", '"in"'),)


def test_child_without_an_id_is_named_after_the_execution():
    """Rule: default child id is `<execution id>:<task id>`."""
    child = {"actionType": 2, "functionName": "c", "input": "1", "instanceId": None, "version": "2.0"}

    assert judge(result(child)).decisions == (StartChild(0, "c", "1", "x1:0", "2.0"),)
    assert judge(result({**child, "instanceId": "mine"})).decisions[0].instance_id == "mine"


def test_timer_is_decided_with_its_moment():
    """Rule: a timer of any length is one action."""
    assert judge(result(TIMER)).decisions == (StartTimer(0, LATER, False),)


def test_cancelled_timer_is_recorded_but_not_open():
    """Rule: a cancelled timer takes its id, is confirmed, and keeps nothing waiting."""
    answer = result({**TIMER, "isCanceled": True}, isDone=True, output="o")

    fresh = judge(answer)
    replayed = judge(answer, confirmed(EventType.TIMER_CREATED, 0, FireAt=LATER))

    assert fresh.decisions == (StartTimer(0, LATER, True),)
    assert fresh.outcome == replayed.outcome == Completed("o")
    assert replayed.cancelled == {0}


def test_fault_077_open_timer_keeps_an_ended_orchestrator_running():
    """Rule: the outcome takes effect only when nothing is open (fault 077)."""
    answer = result(TIMER, isDone=True, output="o")
    created = confirmed(EventType.TIMER_CREATED, 0, FireAt=LATER)
    any_answer = result({"actionType": 11, "compoundActions": [TIMER, EVENT]}, isDone=True, output="o")

    assert judge(any_answer, created, raised("go")).outcome is None
    assert judge(any_answer, created, raised("go"), fired(0)).outcome == Completed("o")
    assert judge(answer, created, fired(0)).outcome == Completed("o")


def test_event_waits_take_no_id():
    """Rule: external-event waits and compounds take no ids."""
    answer = result(EVENT, ACTIVITY)

    assert judge(answer).awaited == {"go"}
    assert judge(answer, raised("go")).decisions == (RunActivity(0, "work", '"in"'),)


def test_event_that_arrives_early_is_kept_for_its_waiter():
    """Rule: un-awaited events queue per name."""
    answer = result(ACTIVITY, EVENT, isDone=True, output=1)
    scheduled_work = confirmed(EventType.TASK_SCHEDULED, 0, Name="work")

    assert judge(answer, raised("go"), scheduled_work, completed(0)).outcome == Completed(1)


def test_when_all_waits_for_every_child_even_after_a_failure():
    """Rule: WhenAll ends when every child has."""
    answer = result({"actionType": 12, "compoundActions": [ACTIVITY, ACTIVITY]}, isDone=True, output=1)
    both = [confirmed(EventType.TASK_SCHEDULED, n, Name="work") for n in (0, 1)]

    assert judge(answer, *both, failed(0)).outcome is None
    assert judge(answer, *both, failed(0), completed(1)).outcome == Completed(1)


def test_when_any_goes_on_with_the_first_child():
    """Rule: WhenAny ends with the first; the others stay open."""
    answer = result({"actionType": 11, "compoundActions": [ACTIVITY, EVENT]}, {**ACTIVITY, "functionName": "next"})
    verdict = judge(answer, confirmed(EventType.TASK_SCHEDULED, 0, Name="work"), raised("go"))

    assert verdict.decisions == (RunActivity(1, "next", '"in"'),)
    assert verdict.open_ids == {0, 1}


def test_empty_compound_is_done_at_once():
    """Rule: an empty compound delays nothing."""
    assert judge(result({"actionType": 12, "compoundActions": []}, isDone=True)).outcome == Completed(None)


def test_retry_is_attempt_timer_attempt_and_one_last_timer():
    """Rule: after the last failure one more timer fires at once. Source: functions.md §3.5, rule 4."""
    answer = result({**ACTIVITY, "actionType": 1, "retryOptions": RETRY}, error="broken", isDone=False)
    first = [confirmed(EventType.TASK_SCHEDULED, 0, Name="work"), *episode(failed(0), second=1)]
    second = [confirmed(EventType.TIMER_CREATED, 1, FireAt=LATER), *episode(fired(1), second=3)]
    third = [confirmed(EventType.TASK_SCHEDULED, 2, Name="work"), *episode(failed(2), second=4)]
    last = [confirmed(EventType.TIMER_CREATED, 3, FireAt=LATER), *episode(fired(3), second=5)]

    wait, again = judge(answer, *first).decisions[0], judge(answer, *first, *second).decisions[0]
    at_once = judge(answer, *first, *second, *third).decisions[0]

    assert from_iso(wait.fire_at) == T0 + timedelta(seconds=2.5)
    assert again == RunActivity(2, "work", '"in"')
    assert from_iso(at_once.fire_at) == T0 + timedelta(seconds=4)
    assert judge(answer, *first, *second, *third, *last).outcome == Failed("broken")


def test_continue_as_new_carries_its_input_and_sets_later_events_aside():
    """Rule: events later in the batch go to the next generation, buffered ones are lost."""
    answer = result(EVENT, {"actionType": 4, "input": '{"n":1}'}, isDone=True)
    verdict = judge(answer, raised("other"), raised("go"), raised("go", "2"))

    assert verdict.outcome == Continued('{"n":1}')
    assert [event["Input"] for event in verdict.late] == ["2"]
    assert verdict.unread == ("other",)


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ({"actionType": 7, "instanceId": "@c@k", "operation": "get"}, "call_entity"),
        ({"actionType": 9, "instanceId": "@c@k", "operation": "add"}, "signal_entity"),
        ({"actionType": 8, "httpRequest": {}}, "call_http"),
    ],
)
def test_features_the_host_does_not_offer_are_refused_by_name(action, name):
    """Rule: entities and call_http are refused with a clear error. Source: design section 11."""
    with pytest.raises(Refused, match=name):
        judge(result(action))


def test_old_replay_schema_is_refused():
    """Rule: schema V1 is not supported."""
    with pytest.raises(Refused, match="V1"):
        judge({**result(ACTIVITY), "schemaVersion": 0})


@pytest.mark.parametrize(
    "event",
    [
        confirmed(EventType.TASK_SCHEDULED, 0, Name="other"),
        confirmed(EventType.TASK_SCHEDULED, 1, Name="work"),
        confirmed(EventType.TIMER_CREATED, 0, FireAt=LATER),
        confirmed(EventType.CHILD_CREATED, 0, Name="work"),
        confirmed(EventType.EVENT_SENT, 0, Name="op", InstanceId="@c@k"),
    ],
    ids=["name", "id", "timer", "child", "entity"],
)
def test_history_that_records_another_decision_is_non_deterministic(event):
    """Rule: a mismatch in kind or name fails. Source: functions.md §3.5, rule 8."""
    with pytest.raises(NonDeterminism, match="the history records"):
        judge(result(ACTIVITY), event)


def test_names_confirm_without_case():
    """Rule: names compare without case."""
    assert judge(result(ACTIVITY), confirmed(EventType.TASK_SCHEDULED, 0, Name="WORK")).decisions == ()


def test_completions_of_unknown_tasks_are_ignored():
    """Rule: unknown ids are ignored, as by the extension."""
    assert judge(result(ACTIVITY), completed(7), fired(9)).outcome is None


def test_orchestrator_that_waits_for_nothing_is_stuck_and_fails():
    """Rule: what would hang for ever on Azure fails here. Source: functions.md §8.2."""
    done = [confirmed(EventType.TASK_SCHEDULED, 0, Name="work"), completed(0)]
    outcome = judge(result(ACTIVITY), *done).outcome

    assert isinstance(outcome, Failed)
    assert "never scheduled" in outcome.reason


def test_wire_moments_keep_microseconds_and_cut_the_rest():
    """Rule: timestamps have up to seven fraction digits and a Z."""
    assert from_iso("2026-01-01T00:00:00.1234567Z") == T0 + timedelta(microseconds=123456)
    assert from_iso("2026-01-01T00:00:00") == T0
    assert to_iso(T0) == "2026-01-01T00:00:00.000000Z"
    assert json.loads(json.dumps(STARTED)) == STARTED
