"""Size limits that make a local run fail where Azure's Durable Task Scheduler would.

Owns the numbers and the texts of the refusals; who refuses is the caller's matter.
Source: functions.md §10.2 (1 MB a payload), §3.6 (custom status).
"""

from __future__ import annotations

from typing import Final

MAX_PAYLOAD_BYTES: Final = 1024 * 1024
"""Every input, output and event, as UTF-8 JSON. Source: Durable Task Scheduler limits."""

MAX_CUSTOM_STATUS_BYTES: Final = 16 * 1024
"""Custom status, as UTF-16. Source: Durable extension."""

MAX_ERROR_CHARS: Final = 8 * 1024
"""Longest error text that enters a history; longer ones leave instances hanging on Azure (fault 081)."""

MAX_INSTANCE_ID_CHARS: Final = 100
MAX_BODY_BYTES: Final = 100 * 1024 * 1024
"""Largest HTTP request body. Source: Functions host."""

BODY_LIMIT_S: Final = 30.0
"""Longest a caller may take to send a body: 64 KiB at 18 kbit/s. Unit: seconds. Value ours."""
MAX_HELD_BYTES: Final = 256 * 1024 * 1024
"""Most bytes of bodies held at once, over all requests: nobody has shown a key yet. Value ours."""

RESPONSE_LIMIT_S: Final = 230.0
"""The platform's load balancer answers for a function that takes longer; the function runs on."""


class TooLarge(ValueError):
    """A payload is over its limit."""


def check_payload(text: str | None, what: str) -> None:
    """Raise TooLarge when a payload's UTF-8 form is over the limit."""
    if text is None or len(text) * 4 <= MAX_PAYLOAD_BYTES:
        return
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_PAYLOAD_BYTES:
        raise TooLarge(f"{what} is {size} bytes, the limit is {MAX_PAYLOAD_BYTES}: store it and pass a reference")


def check_custom_status(text: str | None) -> None:
    """Raise TooLarge when a custom status is over the limit of its UTF-16 form."""
    if text is not None and len(text) * 4 > MAX_CUSTOM_STATUS_BYTES:
        size = len(text.encode("utf-16-le", "surrogatepass"))
        if size > MAX_CUSTOM_STATUS_BYTES:
            raise TooLarge(f"the custom status is {size} bytes of UTF-16, the limit is {MAX_CUSTOM_STATUS_BYTES}")


def cap_error(text: str) -> str:
    """Return an error text cut to what a history may hold, saying how much was cut."""
    if len(text) <= MAX_ERROR_CHARS:
        return text
    return f"{text[:MAX_ERROR_CHARS]} … [cut, {len(text)} characters]"
