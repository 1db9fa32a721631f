"""Time and fresh ids as ports, so that tests own both. Source: conventions "Tests"."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        ...


class IdSource(Protocol):
    """Where unguessable ids come from."""

    def new_id(self) -> str:
        """Return a fresh random id (UUID4 text)."""
        ...

    def new_secret(self, n_bytes: int) -> str:
        """Return `n_bytes` of randomness, URL-safe base64 without padding."""
        ...
