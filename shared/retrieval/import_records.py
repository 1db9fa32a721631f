"""An import file cut into records: one line of JSONL, or one row of CSV however many lines its quoted cells span.

Owns where a record begins and ends, so that one broken record costs itself alone: reading goes on with the next line.
Knows nothing of articles. Source: KB-01, RFC 4180, GW-06.
"""

import csv
import io
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

MAX_RECORD_LINES: Final = 1_000
"""Most lines one row may span; past it a quote was never closed. Value ours."""
MAX_CELLS: Final = 300
"""Most columns of a file. Value ours (a Shopify export has about 50)."""
DELIMITERS: Final = ",;\t"
"""What may part cells; the one the header uses most."""
BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a file, or what could not be read as one."""

    line: int
    """Its first line in the text it was read from, from 1."""
    text: str
    """As it stands in the file, line ends included."""
    cells: tuple[str, ...] = ()
    """Of a row; empty for JSONL."""
    error: str = ""
    """Why it is none, in words; never its content."""


@dataclass(frozen=True, slots=True)
class Table:
    """A CSV file's header and how its rows are read."""

    header: Record
    delimiter: str
    rows: Iterator[Record]


def to_lines(text: str) -> list[str]:
    """Return the text's lines with their ends, without a byte order mark."""
    return list(io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline=""))


def read_jsonl(lines: Iterable[str]) -> Iterator[Record]:
    """Yield each line that holds anything."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield Record(number, line)


def read_table(lines: Iterable[str]) -> Table | None:
    """Return the header and, lazily, the rows; None for a file without a header.

    A row whose quotes do not close, or that has more or fewer cells than the header, is an erroneous record of its
    first line alone.
    """
    source = _Lines(lines)
    first = source.peek()
    delimiter = max(DELIMITERS, key=first.count) if first else ","
    header = next(_rows(source, delimiter, width=None), None)
    if header is None or header.error or len(header.cells) > MAX_CELLS:
        return None
    return Table(header, delimiter, _rows(source, delimiter, width=len(header.cells)))


class _Lines:
    """Lines that can be given back."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._back: deque[str] = deque()
        self.taken: list[str] = []
        """Lines of the record being read."""
        self.number = 1
        """Of the next record's first line."""

    def peek(self) -> str:
        """Return the next line without taking it; empty at the end."""
        if not self._back and (line := next(self._lines, None)) is not None:
            self._back.append(line)
        return self._back[0] if self._back else ""

    def feed(self) -> Iterator[str]:
        """Yield lines to a reader of one record."""
        while len(self.taken) < MAX_RECORD_LINES and (line := self.peek()):
            self._back.popleft()
            self.taken.append(line)
            yield line

    def end_record(self, n_lines: int) -> str:
        """Return the text of the first lines taken, give the others back, and go on behind them."""
        text = "".join(self.taken[:n_lines])
        self._back.extendleft(reversed(self.taken[n_lines:]))
        self.taken = []
        self.number += n_lines
        return text


def _rows(source: _Lines, delimiter: str, *, width: int | None) -> Iterator[Record]:
    while source.peek():
        line = source.number
        try:
            cells = next(csv.reader(source.feed(), delimiter=delimiter, strict=True), [])
        except csv.Error as error:
            yield Record(line, source.end_record(1), error=f"is no row of a CSV file: {error}")
            continue
        if width is not None and len(cells) > width and not any(cells[width:]):
            cells = cells[:width]
        if not any(cell.strip() for cell in cells):
            source.end_record(len(source.taken))
        elif width is not None and len(cells) != width:
            yield Record(line, source.end_record(1), error=f"has {len(cells)} cells, the header has {width}")
        else:
            yield Record(line, source.end_record(len(source.taken)), tuple(cells))
