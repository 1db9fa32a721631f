"""Continuation tokens: a position as opaque text, and back; whatever arrives is a position or refused.

Owns the encoding only. A token chooses a position and nothing else: scope and conditions always come from the query it
is presented with. Source: GW-06, shared/ports/documents.py (Query.continuation).
"""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Final

from pydantic import JsonValue

from shared.domain.errors import SchemaError

MAX_TOKEN_CHARS: Final = 8192
"""Longest continuation token looked at: two keys and one value, encoded. Value ours."""


def to_token(parts: Sequence[JsonValue]) -> str:
    """Return the parts as one opaque text."""
    return base64.urlsafe_b64encode(json.dumps(list(parts)).encode()).decode().rstrip("=")


def from_token(token: str) -> object:
    """Return what the token holds, of any shape: the caller checks it. Raises: SchemaError when it is no token."""
    if len(token) > MAX_TOKEN_CHARS:
        raise refused()
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        value: object = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        raise refused() from None
    return value


def refused() -> SchemaError:
    """Return the error of a token that is not one of its query."""
    return SchemaError("the continuation is not one of this query")
