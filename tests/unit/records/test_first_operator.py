"""The first operator key of a new deployment."""

import hashlib

import pytest

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.keys import KeyRecords
from shared.domain.api_key import KeyScope, format_key
from shared.domain.ids import KeyId
from tests.conftest import FixedClock


@pytest.mark.req("GW-02")
async def test_a_new_deployment_is_opened_by_the_first_operator_key_of_its_settings(
    documents: SqliteDocuments, clock: FixedClock
) -> None:
    """The settings hold the key's hash only; any other operator text stays out."""
    text = format_key(KeyScope.OPERATOR, KeyId("0123456789abcdef"), "s" * 43)
    digest = hashlib.sha256(text.encode()).hexdigest()
    keys = KeyRecords(documents, clock=clock, ids=RandomIds(), first_operator_sha256=digest)

    found = await keys.authenticate(text)

    assert found is not None
    assert found.scope is KeyScope.OPERATOR
    assert await keys.authenticate(format_key(KeyScope.OPERATOR, KeyId("0123456789abcdef"), "t" * 43)) is None
    assert await KeyRecords(documents, clock=clock, ids=RandomIds()).authenticate(text) is None
