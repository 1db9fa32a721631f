"""A mapping nobody can change: what a snapshot holds instead of a dict.

Owns the type and how a model validates and serialises it (a plain JSON object); holds no meaning of its own. Its
values must be immutable themselves, which the test over all models checks. Source: PR-03 "read-only in fact".
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, TypeVar, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

K = TypeVar("K")
V = TypeVar("V")


class FrozenMap(Mapping[K, V]):
    """A mapping fixed when it is made; equal to any mapping with the same entries, and hashable if its values are."""

    __slots__ = ("_entries",)
    _entries: Mapping[K, V]

    def __init__(self, entries: Mapping[K, V] | None = None) -> None:
        """Copy the entries: whoever keeps the mapping they came from cannot change this one."""
        object.__setattr__(self, "_entries", MappingProxyType(dict(entries or {})))

    def __getitem__(self, key: K) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __setattr__(self, name: str, value: object) -> None:
        """Raises: AttributeError, always."""
        raise AttributeError("a FrozenMap cannot be changed")

    def __delattr__(self, name: str) -> None:
        """Raises: AttributeError, always."""
        raise AttributeError("a FrozenMap cannot be changed")

    def __reduce__(self) -> tuple[type["FrozenMap[K, V]"], tuple[dict[K, V]]]:
        return type(self), (dict(self._entries),)

    def __repr__(self) -> str:
        return f"FrozenMap({dict(self._entries)!r})"


class Frozen:
    """Marks a Mapping field whose value a model keeps as a FrozenMap."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        entries = handler.generate_schema(dict[get_args(source)])  # type: ignore[misc] # built from the field's own
        return core_schema.no_info_after_validator_function(
            FrozenMap,
            entries,
            serialization=core_schema.plain_serializer_function_ser_schema(dict, return_schema=entries),
        )


ReadOnlyMap = Annotated[Mapping[K, V], Frozen()]
"""A field's type: any mapping may be given, a FrozenMap is kept, a JSON object is written."""


def frozen(value: object) -> object:
    """Return the value, a dict as a FrozenMap: what `model_copy` puts in place without validating it."""
    return FrozenMap(value) if isinstance(value, dict) else value
