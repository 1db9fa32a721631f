"""The host as a process: ready line, lock, graceful stop, kill and resume, import errors."""

import json
import os
import shutil
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.surface.host.conftest import APP, free_port

pytestmark = pytest.mark.req("DC-03")


def post(url: str, body: object = None) -> tuple[int, bytes]:
    """POST JSON and return status and body."""
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"}, method="POST")
    with urllib.request.urlopen(request, timeout=10) as response:
        return response.status, response.read()


def status(url: str, data: Path, instance_id: str) -> dict:
    """Return the status of an instance over the public API."""
    key = json.loads((data / "host-keys.json").read_text())["system"]
    path = f"{url}/runtime/webhooks/durabletask/instances/{instance_id}?code={key}"
    with urllib.request.urlopen(path, timeout=10) as response:
        return json.loads(response.read())


def wait_ended(url: str, data: Path, instance_id: str, timeout_s: float = 20.0) -> dict:
    """Return the status once it is final."""
    end = time.monotonic() + timeout_s
    while (found := status(url, data, instance_id))["runtimeStatus"] in {"Pending", "Running"}:
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


def start(url: str, instance_id: str, path: Path, steps: int) -> None:
    """Start the orchestration that writes a line a step."""
    body = {"name": "log_lines", "input": {"path": str(path), "steps": steps}}
    assert post(f"{url}/api/client/start/{instance_id}", body)[0] == 200


def test_ready_line_is_the_only_line_and_sigterm_ends_with_zero(tmp_path, processes):
    """Rule: one JSON ready line on stdout, logs on stderr, SIGTERM ends gracefully."""
    host = processes(tmp_path)
    ready = host.ready()
    host.process.send_signal(signal.SIGTERM)
    code, rest, _ = host.ended()

    assert (ready["event"], ready["functions"]) == ("ready", len_of_app())
    assert ready["url"].startswith("http://127.0.0.1:")
    assert ready["took_ms"] >= 0
    assert (code, rest) == (0, "")


def len_of_app() -> int:
    """Return how many functions the sample app has."""
    from local.indexing import index

    return len(index(APP))


def test_second_host_on_one_directory_says_so_and_exits_2(tmp_path, processes):
    """Rule: one process per data directory."""
    first = processes(tmp_path)
    first.ready()

    code, out, err = processes(tmp_path).ended()

    assert (code, out) == (2, "")
    assert f"another host (process {first.process.pid}) already runs" in err


@pytest.mark.parametrize("what", ["a file", "a broken store"])
def test_data_directory_that_cannot_be_used_says_so_and_exits_1(what, tmp_path, processes):
    """Rule: one clear sentence that names the directory, no traceback."""
    data = tmp_path / "data"
    if what == "a file":
        data.write_text("not a directory")
    else:
        data.mkdir()
        (data / "durable.db").write_bytes(b"no database " * 1_000)

    code, out, err = processes(data).ended()

    assert (code, out) == (1, "")
    assert f"cannot use the data directory {data}" in err
    assert "Traceback" not in err


def test_taken_port_says_so_and_exits_1(tmp_path, processes):
    """Rule: a port in use is one clear sentence; the RPC port falls back to a free one instead."""
    port = free_port()
    processes(tmp_path / "a", "--port", str(port), "--rpc-port", str(port + 1)).ready()

    code, _, err = processes(tmp_path / "b", "--port", str(port)).ended()
    fallback = processes(tmp_path / "c", "--rpc-port", str(port + 1))

    assert code == 1
    assert f"cannot listen on 127.0.0.1:{port}" in err
    assert fallback.ready()["event"] == "ready"


def test_fault_104_import_error_ends_the_process_with_the_cause(tmp_path, processes):
    """Rule: an app that does not import is never a healthy host without functions (fault 104)."""
    app = tmp_path / "app"
    shutil.copytree(APP, app, ignore=shutil.ignore_patterns("__pycache__"))
    (app / "shelves.py").unlink()

    code, out, err = processes(tmp_path / "data", app=app).ended()

    assert (code, out) == (1, "")
    assert "function_app.py does not import: ModuleNotFoundError: No module named 'shelves'" in err


def test_missing_app_and_bad_host_json_end_the_process(tmp_path, processes):
    """Rule: what cannot be used is named."""
    (tmp_path / "empty").mkdir()
    code, _, err = processes(tmp_path / "data", app=tmp_path / "empty").ended()
    assert code == 1
    assert "holds no function_app.py" in err

    (tmp_path / "empty" / "host.json").write_text("{")
    code, _, err = processes(tmp_path / "data", app=tmp_path / "empty").ended()
    assert code == 1
    assert "host.json is not JSON" in err


def test_killed_host_resumes_and_finishes_every_instance(tmp_path, processes):
    """Rule: kill -9 anywhere loses nothing and doubles no step but the one in flight. Source: design section 8."""
    lines = [tmp_path / f"lines-{n}" for n in range(4)]
    host = processes(tmp_path / "data")
    url = host.ready()["url"]
    for number, path in enumerate(lines):
        start(url, f"k{number}", path, steps=12)
    for _ in range(2):
        while not lines[0].exists() or os.stat(lines[0]).st_size < 4:
            time.sleep(0.01)
        host.process.kill()
        host.ended()
        host = processes(tmp_path / "data")
        url = host.ready()["url"]

    for number, path in enumerate(lines):
        assert wait_ended(url, tmp_path / "data", f"k{number}")["output"] == "written"
        written = [int(line) for line in path.read_text().split()]
        assert sorted(set(written)) == list(range(12))
        assert len(written) <= 12 + 2


@pytest.mark.parametrize(
    "point",
    [
        "before-start-commit:1",
        "start-commit:1",
        "before-episode-commit:3",
        "episode-commit:3",
        "before-activity-commit:2",
        "activity-commit:2",
    ],
)
def test_crash_at_any_commit_is_recovered(tmp_path, processes, point):
    """Rule: a crash before or after any commit leaves a whole state; each step is written once, or twice where cut."""
    lines = tmp_path / "lines"
    doomed = processes(tmp_path / "data", VOUCH_CRASH_AT=point)
    url = doomed.ready()["url"]
    try:
        start(url, "c", lines, steps=4)
    except (urllib.error.URLError, ConnectionError):
        assert "start" in point or "episode" in point
    assert doomed.ended()[0] == -signal.SIGKILL

    url = processes(tmp_path / "data").ready()["url"]
    if point == "before-start-commit:1":
        with pytest.raises(urllib.error.HTTPError):
            status(url, tmp_path / "data", "c")
        start(url, "c", lines, steps=4)
    assert wait_ended(url, tmp_path / "data", "c")["output"] == "written"
    written = [int(line) for line in lines.read_text().split()]
    assert sorted(set(written)) == [0, 1, 2, 3]
    assert len(written) <= 5


def test_unknown_crash_point_is_refused(tmp_path, processes):
    """Rule: a plan with a typing error must not run as if it were none."""
    code, _, err = processes(tmp_path, VOUCH_CRASH_AT="episode:1").ended()

    assert code == 1
    assert "VOUCH_CRASH_AT: 'episode:1' is not point:n" in err


def test_graceful_stop_lets_running_activities_end(tmp_path, processes):
    """Rule: SIGTERM starts nothing new, lets what runs end, and the next host goes on from there."""
    host = processes(tmp_path)
    url = host.ready()["url"]
    post(f"{url}/api/client/start/g", {"name": "napper", "input": [0.4, 0.01]})
    while status(url, tmp_path, "g")["runtimeStatus"] != "Running":
        time.sleep(0.01)
    host.process.send_signal(signal.SIGTERM)

    assert host.ended()[0] == 0
    url = processes(tmp_path).ready()["url"]
    assert wait_ended(url, tmp_path, "g")["output"] == [0.4, 0.01]


def test_second_signal_leaves_at_once(tmp_path, processes):
    """Rule: who asks twice does not wait for the deadline; the activity runs again at the next start."""
    host = processes(tmp_path)
    url = host.ready()["url"]
    post(f"{url}/api/client/start/g", {"name": "napper", "input": [30]})
    while status(url, tmp_path, "g")["runtimeStatus"] != "Running":
        time.sleep(0.01)
    host.process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    host.process.send_signal(signal.SIGTERM)

    assert host.ended(timeout_s=3.0)[0] == 130
