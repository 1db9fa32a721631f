"""What follows from a written document: an article is embedded, a case is waited for. Each item fails alone.

Source: DC-03, KB-02, KB-04, functions.md §10.7, faults 085, 088.
"""

import logging
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

EMBED_FEED: Final = "embed_articles"
"""Under which name dead letters of this feed are kept."""

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
