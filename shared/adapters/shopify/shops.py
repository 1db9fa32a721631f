"""Where a shop is reached: its domain, its URLs, and how its objects are named.

A domain that does not look like a shop's never becomes a URL, so no setting and no webhook can send a token elsewhere.
Source: apis.md §1.1, §1.14 (shop regex), design §9 "Integration URLs".
"""

import re
from dataclasses import dataclass
from typing import Final

from shared.domain.errors import IntegrationError, SchemaError

SHOP_DOMAIN: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9\-]*\.myshopify\.com")
"""What a shop's domain looks like. Source: apis.md §1.14."""
MAX_DOMAIN_CHARS: Final = 253
"""Longest host name. Source: RFC 1035 §2.3.4."""
_GID: Final = re.compile(r"gid://shopify/([A-Za-z]+)/([0-9]{1,20})(?:\?.*)?", re.DOTALL)
_NUMBER: Final = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True, slots=True)
class ShopDirectory:
    """How a shop's domain becomes a URL."""

    base_url: str | None = None
    """Where every shop is reached instead (tests, a local server); the shop is then named by the Host header."""

    def url(self, shop_domain: str, path: str) -> str:
        """Return the shop's URL for an absolute path."""
        return f"{self.base_url or f'https://{shop_domain}'}{path}"

    def check_download(self, url: str) -> str:
        """Return the URL of a bulk result. Raises: IntegrationError when it would leave the encrypted web."""
        if url.startswith("https://") or (self.base_url is not None and url.startswith(self.base_url + "/")):
            return url
        raise IntegrationError("the shop named a download that is not https")


def parse_shop_domain(text: str) -> str:
    """Return the domain in lower case. Raises: SchemaError, never echoing the value."""
    if len(text) > MAX_DOMAIN_CHARS or SHOP_DOMAIN.fullmatch(text) is None:
        raise SchemaError("a shop domain must look like name.myshopify.com")
    return text.lower()


def to_gid(kind: str, number: str) -> str:
    """Return the global id of an object by its number. Raises: SchemaError for what is no number."""
    if _NUMBER.fullmatch(number) is None:
        raise SchemaError(f"a Shopify {kind} id must be a number")
    return f"gid://shopify/{kind}/{number}"


def from_gid(gid: str) -> str:
    """Return the number in a global id; empty for what is none."""
    match = _GID.fullmatch(gid)
    return match[2] if match else ""


def is_number(text: str) -> bool:
    """Tell whether the text is a numeric legacyResourceId."""
    return _NUMBER.fullmatch(text) is not None
