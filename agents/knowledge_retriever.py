"""Knowledge retriever: searches the tenant's articles for what the customer asks, and says how sure it is.

May not author or modify articles, nor write a word the customer sees. A short follow-up ("and in blue?") is read
together with what the customer asked before, but only when the message alone finds nothing and the articles found
speak of the follow-up itself. Source: KB-05, KB-11, KB-12, CL-04, S2 §1.
"""

from typing import Final

from shared.domain.agents import RETRIEVAL_FLOOR
from shared.domain.deltas import Knowledge, KnowledgeDelta, Snapshot
from shared.domain.intents import NEEDS, ArticleType, CustomerIntent
from shared.domain.text import MaskedText
from shared.ports.documents import TenantScope
from shared.ports.readers import ArticleSearch
from shared.retrieval.fusion import MAX_TOP_K, TOP_K
from shared.retrieval.tokens import analyse, query_words

FOLLOW_UP_WORDS: Final = 4
"""Most content words of a message that may lean on the question before it. Source: value ours."""
EARLIER_LINES: Final = 2
"""Customer lines before the message that it may lean on. Source: value ours."""
EARLIER_CHARS: Final = 300
"""Length of those lines together. Unit: characters. Source: value ours."""
WIDENED_FACTOR: Final = 2
"""Times as many results a widened search asks for. Source: KB-12; value ours."""
LOOKED_AT: Final = 3
"""Results that must speak of the follow-up. Source: value ours."""


async def retrieve_articles(
    snapshot: Snapshot,
    *,
    base_version: int,
    intent: CustomerIntent | None,
    is_widened: bool = False,
    search: ArticleSearch,
    top_k: int = TOP_K,
) -> KnowledgeDelta:
    """Return pinned articles for the message, the path that served, and the absolute confidence.

    Widened adds the kinds of the adjacent intents and asks for more results (KB-12). Never raises for a failing rung:
    an empty finding has confidence 0.
    """
    scope = TenantScope(snapshot.tenant_id)
    types = source_types(intent, is_widened=is_widened)
    limit = min(MAX_TOP_K, top_k * WIDENED_FACTOR) if is_widened else top_k
    found = await search.search(scope, snapshot.message, intent=intent, types=types, top_k=limit)
    query = follow_up_query(snapshot)
    if found.confidence < RETRIEVAL_FLOOR and query is not None:
        leaning = await search.search(scope, query, intent=intent, types=types, top_k=limit)
        if leaning.confidence > found.confidence and _speaks_of(leaning, snapshot.message):
            found = leaning
    return KnowledgeDelta(
        base_version=base_version,
        confidence=found.confidence,
        source_refs=tuple(article.ref for article in found.articles),
        knowledge=found,
    )


def source_types(intent: CustomerIntent | None, *, is_widened: bool) -> tuple[ArticleType, ...]:
    """Return the kinds of article to prefer, the intent's own first; none when the intent is unknown."""
    if intent is None:
        return ()
    needs = NEEDS[intent]
    near = needs.adjacent if is_widened else ()
    return tuple(dict.fromkeys((*needs.sources, *(kind for other in near for kind in NEEDS[other].sources))))


def follow_up_query(snapshot: Snapshot) -> MaskedText | None:
    """Return the message with the customer's last lines before it; None when it stands alone or is the first."""
    if len(_content_words(snapshot.message)) > FOLLOW_UP_WORDS:
        return None
    earlier = [line.text.value for line in snapshot.context.history if line.role == "customer"][-EARLIER_LINES:]
    before = "\n".join(earlier)[-EARLIER_CHARS:]
    return MaskedText(f"{before}\n{snapshot.message.value}") if before.strip() else None


def _speaks_of(knowledge: Knowledge, message: MaskedText) -> bool:
    """Tell whether one result holds at least half of what the message itself names; "how much is it?" names nothing."""
    words = _content_words(message)
    texts = [
        frozenset(analyse(" ".join((a.title.value, a.content.value, *a.attributes.values()))))
        for a in knowledge.articles[:LOOKED_AT]
    ]
    return not words or any(2 * len([w for w in words if w in text]) >= len(words) for text in texts)


def _content_words(message: MaskedText) -> tuple[str, ...]:
    return tuple(word.alternatives[0][0] for word in query_words(message.value) if word.is_content)
