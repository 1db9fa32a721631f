"""Records over a real store, with a real key ring behind the secrets."""

from pathlib import Path

import pytest

from shared.adapters.embedded.key_file import KeyFile
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.articles import ArticleRecords
from shared.adapters.records.keys import KeyRecords
from shared.adapters.records.masks import DataKeyRecords, MaskRecords
from shared.adapters.records.secret_box import KeyRingBox
from shared.adapters.records.shop import ShopRecords
from shared.adapters.records.tenants import TenantRecords
from shared.privacy.keys import KeyRing
from tests.conftest import FixedClock


@pytest.fixture
def data_keys(documents: SqliteDocuments, clock: FixedClock, tmp_path: Path) -> KeyRing:
    """Data keys in the store, wrapped by a key file."""
    return KeyRing(
        rows=DataKeyRecords(documents), wrapper=KeyFile(tmp_path / "master.key"), clock=clock, ids=RandomIds()
    )


@pytest.fixture
def tenants(documents: SqliteDocuments, data_keys: KeyRing, clock: FixedClock) -> TenantRecords:
    """Tenant records over a real store."""
    return TenantRecords(documents, secrets=KeyRingBox(data_keys), clock=clock, ids=RandomIds())


@pytest.fixture
def keys(documents: SqliteDocuments, clock: FixedClock) -> KeyRecords:
    """API key records over a real store."""
    return KeyRecords(documents, clock=clock, ids=RandomIds())


@pytest.fixture
def articles(documents: SqliteDocuments, clock: FixedClock) -> ArticleRecords:
    """Article records over a real store."""
    return ArticleRecords(documents, clock=clock)


@pytest.fixture
def masks(documents: SqliteDocuments) -> MaskRecords:
    """Mask records over a real store."""
    return MaskRecords(documents)


@pytest.fixture
def shop(documents: SqliteDocuments) -> ShopRecords:
    """The embedded shop over a real store."""
    return ShopRecords(documents)


def bytes_on_disk(folder: Path) -> bytes:
    """Return every byte of the folder's files, to search for what must not be there."""
    return b"".join(file.read_bytes() for file in folder.iterdir())
