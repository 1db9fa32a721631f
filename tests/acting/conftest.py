"""A stage over a real store, with the test's time."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from tests.acting.stage import ANA, Stage, open_stage
from tests.conftest import FixedClock

STORE: Final = "acting.db"
"""The store's file in the test's folder."""


@pytest.fixture
async def stage(tmp_path: Path, clock: FixedClock) -> AsyncIterator[Stage]:
    """A stage on which ana has a delivered order of 40.00 USD."""
    opened = open_stage(tmp_path / STORE, clock=clock)
    await opened.seed(ANA)
    yield opened
    await opened.documents.close()
