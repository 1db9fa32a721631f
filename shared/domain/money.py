"""Money in minor units with its currency; never floats.

Source: AX-02, conventions "Units live in the name or the type" (amount_minor).
"""

from decimal import Decimal
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from shared.domain.errors import SchemaError

ZERO_DECIMAL_CURRENCIES: Final = frozenset(
    [
        "BIF",
        "CLP",
        "DJF",
        "GNF",
        "ISK",
        "JPY",
        "KMF",
        "KRW",
        "PYG",
        "RWF",
        "UGX",
        "UYI",
        "VND",
        "VUV",
        "XAF",
        "XOF",
        "XPF",
    ]
)
"""Currencies without a minor unit. Source: ISO 4217."""
THREE_DECIMAL_CURRENCIES: Final = frozenset({"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"})
"""Currencies with a thousandth as minor unit. Source: ISO 4217."""


def minor_digits(currency: str) -> int:
    """Return how many decimal digits the currency's minor unit has (0, 2 or 3)."""
    return 0 if currency in ZERO_DECIMAL_CURRENCIES else 3 if currency in THREE_DECIMAL_CURRENCIES else 2


class Money(BaseModel):
    """An amount: `amount_minor` of `currency` (ISO 4217, upper case)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    amount_minor: int
    currency: str = Field(pattern=r"^[A-Z]{3}$")

    def __add__(self, other: "Money") -> "Money":
        """Return the sum. Raises: SchemaError when the currencies differ."""
        if other.currency != self.currency:
            raise SchemaError(f"cannot add {other.currency} to {self.currency}")
        return Money(amount_minor=self.amount_minor + other.amount_minor, currency=self.currency)

    def to_decimal(self) -> Decimal:
        """Return the amount in major units, exactly."""
        return Decimal(self.amount_minor).scaleb(-minor_digits(self.currency))

    def __str__(self) -> str:
        return f"{self.to_decimal():.{minor_digits(self.currency)}f} {self.currency}"


def from_decimal(amount: Decimal | str, currency: str) -> Money:
    """Return the Money of a major-unit amount.

    Raises: SchemaError when the amount has more digits than the currency's minor unit.
    """
    scaled = Decimal(amount).scaleb(minor_digits(currency))
    if scaled != scaled.to_integral_value():
        raise SchemaError(f"amount has more than {minor_digits(currency)} decimals for {currency}")
    return Money(amount_minor=int(scaled), currency=currency)
