"""`python -m local ask "Where is my order 1003?" --as maya-lindqvist`: one message to a running product.

Reads the keys of `.local/demo.json`, talks HTTP like any client would, and prints the turn. Must never open a store or
import the app. Source: design §8, §7 "Turn".
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import sys
import time
import uuid
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Final, TypeGuard
from urllib.parse import quote, urlsplit

from local.data_dir import default_data_dir

NAME: Final = "ask"
"""The subcommand."""
HELP: Final = "send one message to the running product and print the reply"
"""Its line in the help."""

WAIT_S: Final = 60
"""Longest wait the product grants one request. Unit: seconds. Source: design §7."""
POLL_S: Final = 0.5
"""Pause between looks at a turn that takes longer. Unit: seconds. Source: value ours."""

Json = dict[str, object]


class AskFailed(RuntimeError):
    """Nothing could be asked; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Door:
    """Where and as whom to knock: the address and the headers that prove who asks."""

    url: str
    headers: dict[str, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.description = "Send one customer message to the running product; `python -m local serve` starts it."
    parser.add_argument("question", help="what the customer writes")
    parser.add_argument("--as", dest="customer", metavar="CUSTOMER", help="customer id; left out: an anonymous visitor")
    parser.add_argument("--tenant", metavar="TENANT", help="tenant id (the first demo shop)")
    parser.add_argument("--conversation", metavar="ID", help="go on with this conversation")
    parser.add_argument("--language", metavar="TAG", help="the customer's language, such as en or es")
    parser.add_argument(
        "--data", type=Path, default=default_data_dir(), metavar="DIR", help="data directory (VOUCH_DATA_DIR or .local)"
    )
    parser.add_argument("--url", help="address of the product (as in demo.json)")
    parser.add_argument("--json", action="store_true", dest="is_json", help="print the turn as JSON")
    parser.add_argument("--timeout", type=float, default=120.0, metavar="S", help="seconds to wait in all (120)")


def run(arguments: argparse.Namespace) -> int:
    """Ask, print, and return the exit code: 0 for a turn, 1 when nothing could be asked."""
    if not arguments.question.strip():
        print('vouch ask: give a question, for example: make ask Q="Where is my order 1003?"', file=sys.stderr)
        return 1
    conversation = arguments.conversation or f"ask-{uuid.uuid4().hex[:12]}"
    try:
        demo = read_demo(arguments.data)
        door = find_door(demo, conversation, tenant=arguments.tenant, customer=arguments.customer, url=arguments.url)
        turn = send(door, conversation, arguments.question, language=arguments.language, timeout_s=arguments.timeout)
    except AskFailed as error:
        print(f"vouch ask: {error}", file=sys.stderr)
        return 1
    print(json.dumps(turn, ensure_ascii=False, indent=2) if arguments.is_json else show(turn))
    return 0


def read_demo(data_dir: Path) -> Json:
    """Return what the running product wrote about its address and keys. Raises: AskFailed."""
    path = data_dir / "demo.json"
    try:
        demo = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise AskFailed(f"{path} does not exist; start the demo shop first: make run") from None
    except (OSError, ValueError) as error:
        raise AskFailed(f"{path} cannot be read ({error}); start the demo shop again: make run") from None
    if not isinstance(demo, dict):
        raise AskFailed(f"{path} does not hold an object; start the demo shop again: make run")
    return demo


def find_door(demo: Json, conversation: str, *, tenant: str | None, customer: str | None, url: str | None) -> Door:
    """Return address and headers: the secret key names a customer, the publishable key stays anonymous.

    Raises: AskFailed when the tenant is not in demo.json.
    """
    tenants = [t for t in _list(demo.get("tenants")) if _is_object(t)]
    chosen = next((t for t in tenants if tenant is None or t.get("tenant_id") == tenant), None)
    if chosen is None:
        known = ", ".join(str(t.get("tenant_id")) for t in tenants) or "none"
        raise AskFailed(f"there is no tenant {tenant!r}; known: {known}")
    keys = chosen.get("keys")
    if not _is_object(keys):
        raise AskFailed("demo.json names no keys; start the demo shop again: make run")
    address = url or str(demo.get("url", ""))
    if customer:
        return Door(address, {"X-Api-Key": str(keys.get("secret")), "X-Customer-Id": customer})
    secret = _conversation_secret(str(chosen.get("identity_secret")), conversation)
    return Door(address, {"X-Api-Key": str(keys.get("publishable")), "X-Conversation-Secret": secret})


def send(door: Door, conversation: str, question: str, *, language: str | None, timeout_s: float) -> Json:
    """Send the message, wait for its turn and return it. Raises: AskFailed."""
    deadline = time.monotonic() + timeout_s
    message = uuid.uuid4().hex
    body: Json = {"text": question, "message_id": message}
    if language:
        body["language"] = language
    headers = {**door.headers, "Content-Type": "application/json", "Prefer": f"wait={WAIT_S}"}
    path = f"/api/v1/conversations/{quote(conversation, safe='')}"
    status, turn = _call(door, "POST", f"{path}/messages", headers, body)
    while status == 202:
        if time.monotonic() > deadline:
            raise AskFailed(f"the turn is not done after {timeout_s:g} s; its message id is {message}")
        time.sleep(POLL_S)
        status, turn = _call(door, "GET", f"{path}/turns/{message}", door.headers, None)
    if status != 200:
        detail = turn.get("detail") or turn.get("title") or "no detail"
        faults = "; ".join(f"{e.get('field')}: {e.get('message')}" for e in _list(turn.get("errors")) if _is_object(e))
        detail = f"{detail} {faults}".strip()
        raise AskFailed(f"the product answered {status}: {detail}")
    return turn


def show(turn: Json) -> str:
    """Return the turn as a person reads it."""
    lines = [str(turn.get("reply") or "(no reply: a person has this conversation)"), ""]
    intent = turn.get("intent")
    if intent:
        lines.append(_row("intent", f"{intent} (confidence {_number(turn.get('confidence')):.2f})"))
    lines.insert(2, _row("outcome", str(turn.get("outcome"))))
    for n, source in enumerate(s for s in _list(turn.get("sources")) if _is_object(s)):
        lines.append(_row("" if n else "sources", f"{source.get('title')}  [{source.get('ref')}]"))
    for action in (a for a in _list(turn.get("actions")) if _is_object(a)):
        lines.append(_row("action", _action(action)))
    case = turn.get("escalation")
    if _is_object(case):
        reasons = ", ".join(str(t) for t in _list(case.get("triggers")))
        lines.append(_row("escalation", f"case {case.get('case_id')} ({reasons})"))
    lines.append(_row("took", f"{_number(turn.get('took_ms')):.0f} ms"))
    lines.append(
        _row("go on with", f'make ask Q="…" ARGS="--conversation {turn.get("conversation_id")}" (and the same AS)')
    )
    return "\n".join(lines)


def _call(door: Door, method: str, path: str, headers: dict[str, str], body: Json | None) -> tuple[int, Json]:
    parts = urlsplit(door.url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise AskFailed(f"{door.url!r} is not an http address")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname, parts.port, timeout=WAIT_S + 15)
    try:
        connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
        response = connection.getresponse()
        content = response.read()
        answer = json.loads(content) if content else {}
    except (OSError, HTTPException) as error:
        raise AskFailed(
            f"nothing answers at {door.url} ({error or type(error).__name__}); is it running? make run"
        ) from None
    except ValueError:
        raise AskFailed(f"{door.url} answered something that is not JSON (status {response.status})") from None
    finally:
        connection.close()
    return response.status, answer if isinstance(answer, dict) else {}


def _conversation_secret(identity_secret: str, conversation: str) -> str:
    """Return the same 256-bit secret for the same conversation, so that a later call may go on with it."""
    made = hmac.digest(identity_secret.encode(), b"ask:" + conversation.encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


def _action(action: Json) -> str:
    amount = action.get("amount_minor")
    worth = f" {amount} {action.get('currency')} (minor units)" if amount is not None else ""
    return f"{action.get('type')}{worth}: {action.get('status')}"


def _row(label: str, value: str) -> str:
    return f"{label:<12}{value}"


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_object(value: object) -> TypeGuard[Json]:
    return isinstance(value, dict)
