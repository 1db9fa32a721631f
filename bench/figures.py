"""Figures of a benchmark as one table for people and one JSON line for machines."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `budget` is the most, or with `is_floor` the least, that the design allows."""

    name: str
    value: float
    unit: str
    budget: float | None = None
    is_floor: bool = False

    @property
    def is_kept(self) -> bool | None:
        """Tell whether the budget is kept; None without one."""
        if self.budget is None:
            return None
        return self.value >= self.budget if self.is_floor else self.value <= self.budget


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of one benchmark."""

    name: str
    figures: tuple[Figure, ...]
    note: str = ""


def show(tables: Sequence[Table]) -> str:
    """Return the tables as aligned text, budgets beside their figures."""
    lines: list[str] = []
    for table in tables:
        lines.append(table.name)
        for figure in table.figures:
            mark = {None: "", True: "kept", False: "MISSED"}[figure.is_kept]
            bound = "" if figure.budget is None else f"{'≥' if figure.is_floor else '≤'} {figure.budget:g} {mark}"
            lines.append(f"  {figure.name:<52}{figure.value:>12,.2f} {figure.unit:<10}{bound}".rstrip())
        if table.note:
            lines.append(f"  {table.note}")
        lines.append("")
    return "\n".join(lines)


def to_json(tables: Sequence[Table]) -> str:
    """Return every figure as one JSON line."""
    return json.dumps(
        {
            table.name: {
                figure.name: {"value": round(figure.value, 4), "unit": figure.unit, "kept": figure.is_kept}
                for figure in table.figures
            }
            for table in tables
        },
        ensure_ascii=False,
    )


def to_raw(table: Table) -> str:
    """Return the table as one line another process can read."""
    return json.dumps(asdict(table), ensure_ascii=False)


def from_raw(line: str) -> Table:
    """Return the table of such a line."""
    raw = json.loads(line)
    return Table(raw["name"], tuple(Figure(**figure) for figure in raw["figures"]), raw["note"])
