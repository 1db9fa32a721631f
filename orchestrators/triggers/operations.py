"""Every call of the HTTP surface, in one table: dispatch, the OpenAPI document and the tests read it.

Source: design §7, GW-07.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from orchestrators.triggers import (
    agents,
    approvals,
    articles,
    conversations,
    desk,
    desk_models,
    health,
    importing,
    messages,
    models,
    openapi,
    outcomes,
    oversight,
    oversight_models,
    policies,
    policy_models,
    proof_models,
    proofs,
    search,
    tenants,
    webhooks,
)
from orchestrators.triggers import knowledge_models as km
from orchestrators.triggers import tenant_models as tm
from orchestrators.triggers.contract import Operation, Signature
from orchestrators.triggers.parsing import ARTICLE_BYTES, IMPORT_BYTES
from shared.domain.api_key import KeyScope
from shared.domain.policy import TenantPolicy

_P, _S, _D, _A, _O = KeyScope.PUBLISHABLE, KeyScope.SECRET, KeyScope.DESK, KeyScope.ADMIN, KeyScope.OPERATOR
_SHOPPER: Final = frozenset({_P, _S})
_SENDER: Final = frozenset({_P, _S, _A})
_SERVER: Final = frozenset({_S, _A})
_DESK: Final = frozenset({_D})
_AUDITOR: Final = frozenset({_S, _D})
_ADMIN: Final = frozenset({_A})
_OPERATOR: Final = frozenset({_O})
_MANAGER: Final = frozenset({_A, _O})

_CONVERSATION: Final = "v1/conversations/{cid}"
_TENANT: Final = "v1/tenants/{tenant}"
_CASE: Final = "v1/desk/cases/{case}"

_OWN: Final[tuple[Operation, ...]] = (
    # ---- conversations
    Operation(
        "post_message", "POST", f"{_CONVERSATION}/messages", "Send a message and get the turn.",
        messages.post_message, {200: models.Turn, 202: models.TurnPending}, _SENDER,
        request=models.MessageIn, has_identity=True, has_preference=True,
    ),
    Operation(
        "open_conversation", "POST", f"{_CONVERSATION}/open", "Warm up before the first message.",
        conversations.open_conversation, {200: models.Opened}, _SHOPPER,
        request=models.Nothing, is_body_optional=True, has_identity=True,
    ),
    Operation(
        "get_conversation", "GET", _CONVERSATION, "Read the thread, people's replies included.",
        conversations.get_conversation, {200: models.Thread, 304: None}, _SENDER,
        query=models.ThreadQuery, has_identity=True, is_conditional=True,
    ),
    Operation(
        "get_turn", "GET", f"{_CONVERSATION}/turns/{{mid}}", "Read what became of a message.",
        messages.get_turn, {200: models.Turn, 202: models.TurnPending}, _SENDER, has_identity=True,
    ),
    Operation(
        "get_turn_proof", "GET", f"{_CONVERSATION}/turns/{{mid}}/proof", "Read what vouches for a turn, masked.",
        proofs.get_turn_proof, {200: proof_models.ProofShown, 202: models.TurnPending}, _AUDITOR, has_identity=True,
    ),
    Operation(
        "rate_conversation", "POST", f"{_CONVERSATION}/feedback", "Rate the conversation.",
        conversations.rate_conversation, {200: models.FeedbackShown}, _SHOPPER,
        request=models.FeedbackIn, has_identity=True,
    ),
    Operation(
        "close_conversation", "POST", f"{_CONVERSATION}/close", "Close the conversation.",
        conversations.close_conversation, {200: models.ConversationShown}, _SHOPPER,
        request=models.Nothing, is_body_optional=True, has_identity=True,
    ),
    # ---- knowledge
    Operation(
        "list_articles", "GET", "v1/articles", "List published articles.",
        articles.list_articles, {200: km.ArticleList}, _ADMIN, query=models.PageQuery,
    ),
    Operation(
        "put_article", "PUT", "v1/articles/{article}", "Publish an article.",
        articles.put_article, {200: km.ArticleShown}, _ADMIN,
        request=km.ArticleIn, max_body_bytes=ARTICLE_BYTES,
    ),
    Operation(
        "get_article", "GET", "v1/articles/{article}", "Read a published article.",
        articles.get_article, {200: km.ArticleShown}, _ADMIN,
    ),
    Operation(
        "delete_article", "DELETE", "v1/articles/{article}", "Take an article out of every answer.",
        articles.delete_article, {204: None}, _ADMIN,
    ),
    Operation(
        "import_articles", "POST", "v1/articles/import",
        "Publish many articles: JSONL, CSV with a header, or a Shopify product export.",
        importing.import_articles, {200: km.ImportReport}, _ADMIN,
        media_types=importing.MEDIA_TYPES, max_body_bytes=IMPORT_BYTES,
    ),
    Operation(
        "get_coverage", "GET", "v1/knowledge/coverage", "How much of the knowledge search by meaning can see.",
        articles.get_coverage, {200: km.CoverageShown}, _ADMIN,
    ),
    Operation(
        "replay_embeddings", "POST", "v1/knowledge/replay", "Embed again what the change feed gave up on.",
        articles.replay_embeddings, {200: km.ReplayReport}, _ADMIN, request=models.Nothing, is_body_optional=True,
    ),
    Operation(
        "search_articles", "POST", "v1/search", "Search the tenant's articles.",
        search.search_articles, {200: km.SearchShown}, _SERVER, request=km.SearchIn,
    ),
    Operation(
        "run_one_agent", "POST", "v1/agents/{agent}", "Run one agent alone, without side effects.",
        agents.run_one_agent, {200: km.AgentShown}, _ADMIN,
        request=km.AgentIn, max_body_bytes=ARTICLE_BYTES,
    ),
    # ---- tenants, keys, policy
    Operation(
        "create_tenant", "POST", "v1/tenants", "Create a tenant.",
        tenants.create_tenant, {201: tm.TenantCreated}, _OPERATOR, request=tm.TenantIn,
    ),
    Operation(
        "list_tenants", "GET", "v1/tenants", "List tenants.",
        tenants.list_tenants, {200: tm.TenantList}, _OPERATOR, query=models.PageQuery,
    ),
    Operation("get_tenant", "GET", _TENANT, "Read a tenant.", tenants.get_tenant, {200: tm.TenantShown}, _MANAGER),
    Operation(
        "patch_tenant", "PATCH", _TENANT, "Change a tenant's name, tier or status.",
        tenants.patch_tenant, {200: tm.TenantShown}, _OPERATOR, request=tm.TenantPatch,
    ),
    Operation(
        "renew_identity_secret", "POST", f"{_TENANT}/identity-secret", "Replace the secret that signs customer tokens.",
        tenants.renew_identity_secret, {200: tm.IdentitySecretShown}, _MANAGER,
        request=models.Nothing, is_body_optional=True,
    ),
    Operation(
        "list_keys", "GET", f"{_TENANT}/keys", "List keys.", tenants.list_keys, {200: tm.KeyList}, _MANAGER
    ),
    Operation(
        "issue_key", "POST", f"{_TENANT}/keys", "Issue a key.",
        tenants.issue_key, {201: tm.KeyIssued}, _MANAGER, request=tm.KeyIn,
    ),
    Operation(
        "revoke_key", "DELETE", f"{_TENANT}/keys/{{key}}", "Revoke a key.",
        tenants.revoke_key, {204: None}, _MANAGER,
    ),
    Operation(
        "rotate_key", "POST", f"{_TENANT}/keys/{{key}}/rotate", "Replace a key, with an overlap.",
        tenants.rotate_key, {201: tm.KeyIssued}, _MANAGER, request=tm.RotateIn, is_body_optional=True,
    ),
    Operation(
        "get_policy", "GET", f"{_TENANT}/policy", "Read the policy in force.",
        policies.get_policy, {200: policy_models.PolicySaved}, _MANAGER,
    ),
    Operation(
        "put_policy", "PUT", f"{_TENANT}/policy", "Validate and save the policy, or rehearse it over the last turns.",
        policies.put_policy, {200: policy_models.PolicySaved}, _MANAGER,
        request=TenantPolicy, query=policy_models.PolicyQuery, max_body_bytes=ARTICLE_BYTES,
    ),
    Operation(
        "list_policy_changes", "GET", f"{_TENANT}/policy/changes", "Read who changed the policy, and when.",
        policies.list_policy_changes, {200: policy_models.PolicyLog}, _MANAGER,
    ),
    Operation(
        "roll_back_policy", "POST", f"{_TENANT}/policy/rollback", "Save an earlier version's content anew.",
        policies.roll_back_policy, {200: policy_models.PolicySaved}, _MANAGER, request=policy_models.RollbackIn,
    ),
    Operation(
        "get_governance", "GET", f"{_TENANT}/governance", "Read phase, ceilings, approvals, drift and first contacts.",
        oversight.get_governance, {200: oversight_models.GovernanceShown}, _MANAGER,
    ),
    Operation(
        "get_figures", "GET", "v1/figures", "Read what the answering process counts: search, caches, review lanes.",
        oversight.get_figures, {200: oversight_models.FiguresShown}, _OPERATOR,
    ),
    # ---- desk
    Operation(
        "list_cases", "GET", "v1/desk/cases", "Read the queue.",
        desk.list_cases, {200: desk_models.CaseQueue}, _DESK, query=desk_models.QueueQuery,
    ),
    Operation("get_case", "GET", _CASE, "Read a case.", desk.get_case, {200: desk_models.CaseShown}, _DESK),
    Operation(
        "claim_case", "POST", f"{_CASE}/claim", "Take a case.",
        desk.claim_case, {200: desk_models.CaseShown}, _DESK, request=models.Nothing, is_body_optional=True,
    ),
    Operation(
        "reply_to_customer", "POST", f"{_CASE}/reply", "Answer the customer.",
        desk.reply_to_customer, {200: desk_models.ReplyShown}, _DESK, request=desk_models.ReplyIn,
    ),
    Operation(
        "release_case", "POST", f"{_CASE}/release", "Give the conversation back to the bot.",
        desk.release_case, {200: desk_models.CaseShown}, _DESK, request=models.Nothing, is_body_optional=True,
    ),
    Operation(
        "resolve_case", "POST", f"{_CASE}/resolve", "End the case.",
        desk.resolve_case, {200: desk_models.CaseShown}, _DESK, request=models.Nothing, is_body_optional=True,
    ),
    Operation(
        "approve_action", "POST", f"{_CASE}/approve", "Approve the action a case is about; for approvers.",
        approvals.approve_action, {200: desk_models.CaseShown}, _DESK,
        request=desk_models.ApproveIn, is_body_optional=True,
    ),
    Operation(
        "reject_action", "POST", f"{_CASE}/reject", "Refuse the action a case is about; for approvers.",
        approvals.reject_action, {200: desk_models.CaseShown}, _DESK,
        request=desk_models.RejectIn, is_body_optional=True,
    ),
    Operation(
        "record_outcome", "POST", f"{_CASE}/outcome", "Say what became of an unclear action; for approvers.",
        outcomes.record_outcome, {200: desk_models.CaseShown}, _DESK, request=desk_models.OutcomeIn,
    ),
    Operation(
        "list_audits", "GET", "v1/desk/audits", "Read the turns drawn for a person to look at.",
        oversight.list_audits, {200: oversight_models.AuditList}, _DESK, query=oversight_models.AuditQuery,
    ),
    # ---- Shopify
    Operation(
        "receive_webhook", "POST", "webhooks/shopify", "Take a shop's event in.",
        webhooks.receive_webhook, {200: webhooks.WebhookTaken},
        signature=Signature.BODY, max_body_bytes=webhooks.WEBHOOK_BYTES, query=models.AnyQuery,
    ),
    # ---- operations
    Operation(
        "live", "GET", "health/live", "Whether the process answers.", health.live, {200: models.LiveShown},
        query=models.AnyQuery,
    ),
    Operation(
        "ready", "GET", "health/ready", "Whether it can serve, and on what that rests.",
        health.ready, {200: models.ReadyShown, 503: models.ReadyShown}, query=models.AnyQuery,
    ),
    Operation(
        "get_openapi", "GET", "openapi.json", "This document.", openapi.get_openapi, {200: None}, query=models.AnyQuery
    ),
)  # fmt: skip


def _by_proxy(operation: Operation) -> Operation:
    """Return the same call as a shop's App Proxy sends it on."""
    return replace(
        operation,
        name=f"{operation.name}_by_proxy",
        path=f"proxy/shopify/{operation.path}",
        summary=f"{operation.summary[:-1]}, through the shop's App Proxy.",
        scopes=frozenset(),
        signature=Signature.QUERY,
    )


OPERATIONS: Final[tuple[Operation, ...]] = (*_OWN, *(_by_proxy(o) for o in _OWN if _P in o.scopes))
"""The surface. What a publishable key opens, the App Proxy opens."""


def _by_path() -> Mapping[str, Mapping[str, Operation]]:
    table: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        table.setdefault(operation.path, {})[operation.method] = operation
    return table


BY_PATH: Final = _by_path()
"""Operations by route and method."""
