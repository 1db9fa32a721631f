"""`python -m bench.search_peers`: hybrid search at 1,000, 10,000 and 100,000 articles, beside LangChain.

Runs in the environment of requirements-bench.txt. Both get the same texts, vectors and questions in turn, in one
process a size: build, the first answer after one change, p50 and p95 of a query, memory. Ours is the whole HybridSearch
(identifier tier, passages, confidence) over the embedded store's matrix. Source: design §10.
"""

import argparse
import asyncio
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Final

from bench.figures import Figure, Table, from_raw, show, to_json, to_raw
from bench.search_world import (
    DIMENSION,
    SCOPE,
    WORDS_PER_ARTICLE,
    GivenEmbedder,
    MemorySource,
    World,
    new_article,
    new_world,
)
from shared.adapters.embedded.snapshot_files import SnapshotFiles
from shared.adapters.embedded.sqlite_vectors import VectorMatrix
from shared.adapters.embedded.system import SystemClock
from shared.domain.text import MaskedText
from shared.ports.models import Vector
from shared.retrieval.ladder import WARM_UP, HybridSearch
from shared.retrieval.rungs import Deadlines

SIZES: Final = (1_000, 10_000, 100_000)
N_QUESTIONS: Final = {1_000: 200, 10_000: 200, 100_000: 30}
N_CHANGES: Final = {1_000: 20, 10_000: 20, 100_000: 5}
N_PEER_CHANGES: Final = 2
"""Changes the peer is given: each builds its keyword side anew."""
BUDGETED: Final = 10_000
"""Size the budgets speak of. Source: design §10."""
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""One thread for either: worker threads that spin after the peer's products would take our core, and the other way."""
_PATIENT: Final = Deadlines(head_s=60, index_s=600, embed_s=60, nearest_s=60)


async def measure(n: int, folder: Path) -> Table:
    """Return the figures of one size."""
    world = new_world(n, n_questions=N_QUESTIONS[n], n_changes=N_CHANGES[n])
    known = {**dict(world.questions), WARM_UP.value: world.questions[0][1]}
    ours = await _ours(world, known, folder)
    # In the bench environment only.
    from bench.langchain_peer import Peer

    before, started = _memory(), time.perf_counter()
    peer = Peer(world, known)
    peer_build_ms, peer_bytes = _since(started), _memory() - before
    asked, worked, peer_asked = list[float](), list[float](), list[float]()
    for question, _ in world.questions:
        processor = time.thread_time()
        asked.append(await _timed(ours.ask(question)))
        worked.append((time.thread_time() - processor) * 1_000)
        started = time.perf_counter()
        peer.ask(question)
        peer_asked.append(_since(started))
    changed, peer_changed = list[float](), list[float]()
    for i, text in enumerate(world.new_texts):
        known[f"marker{i}x{i}"] = world.matrix[i]
        changed.append(await _timed(ours.change(i, text, world.matrix[i])))
        if i < N_PEER_CHANGES:
            started = time.perf_counter()
            peer.add(f"{text} marker{i}x{i}", world.matrix[i])
            peer.ask(f"marker{i}x{i}")
            peer_changed.append(_since(started))
    p50, peer_p50 = statistics.median(asked), statistics.median(peer_asked)
    is_budgeted = n == BUDGETED
    figures = (
        Figure("build", ours.build_ms, "ms"),
        Figure("… LangChain, build", peer_build_ms, "ms"),
        Figure("cold start from a snapshot", ours.restore_ms, "ms"),
        Figure("snapshot, written beside the searches", ours.snapshot_ms, "ms"),
        Figure("snapshot", ours.snapshot_bytes / 2**20, "MB"),
        Figure("query, p50", p50, "ms"),
        Figure("query, p95", _p95(asked), "ms", budget=8 if is_budgeted else None),
        Figure("… of it processor time, p95", _p95(worked), "ms"),
        Figure("… LangChain, p50", peer_p50, "ms"),
        Figure("… LangChain, p95", _p95(peer_asked), "ms"),
        Figure(
            "times as fast as LangChain, p50", peer_p50 / p50, "×", budget=10 if is_budgeted else None, is_floor=True
        ),
        Figure("one changed article searchable, p50", statistics.median(changed), "ms"),
        Figure("one changed article searchable, worst", max(changed), "ms", budget=50 if is_budgeted else None),
        Figure("… LangChain, one added, best", min(peer_changed), "ms"),
        Figure("memory of index, articles and vectors", ours.held_bytes / 2**20, "MB"),
        Figure("… LangChain, memory", peer_bytes / 2**20, "MB"),
    )
    note = f"{WORDS_PER_ARTICLE} words × {DIMENSION} dimensions; {len(asked)} questions of each in turn"
    return Table(f"search, {n:,} articles", figures, note)


class _Ours:
    """HybridSearch over the world, built and measured."""

    build_ms = restore_ms = snapshot_ms = 0.0
    held_bytes = snapshot_bytes = 0

    def __init__(self, search: HybridSearch, source: MemorySource) -> None:
        self.search, self.source = search, source

    async def ask(self, question: str) -> str:
        """Return the best article's id."""
        found = await self.search.search(SCOPE, MaskedText(question), intent=None, types=(), top_k=5)
        return found.articles[0].article_id

    async def change(self, i: int, text: str, vector: Vector) -> None:
        """Publish a change, and find it."""
        marker = f"marker{i}x{i}"
        article = new_article(i, "changed", f"{text} {marker}", version=2, seq=self.source.seq + 1)
        self.source.publish(article, vector)
        assert await self.ask(marker) == article.article_id


async def _ours(world: World, known: dict[str, Vector], folder: Path) -> _Ours:
    before = _memory()
    vectors = VectorMatrix.of_rows([str(a.article_id) for a in world.articles], world.matrix)
    source, files, embedder = MemorySource(world.articles, vectors), SnapshotFiles(folder), GivenEmbedder(known)

    def new_search() -> HybridSearch:
        return HybridSearch(source, embedder, clock=SystemClock(), snapshots=files, deadlines=_PATIENT)

    ours = _Ours(new_search(), source)
    ours.build_ms = await _timed(ours.search.warm(SCOPE))
    ours.held_bytes = _memory() - before
    ours.snapshot_ms = await _timed(ours.search.settled())
    cold = new_search()
    ours.restore_ms = await _timed(cold.warm(SCOPE))
    assert cold.figures().restored == 1
    for name in await files.list(SCOPE):
        ours.snapshot_bytes += len(await files.get(SCOPE, name) or b"")
    return ours


async def _timed(call: Awaitable[object]) -> float:
    started = time.perf_counter()
    await call
    return _since(started)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1_000


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def _memory() -> int:
    gc.collect()
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) * 1024


def main() -> int:
    """Run each size in a process of its own; the exit code says whether every budget was kept when `--strict` asks."""
    parser = argparse.ArgumentParser(prog="python -m bench.search_peers", description="Hybrid search beside LangChain.")
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, help="how many articles (1000 10000 100000)")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a budget is missed")
    parser.add_argument("--raw", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.raw is not None:
        print(to_raw(asyncio.run(measure(arguments.sizes[0], arguments.raw))))
        return 0
    tables = [_apart(size) for size in arguments.sizes]
    print(show(tables))
    print(to_json(tables))
    is_missed = any(figure.is_kept is False for table in tables for figure in table.figures)
    return 1 if arguments.strict and is_missed else 0


def _apart(size: int) -> Table:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.search_peers", str(size), "--raw", folder]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, **ONE_THREAD})
    return from_raw(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
