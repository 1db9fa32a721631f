"""Timer and change-feed triggers: catch-up, checkpoints, retries, newest versions."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from local.history import to_iso
from local.ncrontab import BadSchedule, parse_schedule
from local.retry_policy import to_policy
from local.serve import running_host
from local.store import Store, TimerState
from local.timers import Timer, first_run
from tests.surface.host.conftest import APP, eventually

pytestmark = pytest.mark.req("DC-03", "DC-04")

NIGHTLY = "0 0 3 * * *"
NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def seen(request):
    """Return what the sample app's triggers were given, empty at the start of each test."""
    from local.indexing import index

    index(APP)
    import function_app

    function_app.SEEN.clear()
    function_app.FAILURES_LEFT.update(feed=0, timer=0)
    return function_app.SEEN


class SteppedClock:
    """A clock that is set back by an hour after its first readings, then runs on."""

    def __init__(self) -> None:
        self.readings = 0

    def __call__(self) -> datetime:
        """Return a moment a tenth of a second after the one before."""
        self.readings += 1
        return NOW + timedelta(seconds=self.readings / 10, hours=-1 if self.readings > 3 else 0)


async def test_timer_goes_on_when_the_clock_is_set_back(tmp_path):
    """Rule: the schedule follows the clock; an hour set back must not silence a timer for an hour."""
    clock, ran = SteppedClock(), asyncio.Event()

    class Heard:
        async def invoke(self, fn, data, call=None):
            ran.set()

    fn = SimpleNamespace(name="tick", argument="timer", clients=(), retry=None, trigger={"schedule": "* * * * * *"})
    timer = Timer(fn, Heard(), Store(tmp_path / "durable.db"), None, clock)
    async with asyncio.timeout(20):
        running = asyncio.ensure_future(timer.run())
        await ran.wait()
        running.cancel()

    assert clock.readings > 3


# ---- schedules -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 */5 * * * *", "2026-03-10T12:05:00"),
        ("30 0 12 * * *", "2026-03-10T12:00:30"),
        ("0 0 12 * * *", "2026-03-11T12:00:00"),
        ("*/10 * * * * *", "2026-03-10T12:00:10"),
        ("0 0 3 * * 1-5", "2026-03-11T03:00:00"),
        ("0 0 3 * * Sun", "2026-03-15T03:00:00"),
        ("0 0 3 * * 7", "2026-03-15T03:00:00"),
        ("0 30 9 1 Jan *", "2027-01-01T09:30:00"),
        ("0 0 0 29 2 *", "2028-02-29T00:00:00"),
        ("0 0 0 13 * Fri", "2026-03-13T00:00:00"),
        ("0 15,45 8-9/1 * * *", "2026-03-11T08:15:00"),
        ("0 3 * * *", "2026-03-11T03:00:00"),
    ],
)
def test_schedule_finds_its_next_moment(text, expected):
    """Rule: six NCRONTAB fields in UTC, strictly after the given moment. Source: functions.md §10.6."""
    assert parse_schedule(text).after(NOW) == datetime.fromisoformat(expected).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "* * * *", "60 * * * * *", "0 0 24 * * *", "0 0 0 0 * *", "x * * * * *", "0 */0 * * * *"]
)
def test_bad_schedule_is_refused(text):
    """Rule: a text that is no schedule names its field."""
    with pytest.raises(BadSchedule):
        parse_schedule(text)


def test_day_that_never_comes_is_refused():
    """Rule: 30 February ends the search instead of running for ever."""
    with pytest.raises(BadSchedule, match="never comes"):
        parse_schedule("0 0 0 30 2 *").after(NOW)


@pytest.mark.parametrize(
    ("stored", "text", "expected"),
    [
        (None, NIGHTLY, (False, False)),
        (NOW - timedelta(days=5), NIGHTLY, (True, True)),
        (NOW + timedelta(hours=15), NIGHTLY, (False, False)),
        (NOW - timedelta(days=5), "0 0 4 * * *", (False, False)),
    ],
    ids=["first start", "missed five", "not yet", "schedule changed"],
)
def test_missed_moments_are_caught_up_once(stored, text, expected):
    """Rule: one past-due run however many were missed; a changed schedule starts over."""
    state = None if stored is None else TimerState("nightly", NIGHTLY, None, to_iso(stored), to_iso(NOW))
    first = first_run(state, text=text, schedule=parse_schedule(text), now=NOW, uses_monitor=True, on_startup=False)

    assert (first.runs_now, first.is_past_due) == expected
    assert first.next > NOW


def test_run_on_startup_is_not_past_due():
    """Rule: runOnStartup runs at once and is not past due."""
    first = first_run(
        None, text=NIGHTLY, schedule=parse_schedule(NIGHTLY), now=NOW, uses_monitor=False, on_startup=True
    )

    assert (first.runs_now, first.is_past_due) == (True, False)


async def test_missed_night_is_caught_up_when_the_host_starts(tmp_path, seen):
    """Rule: stored Next in the past gives one immediate run, past due, and a new Next."""
    store = Store(tmp_path / "durable.db")
    store.put_timer(TimerState("nightly", NIGHTLY, None, "2026-01-01T03:00:00.000000Z", "2026-01-01T00:00:00.000000Z"))
    store.close()

    async with running_host(APP, tmp_path) as host:
        await eventually(lambda: seen)
        await eventually(lambda: host.store.timer("nightly").last is not None)
        upcoming = host.store.timer("nightly").next

    assert seen[0][:2] == ("nightly", True)
    assert seen[0][2]["Next"] != "2026-01-01T03:00:00.000000Z"
    assert datetime.fromisoformat(upcoming) > datetime.now(UTC)


async def test_failed_run_leaves_the_timer_alive(tmp_path, seen):
    """Rule: a failing run is not retried without a policy and never stops the schedule."""
    import function_app

    function_app.FAILURES_LEFT["timer"] = 1
    async with running_host(APP, tmp_path) as host:
        await host.timers["nightly"].run_once()
        await host.timers["nightly"].run_once()

    assert len(seen) == 1


def test_retry_policies_wait_as_declared():
    """Rule: fixed delay, or doubling between a minimum and a maximum. Source: functions.md §10.8."""
    fixed = to_policy({"strategy": "fixed_delay", "max_retry_count": "2", "delay_interval": "00:00:05"})
    growing = to_policy(
        {
            "strategy": "exponential_backoff",
            "max_retry_count": "-1",
            "minimum_interval": "00:00:02",
            "maximum_interval": "00:00:15",
        }
    )

    assert [fixed.may_retry(n) for n in (1, 2, 3)] == [True, True, False]
    assert fixed.wait_s(1) == fixed.wait_s(2) == 5
    assert growing.may_retry(1_000)
    assert [growing.wait_s(n) for n in (1, 2, 3, 4, 5)] == [2, 4, 8, 15, 15]
    assert not to_policy(None).may_retry(1)


# ---- change feed -----------------------------------------------------------------------------------------------------


class Shelf:
    """A change source in memory."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, dict[str, Any]]] = []

    def write(self, **document: Any) -> None:
        """Number one write."""
        self.changes.append((len(self.changes) + 1, document))

    def read(self, container: str, after_seq: int, limit: int) -> Sequence[tuple[int, dict[str, Any]]]:
        """Return the writes after a number."""
        assert container == "books"
        return [change for change in self.changes if change[0] > after_seq][:limit]


async def test_changes_arrive_in_order_newest_version_per_batch(tmp_path, seen):
    """Rule: batches of maxItemsPerInvocation, in order, collapsed to the newest version per id."""
    shelf = Shelf()
    for number in range(5):
        shelf.write(id="a" if number % 2 else f"b{number}", n=number)

    async with running_host(APP, tmp_path, change_source=shelf) as host:
        await eventually(lambda: host.store.checkpoint("on_books::books") == 5)

    assert [[doc["n"] for doc in batch] for batch in seen] == [[0, 1, 2], [3, 4]]


async def test_checkpoint_survives_a_restart(tmp_path, seen):
    """Rule: a change is not delivered again once its batch is checkpointed."""
    shelf = Shelf()
    shelf.write(id="a")
    async with running_host(APP, tmp_path, change_source=shelf) as host:
        await eventually(lambda: host.store.checkpoint("on_books::books") == 1)
    shelf.write(id="b")
    async with running_host(APP, tmp_path, change_source=shelf) as host:
        await eventually(lambda: host.store.checkpoint("on_books::books") == 2)

    assert [[doc["id"] for doc in batch] for batch in seen] == [["a"], ["b"]]


async def test_poke_reads_at_once(tmp_path, seen):
    """Rule: a writer may wake the feed instead of waiting for the poll."""
    shelf = Shelf()
    async with running_host(APP, tmp_path, change_source=shelf) as host:
        feed = host.feeds["on_books"]
        await eventually(lambda: host.store.checkpoint("on_books::books") == 0)
        feed._poll_s = 60.0
        await asyncio.sleep(0.05)
        shelf.write(id="a")
        host.poke("books")
        await eventually(lambda: seen, timeout_s=2)


@pytest.mark.parametrize(("failures", "delivered"), [(2, True), (3, False)], ids=["retried", "skipped"])
async def test_failing_batch_is_retried_then_skipped(tmp_path, seen, failures, delivered):
    """Rule: the policy's retries hold the checkpoint back; when they are used up the batch is skipped, as on Azure."""
    import function_app

    function_app.FAILURES_LEFT["feed"] = failures
    shelf = Shelf()
    shelf.write(id="a")
    async with running_host(APP, tmp_path, change_source=shelf) as host:
        await eventually(lambda: host.store.checkpoint("on_books::books") == 1)

    assert bool(seen) is delivered
