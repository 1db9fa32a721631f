"""Change feeds as Azure sees them; what they do is in `feeding`, loaded with the first batch. Source: DC-03, KB-02."""

from typing import Final

import azure.durable_functions as df
import azure.functions as func

CONNECTION: Final = "COSMOS"
"""Setting prefix of the Cosmos DB connection (identity-based on Azure). Source: functions.md §10.7."""
DATABASE: Final = "%COSMOS_DATABASE%"

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
async def embed_articles(documents: func.DocumentList, context: func.Context) -> None:
    """Embed articles that were published or changed."""
    from orchestrators.triggers import feeding
    from shared.container import services

    tried = context.retry_context
    is_last_try = tried is None or tried.retry_count >= tried.max_retry_count
    await feeding.embed_articles(documents, services(), is_last_try=is_last_try)


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
    """Start the wait of new cases."""
    from orchestrators.triggers import feeding

    await feeding.await_cases(documents, client)
