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
from pathlib import Path
from typing import Final
from urllib.parse import quote

from local.client import CallFailed, Door, Json, as_list, call, find_tenant, in_words, is_object, read_demo
from local.data_dir import default_data_dir

NAME: Final = "ask"
"""The subcommand."""
HELP: Final = "send one message to the running product and print the reply"
"""Its line in the help."""

WAIT_S: Final = 60
"""Longest wait the product grants one request. Unit: seconds. Source: design §7."""
POLL_S: Final = 0.5
"""Pause between looks at a turn that takes longer. Unit: seconds. Source: value ours."""


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
    except CallFailed as error:
        print(f"vouch ask: {error}", file=sys.stderr)
        return 1
    print(json.dumps(turn, ensure_ascii=False, indent=2) if arguments.is_json else show(turn))
    return 0


def find_door(demo: Json, conversation: str, *, tenant: str | None, customer: str | None, url: str | None) -> Door:
    """Return address and headers: the secret key names a customer, the publishable key stays anonymous.

    Raises: CallFailed when the tenant is not in demo.json.
    """
    chosen, keys = find_tenant(demo, tenant)
    address = url or str(demo.get("url", ""))
    if customer:
        return Door(address, {"X-Api-Key": str(keys.get("secret")), "X-Customer-Id": customer})
    secret = _conversation_secret(str(chosen.get("identity_secret")), conversation)
    return Door(address, {"X-Api-Key": str(keys.get("publishable")), "X-Conversation-Secret": secret})


def send(door: Door, conversation: str, question: str, *, language: str | None, timeout_s: float) -> Json:
    """Send the message, wait for its turn and return it. Raises: CallFailed."""
    deadline = time.monotonic() + timeout_s
    message = uuid.uuid4().hex
    body: Json = {"text": question, "message_id": message}
    if language:
        body["language"] = language
    headers = {"Content-Type": "application/json", "Prefer": f"wait={WAIT_S}"}
    path = f"/api/v1/conversations/{quote(conversation, safe='')}"
    answer = call(door, "POST", f"{path}/messages", headers, json.dumps(body).encode())
    while answer.status == 202:
        if time.monotonic() > deadline:
            raise CallFailed(f"the turn is not done after {timeout_s:g} s; its message id is {message}")
        time.sleep(POLL_S)
        answer = call(door, "GET", f"{path}/turns/{message}", {}, None)
    if answer.status != 200:
        raise CallFailed(in_words(answer))
    return answer.body


def show(turn: Json) -> str:
    """Return the turn as a person reads it."""
    lines = [str(turn.get("reply") or "(no reply: a person has this conversation)"), ""]
    intent = turn.get("intent")
    if intent:
        lines.append(_row("intent", f"{intent} (confidence {_number(turn.get('confidence')):.2f})"))
    lines.insert(2, _row("outcome", str(turn.get("outcome"))))
    for n, source in enumerate(s for s in as_list(turn.get("sources")) if is_object(s)):
        lines.append(_row("" if n else "sources", f"{source.get('title')}  [{source.get('ref')}]"))
    for action in (a for a in as_list(turn.get("actions")) if is_object(a)):
        lines.append(_row("action", _action(action)))
    case = turn.get("escalation")
    if is_object(case):
        reasons = ", ".join(str(t) for t in as_list(case.get("triggers")))
        lines.append(_row("escalation", f"case {case.get('case_id')} ({reasons})"))
    lines.append(_row("took", f"{_number(turn.get('took_ms')):.0f} ms"))
    lines.append(
        _row("go on with", f'make ask Q="…" ARGS="--conversation {turn.get("conversation_id")}" (and the same AS)')
    )
    return "\n".join(lines)


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
