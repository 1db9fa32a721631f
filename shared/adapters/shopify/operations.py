"""An Admin API operation: its text, what it reserves of the shop's budget, and the shape of its answer.

Pure. Models of answers read what they name and ignore the rest; each field a shop may withhold is optional there.
Source: apis.md §1.1, §1.9, §1.11.
"""

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic.alias_generators import to_camel

Variables = dict[str, JsonValue]
"""Variables of one call, as JSON."""

DEFAULT_API_VERSION: Final = "2026-10"
"""Stable version spoken unless settings say otherwise. Source: apis.md §1.1."""
MAX_QUERY_COST: Final = 1_000.0
"""Most points one operation may cost. Source: apis.md §1.11."""
PAGE: Final = 250
"""Most objects of one page of a connection. Source: apis.md §1.9."""


class Answer(BaseModel):
    """The base of every answer's model: frozen, camelCase on the wire, blind to fields it does not name."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True, coerce_numbers_to_str=True
    )


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True)
class Operation(Generic[A]):
    """One query or mutation. `cost` is what it requests at most, in points; the shop's own figure replaces it later."""

    name: str
    """Named in errors; never a customer's text."""
    text: str
    answer: type[A]
    cost: float
    effect: str = ""
    """Mutations: the field of the payload that is there only when it happened, so that an error beside it is doubt."""


class PageInfo(Answer):
    """Where the next page of a connection begins."""

    has_next_page: bool = False
    end_cursor: str | None = None


N = TypeVar("N")


class Connection(Answer, Generic[N]):
    """One page of a connection."""

    nodes: tuple[N, ...] = ()
    page_info: PageInfo = PageInfo()
