"""What Shopify calls, as Azure sees it: the webhooks, and the conversation calls a shop's App Proxy sends on.

Thin shells, as in `http`. Source: design §7, functions.md §6.4, §10.5 (webhooks: anonymous, and a signature in code).
"""

import azure.durable_functions as df
import azure.functions as func

from orchestrators.names import METHODS
from orchestrators.triggers.http import serve

blueprint = df.Blueprint()


@blueprint.route(route="webhooks/shopify", methods=METHODS)
async def shopify_webhook(req: func.HttpRequest) -> func.HttpResponse:
    """A shop's events."""
    return await serve("webhooks/shopify", req)


@blueprint.route(route="proxy/shopify/v1/conversations/{cid}/messages", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def proxy_message(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Messages of a conversation, through the App Proxy."""
    return await serve("proxy/shopify/v1/conversations/{cid}/messages", req, client)


@blueprint.route(route="proxy/shopify/v1/conversations/{cid}/open", methods=METHODS)
async def proxy_opening(req: func.HttpRequest) -> func.HttpResponse:
    """The opening of a conversation, through the App Proxy."""
    return await serve("proxy/shopify/v1/conversations/{cid}/open", req)


@blueprint.route(route="proxy/shopify/v1/conversations/{cid}", methods=METHODS)
async def proxy_conversation(req: func.HttpRequest) -> func.HttpResponse:
    """A conversation's thread, through the App Proxy."""
    return await serve("proxy/shopify/v1/conversations/{cid}", req)


@blueprint.route(route="proxy/shopify/v1/conversations/{cid}/turns/{mid}", methods=METHODS)
async def proxy_turn(req: func.HttpRequest) -> func.HttpResponse:
    """A turn, through the App Proxy."""
    return await serve("proxy/shopify/v1/conversations/{cid}/turns/{mid}", req)


@blueprint.route(route="proxy/shopify/v1/conversations/{cid}/feedback", methods=METHODS)
async def proxy_feedback(req: func.HttpRequest) -> func.HttpResponse:
    """A conversation's rating, through the App Proxy."""
    return await serve("proxy/shopify/v1/conversations/{cid}/feedback", req)


@blueprint.route(route="proxy/shopify/v1/conversations/{cid}/close", methods=METHODS)
async def proxy_closing(req: func.HttpRequest) -> func.HttpResponse:
    """The end of a conversation, through the App Proxy."""
    return await serve("proxy/shopify/v1/conversations/{cid}/close", req)
