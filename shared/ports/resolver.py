"""Finding the addresses behind a host name, so that they can be judged before anything connects to them.

Source: design §9, fault 037.
"""

from typing import Protocol


class Resolver(Protocol):
    """Name resolution."""

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses of the name, preferred first. Raises: Unavailable when there is none."""
        ...
