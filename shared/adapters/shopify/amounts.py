"""Amounts as a shop writes them, in minor units. Source: AX-02, apis.md §1.8, §1.9."""

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from pydantic import ValidationError

from shared.adapters.shopify.operations import Answer
from shared.domain.errors import IntegrationError, SchemaError
from shared.domain.money import Money, from_decimal, minor_digits


class MoneyNode(Answer):
    """MoneyV2: a decimal in major units with its currency."""

    amount: str
    currency_code: str


class MoneyBagNode(Answer):
    """MoneyBag: the amount the customer saw; the shop's own currency is not asked for."""

    presentment_money: MoneyNode


def to_money(amount: str, currency: str) -> Money:
    """Return the amount, rounded half up where the shop computed with more digits than the currency has.

    Raises: IntegrationError when it is no amount of a currency.
    """
    try:
        exact = Decimal(amount).quantize(Decimal(1).scaleb(-minor_digits(currency)), ROUND_HALF_UP)
        return from_decimal(exact, currency)
    except (InvalidOperation, ValidationError, SchemaError):
        raise IntegrationError("the shop named an amount that is none") from None


def to_seen_money(bag: MoneyBagNode) -> Money:
    """Return the amount as the customer saw it. Raises: IntegrationError."""
    return to_money(bag.presentment_money.amount, bag.presentment_money.currency_code)


def to_decimal_text(money: Money) -> str:
    """Return the amount in major units as the API takes it, with as many decimals as the currency has."""
    return f"{money.to_decimal():f}"
