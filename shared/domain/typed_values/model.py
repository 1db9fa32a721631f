"""What a typed value is and when two of them are the same.

Equality is of canonical readings, never of surface text: "30 days", "thirty days" and "30 jours" are one value.
Source: design §5 "Grounding".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class ValueKind(StrEnum):
    """The kinds of value a reply may get wrong and code can check."""

    AMOUNT = "amount"
    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    PERCENTAGE = "percentage"
    MEASURE = "measure"
    """A number with a unit of size, weight, volume or electricity, or a garment size."""
    IDENTIFIER = "identifier"
    URL = "url"
    EMAIL = "email"
    PHONE = "phone"
    NUMBER = "number"
    """A bare number or number word that is none of the others."""


@dataclass(frozen=True, slots=True)
class TypedValue:
    """One value found in a text.

    Units: `start` and `end` are code-point offsets into the text that was read. `readings` holds one canonical form,
    or several where the notation is ambiguous ("12/03/2026").
    """

    kind: ValueKind
    readings: frozenset[str]
    text: str
    start: int
    end: int

    @property
    def canonical(self) -> str:
        """Return the readings as one stable string, for evidence and logs."""
        return f"{self.kind}:{'|'.join(sorted(self.readings))}"


def equals(a: TypedValue, b: TypedValue) -> bool:
    """Tell whether two values of one kind share a canonical reading."""
    return a.kind is b.kind and not a.readings.isdisjoint(b.readings)


def supports(source: TypedValue, claim: TypedValue) -> bool:
    """Tell whether the source's value vouches for the claim's: equal, or the claim says less of the same thing.

    A date may lose its year, its day or become its weekday; it may never gain them. A bare number may repeat an
    identifier of four or more digits.
    """
    if equals(source, claim):
        return True
    if source.kind is ValueKind.DATE and claim.kind is ValueKind.DATE:
        return not claim.readings.isdisjoint(form for r in source.readings for form in _weaker_dates(r))
    if source.kind is ValueKind.IDENTIFIER and claim.kind is ValueKind.NUMBER:
        return any(len(r) >= 4 and r in source.readings for r in claim.readings)
    return False


def unsupported(claims: Iterable[TypedValue], sources: Iterable[TypedValue]) -> tuple[TypedValue, ...]:
    """Return the claims no source value supports, in their order."""
    pool = tuple(sources)
    return tuple(c for c in claims if not any(supports(s, c) for s in pool))


def _weaker_dates(reading: str) -> tuple[str, ...]:
    try:
        day = date.fromisoformat(reading)
    except ValueError:
        return ()
    return (f"--{day:%m-%d}", f"{day:%Y-%m}", f"wd:{day.isoweekday()}")
