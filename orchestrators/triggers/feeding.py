"""What follows from a written document: an article is embedded, a case is waited for. Each item fails alone.

A feed may lose what it should deliver, so every article that stays without its vector is found by a timer as well.
Source: DC-03, KB-02, KB-04, functions.md §10.7, faults 085, 086, 088.
"""

import logging
from datetime import timedelta
from typing import Final

import azure.durable_functions as df
import azure.functions as func

from orchestrators.triggers.starting import start_case, wake_action
from shared.container import Services
from shared.domain.actions import ActionRef
from shared.domain.case import CaseStatus
from shared.domain.errors import VouchError
from shared.domain.ids import ArticleId, CaseId, CustomerId, TenantId
from shared.ports.documents import TenantScope
from shared.retrieval.embedding_text import embedding_key

EMBED_FEED: Final = "embed_articles"
"""Under which name dead letters of this feed are kept."""
FEED_GRACE: Final = timedelta(minutes=10)
"""Time the feed has to deliver an article before it is taken for lost: its retries are over by then. Value ours."""
MISSED_BATCH: Final = 100
"""Most missed articles of one tenant embedded in one run. Value ours."""
MISSED_RUN: Final = timedelta(minutes=4)
"""Time one run may take: well under the functions' limit of ten minutes (host.json). Value ours."""

_log = logging.getLogger(__name__)


async def embed_articles(documents: func.DocumentList, parts: Services, *, is_last_try: bool) -> None:
    """Embed articles whose text has no vector of its present form; unchanged ones cost nothing.

    Raises: a transient error, once every other item is done, so that the trigger's retry policy repeats the batch.
    Others, and after the last try these too, leave a dead letter: the feed goes on without them.
    """
    lost: VouchError | None = None
    for document in documents:
        if document.get("kind") != "article":
            continue
        tenant, article = TenantId(str(document["tenant_id"])), ArticleId(str(document["article_id"]))
        try:
            await parts.articles.reembed(TenantScope(tenant), article, parts.embedder)
        except VouchError as error:
            if error.is_transient and not is_last_try:
                lost = error
                continue
            await parts.dead_letters.put(TenantScope(tenant), EMBED_FEED, article, type(error).__name__)
            _log.error("article %s of tenant %s could not be embedded: %s", article, tenant, type(error).__name__)
    if lost is not None:
        raise lost


async def embed_missed(parts: Services) -> int:
    """Embed what the feed has not delivered within FEED_GRACE, and return how much that was.

    What has a dead letter is left to whoever replays it.
    """
    ends, embedded, continuation = parts.clock.now() + MISSED_RUN, 0, None
    while True:
        tenants, continuation = await parts.tenants.list(continuation=continuation)
        for tenant in tenants:
            if parts.clock.now() < ends:
                embedded += await _embed_missed_of(TenantScope(tenant.tenant_id), parts)
        if continuation is None:
            return embedded


async def _embed_missed_of(scope: TenantScope, parts: Services) -> int:
    key = embedding_key(parts.embedder.model, parts.embedder.dimension)
    missed = await parts.articles.pending(scope, key, limit=MISSED_BATCH, before=parts.clock.now() - FEED_GRACE)
    if not missed:
        return 0
    given_up = {letter.item_id for letter in await parts.dead_letters.unresolved(scope, EMBED_FEED, limit=MISSED_BATCH)}
    embedded = 0
    for article in missed:
        if article in given_up:
            continue
        try:
            embedded += await parts.articles.reembed(scope, article, parts.embedder)
        except VouchError as error:
            _log.error(
                "article %s of tenant %s stays without a vector: %s", article, scope.tenant_id, type(error).__name__
            )
            if error.is_transient:
                break
            await parts.dead_letters.put(scope, EMBED_FEED, article, type(error).__name__)
    if embedded:
        _log.warning("the feed had missed %d articles of tenant %s", embedded, scope.tenant_id)
    return embedded


async def await_cases(documents: func.DocumentList, client: df.DurableOrchestrationClient) -> None:
    """Start the wait of every case that is open and not yet paged, and of the action it is about, if any.

    The sweeper finds what this misses.
    """
    for document in documents:
        if document.get("kind") != "case":
            continue
        tenant = TenantId(str(document["tenant_id"]))
        if document.get("status") == CaseStatus.OPEN.value and not document.get("is_paged"):
            await start_case(client, tenant, CaseId(str(document["id"])))
        action, account = document.get("action_id"), document.get("customer_id")
        # The newest version of a case is all a feed brings: it may have been claimed or decided by now (fault 088).
        if action and account and document.get("status") != CaseStatus.RESOLVED.value:
            ref = ActionRef(tenant_id=tenant, account_id=CustomerId(str(account)), action_id=str(action))
            await wake_action(client, ref)
