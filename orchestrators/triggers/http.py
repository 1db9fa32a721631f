"""The HTTP functions as Azure sees them: one a path, every method mapped, no key of the host.

Thin shells; what a call does stands in the operation table. Wrong methods and unknown paths get our own problem
documents, because the host would answer them with an empty 404. Source: design §7, functions.md §6.4, §8.3, §8.4.
"""

import azure.durable_functions as df
import azure.functions as func

from orchestrators.names import METHODS

blueprint = df.Blueprint()


async def serve(
    path: str, request: func.HttpRequest, starter: df.DurableOrchestrationClient | None = None
) -> func.HttpResponse:
    """Answer by the operation table, which is loaded with the first request: a cold start only registers."""
    from orchestrators.triggers import dispatch
    from shared.container import services

    return await dispatch.serve(path, request, services(), starter)


@blueprint.route(route="v1/conversations/{cid}/messages", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def send_message(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Messages of a conversation."""
    return await serve("v1/conversations/{cid}/messages", req, client)


@blueprint.route(route="v1/conversations/{cid}/open", methods=METHODS)
async def conversation_opening(req: func.HttpRequest) -> func.HttpResponse:
    """The opening of a conversation."""
    return await serve("v1/conversations/{cid}/open", req)


@blueprint.route(route="v1/conversations/{cid}", methods=METHODS)
async def conversation(req: func.HttpRequest) -> func.HttpResponse:
    """A conversation's thread."""
    return await serve("v1/conversations/{cid}", req)


@blueprint.route(route="v1/conversations/{cid}/turns/{mid}", methods=METHODS)
async def conversation_turn(req: func.HttpRequest) -> func.HttpResponse:
    """A turn."""
    return await serve("v1/conversations/{cid}/turns/{mid}", req)


@blueprint.route(route="v1/conversations/{cid}/turns/{mid}/proof", methods=METHODS)
async def conversation_turn_proof(req: func.HttpRequest) -> func.HttpResponse:
    """What vouches for a turn."""
    return await serve("v1/conversations/{cid}/turns/{mid}/proof", req)


@blueprint.route(route="v1/conversations/{cid}/feedback", methods=METHODS)
async def conversation_feedback(req: func.HttpRequest) -> func.HttpResponse:
    """A conversation's rating."""
    return await serve("v1/conversations/{cid}/feedback", req)


@blueprint.route(route="v1/conversations/{cid}/close", methods=METHODS)
async def conversation_closing(req: func.HttpRequest) -> func.HttpResponse:
    """The end of a conversation."""
    return await serve("v1/conversations/{cid}/close", req)


@blueprint.route(route="v1/articles", methods=METHODS)
async def articles(req: func.HttpRequest) -> func.HttpResponse:
    """The tenant's articles."""
    return await serve("v1/articles", req)


@blueprint.route(route="v1/articles/{article}", methods=METHODS)
async def article(req: func.HttpRequest) -> func.HttpResponse:
    """One article."""
    return await serve("v1/articles/{article}", req)


@blueprint.route(route="v1/articles/import", methods=METHODS)
async def article_import(req: func.HttpRequest) -> func.HttpResponse:
    """Many articles at once."""
    return await serve("v1/articles/import", req)


@blueprint.route(route="v1/knowledge/coverage", methods=METHODS)
async def knowledge_coverage(req: func.HttpRequest) -> func.HttpResponse:
    """What search by meaning can see."""
    return await serve("v1/knowledge/coverage", req)


@blueprint.route(route="v1/knowledge/replay", methods=METHODS)
async def knowledge_replay(req: func.HttpRequest) -> func.HttpResponse:
    """What the change feed gave up on."""
    return await serve("v1/knowledge/replay", req)


@blueprint.route(route="v1/search", methods=METHODS)
async def article_search(req: func.HttpRequest) -> func.HttpResponse:
    """Search."""
    return await serve("v1/search", req)


@blueprint.route(route="v1/agents/{agent}", methods=METHODS)
async def one_agent(req: func.HttpRequest) -> func.HttpResponse:
    """One agent alone."""
    return await serve("v1/agents/{agent}", req)


@blueprint.route(route="v1/tenants", methods=METHODS)
async def tenants(req: func.HttpRequest) -> func.HttpResponse:
    """Tenants."""
    return await serve("v1/tenants", req)


@blueprint.route(route="v1/tenants/{tenant}", methods=METHODS)
async def tenant(req: func.HttpRequest) -> func.HttpResponse:
    """One tenant."""
    return await serve("v1/tenants/{tenant}", req)


@blueprint.route(route="v1/tenants/{tenant}/identity-secret", methods=METHODS)
async def tenant_identity_secret(req: func.HttpRequest) -> func.HttpResponse:
    """The secret that signs customer tokens."""
    return await serve("v1/tenants/{tenant}/identity-secret", req)


@blueprint.route(route="v1/tenants/{tenant}/keys", methods=METHODS)
async def tenant_keys(req: func.HttpRequest) -> func.HttpResponse:
    """A tenant's keys."""
    return await serve("v1/tenants/{tenant}/keys", req)


@blueprint.route(route="v1/tenants/{tenant}/keys/{key}", methods=METHODS)
async def tenant_key(req: func.HttpRequest) -> func.HttpResponse:
    """One key."""
    return await serve("v1/tenants/{tenant}/keys/{key}", req)


@blueprint.route(route="v1/tenants/{tenant}/keys/{key}/rotate", methods=METHODS)
async def tenant_key_rotation(req: func.HttpRequest) -> func.HttpResponse:
    """A key's successor."""
    return await serve("v1/tenants/{tenant}/keys/{key}/rotate", req)


@blueprint.route(route="v1/tenants/{tenant}/policy", methods=METHODS)
async def tenant_policy(req: func.HttpRequest) -> func.HttpResponse:
    """A tenant's policy."""
    return await serve("v1/tenants/{tenant}/policy", req)


@blueprint.route(route="v1/tenants/{tenant}/policy/changes", methods=METHODS)
async def tenant_policy_changes(req: func.HttpRequest) -> func.HttpResponse:
    """A policy's change log."""
    return await serve("v1/tenants/{tenant}/policy/changes", req)


@blueprint.route(route="v1/tenants/{tenant}/policy/rollback", methods=METHODS)
async def tenant_policy_rollback(req: func.HttpRequest) -> func.HttpResponse:
    """An earlier policy brought back."""
    return await serve("v1/tenants/{tenant}/policy/rollback", req)


@blueprint.route(route="v1/tenants/{tenant}/governance", methods=METHODS)
async def tenant_governance(req: func.HttpRequest) -> func.HttpResponse:
    """The governance in force."""
    return await serve("v1/tenants/{tenant}/governance", req)


@blueprint.route(route="v1/figures", methods=METHODS)
async def figures(req: func.HttpRequest) -> func.HttpResponse:
    """What the process counts about itself."""
    return await serve("v1/figures", req)


@blueprint.route(route="v1/desk/audits", methods=METHODS)
async def desk_audits(req: func.HttpRequest) -> func.HttpResponse:
    """Turns to look at."""
    return await serve("v1/desk/audits", req)


@blueprint.route(route="v1/desk/cases", methods=METHODS)
async def desk_cases(req: func.HttpRequest) -> func.HttpResponse:
    """The queue."""
    return await serve("v1/desk/cases", req)


@blueprint.route(route="v1/desk/cases/{case}", methods=METHODS)
async def desk_case(req: func.HttpRequest) -> func.HttpResponse:
    """One case."""
    return await serve("v1/desk/cases/{case}", req)


@blueprint.route(route="v1/desk/cases/{case}/claim", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def desk_claim(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Taking a case."""
    return await serve("v1/desk/cases/{case}/claim", req, client)


@blueprint.route(route="v1/desk/cases/{case}/reply", methods=METHODS)
async def desk_reply(req: func.HttpRequest) -> func.HttpResponse:
    """Answering the customer."""
    return await serve("v1/desk/cases/{case}/reply", req)


@blueprint.route(route="v1/desk/cases/{case}/release", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def desk_release(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Giving a conversation back."""
    return await serve("v1/desk/cases/{case}/release", req, client)


@blueprint.route(route="v1/desk/cases/{case}/resolve", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def desk_resolution(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Ending a case."""
    return await serve("v1/desk/cases/{case}/resolve", req, client)


@blueprint.route(route="v1/desk/cases/{case}/approve", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def desk_approval(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Approving an action."""
    return await serve("v1/desk/cases/{case}/approve", req, client)


@blueprint.route(route="v1/desk/cases/{case}/reject", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def desk_rejection(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """Refusing an action."""
    return await serve("v1/desk/cases/{case}/reject", req, client)


@blueprint.route(route="v1/desk/cases/{case}/outcome", methods=METHODS)
@blueprint.durable_client_input(client_name="client")
async def desk_outcome(req: func.HttpRequest, client: df.DurableOrchestrationClient) -> func.HttpResponse:
    """What became of an unclear action."""
    return await serve("v1/desk/cases/{case}/outcome", req, client)


@blueprint.route(route="health/live", methods=METHODS)
async def health_live(req: func.HttpRequest) -> func.HttpResponse:
    """Liveness."""
    return await serve("health/live", req)


@blueprint.route(route="health/ready", methods=METHODS)
async def health_ready(req: func.HttpRequest) -> func.HttpResponse:
    """Readiness."""
    return await serve("health/ready", req)


@blueprint.route(route="openapi.json", methods=METHODS)
async def openapi_document(req: func.HttpRequest) -> func.HttpResponse:
    """The OpenAPI document."""
    return await serve("openapi.json", req)


@blueprint.route(route="{*path}", methods=METHODS)
async def unknown_path(req: func.HttpRequest) -> func.HttpResponse:
    """Every other path."""
    from orchestrators.triggers import dispatch
    from shared.container import services

    return await dispatch.no_such_path(req, services())
