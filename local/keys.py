"""Access keys of the host: who may call which function.

Without a key file, functions are open as under Core Tools, but the management API and `/admin` are not: their keys are
made once per data directory. Never logs a key. Source: functions.md §6.4.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

GENERATED: Final = "host-keys.json"
"""File in the data directory that holds generated keys, readable by its owner only."""


class BadKeys(ValueError):
    """The key file cannot be used."""


@dataclass(frozen=True, slots=True)
class Keys:
    """`master` opens everything, `system` the management API, `host` every function, `functions` one function each."""

    master: str
    system: str
    host: tuple[str, ...] = ()
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_enforced: bool = False

    def may_call(self, function: str, level: str, key: str | None) -> bool:
        """Return whether a key opens a function of an auth level."""
        if level == "anonymous" or not self.is_enforced:
            return True
        if level == "admin":
            return self.is_master(key)
        return _is_one_of(key, (self.master, *self.host, *self.functions.get(function.lower(), ())))

    def is_master(self, key: str | None) -> bool:
        """Return whether a key is the master key."""
        return _is_one_of(key, (self.master,))

    def may_manage(self, key: str | None) -> bool:
        """Return whether a key opens the Durable management API."""
        return _is_one_of(key, (self.master, self.system))


def read_keys(path: Path) -> Keys:
    """Read `{"master", "system", "host": [..], "functions": {name: [..]}}` and enforce it. Raises: BadKeys."""
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        return Keys(
            master=str(document["master"]),
            system=str(document["system"]),
            host=tuple(document.get("host", ())),
            functions={name.lower(): tuple(keys) for name, keys in document.get("functions", {}).items()},
            is_enforced=True,
        )
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise BadKeys(f"{path}: {type(error).__name__}: {error}") from error


def generated_keys(data_dir: Path) -> Keys:
    """Return the keys of a data directory that has no key file of its own, made on first use."""
    path = data_dir / GENERATED
    if not path.exists():
        text = json.dumps({"master": secrets.token_urlsafe(32), "system": secrets.token_urlsafe(32)})
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
    keys = read_keys(path)
    return Keys(master=keys.master, system=keys.system)


def _is_one_of(key: str | None, accepted: Iterable[str]) -> bool:
    given = (key or "").encode()
    return bool(given) and any(hmac.compare_digest(given, other.encode()) for other in accepted if other)
