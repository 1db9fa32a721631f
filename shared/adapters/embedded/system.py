"""The machine's own time and randomness behind the Clock and IdSource ports. Source: conventions "Tests"."""

import secrets
import uuid
from datetime import UTC, datetime


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        return datetime.now(UTC)


class RandomIds:
    """Ids and secrets from the operating system's randomness."""

    def new_id(self) -> str:
        """Return a fresh random id (UUID4 text)."""
        return str(uuid.uuid4())

    def new_secret(self, n_bytes: int) -> str:
        """Return `n_bytes` of randomness, URL-safe base64 without padding."""
        return secrets.token_urlsafe(n_bytes)
