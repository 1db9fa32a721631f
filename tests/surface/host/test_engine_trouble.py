"""When the machinery itself fails: crashing episodes, a store that cannot be written, a foreign worker, full mail."""

import asyncio
import json
import sqlite3

import pytest

from local.host_json import HostJson, read_host_json
from local.indexing import index
from local.live import CAPACITY, Live, Lives
from local.serve import running_host
from local.store import Batch, Instance, Message, Store
from local.versions import FailureStrategy, MatchStrategy, compare, may_run
from local.worker import InvokeError, Worker, datum
from tests.surface.host.conftest import APP, eventually

pytestmark = pytest.mark.req("DC-03")


class SeamWorker:
    """A worker with the seam alone: no replay in place, so that orchestrators are invoked like any function."""

    def __init__(self, crashes: int = 0) -> None:
        self.fns = index(APP)
        self._own = Worker(self.fns)
        self.crashes = crashes

    async def invoke(self, fn, data, call=None):
        """Run a function, after the planned number of crashes of the machinery."""
        if fn.kind == "orchestrationTrigger" and self.crashes:
            self.crashes -= 1
            raise RuntimeError("the wire was cut")
        return await (self._own.invoke(fn, data, call) if call else self._own.invoke(fn, data))


async def test_worker_with_the_seam_alone_runs_everything(tmp_path):
    """Rule: `fns` and `invoke` are all the host needs of a worker. Source: functions.md §7."""
    async with running_host(APP, tmp_path, worker=SeamWorker()) as host:
        await host.operations.start("fan_out", "f", json.dumps("20"))
        await host.operations.start("countdown", "c", json.dumps("3"))

        assert (await host.operations.wait("f", 10)).output == json.dumps(list(range(1, 21)))
        assert (await host.operations.wait("c", 10)).output == '"lift-off"'


async def test_crashing_episode_backs_off_and_recovers(tmp_path, monkeypatch):
    """Rule: a crashed episode is tried again after a wait, its mail unspent."""
    monkeypatch.setattr("local.engine.FIRST_BACKOFF_S", 0.005)
    worker = SeamWorker(crashes=3)
    async with running_host(APP, tmp_path, worker=worker) as host:
        await host.operations.start("eight_steps", "e", json.dumps("0"))

        assert (await host.operations.wait("e", 10)).output == "8"
    assert worker.crashes == 0


async def test_episode_that_keeps_crashing_fails_its_instance_alone(tmp_path, monkeypatch):
    """Rule: after the poison limit the instance fails with a clear message; others go on."""
    monkeypatch.setattr("local.engine.FIRST_BACKOFF_S", 0.005)
    async with running_host(APP, tmp_path, worker=SeamWorker(crashes=5)) as host:
        await host.operations.start("eight_steps", "poison", json.dumps("0"))
        poisoned = await host.operations.wait("poison", 10)
        await host.operations.start("eight_steps", "fine", json.dumps("0"))

        assert poisoned.status == "Failed"
        assert "its episode crashed 5 times in a row: RuntimeError: the wire was cut" in poisoned.output
        assert (await host.operations.wait("fine", 10)).output == "8"


async def test_activity_whose_worker_crashes_fails_and_does_not_hang(tmp_path):
    """Rule: whatever a worker raises, the orchestration hears of it."""

    class Broken(SeamWorker):
        async def invoke(self, fn, data, call=None):
            if fn.kind == "activityTrigger":
                raise RuntimeError("no such process")
            return await super().invoke(fn, data, call)

    async with running_host(APP, tmp_path, worker=Broken()) as host:
        await host.operations.start("eight_steps", "e", json.dumps("0"))
        row = await host.operations.wait("e", 10)

    assert row.status == "Failed"
    assert "no such process" in row.output


async def test_store_that_cannot_be_written_stops_the_host(tmp_path):
    """Rule: memory ahead of the disk is not served; callers get the error and the host asks to be restarted."""
    async with running_host(APP, tmp_path) as host:

        def refuse(batch: Batch) -> None:
            raise sqlite3.OperationalError("disk is full")

        host.store.commit = refuse
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            await host.operations.start("eight_steps", "e", json.dumps("0"))
        with pytest.raises(sqlite3.OperationalError, match="disk is full"):
            await host.engine.broken


async def test_rejected_version_waits_for_another_host(tmp_path):
    """Rule: Reject leaves the instance alone until a host of its version comes."""
    old = HostJson(default_version="1.0.0", on_mismatch=FailureStrategy.REJECT)
    new = HostJson(default_version="2.0.0", on_mismatch=FailureStrategy.REJECT)
    async with running_host(APP, tmp_path, settings=old) as host:
        await host.operations.start("eight_steps", "e", json.dumps("0"), version="2.0.0")
        await eventually(lambda: host.engine.lives.peek("e").is_blocked)
        assert host.operations.find("e").status == "Pending"
    async with running_host(APP, tmp_path, settings=new) as host:
        assert (await host.operations.wait("e", 10)).output == "8"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (None, None, 0),
        (None, "1.0", -1),
        ("1.0", None, 1),
        ("1.10.0", "1.9.0", 1),
        ("1.0", "1.0.0", 0),
        ("alpha", "Beta", -1),
        ("ALPHA", "alpha", 0),
    ],
)
def test_versions_compare_as_numbers_where_they_can(left, right, expected):
    """Rule: null is oldest, dotted numbers compare as numbers, other texts without case."""
    assert compare(left, right) == expected


@pytest.mark.parametrize(
    ("strategy", "accepted"),
    [
        (MatchStrategy.NONE, {None, "1.0.0", "2.0.0", "3.0.0"}),
        (MatchStrategy.STRICT, {"2.0.0"}),
        (MatchStrategy.CURRENT_OR_OLDER, {None, "1.0.0", "2.0.0"}),
    ],
)
def test_match_strategy_decides_which_instances_run(strategy, accepted):
    """Rule: None takes all, Strict equals, CurrentOrOlder the same or older."""
    versions = [None, "1.0.0", "2.0.0", "3.0.0"]

    assert {version for version in versions if may_run(version, "2.0.0", strategy)} == accepted


def test_host_json_resolves_settings_and_falls_back(monkeypatch, tmp_path):
    """Rule: `%NAME%` is a setting; unset, the default holds, so that a fresh clone runs."""
    assert read_host_json(APP).hub == "local"
    monkeypatch.setenv("SAMPLE_HUB_NAME", "shop-eu")

    settings = read_host_json(APP)

    assert settings.hub == "shop-eu"
    assert settings.default_version == "2.0.0"
    assert settings.on_mismatch is FailureStrategy.FAIL
    assert settings.max_activities == 8
    assert read_host_json(tmp_path) == HostJson(
        max_activities=settings.max_orchestrators, max_orchestrators=settings.max_orchestrators
    )


async def test_function_without_output_binding_must_return_nothing(tmp_path):
    """Rule: a non-None value without a $return binding raises, as in Azure."""
    worker = SeamWorker()._own
    fn = worker.fns["nightly"]
    wrong = type(fn)(**{**{name: getattr(fn, name) for name in fn.__slots__}, "call": lambda timer: 1})

    with pytest.raises(InvokeError, match=r"without a \$return binding returned a non-None value"):
        await worker.invoke(wrong, {"timer": datum("{}", "json")})


# ---- the store and the cache -----------------------------------------------------------------------------------------


def instance(name: str) -> Instance:
    """Return a running instance row."""
    moment = "2026-01-01T00:00:00.000000Z"
    return Instance(name, "x", "o", None, "Running", None, None, None, moment, moment, False, None, None, None, None)


def test_batch_is_written_whole_or_not_at_all(tmp_path):
    """Rule: one episode is one transaction."""
    store = Store(tmp_path / "durable.db")
    batch = Batch()
    batch.put_instance(instance("a"))
    batch.put_episode("a", 0, "[]")
    batch.put_episode("a", 0, "[]")

    with pytest.raises(sqlite3.IntegrityError):
        store.commit(batch)

    assert store.instance("a") is None
    store.close()


def test_message_added_and_used_up_in_one_batch_never_reaches_the_disk(tmp_path):
    """Rule: group commit writes what remains."""
    store = Store(tmp_path / "durable.db")
    batch = Batch()
    kept, used = (Message(store.new_id(), "a", None, 0.0, {"EventType": 15}) for _ in range(2))
    batch.put_message(kept)
    batch.put_message(used)
    batch.delete_message(used.id)

    store.commit(batch)

    assert store.messages_of("a") == [kept]
    assert store.new_id() > used.id
    store.close()


def test_cache_lets_go_of_idle_instances_and_keeps_those_with_mail(tmp_path):
    """Rule: an image with unread mail is never dropped."""
    store = Store(tmp_path / "durable.db")
    lives = Lives(store, capacity=3)
    for number in range(6):
        live = Live(instance(str(number)))
        if number == 0:
            live.inbox.append(Message(1, "0", None, 0.0, {"EventType": 15}))
        lives.put(live)

    lives.trim()

    assert [live.row.id for live in lives] == ["0", "4", "5"]
    assert CAPACITY > 1_000
    store.close()


async def test_evicted_instances_come_back_from_the_store(tmp_path):
    """Rule: memory is an image; without it everything goes on."""
    async with running_host(APP, tmp_path) as host:
        host.engine.lives._capacity = 0
        for number in range(5):
            await host.operations.start("two_events", f"i{number}")
        await eventually(lambda: len(host.engine.lives) == 0)
        for name in ("first", "second"):
            await asyncio.gather(*(host.operations.raise_event(f"i{n}", name, "1") for n in range(5)))
        rows = [await host.operations.wait(f"i{n}", 10) for n in range(5)]

    assert [row.output for row in rows] == ["[1, 1]"] * 5


async def test_timer_of_an_evicted_instance_fires(tmp_path):
    """Rule: an alarm outlives the image of its instance, and a restart."""
    async with running_host(APP, tmp_path) as host:
        host.engine.lives._capacity = 0
        await host.operations.start("short_deadline", "t")
        assert (await host.operations.wait("t", 10)).output == '"too late"'
        await host.operations.start("deadline_flow", "long")
        await eventually(lambda: host.store.alarms())
    async with running_host(APP, tmp_path) as host:
        assert len(host.store.alarms()) == 1
        await host.operations.raise_event("long", "claimed", "1")
        assert (await host.operations.wait("long", 10)).output == '"claimed"'
        assert host.store.alarms() == []
