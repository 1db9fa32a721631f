"""Which browser origins are told what."""

import pytest

from orchestrators.triggers.origins import KnownOrigins, cors_headers
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.codec import to_document
from shared.domain.ids import TenantId
from shared.domain.policy import TenantPolicy
from shared.domain.tenant import PolicyVersion
from shared.ports.documents import Container, TenantScope
from tests.conftest import FixedClock


async def save(documents: SqliteDocuments, clock: FixedClock, tenant: str, *origins: str) -> None:
    """Store a tenant's first policy with these origins."""
    row = PolicyVersion(
        id="policy",
        kind="policy",
        tenant_id=TenantId(tenant),
        version=1,
        policy=TenantPolicy(origins=origins),
        author="test",
        saved_at=clock.now(),
    )
    await documents.create(Container.TENANTS, TenantScope(TenantId(tenant)), tenant, to_document(row))


@pytest.mark.req("GW-08")
async def test_an_origin_is_known_when_any_tenant_lists_it_and_new_ones_within_seconds(
    documents: SqliteDocuments, clock: FixedClock
) -> None:
    """A preflight names no tenant; one scan serves many preflights."""
    known = KnownOrigins()
    await save(documents, clock, "t1", "https://one.example")
    await save(documents, clock, "t2", "https://two.example")

    first = [
        await known.knows(o, documents=documents, now=clock.now())
        for o in ("https://two.example", "https://three.example")
    ]
    await save(documents, clock, "t3", "https://three.example")
    at_once = await known.knows("https://three.example", documents=documents, now=clock.now())
    clock.forward(seconds=5)
    soon = await known.knows("https://three.example", documents=documents, now=clock.now())

    assert (first, at_once, soon) == ([True, False], False, True)


@pytest.mark.req("GW-08")
def test_a_page_is_granted_only_what_its_tenant_lists() -> None:
    """Exact origins: no suffix, no wildcard."""
    policy = TenantPolicy(origins=("https://shop.example",))

    assert dict(cors_headers("https://shop.example", policy))["Access-Control-Allow-Origin"] == "https://shop.example"
    for other in ("", "null", "https://shop.example.evil", "http://shop.example", "https://SHOP.example"):
        assert cors_headers(other, policy) == ()
    assert cors_headers("https://shop.example", None) == ()
