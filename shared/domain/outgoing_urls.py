"""Addresses a merchant may have us call: which URLs may be saved, and which network addresses may be connected to.

Pure: resolves nothing. A name is judged when it is saved and again, by its addresses, at every connection (whoever
connects asks `is_public_address`). What a deployment must reach inside its own network it lists by origin.
Source: design §9 "Integration URLs checked at save and at connect", fault 037.
"""

import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from shared.domain.errors import SchemaError

MAX_URL_CHARS: Final = 2_048
"""Longest URL that is read. Unit: characters. Value ours."""
PORTS: Final = {"https": 443, "http": 80}
"""Port of a scheme. Source: RFC 9110 §4.2."""
PLATFORM_ADDRESSES: Final = frozenset({ipaddress.ip_address("168.63.129.16")})
"""Public by its number, yet inside: Azure's agent and resolver. Source: Microsoft Learn, IP address 168.63.129.16."""

INNER_SUFFIXES: Final = frozenset({"localhost", "local", "internal", "invalid", "test", "onion", "arpa"})
"""Last labels of names no public resolver answers. Source: RFC 6761, 6762, 7686, ICANN resolution 2024.07.29.06."""

_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that stand for an IPv4 address. Source: RFC 6052 §2.1."""
_NAME: Final = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""A host name of two labels or more that no resolver can take for a number. Source: RFC 1123 §2.1."""
_PRINTABLE: Final = re.compile(r"[!-\[\]-~]+")
"""ASCII without spaces and without the backslash, which clients read as a slash."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class OutgoingUrl:
    """A URL that may be called, in its parts."""

    url: str
    origin: str
    """Scheme, host and, unless it is the scheme's own, port."""
    host: str
    port: int
    is_listed: bool
    """The deployment lists this origin: its addresses are not judged."""


def check_url(text: str, *, allowed_origins: Collection[str] = ()) -> OutgoingUrl:
    """Return the URL when it may be saved and called.

    Public ones are https on its own port, by name or public address, without credentials or fragment; a listed origin
    (`https://desk.internal:8443`) may be anything of http and https.
    Raises: SchemaError saying what is wrong, never repeating the URL.
    """
    if len(text) > MAX_URL_CHARS or not _PRINTABLE.fullmatch(text):
        raise SchemaError(f"a URL has 1 to {MAX_URL_CHARS} printable ASCII characters")
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme, (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise SchemaError("the URL is malformed") from None
    if scheme not in PORTS or not host:
        raise SchemaError("a URL begins with https:// and a host")
    if "@" in parts.netloc or parts.fragment:
        raise SchemaError("a URL may hold neither credentials nor a fragment")
    port = PORTS[scheme] if port is None else port
    origin = _origin(scheme, host, port)
    is_listed = origin in {entry.lower().rstrip("/") for entry in allowed_origins}
    if not is_listed:
        _refuse_inside(scheme, host, port)
    return OutgoingUrl(text, origin, host, port, is_listed)


def is_public_address(text: str) -> bool:
    """Tell whether a resolved address lies in the public network; what is no address does not."""
    address = _parse(text)
    return address is not None and _is_public(address)


def _refuse_inside(scheme: str, host: str, port: int) -> None:
    if scheme != "https" or port != PORTS["https"]:
        raise SchemaError("a URL must be https on port 443, unless the deployment lists its origin")
    address = _parse(host)
    if address is None and (not _NAME.fullmatch(host) or host.rpartition(".")[2] in INNER_SUFFIXES):
        raise SchemaError("a URL's host must be a full public name or an address")
    if address is not None and not _is_public(address):
        raise SchemaError("a URL may not lead into a private network")


def _parse(text: str) -> Address | None:
    """Return the address; a zone (`fe80::1%eth0`) is left out, since it cannot make a private address public."""
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None


def _is_public(address: Address) -> bool:
    if address in PLATFORM_ADDRESSES or not address.is_global:
        return False
    if address.is_multicast or address.is_reserved or address.is_unspecified:
        return False
    return all(_is_public(inner) for inner in _inner_addresses(address))


def _inner_addresses(address: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """Return the IPv4 addresses an IPv6 address carries: whoever reaches it reaches them."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64:
        found.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(inner for inner in found if inner is not None)


def _origin(scheme: str, host: str, port: int) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" if port == PORTS[scheme] else f"{scheme}://{shown}:{port}"
