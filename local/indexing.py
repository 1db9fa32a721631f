"""Finds the functions of an app directory, as the Python worker does at start.

Imports `function_app` once per directory and process: the SDK refuses a second `get_functions()`. Never runs any.
A single import error means no functions at all, so it is an error here, never an empty app (fault 104).
Source: functions.md §6.1.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import azure.functions as func
from azure.functions.decorators.function_app import FunctionRegister

TRIGGERS: Final = {
    "httpTrigger",
    "timerTrigger",
    "cosmosDBTrigger",
    "orchestrationTrigger",
    "activityTrigger",
}
_DURABLE_NAME: Final = {"orchestrationTrigger": "orchestration", "activityTrigger": "activity"}


class IndexingFailed(RuntimeError):
    """The app cannot be loaded."""


@dataclass(frozen=True, slots=True)
class Fn:
    """One indexed function; `trigger` and `bindings` hold plain JSON values."""

    name: str
    call: Callable[..., Any]
    trigger: Mapping[str, Any]
    bindings: tuple[Mapping[str, Any], ...]
    is_async: bool
    wants_context: bool
    output: str | None
    retry: Mapping[str, str] | None

    @property
    def kind(self) -> str:
        """Return the trigger type."""
        return str(self.trigger["type"])

    @property
    def argument(self) -> str:
        """Return the parameter that receives the trigger."""
        return str(self.trigger["name"])

    @property
    def durable_name(self) -> str:
        """Return the name orchestrations and activities are called by."""
        return str(self.trigger.get(_DURABLE_NAME.get(self.kind, "")) or self.name)

    @property
    def is_disabled(self) -> bool:
        """Return whether the app setting `AzureWebJobs.<Name>.Disabled` switches the function off."""
        return os.environ.get(f"AzureWebJobs.{self.name}.Disabled", "").lower() in {"true", "1"}

    @property
    def clients(self) -> tuple[str, ...]:
        """Return the parameters bound to a Durable client."""
        return tuple(str(b["name"]) for b in self.bindings if b["type"] == "durableClient")


_indexed: dict[Path, dict[str, Fn]] = {}


def index(app_dir: Path) -> dict[str, Fn]:
    """Return the functions of an app directory by name.

    Raises: IndexingFailed with the cause when the app does not import or holds what the host cannot run.
    """
    app_dir = app_dir.resolve()
    if app_dir not in _indexed:
        _indexed[app_dir] = _functions(_import(app_dir))
    return _indexed[app_dir]


def _import(app_dir: Path) -> ModuleType:
    name = os.environ.get("PYTHON_SCRIPT_FILE_NAME", "function_app.py").removesuffix(".py")
    path = app_dir / f"{name}.py"
    if not path.exists():
        raise IndexingFailed(f"{app_dir} holds no {path.name}")
    if str(app_dir) not in sys.path:
        sys.path.insert(0, str(app_dir))
    loaded = sys.modules.get(name)
    if loaded is not None and Path(loaded.__file__ or "").resolve() != path:
        del sys.modules[name]
    try:
        if str(app_dir) == sys.path[0]:
            return importlib.import_module(name)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except Exception as error:
        sys.modules.pop(name, None)
        raise IndexingFailed(f"{path.name} does not import: {type(error).__name__}: {error}") from error
    return module


def _functions(module: ModuleType) -> dict[str, Fn]:
    apps = [value for value in vars(module).values() if isinstance(value, FunctionRegister)]
    if len(apps) != 1:
        raise IndexingFailed(f"{module.__name__} holds {len(apps)} function apps at top level, it must hold one")
    try:
        found = apps[0].get_functions()
    except Exception as error:
        raise IndexingFailed(f"{module.__name__} declares its functions badly: {error}") from error
    functions = {}
    for declared in found:
        fn = _to_fn(declared)
        if fn.kind not in TRIGGERS:
            raise IndexingFailed(f"function {fn.name} has a {fn.kind}, which this host does not offer")
        functions[fn.name] = fn
    return functions


def _to_fn(declared: Any) -> Fn:
    call = declared.get_user_function()
    bindings = tuple(_plain(binding.get_dict_repr()) for binding in declared.get_bindings())
    trigger = _plain(declared.get_trigger().get_dict_repr())
    names = {binding["name"] for binding in bindings}
    parameters = inspect.signature(call).parameters
    missing = names - {"$return"} - set(parameters)
    if missing:
        raise IndexingFailed(f"function {declared.get_function_name()} has no parameter for {sorted(missing)}")
    return Fn(
        name=declared.get_function_name(),
        call=call,
        trigger=trigger,
        bindings=bindings,
        is_async=inspect.iscoroutinefunction(call),
        wants_context="context" in parameters and "context" not in names,
        output=_output(trigger, bindings),
        retry=declared.get_settings_dict("retry_policy") or None,
    )


def _output(trigger: Mapping[str, Any], bindings: tuple[Mapping[str, Any], ...]) -> str | None:
    for binding in bindings:
        if binding["name"] == "$return":
            return str(binding["type"])
    registry: Any = func.get_binding_registry()  # type: ignore[no-untyped-call]  # untyped by its authors
    implicit = getattr(registry.get(trigger["type"]), "has_implicit_output", None)
    return str(trigger["type"]) if implicit is not None and implicit() else None


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return value
