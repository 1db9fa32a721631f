"""What differs between two policies: settings by name, with what they were and what they are. Pure.

Source: fault 038 (change log with who, when, diff).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from shared.domain.policy import TenantPolicy
from shared.domain.wire_model import Wire


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting by its dotted path, before and after; a list changes as a whole."""

    setting: str
    before: JsonValue
    after: JsonValue


def changed_settings(before: TenantPolicy, after: TenantPolicy) -> tuple[str, ...]:
    """Return the names of the settings that differ, the version itself left out."""
    names = (name for name in TenantPolicy.model_fields if name != "version")
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


def changes_between(before: TenantPolicy, after: TenantPolicy) -> tuple[SettingChange, ...]:
    """Return every setting that differs with both values, in the order of the document."""
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    return tuple(change for name in changed_settings(before, after) for change in _changes(name, old[name], new[name]))


def fallen_back(before: TenantPolicy, given: TenantPolicy) -> tuple[str, ...]:
    """Return the settings by dotted path that were set before and that the given document leaves out."""
    return tuple(path for path in _left_out(before, given, "") if path != "version")


def _left_out(before: Wire, given: Wire, prefix: str) -> Iterator[str]:
    for name in type(given).model_fields:
        old, new = getattr(before, name), getattr(given, name)
        if name not in given.model_fields_set:
            if old != new:
                yield prefix + name
        elif isinstance(old, Wire) and isinstance(new, Wire):
            yield from _left_out(old, new, f"{prefix}{name}.")


def _changes(path: str, before: JsonValue, after: JsonValue) -> Iterator[SettingChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _changes(f"{path}.{key}", before.get(key), after.get(key))
    elif before != after:
        yield SettingChange(path, before, after)
