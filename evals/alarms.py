"""How often phrases call a person for messages nobody here wrote: one row a kind of message, with what flagged it.

`python -m evals.alarms` prints, for each development set at VOUCH_DATA, how many rows are flagged and by what, and
shows with `--show` the rows themselves. Nothing was written from these rows. Source: GO-03, data README.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from shared.domain.alarms import AlarmKind, find_alarms

Rows = list[dict[str, Any]]


def groups(data: Path) -> dict[str, Rows]:
    """Return the rows by set and by what a person would say of them."""
    intents, sentiment, safety = (_rows(data / f"{name}.dev.jsonl") for name in ("intents", "sentiment", "safety"))
    wishes = [row for row in intents if row["intent"] == "human_agent"]
    return {
        "intents, no person asked for": [row for row in intents if row["intent"] != "human_agent"],
        "intents, a person asked for": wishes,
        **{f"sentiment, {kind}": [r for r in sentiment if r["sentiment"] == kind] for kind in ("positive", "neutral")},
        "sentiment, negative": [row for row in sentiment if row["sentiment"] == "negative"],
        **{
            f"safety, {kind}": [r for r in safety if r["label"] == kind]
            for kind in sorted({r["label"] for r in safety})
        },
    }


def table(named: dict[str, Rows], *, is_shown: bool) -> str:
    """Return the printed table: rows, flagged rows, their share, and by which kinds."""
    lines = [f"{'messages':34}{'n':>6}{'flagged':>9}{'share':>8}  by kind"]
    for name, rows in named.items():
        found = [(row, kinds) for row in rows if (kinds := {alarm.kind for alarm in find_alarms(row["text"])})]
        by_kind = Counter(kind.value for _, kinds in found for kind in sorted(kinds, key=list(AlarmKind).index))
        share = len(found) / len(rows) if rows else 0.0
        told = ", ".join(f"{kind} {n}" for kind, n in by_kind.most_common())
        lines.append(f"{name:34}{len(rows):>6}{len(found):>9}{share:>8.2%}  {told}")
        lines += [f"    {', '.join(sorted(kinds))}: {row['text'][:100]}" for row, kinds in found if is_shown]
    return "\n".join(lines)


def _rows(path: Path) -> Rows:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    """Print the table for the development sets at VOUCH_DATA."""
    print(table(groups(Path(os.environ.get("VOUCH_DATA", "../shared/data"))), is_shown="--show" in sys.argv))


if __name__ == "__main__":
    main()
