"""Liveness and readiness: does the process answer, and can it serve.

Readiness names each dependency and its state, and compares the functions that are registered with those that must be:
one import error on Functions leaves none at all and a host that looks healthy. Source: GW-05, fault 104.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from orchestrators.names import ActivityName, FlowName
from orchestrators.triggers.contract import Call
from orchestrators.triggers.models import Dependency, LiveShown, ReadyShown
from orchestrators.triggers.responses import Answer, json_answer
from shared.container import Services
from shared.domain.text import PublishedText
from shared.ports.documents import Container, PlatformScope

CHECK_TIMEOUT_S: Final = 3.0
"""Seconds one dependency has to answer. Value ours."""
UP: Final = "up"
DOWN: Final = "down"

HTTP_FUNCTIONS: Final = (
    "article",
    "article_search",
    "articles",
    "conversation",
    "conversation_closing",
    "conversation_feedback",
    "conversation_opening",
    "conversation_turn",
    "desk_case",
    "desk_cases",
    "desk_claim",
    "desk_release",
    "desk_reply",
    "desk_resolution",
    "health_live",
    "health_ready",
    "one_agent",
    "openapi_document",
    "send_message",
    "tenant",
    "tenant_identity_secret",
    "tenant_key",
    "tenant_key_rotation",
    "tenant_keys",
    "tenant_policy",
    "tenant_policy_changes",
    "tenants",
    "unknown_path",
)
"""Names of the HTTP functions. Source: orchestrators.triggers.http."""

_PROBE: Final = PublishedText("ready")


class Inventory:
    """The functions this process registered and those it must have; `function_app` fills it once at import."""

    def __init__(self) -> None:
        self._registered: Callable[[], frozenset[str]] | None = None
        self._expected: frozenset[str] = frozenset()

    def declare(self, *, expected: frozenset[str], registered: Callable[[], frozenset[str]]) -> None:
        """Say which functions must be there and how to find out which are."""
        self._expected = expected
        self._registered = registered

    def check(self) -> Dependency:
        """Return whether exactly the expected functions are registered; red as long as nobody declared them."""
        if self._registered is None:
            return Dependency(name="functions", state=DOWN, detail="no function was declared")
        found = self._registered()
        missing, extra = sorted(self._expected - found), sorted(found - self._expected)
        detail = f"{len(found)} of {len(self._expected)}"
        if missing:
            detail += f"; missing {', '.join(missing)}"
        if extra:
            detail += f"; unexpected {', '.join(extra)}"
        return Dependency(name="functions", state=DOWN if missing or extra else UP, detail=detail)


INVENTORY: Final = Inventory()
"""This process's functions."""

EXPECTED_FUNCTIONS: Final = frozenset(
    {
        *(flow.value for flow in FlowName),
        *(activity.value for activity in ActivityName),
        *HTTP_FUNCTIONS,
        "sweep",
        "purge_expired",
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


async def live(call: Call) -> Answer:
    """Answer."""
    return json_answer(LiveShown(status="live"))


async def ready(call: Call) -> Answer:
    """Return each dependency's state; 503 while one we cannot do without is down."""
    checks = await asyncio.gather(
        _checked("documents", _documents(call.services)),
        _checked("embedder", _embedder(call.services)),
        _checked("keys", _keys(call.services)),
    )
    dependencies = (*checks, INVENTORY.check(), _calibration(call.services))
    is_ready = all(d.state != DOWN for d in dependencies)
    shown = ReadyShown(
        status="ready" if is_ready else "not_ready",
        environment=call.services.settings.environment,
        dependencies=dependencies,
    )
    return json_answer(shown, status=200 if is_ready else 503)


async def _checked(name: str, check: Awaitable[str]) -> Dependency:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_S):
            return Dependency(name=name, state=UP, detail=await check)
    except Exception as error:  # noqa: BLE001 - the trigger edge: whatever a dependency raises, it is down
        return Dependency(name=name, state=DOWN, detail=type(error).__name__)


async def _documents(services: Services) -> str:
    await services.documents.read(Container.TENANTS, PlatformScope("readiness"), "readiness", "readiness")
    return ""


async def _embedder(services: Services) -> str:
    await services.embedder.embed([_PROBE])
    return services.embedder.model


async def _keys(services: Services) -> str:
    await services.keys.authenticate("")
    return ""


def _calibration(services: Services) -> Dependency:
    """Return whether retrieval confidence has a table for the embedding model in force (design §4)."""
    is_calibrated = getattr(services.search, "is_calibrated", None)
    state = "uncalibrated" if is_calibrated is False else UP
    return Dependency(name="retrieval_confidence", state=state, detail=services.embedder.model)
