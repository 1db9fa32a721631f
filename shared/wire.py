"""What crosses a yield or a socket: plain JSON and packed text to and from frozen models.

One of the two places where loosely typed JSON is handled. Source: conventions "Only JSON crosses a yield", fault 078.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from shared.domain.errors import SchemaError

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
Json = dict[str, Any]
"""A JSON object."""

REMEMBERED_TEXTS: Final = 512
"""Packed texts remembered as models: those of some fifty turns in flight, masked text only. Value ours."""
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
        raise SchemaError(_fault(kind, error)) from None


def pack(model: BaseModel) -> str:
    """Return the model as JSON text: what a flow hands from step to step without looking inside."""
    return model.model_dump_json()


def unpack(kind: type[M], text: object) -> M:
    """Return the model a packed text holds. Raises: SchemaError naming the fields, never their values.

    A replay reads the same texts in every episode; what was read is remembered, which frozen models allow.
    """
    if not isinstance(text, str):
        raise SchemaError(f"{kind.__name__} did not arrive as packed text")
    model = _unpack(kind, text)
    if not isinstance(model, kind):
        raise SchemaError(f"{kind.__name__} was read as {type(model).__name__}")
    return model


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _unpack(kind: type[BaseModel], text: str) -> BaseModel:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        raise SchemaError(_fault(kind, error)) from None


def _fault(kind: type[BaseModel], error: ValidationError) -> str:
    fields = ", ".join(".".join(str(p) for p in e["loc"]) or "(root)" for e in error.errors()[:5])
    return f"{kind.__name__} is malformed at {fields}"


class Remembered(Generic[T]):
    """Values by where they were made: a replay comes to the same place again and need not make them again.

    Only for what a key determines wholly. Bounded; the oldest goes first. Safe between threads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()

    def once(self, key: Hashable, build: Callable[[], T]) -> T:
        """Return the value, built now or as it was built for this key."""
        with self._lock:
            known = self._kept.get(key)
        if known is None:
            known = build()
            with self._lock:
                self._kept[key] = known
                if len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        return known
