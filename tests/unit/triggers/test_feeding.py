"""The change feed of articles: each item alone, transient trouble is repeated, nothing is skipped unsaid.

Source: KB-02, DC-03, faults 085, 088.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import azure.functions as func
import numpy as np
import pytest
from numpy.typing import NDArray

from orchestrators.triggers.feeding import EMBED_FEED, embed_articles
from shared.adapters.embedded.sqlite_documents import SqliteDocuments
from shared.adapters.records.articles import ArticleRecords
from shared.adapters.records.dead_letters import DeadLetterRecords
from shared.container import Services
from shared.domain.article import ArticleInput
from shared.domain.errors import IntegrationError, SchemaError, Unavailable
from shared.domain.ids import ArticleId
from shared.domain.intents import ArticleType
from shared.domain.text import ModelText, PublishedText
from shared.ports.documents import TenantScope
from shared.retrieval.embedding_text import embedding_key
from tests.conftest import FixedClock


@dataclass(slots=True)
class Shelf:
    """The parts of the container this trigger uses: articles, some of which fail, and the dead letters."""

    failing: dict[str, Exception]
    embedder: object = None
    embedded: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)

    @property
    def articles(self) -> "Shelf":
        """Return the article records."""
        return self

    @property
    def dead_letters(self) -> "Shelf":
        """Return the dead letters."""
        return self

    async def reembed(self, scope: TenantScope, article: ArticleId, embedder: object) -> None:
        """Fail for some."""
        if article in self.failing:
            raise self.failing[article]
        self.embedded.append(article)

    async def put(self, scope: TenantScope, feed: str, item_id: str, error: str) -> None:
        """Note the letter."""
        self.letters.append(item_id)


async def feed(shelf: Shelf, *, is_last_try: bool) -> None:
    """Hand three articles over."""
    documents: Any = [
        func.Document.from_dict({"kind": "article", "tenant_id": "t1", "article_id": id}) for id in ("a", "b", "c")
    ]
    await embed_articles(documents, cast(Services, shelf), is_last_try=is_last_try)


@pytest.mark.req("DC-03", "KB-02")
async def test_an_article_whose_embedding_is_down_keeps_no_other_waiting_and_is_repeated() -> None:
    """The error reaches the trigger's retry policy only after the rest of the batch is done."""
    shelf = Shelf({"a": Unavailable("down")})

    with pytest.raises(Unavailable):
        await feed(shelf, is_last_try=False)

    assert (shelf.embedded, shelf.letters) == (["b", "c"], [])


@pytest.mark.req("DC-03", "KB-02")
async def test_what_the_last_try_could_not_embed_is_left_as_a_dead_letter() -> None:
    """The feed goes on without the batch: whatever it skips must be on record."""
    shelf = Shelf({"a": Unavailable("down"), "b": SchemaError("bad")})

    await feed(shelf, is_last_try=True)

    assert (shelf.embedded, shelf.letters) == (["c"], ["a", "b"])


class PickyEmbedder:
    """Refuses texts with a word; keeps those it embedded."""

    model = "picky"
    dimension = 2

    def __init__(self, refused: str = "") -> None:
        self.refused = refused
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return one direction for all, or refuse."""
        if self.refused and any(self.refused in text.value for text in texts):
            raise IntegrationError("the model refuses this text")
        self.texts += [text.value for text in texts]
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


@dataclass(slots=True)
class Parts:
    """The parts of the container the feed uses, over a real store."""

    articles: ArticleRecords
    dead_letters: DeadLetterRecords
    embedder: PickyEmbedder

    async def publish(self, tenant: TenantScope, id: str, content: str) -> func.Document:
        """Publish an article and return it as the feed delivers it."""
        article = await self.articles.put(
            tenant,
            ArticleInput(
                article_id=ArticleId(id),
                type=ArticleType.FAQ,
                title=PublishedText("T"),
                content=PublishedText(content),
            ),
        )
        return cast(Any, func.Document.from_dict({"kind": "article", **article.model_dump(mode="json")}))

    async def deliver(self, *documents: func.Document) -> None:
        """Hand a batch over."""
        await embed_articles(cast(Any, list(documents)), cast(Services, self), is_last_try=False)


@pytest.fixture
def parts(documents: SqliteDocuments, clock: FixedClock) -> Parts:
    """Real records, an embedder a test decides over."""
    return Parts(ArticleRecords(documents, clock=clock), DeadLetterRecords(documents, clock), PickyEmbedder("poison"))


@pytest.mark.req("DC-03", "KB-02", "KB-13")
async def test_fault_085_one_poisonous_article_of_ten_costs_itself_alone(parts: Parts, tenant: TenantScope) -> None:
    """The function returns, nine are embedded, the tenth is on record with its attempts."""
    batch = [await parts.publish(tenant, f"a{n}", "poison" if n == 4 else "fine") for n in range(10)]

    await parts.deliver(*batch)
    await parts.deliver(*batch)
    coverage = await parts.articles.coverage(tenant, embedding_key("picky", 2))
    (letter,) = await parts.dead_letters.unresolved(tenant, EMBED_FEED, limit=10)

    assert (coverage.current, coverage.missing) == (9, 1)
    assert len(parts.embedder.texts) == 9
    assert (letter.item_id, letter.error, letter.attempts) == ("a4", "IntegrationError", 2)


@pytest.mark.req("DC-03", "KB-02", "KB-04")
async def test_fault_088_three_fast_edits_delivered_thrice_cost_one_embedding(
    parts: Parts, tenant: TenantScope
) -> None:
    """Intermediate versions never come, the last comes again and again: its text is embedded once."""
    edits = [await parts.publish(tenant, "a", f"version {n}") for n in (1, 2, 3)]

    for _ in range(3):
        await parts.deliver(edits[-1])
    await parts.deliver(edits[0])
    article = await parts.articles.get(tenant, ArticleId("a"))

    assert parts.embedder.texts == ["FAQ: T\nversion 3"]
    assert article is not None
    assert (article.content.value, article.embedded_hash) == ("version 3", article.text_hash)
