"""What crosses a yield or a socket: plain JSON to and from frozen models, and the activity's result envelope.

One of the two places where loosely typed JSON is handled. Source: conventions "Only JSON crosses a yield", fault 078.
"""

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from shared.domain.errors import ErrorClass, SchemaError
from shared.domain.wire_model import Wire

M = TypeVar("M", bound=BaseModel)
Json = dict[str, Any]
"""A JSON object."""

MAX_ERROR_CHARS: Final = 2_000
"""Longest error text that enters durable history. Source: fault 081 (64 KB hangs instances); value ours."""


def encode(model: BaseModel) -> Json:
    """Return the model as plain JSON values."""
    return model.model_dump(mode="json")


def decode(kind: type[M], data: object) -> M:
    """Return the model. Raises: SchemaError naming the fields, never their values."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        fields = ", ".join(".".join(str(p) for p in e["loc"]) or "(root)" for e in error.errors()[:5])
        raise SchemaError(f"{kind.__name__} is malformed at {fields}") from None


class Failure(Wire):
    """Why an activity gave up."""

    error_class: ErrorClass
    message: str
    """Ids and kinds only; never customer text."""


class Outcome(Wire):
    """What every agent activity returns: a value or a failure, and the rungs it climbed (design §5)."""

    ok: bool
    value: Json | None = None
    error: Failure | None = None
    rungs: tuple[str, ...] = ()
    took_ms: int = 0
