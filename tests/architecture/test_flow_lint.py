"""Each rule of the flow lint fires on a bad flow, and our own flows keep them all."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.flow_lint import lint_paths, lint_source

pytestmark = pytest.mark.req("DC-03")

ROOT = Path(__file__).parents[2]
FLOWS = ROOT / "orchestrators" / "flows"

BAD = {
    "async def flow(context):\n    await context.call(ActivityName.X, {})": "async",
    "import time": "import",
    "from uuid import uuid4": "import",
    "from shared.container import services": "import",
    "from shared import settings": "import",
    "import agents.supervisor.review": "import",
    "def flow(context):\n    yield open('x')": "world",
    "def flow(context):\n    yield hash('x')": "world",
    "def flow(context):\n    yield config.environ['X']": "world",
    "def flow(context):\n    yield uuid4()": "world",
    "def flow(context):\n    yield datetime.now(UTC)": "clock",
    "def flow(context):\n    yield datetime.datetime.utcnow()": "clock",
    "def flow(context):\n    yield date.today()": "clock",
    "seen = []": "global",
    "seen: dict = {}": "global",
    "def flow(context):\n    global seen": "global",
    "SEEN = {}\ndef flow(context):\n    SEEN['x'] = 1": "global",
    "SEEN = []\ndef flow(context):\n    SEEN.append(1)": "global",
    "def flow(context):\n    yield context.call_activity_with_retry(ActivityName.X, R, 1)": "refused",
    "def flow(context):\n    yield context.call_sub_orchestrator_with_retry(FlowName.X, R, 1)": "refused",
    "def flow(context):\n    yield context.call_http('GET', 'http://x')": "refused",
    "def flow(context):\n    yield context.call_entity(e, 'get')": "refused",
    "def flow(context):\n    context.signal_entity(e, 'add', 1)": "refused",
    "def flow(context):\n    for x in {1, 2}:\n        yield context.call(ActivityName.X, {})": "set-order",
    "def flow(context):\n    yield context.call(ActivityName.X, {'l': list(set(found))})": "set-order",
    "def flow(context):\n    names = [n for n in frozenset(found) | other]\n    yield names": "set-order",
    "def flow(context):\n    yield context.call_activity('classify', 1)": "name",
    "def flow(context):\n    yield context.call_activity(classify, 1)": "name",
    "def flow(context):\n    yield context.call_activity(f'run_{x}', 1)": "name",
    "def flow(context):\n    yield context.call('classify', {})": "name",
    "def flow(context):\n    yield context.wait_for_external_event('go')": "name",
    "def flow(context):\n    yield context.call_sub_orchestrator('child', 1)": "name",
    "def flow(context):\n    yield context.task_all([context.task_all([a]), b])": "nested",
    "def flow(context):\n    both = context.task_all([a, b])\n    yield context.task_any([both, timer])": "nested",
    "def flow(context):\n    yield context.task_any([context.call_activity(A, 1), context.timer(t)])": "deadline",
    "def flow(context):\n    yield context.task_any(running)": "deadline",
    "def flow(context):\n    e = context.event(EventName.X)\n    yield context.first(e, e)": "deadline",
    (
        "def flow(context):\n    e, t = context.event(EventName.X), context.timer(D)\n    yield context.first(e, t)"
    ): "deadline",
    "def flow(context):\n    yield context.task_all([])": "empty",
    "def flow(context):\n    yield context.task_all([context.call(ActivityName.X, i) for i in items])": "empty",
    (
        "def flow(context):\n    tasks = [context.call(ActivityName.X, i) for i in items]\n"
        "    yield context.task_all(tasks)"
    ): "empty",
    "def flow(context):\n    yield context.all([context.call(ActivityName.X, i) for i in ALL if i > n])": "empty",
}

GOOD = """
from datetime import timedelta
from orchestrators.names import ActivityName, EventName, FlowName

STEPS = (ActivityName.A, ActivityName.B)
WORDS = {"a": 1}
CLASSIFY = "classify"


def flow(context):
    state = yield context.call(ActivityName.A, {"at": context.now.isoformat()})
    results = yield context.all([context.call(step, state) for step in STEPS])
    if results:
        results = yield context.task_all([context.call_activity(ActivityName.B, r) for r in results])
    yield context.call_activity(CLASSIFY, sorted({r["x"] for r in results}))
    yield context.call_sub_orchestrator(FlowName.CHILD, WORDS["a"])
    changed = context.event(EventName.CASE_CHANGED)
    due = context.timer(timedelta(seconds=5))
    if (yield context.first(changed, due)) == changed:
        due.cancel()
    claimed, deadline = context.wait_for_external_event(EventName.X.value), context.create_timer(context.now)
    winner = yield context.task_any([claimed, deadline])
    if winner == claimed:
        deadline.cancel()
    seen = []
    seen.append(1)
    return {"seen": seen}
"""


@pytest.mark.parametrize(("source", "rule"), BAD.items(), ids=[f"{rule}-{n}" for n, rule in enumerate(BAD.values())])
def test_fault_079_each_rule_fires(source, rule):
    """Rule: functions.md section 8.4 (fault 079): what replay cannot bear is a build failure."""
    assert rule in {finding.rule for finding in lint_source(source, "bad.py")}


def test_a_flow_within_the_rules_has_no_finding():
    """Rule: the lint keeps silent on what is allowed."""
    assert lint_source(GOOD, "good.py") == []


def test_our_own_flows_keep_every_rule():
    """Rule: every file of orchestrators/flows is checked, and there is at least one."""
    checked = sorted(path.name for path in FLOWS.rglob("*.py"))

    assert checked
    assert [str(finding) for finding in lint_paths([FLOWS])] == []


def test_command_line_prints_findings_and_fails(tmp_path):
    """Rule: the lint runs by itself, for a look or a hook."""
    (tmp_path / "bad.py").write_text("import time\n")
    command = [sys.executable, "-m", "tests.architecture.flow_lint"]

    bad = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False)
    ours = subprocess.run([*command, str(FLOWS)], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (bad.returncode, ours.returncode) == (1, 0)
    assert "bad.py:1: import: time reads the world" in bad.stdout
