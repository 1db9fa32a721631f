"""Which adapters the contract suites run against, and a summary line that says what ran against which (fault 093).

To add an adapter: one entry in DOCUMENT_STORES whose opener returns a StoreUnderTest, or skips where the database it
needs is not configured. Every test of the suites then runs against it unchanged.
"""

import re
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.domain.ids import CustomerId, TenantId
from shared.ports.documents import ChangeLog, CustomerScope, Documents, TenantScope
from tests.conftest import FixedClock
from tests.contracts.billing import BILLING_SYSTEMS, BillingUnderTest, what_ran
from tests.contracts.manual_clock import ManualClock


@dataclass(frozen=True)
class StoreUnderTest:
    """One open store and the tenants a test may use; names are fresh, so that a shared database stays usable."""

    documents: Documents
    close: Callable[[], Awaitable[None]]
    clock: ManualClock | None = None
    """None where the database keeps its own time; tests of expiry are skipped there."""
    changes: ChangeLog | None = None
    """None where a trigger of the platform delivers changes."""
    mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    @property
    def t1(self) -> TenantScope:
        """A tenant."""
        return TenantScope(TenantId(f"T1-{self.mark}"))

    @property
    def t2(self) -> TenantScope:
        """Another tenant."""
        return TenantScope(TenantId(f"T2-{self.mark}"))

    @property
    def ana(self) -> CustomerScope:
        """A customer of t1."""
        return CustomerScope(self.t1.tenant_id, CustomerId("ana"))

    @property
    def ben(self) -> CustomerScope:
        """Another customer of t1."""
        return CustomerScope(self.t1.tenant_id, CustomerId("ben"))

    @property
    def ana_of_t2(self) -> CustomerScope:
        """A customer of t2 who goes by the same id."""
        return CustomerScope(self.t2.tenant_id, CustomerId("ana"))


async def _open_sqlite(folder: Path) -> StoreUnderTest:
    clock = ManualClock()
    documents = SqliteDocuments(folder / "vouch.db", clock=clock)
    return StoreUnderTest(documents, documents.close, clock, documents)


DOCUMENT_STORES: Final[dict[str, Callable[[Path], Awaitable[StoreUnderTest]]]] = {"sqlite": _open_sqlite}


@pytest.fixture(params=DOCUMENT_STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StoreUnderTest]:
    """One open store of each adapter in turn."""
    opened = await DOCUMENT_STORES[request.param](tmp_path)
    yield opened
    await opened.close()


@pytest.fixture
async def system(request: pytest.FixtureRequest, tmp_path: Path, clock: FixedClock) -> AsyncIterator[BillingUnderTest]:
    """The billing system the test names by `system` in its parameters."""
    opener, _ = BILLING_SYSTEMS[request.param]
    async with opener(tmp_path, clock) as opened:
        yield opened


_RUN = re.compile(
    rf"tests/contracts/test_(?P<port>[a-z]+)\w*\.py::[^\[]+\[(?P<adapter>{'|'.join(DOCUMENT_STORES)})(?=[-\]])"
)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line for each port and adapter with what ran."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for outcome in ("passed", "failed", "skipped"):
        for report in terminalreporter.stats.get(outcome, ()):
            run = _RUN.match(report.nodeid)
            if run is not None and (report.when == "call" or outcome == "skipped"):
                counts.setdefault((run["port"], run["adapter"]), Counter())[outcome] += 1
    for (port, adapter), counter in sorted(counts.items()):
        ran = ", ".join(f"{n} {outcome}" for outcome, n in counter.items())
        terminalreporter.write_line(f"contract {port} × {adapter}: {ran}")
    stats = terminalreporter.stats
    ended = {
        outcome: [
            report.nodeid
            for report in stats.get(outcome, ())
            if report.when == "call" or outcome in ("error", "skipped")
        ]
        for outcome in ("passed", "failed", "error", "skipped")
    }
    for row in what_ran(ended):
        terminalreporter.write_line(row)
