"""Search over HTTP: what the retriever would find, with its confidence. Source: KB-05, KB-07, KB-09, design §7."""

from orchestrators.triggers.contract import Call
from orchestrators.triggers.knowledge_models import SearchHit, SearchIn, SearchShown
from orchestrators.triggers.outside_text import mask_outside
from orchestrators.triggers.responses import Answer, json_answer
from shared.domain.intents import NEEDS, ArticleType


async def search_articles(call: Call) -> Answer:
    """Return the tenant's best articles for a query; nothing of the query is stored."""
    asked = call.body_as(SearchIn)
    found = await call.services.search.search(
        call.tenant,
        mask_outside(call, asked.query),
        intent=asked.intent,
        types=NEEDS[asked.intent].sources if asked.intent else tuple(ArticleType),
        top_k=asked.top_k,
    )
    return json_answer(
        SearchShown(
            results=tuple(
                SearchHit(ref=a.ref, title=a.title.value, relevance=a.relevance, strong=a.is_strong)
                for a in found.articles
            ),
            confidence=found.confidence,
            path=found.path,
            cache=found.cache,
        )
    )
