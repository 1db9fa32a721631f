"""Articles over HTTP: publish, read, list, delete, and how many of them search by meaning knows.

Source: KB-01, KB-02, KB-10, KB-13, design §7, fault 085.
"""

from datetime import timedelta
from typing import Final

from pydantic import ValidationError

from orchestrators.triggers.contract import Call
from orchestrators.triggers.feeding import EMBED_FEED
from orchestrators.triggers.knowledge_models import (
    ArticleIn,
    ArticleList,
    ArticleShown,
    CoverageShown,
    FailedEmbedding,
    ReplayReport,
)
from orchestrators.triggers.models import PageQuery
from orchestrators.triggers.problems import invalid_request, not_found
from orchestrators.triggers.responses import Answer, empty_answer, json_answer
from shared.domain.article import Article, ArticleInput
from shared.domain.errors import VouchError
from shared.domain.ids import ArticleId
from shared.domain.text import PublishedText
from shared.retrieval.embedding_text import embedding_key

REPLAY_BATCH: Final = 50
"""Most articles one replay embeds, so that it ends well inside a request. Value ours (as the change feed's batch)."""


async def put_article(call: Call) -> Answer:
    """Publish the article; the same content again is the same version."""
    given = call.body_as(ArticleIn)
    try:
        article = ArticleInput(
            article_id=ArticleId(call.ids["article"]),
            type=given.type,
            title=PublishedText(given.title),
            content=PublishedText(given.content),
            tags=given.tags,
            attributes=given.attributes,
            language=given.language or "",
        )
    except ValidationError as error:
        raise invalid_request(error) from None
    return json_answer(show_article(await call.services.articles.put(call.tenant, article)))


async def get_article(call: Call) -> Answer:
    """Return the published article."""
    article = await call.services.articles.get(call.tenant, ArticleId(call.ids["article"]))
    if article is None:
        raise not_found()
    return json_answer(show_article(article))


async def list_articles(call: Call) -> Answer:
    """Return one page of the published articles, by id."""
    asked = call.query_as(PageQuery)
    page = await call.services.articles.list(call.tenant, limit=asked.limit, continuation=asked.continuation)
    return json_answer(ArticleList(articles=tuple(show_article(a) for a in page.items), continuation=page.continuation))


async def delete_article(call: Call) -> Answer:
    """Take the article out of every answer; deleting it again is 404."""
    if not await call.services.articles.delete(call.tenant, ArticleId(call.ids["article"])):
        raise not_found()
    return empty_answer()


async def get_coverage(call: Call) -> Answer:
    """Return how many articles have a vector of their present text, and how long the others wait."""
    embedder = call.services.embedder
    key = embedding_key(embedder.model, embedder.dimension)
    found = await call.services.articles.coverage(call.tenant, key)
    waiting = call.services.clock.now() - found.oldest_waiting if found.oldest_waiting else timedelta(0)
    return json_answer(
        CoverageShown(
            model=key,
            published=found.published,
            current=found.current,
            stale=found.stale,
            missing=found.missing,
            flagged=found.flagged,
            waiting_s=max(0.0, waiting.total_seconds()),
            lag_p50_ms=found.lag_p50_ms,
            lag_p95_ms=found.lag_p95_ms,
        )
    )


async def replay_embeddings(call: Call) -> Answer:
    """Embed what the change feed gave up on; what fails again stays on record with its new error."""
    services, embedded, failed = call.services, list[str](), list[FailedEmbedding]()
    for letter in await services.dead_letters.unresolved(call.tenant, EMBED_FEED, limit=REPLAY_BATCH):
        article = ArticleId(letter.item_id)
        try:
            await services.articles.reembed(call.tenant, article, services.embedder)
        except VouchError as error:
            name = type(error).__name__
            await services.dead_letters.put(call.tenant, EMBED_FEED, article, name)
            failed.append(FailedEmbedding(article_id=article, error=name, attempts=letter.attempts + 1))
        else:
            await services.dead_letters.resolve(call.tenant, EMBED_FEED, article)
            embedded.append(article)
    return json_answer(ReplayReport(embedded=tuple(embedded), failed=tuple(failed)))


def show_article(article: Article) -> ArticleShown:
    """Return the article as the API shows it."""
    return ArticleShown(
        article_id=article.article_id,
        ref=article.ref,
        version=article.version,
        type=article.type.value,
        title=article.title.value,
        content=article.content.value,
        tags=article.tags,
        attributes=article.attributes,
        language=article.language,
        is_searchable_by_meaning=bool(article.embedded_hash) and article.embedded_hash == article.text_hash,
        embedded_chars=article.embedded_chars,
        flags=article.flags,
        updated_at=article.updated_at,
    )
