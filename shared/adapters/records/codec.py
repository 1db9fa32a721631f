"""Wire models as documents and back.

Moments of a document's top level are written in one fixed width, in UTC, so that their text order is their time order
and a condition may compare them. Never shows a value in an error. Source: design §6, fault 078.
"""

from datetime import UTC, datetime
from functools import cache
from typing import TypeVar, get_args

from pydantic import JsonValue

from shared.domain.wire_model import Wire
from shared.ports.documents import Stored
from shared.wire import decode

M = TypeVar("M", bound=Wire)


def to_document(model: Wire) -> dict[str, JsonValue]:
    """Return the model as a JSON object."""
    document: dict[str, JsonValue] = model.model_dump(mode="json")
    for name in _moments(type(model)):
        value = getattr(model, name)
        if value is not None:
            document[name] = to_moment(value)
    return document


def from_stored(kind: type[M], stored: Stored) -> M:
    """Return the model a document holds. Raises: SchemaError naming the fields, never their values."""
    return decode(kind, stored.body)


def to_moment(moment: datetime) -> str:
    """Return the moment as stored documents hold it: use it in a condition on a top-level field."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


@cache
def _moments(kind: type[Wire]) -> tuple[str, ...]:
    return tuple(
        name
        for name, field in kind.model_fields.items()
        if field.annotation is datetime or datetime in get_args(field.annotation)
    )
