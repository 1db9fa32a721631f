"""What Shopify signed: a webhook's body, or the query of a request through its App Proxy.

Both prove possession of the app's client secret and nothing about who sits behind it. During a rotation two secrets
hold. Every secret is tried, each in constant time, before anything of the content is read. A webhook's headers and a
proxied request's body and path are not covered. Source: apis.md §1.3, §1.13, faults 054, 057.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import parse_qs, urlsplit

import azure.functions as func

from orchestrators.triggers.problems import Problem, ProblemKind
from shared.settings import Settings

PROXY_AGE: Final = timedelta(minutes=5)
"""Oldest, and furthest ahead, a proxied request may be. Source: design §7."""
MAX_QUERY_CHARS: Final = 8_192
"""Longest query read. Unit: characters. Value ours."""
MAX_PARAMETERS: Final = 50
"""Most parameters read. Value ours."""
PROXY_PARAMETERS: Final = ("shop", "logged_in_customer_id", "path_prefix", "timestamp", "signature")
"""What Shopify adds to the visitor's own parameters. Source: apis.md §1.13."""

NOT_SIGNED: Final = "The signature proves nothing."
"""The one answer for a wrong signature and an unknown shop, so that nobody learns which shops there are."""


def is_signed_body(raw: bytes, given: str, secrets: Sequence[str]) -> bool:
    """Tell whether the body carries the base64 HMAC of one of the secrets; no secret, no proof."""
    said = given.encode("utf-8", "surrogateescape")
    matches = [hmac.compare_digest(base64.b64encode(_mac(secret, raw)), said) for secret in secrets]
    return any(matches)


def check_signed_body(request: func.HttpRequest, settings: Settings, *, max_bytes: int) -> None:
    """Refuse a body that is too large or not signed. Raises: Problem (413, 401)."""
    raw = request.get_body()
    if len(raw) > max_bytes:
        raise Problem(ProblemKind.TOO_LARGE, f"At most {max_bytes} bytes are read.")
    if not is_signed_body(raw, request.headers.get("x-shopify-hmac-sha256", ""), settings.shopify_client_secrets):
        raise Problem(ProblemKind.SIGNATURE_INVALID, NOT_SIGNED)


def read_signed_query(url: str, secrets: Sequence[str], now: datetime) -> Mapping[str, tuple[str, ...]] | None:
    """Return the parameters of a proxied request, every value of each; None unless they are signed and fresh.

    The signed text is every parameter but the signature as `name=values`, several values joined by commas, the pairs
    sorted and joined by nothing.
    """
    query = urlsplit(url).query
    if len(query) > MAX_QUERY_CHARS:
        return None
    try:
        found = parse_qs(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="strict")
    except ValueError:
        return None
    signature = found.pop("signature", [])
    text = "".join(sorted(f"{name}={','.join(values)}" for name, values in found.items()))
    said = (signature[0] if len(signature) == 1 else "").encode("utf-8", "surrogateescape")
    matches = [hmac.compare_digest(_mac(secret, text.encode()).hex().encode(), said) for secret in secrets]
    if not any(matches) or not _is_fresh(found.get("timestamp", []), now):
        return None
    return {name: tuple(values) for name, values in found.items()}


def _is_fresh(timestamps: Sequence[str], now: datetime) -> bool:
    if len(timestamps) != 1 or not (timestamps[0].isascii() and timestamps[0].isdigit() and len(timestamps[0]) <= 12):
        return False
    return abs(now.timestamp() - int(timestamps[0])) <= PROXY_AGE.total_seconds()


def _mac(secret: str, message: bytes) -> bytes:
    return hmac.new(secret.encode(), message, hashlib.sha256).digest()
