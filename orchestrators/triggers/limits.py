"""Rate limits: token buckets in this process, in bounded memory.

Several instances each allow the rate, so a limit is a bound per instance: protection against floods, not billing.
Source: GW-08, design §7.
"""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from typing import Final

MAX_BUCKETS: Final = 20_000
"""Most buckets kept; the longest untouched goes first, and after a minute it is full anyway. Value ours."""
ADDRESS_RATE_PER_MINUTE: Final = 1_200
"""Requests a minute of one client address without a server's key. Source: GW-08; value ours (twice a key's default)."""
SECONDS_PER_MINUTE: Final = 60.0


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: datetime


class Buckets:
    """Token buckets by name: a minute's worth of burst, refilled evenly."""

    def __init__(self, max_buckets: int = MAX_BUCKETS) -> None:
        self._max = max_buckets
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str, rate_per_minute: int, now: datetime) -> float:
        """Take one token; return 0 when there was one, else the seconds until there is."""
        bucket = self._buckets.pop(name, None) or _Bucket(float(rate_per_minute), now)
        per_second = rate_per_minute / SECONDS_PER_MINUTE
        passed_s = max(0.0, (now - bucket.at).total_seconds())
        bucket.tokens = min(float(rate_per_minute), bucket.tokens + passed_s * per_second)
        bucket.at = now
        self._buckets[name] = bucket
        while len(self._buckets) > self._max:
            self._buckets.popitem(last=False)
        if bucket.tokens < 1.0:
            return (1.0 - bucket.tokens) / per_second
        bucket.tokens -= 1.0
        return 0.0

    def give_back(self, name: str, rate_per_minute: int) -> None:
        """Undo one take."""
        bucket = self._buckets.get(name)
        if bucket is not None:
            bucket.tokens = min(float(rate_per_minute), bucket.tokens + 1.0)


def client_address(forwarded_for: str, trusted_hops: int) -> str | None:
    """Return the address our own outermost proxy saw; None when none is trusted or the header is too short.

    Everything left of the trusted hops is the caller's own claim. A port is cut off. Source: GW-08.
    """
    hops = [hop.strip() for hop in forwarded_for.split(",") if hop.strip()]
    if trusted_hops < 1 or len(hops) < trusted_hops:
        return None
    address = hops[-trusted_hops]
    if address.startswith("["):
        return address[1:].partition("]")[0]
    return address.partition(":")[0] if address.count(":") == 1 else address
