"""What `host.json` and `local.settings.json` say to a host.

Reads and checks; never starts anything. An unset `%SETTING%` falls back to the default, so that a fresh clone runs
without any settings. Source: functions.md §10.1.
"""

from __future__ import annotations

import json
import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from local.versions import FailureStrategy, MatchStrategy

log = logging.getLogger(__name__)

DEFAULT_HUB: Final = "local"
DEFAULT_PER_CORE: Final = 10
"""Concurrent activities, and orchestrators, per core. Source: Durable extension outside the Consumption plan."""


class BadHostJson(ValueError):
    """host.json cannot be used."""


@dataclass(frozen=True, slots=True)
class HostJson:
    """The settings of host.json this host honours; limits of 0 mean unlimited."""

    hub: str = DEFAULT_HUB
    route_prefix: str = "api"
    default_version: str | None = None
    match: MatchStrategy = MatchStrategy.CURRENT_OR_OLDER
    on_mismatch: FailureStrategy = FailureStrategy.REJECT
    max_activities: int = DEFAULT_PER_CORE
    max_orchestrators: int = DEFAULT_PER_CORE
    max_requests: int = 0
    max_outstanding_requests: int = 0


def read_host_json(app_dir: Path) -> HostJson:
    """Return the settings of an app directory; a missing file means defaults.

    Raises: BadHostJson naming the member that cannot be used.
    """
    path = app_dir / "host.json"
    try:
        document = json.loads(path.read_text("utf-8")) if path.exists() else {}
    except ValueError as error:
        raise BadHostJson(f"{path.name} is not JSON: {error}") from error
    extensions = _resolve(document).get("extensions", {})
    durable, http = extensions.get("durableTask", {}), extensions.get("http", {})
    per_host = DEFAULT_PER_CORE * (os.cpu_count() or 1)
    try:
        return HostJson(
            hub=durable.get("hubName") or DEFAULT_HUB,
            route_prefix=str(http.get("routePrefix", "api") or "").strip("/"),
            default_version=durable.get("defaultVersion"),
            match=MatchStrategy(durable.get("versionMatchStrategy") or MatchStrategy.CURRENT_OR_OLDER),
            on_mismatch=FailureStrategy(durable.get("versionFailureStrategy") or FailureStrategy.REJECT),
            max_activities=int(durable.get("maxConcurrentActivityFunctions") or per_host),
            max_orchestrators=int(durable.get("maxConcurrentOrchestratorFunctions") or per_host),
            max_requests=max(0, int(http.get("maxConcurrentRequests") or 0)),
            max_outstanding_requests=max(0, int(http.get("maxOutstandingRequests") or 0)),
        )
    except (TypeError, ValueError) as error:
        raise BadHostJson(f"{path.name}: {error}") from error


def resolve_setting(text: str) -> str | None:
    """Return the text with each `%NAME%` replaced by its setting, or None when one of them is unset."""
    names = re.findall(r"%([^%\s]+)%", text)
    if any(name not in os.environ for name in names):
        return None
    return re.sub(r"%([^%\s]+)%", lambda found: os.environ[found[1]], text)


def load_local_settings(app_dir: Path) -> None:
    """Put the `Values` of local.settings.json into the environment, as Core Tools does; what is set already wins."""
    path = app_dir / "local.settings.json"
    if path.exists():
        for name, value in json.loads(path.read_text("utf-8")).get("Values", {}).items():
            os.environ.setdefault(name, str(value))


def _resolve(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _resolve(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_resolve(member) for member in value]
    if isinstance(value, str) and "%" in value:
        resolved = resolve_setting(value)
        if resolved is None:
            log.debug("host.json: setting in %r is not set, using the default", value)
        return resolved
    return value
