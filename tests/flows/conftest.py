"""One running app a module; each test has its own cast, and everything it left behind is replayed."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.flows.running import Flows, running_flows


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Flows]:
    """The app."""
    async with running_flows(tmp_path_factory.mktemp("flows")) as flows:
        yield flows


@pytest_asyncio.fixture(loop_scope="module")
async def flows(running: Flows) -> AsyncIterator[Flows]:
    """The app with a fresh cast; afterwards the script must be played out and every history must replay."""
    running.begin()
    yield running
    await running.end()
