"""Liveness and readiness: does the process answer, and can it serve.

Readiness names each dependency and its state, and compares the functions that are registered with those that must be:
one import error on Functions leaves none at all and a host that looks healthy. Source: GW-05, fault 104.
"""

import asyncio
import importlib
from collections.abc import Awaitable
from typing import Final

from orchestrators.inventory import INVENTORY, LOADED_ON_USE
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

_PROBE: Final = PublishedText("ready")


async def live(call: Call) -> Answer:
    """Answer."""
    return json_answer(LiveShown(status="live"))


async def ready(call: Call) -> Answer:
    """Return each dependency's state; 503 while one we cannot do without is down."""
    checks = await asyncio.gather(
        _checked("documents", _documents(call.services)),
        _checked("embedder", _embedder(call.services)),
        _checked("keys", _keys(call.services)),
        _checked("code", _code()),
    )
    is_whole, functions = INVENTORY.check()
    inventory = Dependency(name="functions", state=UP if is_whole else DOWN, detail=functions)
    dependencies = (*checks, inventory, _calibration(call.services))
    is_ready = all(d.state != DOWN for d in dependencies)
    shown = ReadyShown(
        status="ready" if is_ready else "not_ready",
        environment=call.services.settings.environment,
        dependencies=dependencies,
    )
    return json_answer(shown, status=200 if is_ready else 503)


async def _code() -> str:
    """Import whatever the shells import on first use: what would fail there fails here, and readiness is red."""
    for name in LOADED_ON_USE:
        importlib.import_module(name)
    return f"{len(LOADED_ON_USE)} modules"


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
