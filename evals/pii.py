"""Quality of finding e-mail addresses and telephone numbers: `python -m evals.pii [--regions US,GB] [--misses SOURCE]`.

Prints precision, recall and F1 by kind of contact and by source, the share of negatives flagged, microseconds a
message and the hard e-mail file. A find counts when it overlaps the labelled span of its kind; `exact` counts only the
same span. Data: VOUCH_DATA (default ../shared/data), read, never copied.
"""

import argparse
import json
import os
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.privacy.patterns import Contact, find_contacts, validate_regions

DATA: Final = Path(os.environ.get("VOUCH_DATA", "../shared/data"))
SHOP_REGIONS: Final = "US,GB,IN,FR,DE"
"""Regions of an imagined international shop; rows whose source names a region add that one."""
REAL_STYLE: Final = ("sgd", "multidogo", "tau", "hint3", "abcd", "bitext")
"""Sources in which people or shops speak, unlike a library's examples, generated forms and bare parcel numbers."""


@dataclass(slots=True)
class Tally:
    """Counts of one kind in one group."""

    hits: int = 0
    extra: int = 0
    missed: int = 0
    exact: int = 0

    def row(self) -> str:
        precision = self.hits / (self.hits + self.extra) if self.hits + self.extra else 1.0
        recall = self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        n = self.hits + self.missed
        exact = self.exact / n if n else 1.0
        return f"n={n:<5} precision={precision:.3f} recall={recall:.3f} F1={f1:.3f} exact={exact:.3f}"


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled message."""

    id: str
    text: str
    source: str
    spans: tuple[tuple[str, int, int], ...]

    def regions(self, shop: tuple[str, ...]) -> tuple[str, ...]:
        region = self.source.partition(":")[2][:2]
        return (region, *shop) if region.isupper() else shop

    @property
    def group(self) -> str:
        return self.source.partition(":")[0].partition(" ")[0]


def read_rows(name: str) -> tuple[Row, ...]:
    """Return the labelled messages of one file."""
    rows = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        spans = tuple((s["label"].lower(), s["start"], s["end"]) for s in raw["spans"])
        rows.append(Row(raw["id"], raw["text"], raw["source"], spans))
    return tuple(rows)


def score(row: Row, found: tuple[Contact, ...], tallies: dict[str, Tally]) -> bool:
    """Add one message to its tallies by kind; return whether anything differs from its labels."""
    left = list(found)
    is_wrong = False
    for kind, start, end in row.spans:
        match = next((c for c in left if c.kind == kind and c.start < end and start < c.end), None)
        if match is None:
            tallies[kind].missed += 1
            is_wrong = True
        else:
            left.remove(match)
            tallies[kind].hits += 1
            tallies[kind].exact += (match.start, match.end) == (start, end)
    for contact in left:
        tallies[contact.kind].extra += 1
    return is_wrong or bool(left)


def report(title: str, rows: tuple[Row, ...], *, regions: tuple[str, ...], misses: str) -> None:
    """Print one table."""
    overall: dict[str, Tally] = defaultdict(Tally)
    groups: dict[str, dict[str, Tally]] = defaultdict(lambda: defaultdict(Tally))
    n_negative = n_flagged = 0
    took_s = 0.0
    for row in rows:
        started = time.perf_counter()
        found = find_contacts(row.text, regions=row.regions(regions))
        took_s += time.perf_counter() - started
        is_wrong = score(row, found, overall)
        score(row, found, groups[row.group])
        if row.group.startswith(REAL_STYLE):
            score(row, found, groups["real-style"])
        if not row.spans:
            n_negative += 1
            n_flagged += bool(found)
        if is_wrong and misses and row.group.startswith(misses):
            print(f"  {row.id} {row.text!r} labelled {row.spans} found {[(c.kind, c.start, c.end) for c in found]}")
    print(f"{title}: {len(rows)} messages, {took_s / len(rows) * 1e6:.0f} µs a message")
    if n_negative:
        print(f"  negatives flagged {n_flagged}/{n_negative} = {n_flagged / n_negative:.2%}")
    for name, tallies in [("all", overall), *sorted(groups.items())]:
        for kind, tally in sorted(tallies.items()):
            print(f"  {name:<24} {kind:<6} {tally.row()} extra={tally.extra}")


def main() -> None:
    """Run both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", default="", help="print the wrong rows of sources that begin with this")
    parser.add_argument("--regions", default=SHOP_REGIONS, help="telephone regions of the shop")
    arguments = parser.parse_args()
    regions = validate_regions(arguments.regions.split(","))
    find_contacts("call 020 7946 0958", regions=regions)  # the numbering plans load on first use
    report("pii.dev", read_rows("pii.dev.jsonl"), regions=regions, misses=arguments.misses)
    report("pii_email_hard.dev", read_rows("pii_email_hard.dev.jsonl"), regions=regions, misses=arguments.misses)


if __name__ == "__main__":
    main()
