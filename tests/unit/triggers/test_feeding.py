"""The change feed of articles: each item alone, transient trouble is repeated, nothing is skipped unsaid."""

from dataclasses import dataclass, field
from typing import Any, cast

import azure.functions as func
import pytest

from orchestrators.triggers.feeding import embed_articles
from shared.container import Services
from shared.domain.errors import SchemaError, Unavailable
from shared.domain.ids import ArticleId
from shared.ports.documents import TenantScope


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
