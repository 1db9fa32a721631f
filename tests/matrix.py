"""The grants matrix of the README, made from the one table of agents: who may read, write, say and do what.

    python -m tests.matrix          print it
    python -m tests.matrix --write  put it into README.md

A test holds the README against it. Source: S2 §1 "grants matrix", AX-05, PR-03.
"""

import sys
from pathlib import Path
from typing import Final

from shared.domain.agents import SPECS, AgentSpec, Right
from shared.domain.deltas import STATE_FIELDS

README: Final = Path(__file__).resolve().parents[1] / "README.md"
BEGIN: Final = "<!-- grants matrix: made by `python -m tests.matrix --write` -->"
END: Final = "<!-- end of the grants matrix -->"
FIELDS: Final = (
    "snapshot",
    "classification",
    "escalation",
    "knowledge",
    "account",
    "draft",
    "review",
    "decisions",
    "actions",
)
"""Columns, in the order a turn fills them."""


def matrix() -> str:
    """Return the matrix as a Markdown table."""
    assert set(FIELDS) == STATE_FIELDS | {"snapshot"}
    head = ("agent", *FIELDS, "may", "answers", "within")
    rows = [_row(spec) for spec in SPECS.values()]
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(spec: AgentSpec) -> tuple[str, ...]:
    cells = [_cell(spec, field) for field in FIELDS]
    rights = ", ".join(right.value for right in Right if right in spec.rights)
    said = ", ".join(sorted(intent.value for intent in spec.emits))
    return (spec.name.value.replace("_", " "), *cells, rights or "–", said, f"{spec.timeout_s:g} s")


def _cell(spec: AgentSpec, field: str) -> str:
    reads, writes = field in spec.reads, field in spec.writes
    return "**writes**" if writes else "reads" if reads else ""


def written(readme: str) -> str:
    """Return the README with today's matrix in its place."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{matrix()}\n\n{END}{after}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        README.write_text(written(README.read_text()))
    else:
        print(matrix())
