"""Hybrid search at 10,000 articles of one tenant, the embedded model's dimension, everything but the model itself.

Words follow Zipf's law, vectors are random around topics, each question is new (no cache answers). Source: design §10.
"""

import asyncio
import random
import statistics
import tempfile
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure, Table
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.embedded.system import SystemClock
from shared.adapters.records.articles import ArticleRecords
from shared.domain.article import ArticleInput
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.text import MaskedText, ModelText, PublishedText
from shared.ports.documents import TenantScope
from shared.retrieval.ladder import HybridSearch

N_ARTICLES: Final = 10_000
WORDS_PER_ARTICLE: Final = 120
N_QUERIES: Final = 400
N_CHANGES: Final = 60
DIMENSION: Final = 384
SEED: Final = 7
_SCOPE: Final = TenantScope(TenantId("bench"))


class SeededEmbedder:
    """Unit vectors seeded by the text: the dimension of the embedded model at no cost."""

    model = "seeded"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return one vector a text."""
        rows = np.stack([np.random.default_rng(zlib.crc32(t.value.encode())).normal(size=DIMENSION) for t in texts])
        unit: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return unit


def table() -> Table:
    """Return the figures."""
    return asyncio.run(_measure())


async def _measure() -> Table:
    draw = random.Random(SEED)
    vocabulary = ["".join(draw.choices("abcdefghijklmnopqrst", k=draw.randint(3, 9))) for _ in range(20_000)]
    zipf = [1 / (rank + 1) for rank in range(len(vocabulary))]

    def words(n: int) -> str:
        return " ".join(draw.choices(vocabulary, zipf, k=n))

    with tempfile.TemporaryDirectory() as folder:
        documents = SqliteDocuments(Path(folder) / "bench.db", clock=SystemClock())
        records, embedder = ArticleRecords(documents, clock=SystemClock()), SeededEmbedder()
        for i in range(N_ARTICLES):
            await records.put(_SCOPE, _article(i, words(6), words(WORDS_PER_ARTICLE)))
            await records.reembed(_SCOPE, _id(i), embedder)
        search = HybridSearch(records, embedder, clock=SystemClock())

        async def ask(query: str) -> str:
            found = await search.search(_SCOPE, MaskedText(query), intent=None, types=(), top_k=5)
            return found.articles[0].article_id

        async def change(i: int) -> None:
            marker = f"marker{i}x{i}"
            await records.put(_SCOPE, _article(i, words(6), f"{words(WORDS_PER_ARTICLE)} {marker}"))
            assert await ask(marker) == _id(i)

        async def build() -> None:
            await search.warm(_SCOPE)
            await search.settled()

        cold = await _timed(build)
        asked = [await _timed(lambda: ask(words(8))) for _ in range(N_QUERIES)]
        changed = [await _timed(lambda i=i: change(i)) for i in range(N_CHANGES)]  # type: ignore[misc]
        await documents.close()
    figures = (
        Figure("search, p50", statistics.median(asked), "ms"),
        Figure("search, p95", _p95(asked), "ms", budget=8),
        Figure("changed article published and found, p50", statistics.median(changed), "ms"),
        Figure("changed article published and found, p95", _p95(changed), "ms", budget=50),
        Figure("cold index built, without a snapshot", cold, "ms"),
    )
    return Table("search", figures, f"{N_ARTICLES:,} articles of {WORDS_PER_ARTICLE} words × {DIMENSION} dimensions")


async def _timed(call: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await call()
    return (time.perf_counter() - started) * 1_000


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def _id(i: int) -> ArticleId:
    return ArticleId(f"a{i:05d}")


def _article(i: int, title: str, content: str) -> ArticleInput:
    return ArticleInput(
        article_id=_id(i), type=ArticleType.FAQ, title=PublishedText(title), content=PublishedText(content)
    )
