"""An import file cut into parts small enough for one call: whole records, whole products, each with its lines.

Owns what is sent together and where an interrupted import goes on; sends nothing. Source: KB-01, design §7.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from shared.retrieval.import_articles import ImportFormat
from shared.retrieval.import_records import BYTE_ORDER_MARK, Record, Table, read_jsonl, read_table
from shared.retrieval.shopify_table import is_shopify, product_rows

PART_RECORDS: Final = 100
"""Most articles of one call: a few seconds of work. Value ours."""
PART_CHARS: Final = 500_000
"""Most text of one call, unless one record alone is longer. Unit: characters. Value ours."""
_JSONL_ENDINGS: Final = (".jsonl", ".ndjson")


class BadFile(ValueError):
    """The file cannot be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A record there is something to say about."""

    line: int
    article_id: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """What one call sends."""

    units: tuple[tuple[Record, ...], ...]
    """Records that belong together, each group one article."""
    header: str = ""
    unreadable: tuple[Finding, ...] = ()
    """Records found broken on the way to these."""

    @property
    def next_line(self) -> int:
        """The file's line behind the last record."""
        return max(_end(record) for unit in self.units for record in unit)

    def body(self) -> bytes:
        """Return what is sent."""
        return (self.header + "".join(_ended(r.text) for unit in self.units for r in unit)).encode()

    def lines(self) -> dict[int, int]:
        """Return the file's line of each record by its line in the body."""
        found: dict[int, int] = {}
        at = 1 + _n_lines(self.header)
        for record in (record for unit in self.units for record in unit):
            found[at] = record.line
            at += _n_lines(_ended(record.text))
        return found

    def halves(self) -> tuple[Part, Part]:
        """Return the part in two, for a body that was too large."""
        middle = len(self.units) // 2
        return Part(self.units[:middle], self.header), Part(self.units[middle:], self.header, self.unreadable)


@dataclass(frozen=True, slots=True)
class ImportFile:
    """A file and what it is."""

    path: Path
    format: ImportFormat
    encoding: str
    n_lines: int
    sha256: str = field(repr=False)

    def parts(self, *, from_line: int = 1) -> Iterator[Part]:
        """Yield the parts in the file's order, without the records that begin before a line; the last may be empty."""
        with self.path.open(encoding=self.encoding, errors="surrogateescape", newline="") as file:
            lines = (line.removeprefix(BYTE_ORDER_MARK) if n == 0 else line for n, line in enumerate(file))
            if self.format is ImportFormat.JSONL:
                yield from _parts(([record] for record in read_jsonl(lines)), "", from_line)
                return
            table = _table(lines, self.format)
            units = product_rows(table) if self.format is ImportFormat.SHOPIFY_CSV else ([row] for row in table.rows)
            yield from _parts(units, _ended(table.header.text), from_line)


def open_file(path: Path, format: ImportFormat | None, encoding: str) -> ImportFile:
    """Return the file with its format, guessed from ending and header unless given. Raises: BadFile."""
    try:
        content = path.read_bytes()
        is_jsonl = path.suffix.lower() in _JSONL_ENDINGS if format is None else format is ImportFormat.JSONL
        if not is_jsonl:
            with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
                header = _table(iter([file.readline().removeprefix(BYTE_ORDER_MARK)]), format).header
            found = ImportFormat.SHOPIFY_CSV if is_shopify(header.cells) else ImportFormat.CSV
            if format not in (None, found):
                raise BadFile(f"{path} has the header of {found.value}, not of {format}")
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}") from None
    except LookupError:
        raise BadFile(f"there is no encoding {encoding!r}") from None
    kind = ImportFormat.JSONL if is_jsonl else found
    return ImportFile(path, kind, encoding, 1 + content.count(b"\n"), hashlib.sha256(content).hexdigest())


def _table(lines: Iterator[str], format: ImportFormat | None) -> Table:
    table = read_table(lines)
    if table is None or not _is_text(table.header.text):
        raise BadFile("the first line is no header we can read; see --format and --encoding")
    if format is ImportFormat.SHOPIFY_CSV and not is_shopify(table.header.cells):
        raise BadFile(
            "the header is not that of a Shopify product export (Handle, Title, Option1 Value, Variant Price)"
        )
    return table


def _parts(units: Iterator[list[Record]], header: str, from_line: int) -> Iterator[Part]:
    kept: list[tuple[Record, ...]] = []
    unreadable: list[Finding] = []
    room = PART_CHARS
    for unit in units:
        if unit[0].line < from_line:
            continue
        if reason := _why_unreadable(unit):
            unreadable.append(Finding(unit[0].line, "", "skipped", reason))
            continue
        length = sum(len(record.text) for record in unit)
        if kept and (len(kept) == PART_RECORDS or length > room):
            part = Part(tuple(kept), header)
            # A broken row within a product is met before it and told with it: a resumption would tell it twice.
            yield replace(part, unreadable=tuple(f for f in unreadable if f.line < part.next_line))
            unreadable = [f for f in unreadable if f.line >= part.next_line]
            kept, room = [], PART_CHARS
        kept.append(tuple(unit))
        room -= length
    if kept or unreadable:
        yield Part(tuple(kept), header, tuple(unreadable))


def _why_unreadable(unit: list[Record]) -> str:
    """Return why the product understands nothing of the unit, empty when it may."""
    if unit[0].error:
        return unit[0].error
    return "" if all(_is_text(record.text) for record in unit) else "is not in the file's encoding (see --encoding)"


def _is_text(text: str) -> bool:
    """Tell whether every byte of the file was a character: others arrive as half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _end(record: Record) -> int:
    return record.line + _n_lines(_ended(record.text))


def _ended(text: str) -> str:
    return text if text.endswith(("\n", "\r")) else f"{text}\n"


def _n_lines(text: str) -> int:
    return text.count("\n") + text.count("\r") - text.count("\r\n")
