"""The master key of a laptop: made once, read by its owner only."""

import stat
from pathlib import Path

import pytest

from shared.adapters.embedded.key_file import KeyFile
from shared.domain.errors import AuthorityError


@pytest.mark.req("PV-02")
async def test_a_data_key_wrapped_before_a_restart_unwraps_after_it(tmp_path: Path) -> None:
    """The file is the key; opening it again gives the same one."""
    wrapped = await KeyFile(tmp_path / "keys" / "master.key").wrap(b"k" * 32, bound_to="t1|data:tenant")

    unwrapped = await KeyFile(tmp_path / "keys" / "master.key").unwrap(wrapped, bound_to="t1|data:tenant")

    assert unwrapped == b"k" * 32


@pytest.mark.req("PV-02")
def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    """And nothing else is left beside it."""
    KeyFile(tmp_path / "master.key")

    assert stat.S_IMODE((tmp_path / "master.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["master.key"]


@pytest.mark.req("PV-02")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o700])
def test_a_file_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """Fail closed: a key that may have leaked does not start the host."""
    KeyFile(tmp_path / "master.key")
    (tmp_path / "master.key").chmod(mode)

    with pytest.raises(AuthorityError, match=f"{mode:o}"):
        KeyFile(tmp_path / "master.key")


@pytest.mark.req("PV-02")
@pytest.mark.parametrize("content", [b"", b"not a key", b"c2hvcnQ="])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """A damaged file is not replaced: that would shred everything silently."""
    path = tmp_path / "master.key"
    path.touch(mode=0o600)
    path.write_bytes(content)

    with pytest.raises(AuthorityError, match="no key"):
        KeyFile(path)
    assert path.read_bytes() == content


@pytest.mark.req("PV-02")
async def test_a_key_wrapped_elsewhere_is_refused(tmp_path: Path) -> None:
    """By another file, for another place, or damaged."""
    here, there = KeyFile(tmp_path / "here"), KeyFile(tmp_path / "there")
    wrapped = await here.wrap(b"k" * 32, bound_to="t1")

    for wrapper, text, place in ((there, wrapped, "t1"), (here, wrapped, "t2"), (here, wrapped[:-8], "t1")):
        with pytest.raises(AuthorityError):
            await wrapper.unwrap(text, bound_to=place)
