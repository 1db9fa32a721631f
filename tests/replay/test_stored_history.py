"""Histories of finished instances, replayed through the code of today."""

import json
from pathlib import Path

import azure.durable_functions as df
import pytest

from local.replay_check import replay_check
from local.serve import running_host

pytestmark = pytest.mark.req("DC-03")

APP = Path(__file__).parents[1] / "surface" / "host" / "sample_app"


@pytest.fixture
async def history(tmp_path):
    """Return a function that runs an orchestration to its end and returns its stored history."""
    async with running_host(APP, tmp_path) as host:

        async def run(name, value, *events):
            await host.operations.start(name, name, json.dumps(json.dumps(value)))
            for event in events:
                await host.operations.raise_event(name, event, "1")
            assert (await host.operations.wait(name, 10)).is_final
            return json.loads(json.dumps(host.store.export_history(name)))

        yield run


def code_of(name):
    """Return the sample app's orchestrator of a name."""
    from local.indexing import index

    return index(APP)[name].call


@pytest.mark.parametrize(
    ("name", "value", "events"),
    [
        ("eight_steps", 3, ()),
        ("fan_out", 4, ()),
        ("failing", None, ()),
        ("deadline_flow", None, ("claimed",)),
        ("uncancelled", None, ()),
        ("every_action", None, ("answer",)),
    ],
)
async def test_unchanged_code_replays_its_own_history(history, name, value, events):
    """Rule: the code that made a history replays it without a difference."""
    assert replay_check(await history(name, value, *events), code_of(name)) == ()


async def test_changed_code_is_told_apart(history):
    """Rule: another step, another result or an added step fails the check, so CI sees it before live instances do."""
    stored = await history("eight_steps", 3)

    def renamed(context: df.DurableOrchestrationContext):
        yield context.call_activity("decrement", 3)

    def shorter(context: df.DurableOrchestrationContext):
        value = context.get_input()
        for _ in range(7):
            value = yield context.call_activity("increment", value)
        return value

    def longer(context: df.DurableOrchestrationContext):
        value = context.get_input()
        for _ in range(9):
            value = yield context.call_activity("increment", value)
        return value

    def other_result(context: df.DurableOrchestrationContext):
        yield from code_of("eight_steps").orchestrator_function(context)
        return "something else"

    def raises(context: df.DurableOrchestrationContext):
        yield from code_of("eight_steps").orchestrator_function(context)
        raise ValueError("no")

    assert "the history records TASK_SCHEDULED increment with id 0" in replay_check(stored, renamed)[0]
    assert "the history records TASK_SCHEDULED increment with id 7" in replay_check(stored, shorter)[0]
    assert "the code now also does RunActivity(id=8" in replay_check(stored, longer)[0]
    assert "now Completed" in replay_check(stored, other_result)[0]
    assert "the code now fails: no" in replay_check(stored, raises)[0]
