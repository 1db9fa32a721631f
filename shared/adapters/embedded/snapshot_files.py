"""Snapshots as files under the data folder: one folder a tenant, each file written beside and moved into place.

Owns names on disk; what the bytes mean and whether they are whole is checked by whoever reads them.
Source: design §6 "Keyword index", §8.
"""

import asyncio
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from shared.domain.errors import SchemaError, Unavailable
from shared.domain.ids import digest
from shared.ports.documents import TenantScope

FOLDER_CHARS: Final = 40
"""Hex digits of the tenant's digest that name its folder: a tenant id may be a path's `..`. Value ours."""
OWNER_ONLY: Final = 0o700
"""Mode of the folders; files lose the right to be entered."""

P = ParamSpec("P")
T = TypeVar("T")

_NAME: Final = re.compile(r"[a-z0-9-]{1,64}")
_PART: Final = ".part"
"""Ending of a file that is being written. One that a crash left is removed by the tenant's next put: one process owns
the folder, and it writes one snapshot of a tenant at a time."""


class SnapshotFiles:
    """Snapshots under one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, scope: TenantScope, name: str, data: bytes) -> None:
        """Keep the bytes under the name, whole or not at all; what was there is replaced."""
        await _in_thread(_write, self._path(scope, name), data)

    async def get(self, scope: TenantScope, name: str) -> bytes | None:
        """Return the bytes, or None when there are none."""
        return await _in_thread(_read, self._path(scope, name))

    async def list(self, scope: TenantScope) -> tuple[str, ...]:
        """Return the tenant's names, sorted."""
        return await _in_thread(_names, self._tenant(scope))

    async def delete(self, scope: TenantScope, name: str) -> None:
        """Remove the bytes, if there are any."""
        await _in_thread(_remove, self._path(scope, name))

    def _tenant(self, scope: TenantScope) -> Path:
        return self._folder / digest(scope.tenant_id)[:FOLDER_CHARS]

    def _path(self, scope: TenantScope, name: str) -> Path:
        if _NAME.fullmatch(name) is None:
            raise SchemaError(f"{name!r} is no name of a snapshot")
        return self._tenant(scope) / name


async def _in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    except OSError as error:
        raise Unavailable(f"snapshot files: {type(error).__name__}") from None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    for left in path.parent.glob(f"*{_PART}"):
        left.unlink(missing_ok=True)
    part = path.with_name(f"{path.name}-{secrets.token_hex(4)}{_PART}")
    with part.open("xb") as file:
        os.chmod(part, OWNER_ONLY & 0o666)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _names(folder: Path) -> tuple[str, ...]:
    if not folder.is_dir():
        return ()
    return tuple(sorted(path.name for path in folder.iterdir() if _NAME.fullmatch(path.name)))


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
