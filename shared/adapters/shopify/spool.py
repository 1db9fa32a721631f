"""A bulk result on disk: children find their parents whatever order the lines came in, in little memory.

Lives in a temporary folder of this process and goes with it. Holds catalog lines only, nothing of a customer.
Source: SH-02, apis.md §1.12 ("do not assume children follow their parent directly").
"""

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import JsonValue

from shared.domain.errors import IntegrationError

Row = dict[str, JsonValue]
"""One object of a bulk result."""


class Spool:
    """Lines in, families out."""

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="vouch-bulk-")
        # The generator that reads it may be finished by another thread of the loop's executor.
        self._db = sqlite3.connect(Path(self._folder.name) / "lines.db", isolation_level=None, check_same_thread=False)
        self._db.executescript(
            "pragma journal_mode = off; pragma synchronous = off;"
            "create table line (id text not null, parent text, body text not null);"
            "create index families on line (parent);"
        )
        self.lines = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()
        self._folder.cleanup()

    def add(self, lines: Sequence[bytes]) -> None:
        """Keep these lines. Raises: IntegrationError for a line that is no object with an id."""
        rows = [_to_row(line) for line in lines]
        self._db.execute("begin")
        self._db.executemany("insert into line values (?, ?, ?)", rows)
        self._db.execute("commit")
        self.lines += len(rows)

    def families(self) -> Iterator[tuple[Row, list[Row]]]:
        """Yield each root with its direct children, in the order their lines came; call after the last line."""
        for id, body in self._db.execute("select id, body from line where parent is null order by rowid"):
            found = self._db.execute("select body from line where parent = ? order by rowid", (id,))
            yield json.loads(body), [json.loads(child) for (child,) in found]


def _to_row(line: bytes) -> tuple[str, str | None, str]:
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    id, parent = (row.get("id"), row.get("__parentId")) if isinstance(row, dict) else (None, None)
    if not isinstance(id, str) or not isinstance(parent, str | None):
        raise IntegrationError("a bulk result holds a line that is no object")
    return id, parent, line.decode()
