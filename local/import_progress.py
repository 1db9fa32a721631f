"""How far an import is, on stderr: a bar where somebody looks at a terminal, a line now and then where nobody does.

Source: issue "Articles" (progress bar).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Final, TextIO

BAR_CHARS: Final = 30
"""Width of the bar. Unit: characters. Value ours."""
LINE_EVERY_S: Final = 5.0
"""Shortest time between two lines where there is no terminal. Unit: seconds. Value ours."""


class Progress:
    """Shows each part that is in, against the number of the file's lines."""

    def __init__(self, name: str, n_lines: int, out: TextIO, *, now: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._n_lines = max(1, n_lines)
        self._out = out
        self._now = now
        self._is_bar = out.isatty()
        self._shown_at = -LINE_EVERY_S

    def show(self, next_line: int, counts: Counter[str]) -> None:
        """Show that all before the line is in."""
        share = min(1.0, (next_line - 1) / self._n_lines)
        done = sum(count for name, count in counts.items() if name not in ("skipped", "flagged"))
        said = f"{share:4.0%}  {done} in, {counts['skipped']} skipped"
        if self._is_bar:
            filled = round(share * BAR_CHARS)
            self._out.write(f"\r{self._name} [{'#' * filled}{'.' * (BAR_CHARS - filled)}] {said}\x1b[K")
        elif self._now() - self._shown_at >= LINE_EVERY_S:
            self._shown_at = self._now()
            self._out.write(f"{self._name}: {said}\n")
        self._out.flush()

    def end(self) -> None:
        """Leave the bar's line."""
        if self._is_bar:
            self._out.write("\n")
            self._out.flush()
