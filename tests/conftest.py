"""Shared fixtures: fixed time, countable ids, a store on disk; and the table of requirement ids that tests prove."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.domain.ids import TenantId
from shared.ports.documents import TenantScope


class FixedClock:
    """A clock that moves only when a test says so."""

    def __init__(self) -> None:
        self.at = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        """Return the test's moment."""
        return self.at

    def forward(self, **delta: float) -> None:
        """Move the time on."""
        self.at += timedelta(**delta)


class CountingIds:
    """Ids that can be read in a failure."""

    def __init__(self) -> None:
        self.count = 0

    def new_id(self) -> str:
        """Return the next id."""
        self.count += 1
        return f"00000000-0000-4000-8000-{self.count:012d}"

    def new_secret(self, n_bytes: int) -> str:
        """Return a secret that is long enough and known."""
        self.count += 1
        return f"{self.count:0{n_bytes}d}"


@pytest.fixture
def clock() -> FixedClock:
    """The test's time."""
    return FixedClock()


@pytest.fixture
def ids() -> CountingIds:
    """The test's ids."""
    return CountingIds()


@pytest.fixture
def tenant() -> TenantScope:
    """One tenant's scope."""
    return TenantScope(TenantId("t1"))


@pytest.fixture
async def documents(tmp_path: Path, clock: FixedClock) -> AsyncIterator[SqliteDocuments]:
    """A real document store on disk."""
    store = SqliteDocuments(tmp_path / "vouch.db", clock=clock)
    yield store
    await store.close()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run record which requirement ids its tests proved."""
    parser.addoption("--requirements", default=None, metavar="FILE", help="write test outcomes by requirement id")


class _Recorder:
    """Collects (requirement ids, test, outcome) of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ids: dict[str, list[str]] = {}
        self.outcomes: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which ids each test is marked with."""
        for item in items:
            self.ids[item.nodeid] = [key for mark in item.iter_markers("req") for key in mark.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst outcome of the test's phases."""
        worse = {"passed": 0, "skipped": 1, "failed": 2}
        known = self.outcomes.get(report.nodeid, "passed")
        self.outcomes[report.nodeid] = max(known, report.outcome, key=lambda o: worse[o])

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        rows = [
            {"name": name, "req": self.ids.get(name, []), "outcome": outcome} for name, outcome in self.outcomes.items()
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(rows))


def pytest_configure(config: pytest.Config) -> None:
    """Record when asked to."""
    path = config.getoption("--requirements")
    if path:
        config.pluginmanager.register(_Recorder(Path(path)), "requirements-recorder")
