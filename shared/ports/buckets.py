"""Token buckets shared by every instance: how much of a limited outside resource may still be used.

Source: AX-04 (billing calls pass a shared token bucket), RK-02 (caps per integration), apis.md §1.11.
"""

from typing import Protocol

from shared.ports.documents import TenantScope


class TokenBucket(Protocol):
    """Buckets by tenant and name; a bucket nobody has used is full. Raises (every method): Unavailable, RateLimited."""

    async def take(self, scope: TenantScope, name: str, cost: float, *, capacity: float, per_second: float) -> float:
        """Take `cost` tokens and return 0.0, or take none and return the seconds to wait before asking again.

        Units: `capacity` tokens at most, refilled by `per_second`; what `settle` was told overrules both. A cost above
        the capacity is granted when the bucket is full, since waiting longer would not help.
        """
        ...

    async def settle(
        self, scope: TenantScope, name: str, *, refund: float, available: float, capacity: float, per_second: float
    ) -> None:
        """Give back `refund` tokens that were not used (negative: more were) and take over what the other side reports.

        `available` is what it says is left; the level never rises above it, since calls still under way have taken
        from ours and not yet from theirs. Its `capacity` and `per_second` hold until it reports others.
        """
        ...
