"""`python -m bench [NAME …]`: run the benchmarks and print their figures against the design's budgets.

A benchmark is a module of this package named `*_bench` with `table() -> Table`; each runs in a process of its own, so
that memory and start-up are its own. Source: design §10.
"""

import argparse
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Final

from bench.figures import Table, from_raw, show, to_json, to_raw

NAMES: Final = tuple(
    sorted(
        path.stem.removesuffix("_bench")
        for path in Path(__file__).parent.glob("*_bench.py")
        if "\ndef table(" in path.read_text(encoding="utf-8")
    )
)
"""The benchmarks there are."""


def main() -> int:
    """Run the wanted benchmarks; the exit code says whether every budget was kept when `--strict` asks."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Figures of the design's budgets.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of {', '.join(NAMES)} (all)")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a budget is missed")
    parser.add_argument("--raw", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.names or NAMES
    if unknown := sorted(set(names) - set(NAMES)):
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if arguments.raw:
        print(to_raw(_here(names[0])))
        return 0
    tables = [_apart(name) for name in names]
    print(show(tables))
    print(to_json(tables))
    is_missed = any(figure.is_kept is False for table in tables for figure in table.figures)
    return 1 if arguments.strict and is_missed else 0


def _here(name: str) -> Table:
    table: Table = importlib.import_module(f"bench.{name}_bench").table()
    return table


def _apart(name: str) -> Table:
    done = subprocess.run([sys.executable, "-m", "bench", "--raw", name], stdout=subprocess.PIPE, text=True, check=True)
    return from_raw(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
