"""What differs between two policies: settings by name, with what they were and what they are. Pure.

Source: fault 038 (change log with who, when, diff).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from shared.domain.policy import TenantPolicy


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


def _changes(path: str, before: JsonValue, after: JsonValue) -> Iterator[SettingChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _changes(f"{path}.{key}", before.get(key), after.get(key))
    elif before != after:
        yield SettingChange(path, before, after)
