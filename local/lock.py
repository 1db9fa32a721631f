"""One process per data directory: a file lock that the kernel releases with the process.

Source: functions.md §7 (3): two hosts on one file would run everything twice.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class AlreadyRunning(RuntimeError):
    """Another process holds the data directory."""


class DirectoryLock:
    """Holds a data directory for this process."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "host.lock"
        self._file: int | None = None

    def acquire(self) -> None:
        """Take the lock or raise AlreadyRunning, naming the holder's process id."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise AlreadyRunning(
                f"another host (process {holder}) already runs on {self._path.parent}; stop it or choose another --data"
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._file = descriptor

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def __enter__(self) -> DirectoryLock:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()
