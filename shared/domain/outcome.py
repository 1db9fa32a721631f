"""What an agent's activity comes to: a packed delta or a failure, with the rungs of the ladder it climbed.

Source: design §5, GO-02, OB-02.
"""

from shared.domain.errors import ErrorClass
from shared.domain.wire_model import Wire


class Failure(Wire):
    """Why an activity gave up."""

    error_class: ErrorClass
    message: str
    """Ids and kinds only; never customer text."""


class Outcome(Wire):
    """What every agent activity returns: a value or a failure, and the rungs it climbed (design §5)."""

    ok: bool
    value: str | None = None
    """The agent's delta, packed."""
    error: Failure | None = None
    rungs: tuple[str, ...] = ()
    took_ms: int = 0
