"""Typed values of a text — amounts, dates, durations, identifiers, links — in canonical form.

Owns reading and comparing them; decides nothing. Source: design §5 "Grounding".
"""

from shared.domain.typed_values.codes import url_host
from shared.domain.typed_values.extraction import extract_values
from shared.domain.typed_values.model import TypedValue, ValueKind, equals, supports, unsupported

__all__ = ["TypedValue", "ValueKind", "equals", "extract_values", "supports", "unsupported", "url_host"]
