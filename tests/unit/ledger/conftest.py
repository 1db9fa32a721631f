"""The ledger over a real store, with real keys behind the seals."""

from pathlib import Path

import pytest

from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.ledger import AnalyticsRecords, LedgerRecords
from shared.adapters.records.masks import DataKeyRecords
from shared.privacy.keys import KeyRing
from shared.privacy.proof_seals import ProofSeals
from tests.conftest import FixedClock


@pytest.fixture
def keys(documents: SqliteDocuments, clock: FixedClock, tmp_path: Path) -> KeyRing:
    """Data keys in the store, wrapped by a key file."""
    return KeyRing(
        rows=DataKeyRecords(documents), wrapper=KeyFile(tmp_path / "master.key"), clock=clock, ids=RandomIds()
    )


@pytest.fixture
def seals(keys: KeyRing) -> ProofSeals:
    """Seals under those keys."""
    return ProofSeals(keys)


@pytest.fixture
def ledger(documents: SqliteDocuments) -> LedgerRecords:
    """The ledger."""
    return LedgerRecords(documents)


@pytest.fixture
def analytics(documents: SqliteDocuments) -> AnalyticsRecords:
    """The figures."""
    return AnalyticsRecords(documents)


def bytes_on_disk(folder: Path) -> bytes:
    """Return every byte of the folder's files, to search for what must not be there."""
    return b"".join(file.read_bytes() for file in folder.iterdir())
