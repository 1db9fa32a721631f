"""The base of every value that crosses a process border: frozen, closed, strict about unknown fields.

Source: conventions "Data is frozen", PR-02, PR-03.
"""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from shared.domain.read_only import frozen


class Wire(BaseModel):
    """A frozen pydantic model that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields replaced; they are not validated, but a dict among them is frozen."""
        kept = {name: frozen(value) for name, value in update.items()} if update else None
        return super().model_copy(update=kept, deep=deep)
