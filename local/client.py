"""What the commands that talk to a running product share: where it is, whose keys to use, one HTTP call.

Must never open a store or import the app: these commands are clients like any other. Source: design §7, §8.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Final, TypeGuard
from urllib.parse import urlsplit

CALL_S: Final = 75
"""Longest one call may take. Unit: seconds. Source: design §7 (a wait of 60 s at most); value ours."""

Json = dict[str, object]


class CallFailed(RuntimeError):
    """Nothing came of it; the message says what to do about it."""


class NoAnswer(CallFailed):
    """Nobody answered, or something that is no answer of the product; the same call may succeed later."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where and as whom to knock: the address and the headers that prove who asks."""

    url: str
    headers: dict[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """A response."""

    status: int
    body: Json
    retry_after_s: float | None = None


def read_demo(data_dir: Path) -> Json:
    """Return what the running product wrote about its address and keys. Raises: CallFailed."""
    path = data_dir / "demo.json"
    try:
        demo = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CallFailed(f"{path} does not exist; start the demo shop first: make run") from None
    except (OSError, ValueError) as error:
        raise CallFailed(f"{path} cannot be read ({error}); start the demo shop again: make run") from None
    if not isinstance(demo, dict):
        raise CallFailed(f"{path} does not hold an object; start the demo shop again: make run")
    return demo


def find_tenant(demo: Json, tenant: str | None) -> tuple[Json, Json]:
    """Return the tenant, the first unless named, and its keys. Raises: CallFailed when it is not in demo.json."""
    tenants = [t for t in as_list(demo.get("tenants")) if is_object(t)]
    chosen = next((t for t in tenants if tenant is None or t.get("tenant_id") == tenant), None)
    if chosen is None:
        known = ", ".join(str(t.get("tenant_id")) for t in tenants) or "none"
        raise CallFailed(f"there is no tenant {tenant!r}; known: {known}")
    keys = chosen.get("keys")
    if not is_object(keys):
        raise CallFailed("demo.json names no keys; start the demo shop again: make run")
    return chosen, keys


def call(door: Door, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Answered:
    """Make one call. Raises: NoAnswer when nothing answers, or not in JSON; CallFailed for a wrong address."""
    parts = urlsplit(door.url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise CallFailed(f"{door.url!r} is not an http address")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=CALL_S)
    try:
        connection.request(method, path, body, {**door.headers, **headers})
        response = connection.getresponse()
        content = response.read()
        answer = json.loads(content) if content else {}
        retry_after = response.headers.get("retry-after", "")
    except (OSError, HTTPException) as error:
        raise NoAnswer(
            f"nothing answers at {door.url} ({error or type(error).__name__}); is it running? make run"
        ) from None
    except ValueError:
        raise NoAnswer(f"{door.url} answered something that is not JSON (status {response.status})") from None
    finally:
        connection.close()
    wait_s = float(retry_after) if retry_after.isdigit() else None
    return Answered(response.status, answer if isinstance(answer, dict) else {}, wait_s)


def in_words(answer: Answered) -> str:
    """Return what a refused call says of itself."""
    problem = answer.body
    detail = problem.get("detail") or problem.get("title") or "no detail"
    faults = "; ".join(f"{e.get('field')}: {e.get('message')}" for e in as_list(problem.get("errors")) if is_object(e))
    return f"the product answered {answer.status}: {detail} {faults}".strip()


def as_list(value: object) -> list[object]:
    """Return the value where it is a list, else none of its items."""
    return value if isinstance(value, list) else []


def is_object(value: object) -> TypeGuard[Json]:
    """Tell whether the value is a JSON object."""
    return isinstance(value, dict)
