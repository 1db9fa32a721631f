"""The functions a deployment must have, and those this process registered.

One import error on Functions leaves none at all and a host that looks healthy; readiness compares the two lists. Loads
nothing heavy: it is read at the app's import. Source: GW-05, fault 104.
"""

from collections.abc import Callable
from typing import Final

from orchestrators.names import ActivityName, FlowName

HTTP_FUNCTIONS: Final = (
    "article",
    "article_import",
    "article_search",
    "articles",
    "conversation",
    "conversation_closing",
    "conversation_feedback",
    "conversation_opening",
    "conversation_turn",
    "conversation_turn_proof",
    "desk_approval",
    "desk_audits",
    "desk_case",
    "desk_cases",
    "desk_claim",
    "desk_outcome",
    "desk_rejection",
    "desk_release",
    "desk_reply",
    "desk_resolution",
    "figures",
    "health_live",
    "health_ready",
    "knowledge_coverage",
    "knowledge_replay",
    "one_agent",
    "openapi_document",
    "proxy_closing",
    "proxy_conversation",
    "proxy_feedback",
    "proxy_message",
    "proxy_opening",
    "proxy_turn",
    "send_message",
    "shopify_webhook",
    "tenant",
    "tenant_governance",
    "tenant_identity_secret",
    "tenant_key",
    "tenant_key_rotation",
    "tenant_keys",
    "tenant_policy",
    "tenant_policy_changes",
    "tenant_policy_rollback",
    "tenants",
    "unknown_path",
)
"""Names of the HTTP functions. Source: orchestrators.triggers.http, orchestrators.triggers.shopify_http."""

LOADED_ON_USE: Final = (
    "orchestrators.triggers.dispatch",
    "orchestrators.triggers.sweeping",
    "orchestrators.triggers.feeding",
    "orchestrators.triggers.catalog_sync",
    "orchestrators.triggers.catalog_reconcile",
    "orchestrators.activities.steps",
    "orchestrators.flows.answer_message",
    "orchestrators.flows.human_handoff",
    "orchestrators.flows.run_action",
)
"""Modules the registered shells import when they first run; readiness imports them all, so that none fails later."""

EXPECTED_FUNCTIONS: Final = frozenset(
    {
        *(flow.value for flow in FlowName),
        *(activity.value for activity in ActivityName),
        *HTTP_FUNCTIONS,
        "sweep",
        "purge_expired",
        "embed_missed",
        "sync_catalog",
        "refresh_shop_tokens",
        "reconcile_catalog",
        "embed_articles",
        "await_cases",
    }
)
"""Functions every deployment must have, written down apart from the code that registers them (fault 104)."""


def registered_names(app: object) -> frozenset[str]:
    """Return the names of the functions an app object holds.

    `get_functions()` may run once an app object, and that once is the host's; the builders it reads from hold the
    names as well. Azure/azure-functions-python-library keeps them in a private list.
    """
    builders: list[object] = getattr(app, "_function_builders", [])
    functions = (getattr(builder, "_function", None) for builder in builders)
    return frozenset(str(f.get_function_name()) for f in functions if f is not None)


class Inventory:
    """The functions this process registered and those it must have; `function_app` fills it once at import."""

    def __init__(self) -> None:
        self._registered: Callable[[], frozenset[str]] | None = None
        self._expected: frozenset[str] = frozenset()

    def declare(self, *, expected: frozenset[str], registered: Callable[[], frozenset[str]]) -> None:
        """Say which functions must be there and how to find out which are."""
        self._expected = expected
        self._registered = registered

    def check(self) -> tuple[bool, str]:
        """Return whether exactly the expected functions are registered, and in words; red until somebody declares."""
        if self._registered is None:
            return False, "no function was declared"
        found = self._registered()
        missing, extra = sorted(self._expected - found), sorted(found - self._expected)
        detail = f"{len(found)} of {len(self._expected)}"
        if missing:
            detail += f"; missing {', '.join(missing)}"
        if extra:
            detail += f"; unexpected {', '.join(extra)}"
        return not missing and not extra, detail


INVENTORY: Final = Inventory()
"""This process's functions."""
