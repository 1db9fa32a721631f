"""Where an import stands, on disk: written after each part that is in, so that an interrupted one goes on there.

Beside it the report of what was skipped and why, as a table. Both are the importer's alone. Source: KB-01.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from local.import_file import BadFile, Finding, ImportFile

FOLDER: Final = "imports"
"""Where marks and reports lie in the data directory."""
COLUMNS: Final = ("line", "article_id", "outcome", "reason")


@dataclass(slots=True)
class Mark:
    """The progress of one file into one tenant."""

    path: Path
    sha256: str
    next_line: int = 1
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, file: ImportFile, folder: Path, target: str) -> Mark:
        """Return the mark at the file's beginning; `target` is address and tenant."""
        name = hashlib.sha256(f"{file.path.resolve()}\n{target}".encode()).hexdigest()[:12]
        return cls(folder / FOLDER / f"{file.path.stem}-{name}.json", file.sha256)

    @property
    def report(self) -> Path:
        """The report's usual place."""
        return self.path.with_suffix(".skipped.csv")

    def load(self) -> bool:
        """Take up where the last run stopped; False when none did.

        Raises: BadFile when the file has changed since, or the mark cannot be read.
        """
        try:
            saved = json.loads(self.path.read_text(encoding="utf-8"))
            sha256, next_line, counts = saved["sha256"], int(saved["next_line"]), Counter(dict(saved["counts"]))
        except FileNotFoundError:
            return False
        except (OSError, ValueError, KeyError, TypeError):
            raise BadFile(f"{self.path} cannot be read; import without --resume, what is in stays as it is") from None
        if sha256 != self.sha256:
            raise BadFile("the file has changed since; import it without --resume, what is in stays as it is")
        self.next_line, self.counts = next_line, counts
        return True

    def save(self) -> None:
        """Write the mark: all of it or nothing."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        state = {"sha256": self.sha256, "next_line": self.next_line, "counts": self.counts}
        temporary.write_text(json.dumps(state), encoding="utf-8")
        os.replace(temporary, self.path)

    def remove(self) -> None:
        """Forget a finished import."""
        self.path.unlink(missing_ok=True)


class Report:
    """The table of records there was something to say about, in the order they were met."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, *, kept_before: int) -> None:
        """Start the table, keeping an earlier run's rows of lines before the one it goes on from."""
        kept: list[list[str]] = []
        if kept_before > 1 and self.path.exists():
            with self.path.open(encoding="utf-8", newline="") as file:
                kept = [row for row in csv.reader(file) if row and row[0].isdigit() and int(row[0]) < kept_before]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *kept])

    def add(self, findings: Iterable[Finding]) -> None:
        """Append rows."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows((f.line, f.article_id, f.outcome, f.reason) for f in findings)
