"""What every keeper of snapshots promises. Source: design §6 "Keyword index"."""

from pathlib import Path

import pytest

from shared.adapters.embedded.snapshot_files import SnapshotFiles
from shared.domain.errors import SchemaError, Unavailable
from shared.domain.ids import TenantId
from shared.ports.documents import TenantScope
from shared.ports.snapshots import Snapshots

pytestmark = pytest.mark.req("KB-13")

T1, T2 = TenantScope(TenantId("t1")), TenantScope(TenantId(".."))


@pytest.fixture(params=["files"])
def snapshots(request: pytest.FixtureRequest, tmp_path: Path) -> Snapshots:
    """Each keeper there is, empty."""
    return {"files": SnapshotFiles(tmp_path / "snapshots")}[request.param]


async def test_what_was_put_is_given_back_until_it_is_replaced_or_deleted(snapshots: Snapshots) -> None:
    """The whole of it, by its name."""
    await snapshots.put(T1, "a-1", b"one")
    await snapshots.put(T1, "a-1", b"two")
    await snapshots.put(T1, "b-2", b"")

    assert await snapshots.get(T1, "a-1") == b"two"
    assert await snapshots.get(T1, "b-2") == b""
    assert await snapshots.list(T1) == ("a-1", "b-2")

    await snapshots.delete(T1, "a-1")
    await snapshots.delete(T1, "a-1")

    assert await snapshots.get(T1, "a-1") is None
    assert await snapshots.list(T1) == ("b-2",)


async def test_tenants_see_their_own_only(snapshots: Snapshots) -> None:
    """Also one whose id reads like a path."""
    await snapshots.put(T1, "a-1", b"one")
    await snapshots.put(T2, "a-1", b"other")

    await snapshots.delete(T2, "a-1")

    assert await snapshots.get(T1, "a-1") == b"one"
    assert await snapshots.list(T2) == ()


@pytest.mark.parametrize("name", ["../a", "A", "", "a" * 65, "a.part", "a/b"])
async def test_a_name_that_is_none_is_refused(snapshots: Snapshots, name: str) -> None:
    """No name leads out of the tenant's folder."""
    with pytest.raises(SchemaError):
        await snapshots.put(T1, name, b"x")


async def test_what_a_crash_left_half_written_is_never_listed_and_goes(tmp_path: Path) -> None:
    """A file is written beside and moved into place."""
    snapshots = SnapshotFiles(tmp_path)
    await snapshots.put(T1, "a-1", b"one")
    (whole,) = _files(tmp_path)
    whole.with_name("a-2-0123abcd.part").write_bytes(b"half")

    listed = await snapshots.list(T1)
    await snapshots.put(T1, "a-3", b"three")

    assert listed == ("a-1",)
    assert [path.name for path in _files(tmp_path)] == ["a-1", "a-3"]
    assert all(path.stat().st_mode & 0o077 == 0 for path in (*_files(tmp_path), whole.parent))


async def test_a_disk_that_fails_is_unavailable_and_nothing_else(tmp_path: Path) -> None:
    """Here: a file stands where the folder must be."""
    (tmp_path / "taken").write_bytes(b"")
    snapshots = SnapshotFiles(tmp_path / "taken")

    with pytest.raises(Unavailable):
        await snapshots.put(T1, "a-1", b"one")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
