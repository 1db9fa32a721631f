"""A whole vault over rows in memory and a key file on disk."""

from pathlib import Path

import pytest

from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.system import RandomIds
from shared.ports.clock import Clock
from shared.privacy.keys import KeyRing
from shared.privacy.vault import Vault
from tests.unit.privacy.memory_rows import MemoryKeyRows, MemoryMaskRows


@pytest.fixture
def mask_rows() -> MemoryMaskRows:
    """Where mappings lie."""
    return MemoryMaskRows()


@pytest.fixture
def key_rows() -> MemoryKeyRows:
    """Where wrapped keys lie."""
    return MemoryKeyRows()


@pytest.fixture
def keys(key_rows: MemoryKeyRows, tmp_path: Path, clock: Clock) -> KeyRing:
    """Keys wrapped by a key file."""
    return KeyRing(rows=key_rows, wrapper=KeyFile(tmp_path / "master.key"), clock=clock, ids=RandomIds())


@pytest.fixture
def vault(mask_rows: MemoryMaskRows, keys: KeyRing, clock: Clock) -> Vault:
    """The vault under test."""
    return Vault(rows=mask_rows, keys=keys, clock=clock, ids=RandomIds())
