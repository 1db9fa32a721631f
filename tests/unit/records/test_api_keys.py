"""API keys: shown once, stored as digests, rotated with an overlap, revoked within seconds. Source: GW-02."""

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import RandomIds
from shared.adapters.records.keys import KEPT_AFTER_END_S, MAX_OVERLAP_S, REVOKED_WITHIN_S, KeyRecords
from shared.domain.api_key import DeskRole, KeyScope, ParsedKey, format_key, parse_key
from shared.domain.errors import NotFound, SchemaError, StalenessError, Unavailable
from shared.domain.ids import KeyId, TenantId
from shared.domain.tenant import OPERATOR_TENANT
from shared.ports.documents import TenantScope
from tests.conftest import FixedClock
from tests.unit.records.conftest import bytes_on_disk

pytestmark = pytest.mark.req("GW-02")

OTHER = TenantScope(TenantId("t2"))
OPERATOR = TenantScope(OPERATOR_TENANT)


@pytest.mark.parametrize("key_scope", [KeyScope.PUBLISHABLE, KeyScope.SECRET, KeyScope.ADMIN], ids=str)
async def test_an_issued_key_opens_its_own_tenant_with_its_own_scope(
    keys: KeyRecords, tenant: TenantScope, key_scope: KeyScope
) -> None:
    issued, text = await keys.issue(tenant, key_scope, owner="shop server")

    found = await keys.authenticate(text)

    assert found == issued
    assert (issued.tenant_id, issued.scope, issued.role) == (tenant.tenant_id, key_scope, None)
    assert text.startswith(f"vk_{key_scope.value}_{issued.id}_")


async def test_a_desk_key_carries_its_persons_role(keys: KeyRecords, tenant: TenantScope) -> None:
    issued, text = await keys.issue(tenant, KeyScope.DESK, owner="mia", role=DeskRole.APPROVER)

    found = await keys.authenticate(text)

    assert found is not None
    assert (found.owner, found.role) == ("mia", DeskRole.APPROVER)
    assert found == issued


async def test_the_text_of_a_key_is_nowhere_in_the_store(
    keys: KeyRecords, documents: SqliteDocuments, tenant: TenantScope, tmp_path: Path
) -> None:
    issued, text = await keys.issue(tenant, KeyScope.SECRET, owner="server")
    parsed = parse_key(text)
    assert parsed is not None
    documents.empty_log()

    stored = bytes_on_disk(tmp_path)

    assert issued.digest.encode() in stored
    assert parsed.secret.encode() not in stored
    assert parsed.secret not in repr(issued) + repr(parsed) + str(issued)
    assert issued.digest not in repr(issued)


async def test_two_keys_with_one_secret_have_different_digests(keys: KeyRecords, tenant: TenantScope) -> None:
    first, _ = await keys.issue(tenant, KeyScope.SECRET, owner="a")
    second, _ = await keys.issue(tenant, KeyScope.SECRET, owner="b")

    assert first.salt != second.salt


async def test_every_altered_text_is_refused_alike(keys: KeyRecords, tenant: TenantScope) -> None:
    issued, text = await keys.issue(tenant, KeyScope.PUBLISHABLE, owner="storefront")
    parsed = parse_key(text)
    assert parsed is not None
    last = "A" if text[-1] != "A" else "B"
    unknown = KeyId("f" * 16)
    wrong = (
        text[:-1] + last,
        text + "A",
        text[:-1],
        text.upper(),
        f" {text}",
        format_key(KeyScope.ADMIN, issued.id, parsed.secret),
        format_key(KeyScope.PUBLISHABLE, unknown, parsed.secret),
        issued.digest,
        format_key(KeyScope.PUBLISHABLE, issued.id, issued.digest),
        "",
    )

    answers = [await keys.authenticate(altered) for altered in wrong]

    assert answers == [None] * len(wrong)
    assert await keys.authenticate(text) == issued


@pytest.mark.parametrize(
    ("key_scope", "role", "owner", "scope"),
    [
        pytest.param(KeyScope.DESK, None, "mia", TenantScope(TenantId("t1")), id="desk without role"),
        pytest.param(KeyScope.SECRET, DeskRole.AGENT, "mia", TenantScope(TenantId("t1")), id="role without desk"),
        pytest.param(KeyScope.OPERATOR, None, "ops", TenantScope(TenantId("t1")), id="operator of a tenant"),
        pytest.param(KeyScope.ADMIN, None, "ops", OPERATOR, id="admin of nobody"),
        pytest.param(KeyScope.SECRET, None, "", TenantScope(TenantId("t1")), id="no owner"),
    ],
)
async def test_a_key_that_contradicts_itself_is_not_issued(
    keys: KeyRecords, key_scope: KeyScope, role: DeskRole | None, owner: str, scope: TenantScope
) -> None:
    with pytest.raises(SchemaError):
        await keys.issue(scope, key_scope, owner=owner, role=role)

    assert await keys.list(scope) == ()


async def test_operator_keys_belong_to_no_merchant(keys: KeyRecords) -> None:
    issued, text = await keys.issue(OPERATOR, KeyScope.OPERATOR, owner="ops")

    assert (await keys.authenticate(text)) == issued
    assert issued.tenant_id == "-"


async def test_a_key_ends_at_its_expiry(keys: KeyRecords, clock: FixedClock, tenant: TenantScope) -> None:
    clock.forward(hours=1)
    end = clock.now()
    clock.forward(hours=-1)
    _, text = await keys.issue(tenant, KeyScope.SECRET, owner="server", expires_at=end)
    assert await keys.authenticate(text) is not None

    clock.forward(hours=1)

    assert await keys.authenticate(text) is None


async def test_a_revoked_key_is_refused_here_at_once_and_in_another_process_within_its_seconds(
    keys: KeyRecords, documents: SqliteDocuments, clock: FixedClock, tenant: TenantScope
) -> None:
    elsewhere = KeyRecords(documents, clock=clock, ids=RandomIds())
    issued, text = await keys.issue(tenant, KeyScope.SECRET, owner="server")
    assert await elsewhere.authenticate(text) is not None
    assert await keys.authenticate(text) is not None

    await keys.revoke(tenant, issued.id)

    assert await keys.authenticate(text) is None
    clock.forward(seconds=REVOKED_WITHIN_S)
    assert await elsewhere.authenticate(text) is None


async def test_revoking_again_changes_nothing_and_the_row_leaves_after_thirty_days(
    keys: KeyRecords, clock: FixedClock, tenant: TenantScope
) -> None:
    issued, _ = await keys.issue(tenant, KeyScope.SECRET, owner="server")
    first = await keys.revoke(tenant, issued.id)
    clock.forward(days=1)

    second = await keys.revoke(tenant, issued.id)

    assert second == first
    clock.forward(seconds=KEPT_AFTER_END_S)
    assert await keys.list(tenant) == ()


async def test_a_rotated_key_works_beside_its_successor_until_the_overlap_ends(
    keys: KeyRecords, clock: FixedClock, tenant: TenantScope
) -> None:
    old, old_text = await keys.issue(tenant, KeyScope.DESK, owner="mia", role=DeskRole.AGENT)

    new, new_text = await keys.rotate(tenant, old.id, overlap_s=3600)

    assert (new.scope, new.role, new.owner, new.tenant_id) == (old.scope, old.role, old.owner, old.tenant_id)
    assert await keys.authenticate(new_text) == new
    assert await keys.authenticate(old_text) is not None
    clock.forward(seconds=3600)
    assert await keys.authenticate(old_text) is None
    assert await keys.authenticate(new_text) == new
    listed = {key.id: key.successor for key in await keys.list(tenant)}
    assert listed == {old.id: new.id, new.id: None}


async def test_rotating_without_overlap_ends_the_old_key_at_once(keys: KeyRecords, tenant: TenantScope) -> None:
    old, old_text = await keys.issue(tenant, KeyScope.SECRET, owner="server")
    assert await keys.authenticate(old_text) is not None

    await keys.rotate(tenant, old.id, overlap_s=0)

    assert await keys.authenticate(old_text) is None


async def test_rotation_never_prolongs_a_key(keys: KeyRecords, clock: FixedClock, tenant: TenantScope) -> None:
    clock.forward(minutes=10)
    end = clock.now()
    clock.forward(minutes=-10)
    old, _ = await keys.issue(tenant, KeyScope.SECRET, owner="server", expires_at=end)

    new, _ = await keys.rotate(tenant, old.id, overlap_s=MAX_OVERLAP_S)

    ends = {key.id: key.expires_at for key in await keys.list(tenant)}
    assert ends == {old.id: end, new.id: end}


async def test_a_key_is_rotated_once_and_only_while_it_lives(keys: KeyRecords, tenant: TenantScope) -> None:
    rotated, _ = await keys.issue(tenant, KeyScope.SECRET, owner="a")
    revoked, _ = await keys.issue(tenant, KeyScope.SECRET, owner="b")
    await keys.rotate(tenant, rotated.id, overlap_s=60)
    await keys.revoke(tenant, revoked.id)

    for kid in (rotated.id, revoked.id):
        with pytest.raises(StalenessError):
            await keys.rotate(tenant, kid, overlap_s=60)

    assert len(await keys.list(tenant)) == 3


async def test_a_tenant_can_neither_see_nor_end_anothers_keys(keys: KeyRecords, tenant: TenantScope) -> None:
    issued, text = await keys.issue(tenant, KeyScope.SECRET, owner="server")

    assert await keys.list(OTHER) == ()
    for attempt in (keys.revoke(OTHER, issued.id), keys.rotate(OTHER, issued.id, overlap_s=0)):
        with pytest.raises(NotFound):
            await attempt
    with pytest.raises(NotFound):
        await keys.revoke(tenant, KeyId(""))
    assert await keys.authenticate(text) == issued


@pytest.mark.parametrize("overlap_s", [-1, MAX_OVERLAP_S + 1])
async def test_an_overlap_out_of_bounds_is_refused(keys: KeyRecords, tenant: TenantScope, overlap_s: int) -> None:
    issued, _ = await keys.issue(tenant, KeyScope.SECRET, owner="server")

    with pytest.raises(SchemaError):
        await keys.rotate(tenant, issued.id, overlap_s=overlap_s)


async def test_without_a_store_nobody_is_let_in(
    keys: KeyRecords, documents: SqliteDocuments, tenant: TenantScope
) -> None:
    _, text = await keys.issue(tenant, KeyScope.SECRET, owner="server")
    await documents.close()

    with pytest.raises(Unavailable):
        await keys.authenticate(text)


_SECRETS = st.text(string.ascii_letters + string.digits + "-_", min_size=43, max_size=43)


@given(key_scope=st.sampled_from(KeyScope), kid=st.text("0123456789abcdef", min_size=16, max_size=16), secret=_SECRETS)
def test_parsing_gives_back_what_was_formatted(key_scope: KeyScope, kid: str, secret: str) -> None:
    assert parse_key(format_key(key_scope, KeyId(kid), secret)) == ParsedKey(key_scope, KeyId(kid), secret)


@given(st.one_of(st.text(), st.from_regex(r"vk_(admin|root|)_.*_.*", fullmatch=True)))
def test_parsing_hostile_text_never_raises(text: str) -> None:
    parsed = parse_key(text)

    assert parsed is None or format_key(parsed.scope, parsed.kid, parsed.secret) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\ud800", id="half a character"),
        pytest.param("vk_secret_" + "é" * 16 + "_" + "A" * 43, id="accents"),
        pytest.param("vk_" * 100_000, id="huge"),
        pytest.param("vk_secret_0123456789abcdef_" + "A" * 43 + "\n", id="line end"),
        pytest.param("vk_secret_0123456789abcdef_" + "A" * 31, id="short secret"),
        pytest.param("vk_root_0123456789abcdef_" + "A" * 43, id="unknown scope"),
    ],
)
def test_parsing_odd_text_gives_none(text: str) -> None:
    assert parse_key(text) is None
