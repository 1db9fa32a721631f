"""How long `import function_app` takes against the imports it cannot avoid: a cold start's share that is ours.

Byte code is warm for both sides, as in a package built for deployment. Each figure is the median of fresh interpreters,
the kinds taken in turns so that a busy machine hits all alike.
Source: design §10 ("≤ 1.25 ×; heavy SDKs load on first use").
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.figures import Figure, Table

ROOT: Final = Path(__file__).parents[1]
UNAVOIDABLE: Final = ("azure.functions", "azure.durable_functions", "pydantic.main")
"""What any app of ours needs before its first line: triggers, orchestrations, and what `BaseModel` lazily pulls in."""
BUDGET: Final = 1.25
"""Most that `function_app` may cost, as a multiple of the unavoidable imports. Source: design §10."""
OUR_PACKAGES: Final = frozenset({"function_app", "orchestrators", "agents", "shared", "local"})
RUNS: Final = 9
"""Interpreters of each kind. Source: value ours; the median of nine ignores four bad ones."""

_PROBE: Final = """
import json, sys, time
began = time.perf_counter()
for name in sys.argv[1].split(","):
    __import__(name)
took_ms = (time.perf_counter() - began) * 1000
tops = sorted({name.partition(".")[0] for name in sys.modules if not name.startswith("_")})
print(json.dumps({"took_ms": took_ms, "modules": len(sys.modules), "tops": tops}))
"""


def table(runs: int = RUNS) -> Table:
    """Return the import times and their ratio."""
    _probe(UNAVOIDABLE), _probe(("function_app",))  # warm the file cache and the byte code
    base, ours = [], []
    more = sorted(
        set(_tops(_probe(("function_app",))))
        - set(_tops(_probe(UNAVOIDABLE)))
        - set(sys.stdlib_module_names)
        - OUR_PACKAGES
    )
    others: list[dict[str, object]] = []
    for _ in range(runs):
        base.append(_probe(UNAVOIDABLE))
        others.append(_probe((*UNAVOIDABLE, *more)))
        ours.append(_probe(("function_app",)))
    base_ms, others_ms, ours_ms = (
        statistics.median(float(str(p["took_ms"])) for p in probes) for probes in (base, others, ours)
    )
    return Table(
        "import",
        (
            Figure("unavoidable imports", base_ms, "ms"),
            Figure("every package of others it loads", others_ms, "ms"),
            Figure("function_app", ours_ms, "ms"),
            Figure("function_app / unavoidable", ours_ms / base_ms, "×", budget=BUDGET),
            Figure("function_app / every package of others it loads", ours_ms / others_ms, "×"),
        ),
        note="loaded beyond them: " + ", ".join(more),
    )


def _probe(names: tuple[str, ...]) -> dict[str, object]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, ",".join(names)],
        cwd=ROOT,
        env={**environment, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "vouch-bench-bytecode")},
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def _tops(probe: dict[str, object]) -> list[str]:
    tops = probe["tops"]
    return [str(name) for name in tops] if isinstance(tops, list) else []
