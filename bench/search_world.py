"""Texts, vectors and questions that search is benched with, and a source of them in memory.

Words follow Zipf's law, vectors lie around topics, questions near some article and asked once: no cache answers, no
model runs. Source: design §10.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.sqlite_vectors import VectorMatrix, to_units
from shared.domain.article import Article
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.text import ModelText, PublishedText
from shared.ports.articles import ArticlePage, KnowledgeHead
from shared.ports.documents import TenantScope
from shared.ports.models import Vector
from shared.retrieval.embedding_text import embedding_key

WORDS_PER_ARTICLE: Final = 120
DIMENSION: Final = 384
"""Of the embedded model."""
SEED: Final = 7
PAGE: Final = 500
"""Articles of one page of changes, as the records give them."""
SCOPE: Final = TenantScope(TenantId("bench"))

_KEY: Final = embedding_key("given", DIMENSION)


@dataclass
class World:
    """Texts and vectors both engines are given."""

    articles: list[Article]
    matrix: NDArray[np.float32]
    questions: list[tuple[str, Vector]]
    new_texts: list[str]
    """Contents for articles that change."""


def new_world(n: int, *, n_questions: int, n_changes: int) -> World:
    """Return n articles, and questions and new contents for some of them."""
    draw, rng = random.Random(SEED), np.random.default_rng(SEED)
    vocabulary = ["".join(draw.choices("abcdefghijklmnopqrst", k=draw.randint(3, 9))) for _ in range(20_000)]
    weights = np.cumsum([1 / (rank + 1) for rank in range(len(vocabulary))]).tolist()

    def words(k: int) -> str:
        return " ".join(draw.choices(vocabulary, cum_weights=weights, k=k))

    topics = rng.normal(size=(max(20, n // 50), DIMENSION))
    rows = topics[rng.integers(len(topics), size=n)] + 0.7 * rng.normal(size=(n, DIMENSION))
    matrix = to_units(rows.astype(np.float32))
    near = matrix[rng.integers(n, size=n_questions)] + 0.03 * rng.normal(size=(n_questions, DIMENSION))
    return World(
        articles=[new_article(i, words(6), words(WORDS_PER_ARTICLE)) for i in range(n)],
        matrix=matrix,
        questions=[(words(8), vector) for vector in to_units(near.astype(np.float32))],
        new_texts=[words(WORDS_PER_ARTICLE) for _ in range(n_changes)],
    )


def new_article(i: int, title: str, content: str, *, version: int = 1, seq: int = 1) -> Article:
    """Return an article as the records hold it."""
    return Article(
        article_id=ArticleId(f"a{i:06d}"),
        tenant_id=SCOPE.tenant_id,
        version=version,
        seq=seq,
        type=ArticleType.FAQ,
        title=PublishedText(title),
        content=PublishedText(content),
        language="en",
        embedded_model=_KEY,
        updated_at=datetime(2026, 3, 2, tzinfo=UTC),
    )


class GivenEmbedder:
    """The embedder of both: vectors by text, made beforehand."""

    model = "given"
    dimension = DIMENSION

    def __init__(self, known: dict[str, Vector]) -> None:
        self.known = known

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return the vectors of known texts."""
        return np.stack([self.known[text.value] for text in texts])


@dataclass
class MemorySource:
    """ArticleIndexSource over a list and the embedded store's matrix: the store itself is benched by search_bench."""

    articles: list[Article]
    vectors: VectorMatrix
    seq: int = 1
    changed: list[Article] = field(default_factory=list)

    def publish(self, article: Article, vector: Vector) -> None:
        """Take in a change."""
        self.seq = article.seq
        self.changed.append(article)
        self.vectors.put(article.article_id, vector)

    async def head(self, scope: TenantScope) -> KnowledgeHead:
        """Return the knowledge version."""
        return KnowledgeHead(self.seq)

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        """Return all of them to a cold index, page by page; else what changed since."""
        if after_seq:
            return ArticlePage(tuple(a for a in self.changed if a.seq > after_seq))
        start = int(continuation or 0)
        end = start + PAGE
        rest = str(end) if end < len(self.articles) else None
        return ArticlePage(tuple(self.articles[start:end]), rest)

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        """Never needed while the index serves."""
        return None

    async def nearest(
        self, scope: TenantScope, vector: Vector, *, embedding_key: str, top_k: int
    ) -> tuple[tuple[ArticleId, float], ...]:
        """Return the exact neighbours."""
        return tuple((ArticleId(id), s) for id, s in next(self.vectors.ranked(vector, top_k)))
