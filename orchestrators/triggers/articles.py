"""Articles over HTTP: publish, read, list, delete. Source: KB-01, KB-02, KB-10, design §7."""

from pydantic import ValidationError

from orchestrators.triggers.contract import Call
from orchestrators.triggers.knowledge_models import ArticleIn, ArticleList, ArticleShown
from orchestrators.triggers.models import PageQuery
from orchestrators.triggers.problems import invalid_request, not_found
from orchestrators.triggers.responses import Answer, empty_answer, json_answer
from shared.domain.article import Article, ArticleInput
from shared.domain.ids import ArticleId
from shared.domain.text import PublishedText


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
        updated_at=article.updated_at,
    )
