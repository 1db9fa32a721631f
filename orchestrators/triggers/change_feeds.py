"""Change feeds: what follows from a written document. Each item fails alone and is left as a dead letter.

Source: DC-03, KB-02, functions.md §10.7, faults 085, 088.
"""

import logging
from typing import Final

import azure.durable_functions as df
import azure.functions as func

from orchestrators.triggers.starting import start_case
from shared.container import services
from shared.domain.case import CaseStatus
from shared.domain.errors import VouchError
from shared.domain.ids import ArticleId, CaseId, TenantId
from shared.ports.documents import TenantScope

CONNECTION: Final = "COSMOS"
"""Setting prefix of the Cosmos DB connection (identity-based on Azure). Source: functions.md §10.7."""
DATABASE: Final = "%COSMOS_DATABASE%"

_log = logging.getLogger(__name__)
blueprint = df.Blueprint()


@blueprint.cosmos_db_trigger(
    arg_name="documents",
    connection=CONNECTION,
    database_name=DATABASE,
    container_name="articles",
    lease_container_name="leases",
    lease_container_prefix="embed-articles",
    max_items_per_invocation=50,
)
@blueprint.retry(strategy="fixed_delay", max_retry_count="3", delay_interval="00:00:05")
async def embed_articles(documents: func.DocumentList) -> None:
    """Embed articles whose text has no vector of its present form (KB-02); unchanged ones cost nothing (KB-04)."""
    parts = services()
    for document in documents:
        if document.get("kind") != "article":
            continue
        tenant, article = TenantId(str(document["tenant_id"])), ArticleId(str(document["article_id"]))
        try:
            await parts.articles.reembed(TenantScope(tenant), article, parts.embedder)
        except VouchError as error:
            if error.is_transient:
                raise
            await parts.dead_letters.put(TenantScope(tenant), "embed_articles", article, type(error).__name__)
            _log.error("article %s of tenant %s could not be embedded: %s", article, tenant, type(error).__name__)


@blueprint.cosmos_db_trigger(
    arg_name="documents",
    connection=CONNECTION,
    database_name=DATABASE,
    container_name="cases",
    lease_container_name="leases",
    lease_container_prefix="await-cases",
)
@blueprint.durable_client_input(client_name="client")
async def await_cases(documents: func.DocumentList, client: df.DurableOrchestrationClient) -> None:
    """Start the wait of every new open case; the sweeper finds what this misses."""
    for document in documents:
        is_waiting = document.get("status") == CaseStatus.OPEN.value and not document.get("is_paged")
        if document.get("kind") == "case" and is_waiting:
            await start_case(client, TenantId(str(document["tenant_id"])), CaseId(str(document["id"])))
