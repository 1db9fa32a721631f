"""The anomaly monitor: whether a refund's amount, or how often an account is paid, is unlike the shop's own past.

Pure and robust: median and median absolute deviation, which a few large refunds do not move. With too little past
nothing is usual, so a person looks. Source: GO-01 (anomaly monitor on refund amounts and action frequency), S2 §9.
"""

from collections.abc import Sequence
from statistics import median
from typing import Final

COLD_START: Final = 20
"""Payments of a shop below which its past says nothing. Value ours."""
MAX_SPREADS: Final = 5.0
"""Deviations above the median from which an amount is unusual. Unit: scaled median absolute deviations. Source: 3.5 is
the usual mark for outliers (Iglewicz and Hoaglin); refunds are skewed, so value ours."""
NORMAL_SPREAD: Final = 1.4826
"""Median absolute deviation → standard deviation of a normal distribution."""
LEAST_SPREAD: Final = 0.10
"""Least spread taken, as a share of the median: equal prices must not make every other price unusual. Value ours."""
MAX_PER_ACCOUNT: Final = 3
"""Payments to one account within the window from which the next is unusual whatever the shop's past. Value ours."""


def is_unusual_amount(amount_minor: int, past_minor: Sequence[int]) -> bool:
    """Tell whether the amount is far above what the shop paid before; True while the past is too short to say."""
    if len(past_minor) < COLD_START:
        return True
    centre = median(past_minor)
    spread = NORMAL_SPREAD * median(abs(p - centre) for p in past_minor)
    return amount_minor > centre + MAX_SPREADS * max(spread, LEAST_SPREAD * centre, 1.0)


def is_unusual_frequency(payments_to_account: int) -> bool:
    """Tell whether the account was paid so often within the window that a person should look."""
    return payments_to_account >= MAX_PER_ACCOUNT
