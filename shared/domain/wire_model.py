"""The base of every value that crosses a process border: frozen, closed, strict about unknown fields.

Source: conventions "Data is frozen", PR-02.
"""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """A frozen pydantic model that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
