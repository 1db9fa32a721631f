"""Articles over a real store, the real offline model, and stand-ins whose failures a test decides."""

from collections.abc import Awaitable, Callable, Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.articles import ArticleRecords
from shared.domain.article import Article, ArticleInput
from shared.domain.errors import IntegrationError
from shared.domain.ids import ArticleId
from shared.domain.intents import ArticleType
from shared.domain.text import ModelText, PublishedText
from shared.ports.articles import ArticlePage, KnowledgeHead
from shared.ports.documents import TenantScope
from shared.ports.models import Embedder, Vector
from tests.conftest import FixedClock


class LetterEmbedder:
    """Vectors of letter counts: texts with the same letters are near each other, and every call is counted."""

    model = "letters"
    dimension = 26

    def __init__(self) -> None:
        self.calls = 0

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return the normalised letter counts."""
        self.calls += 1
        rows = np.array([[t.value.casefold().count(chr(97 + i)) + 1e-3 for i in range(26)] for t in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class BrokenEmbedder(LetterEmbedder):
    """An embedder that fails while `error` is set."""

    def __init__(self, error: Exception | None) -> None:
        super().__init__()
        self.error = error

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Fail, or answer once `error` was taken away."""
        if self.error is not None:
            self.calls += 1
            raise self.error
        return await super().embed(texts)


class FaultySource:
    """The article records with named operations failing; counts what was asked."""

    def __init__(self, records: ArticleRecords) -> None:
        self.records = records
        self.failing: dict[str, IntegrationError] = {}
        self.asked: list[str] = []

    def _note(self, operation: str) -> None:
        self.asked.append(operation)
        if operation in self.failing:
            raise self.failing[operation]

    async def head(self, scope: TenantScope) -> KnowledgeHead:
        self._note("head")
        return await self.records.head(scope)

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        self._note("changes")
        return await self.records.changes(scope, after_seq, continuation=continuation)

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        self._note("get")
        return await self.records.get(scope, article)

    async def nearest(
        self, scope: TenantScope, vector: Vector, *, embedding_key: str, top_k: int
    ) -> tuple[tuple[ArticleId, float], ...]:
        self._note("nearest")
        return await self.records.nearest(scope, vector, embedding_key=embedding_key, top_k=top_k)


Publish = Callable[..., Awaitable[Article]]


@pytest.fixture
def records(documents: SqliteDocuments, clock: FixedClock) -> ArticleRecords:
    """Article records over a real store."""
    return ArticleRecords(documents, clock=clock)


@pytest.fixture
def source(records: ArticleRecords) -> FaultySource:
    """The records, with failures on demand."""
    return FaultySource(records)


@pytest.fixture
def publish(records: ArticleRecords, tenant: TenantScope) -> Publish:
    """Publish one article and, when an embedder is given, embed it as the change feed would."""

    async def publish_article(
        id: str,
        title: str,
        content: str,
        *,
        type: ArticleType = ArticleType.FAQ,
        attributes: dict[str, str] | None = None,
        embedder: Embedder | None = None,
        scope: TenantScope = tenant,
    ) -> Article:
        given = ArticleInput(
            article_id=ArticleId(id),
            type=type,
            title=PublishedText(title),
            content=PublishedText(content),
            attributes=attributes or {},
        )
        article = await records.put(scope, given)
        if embedder is not None:
            await records.reembed(scope, article.article_id, embedder)
        return article

    return publish_article


@pytest.fixture(scope="session")
def minilm() -> Iterator[OnnxEmbedder]:
    """The offline embedding model itself."""
    embedder = OnnxEmbedder(find_minilm())
    yield embedder
    embedder.close()
