"""Drawing a share of turns by their id: the same turn is always drawn, or never; no randomness to replay.

Source: SC-02 (sampled audit), SU-06 (shadow sample).
"""

from shared.domain.ids import InstanceId, digest


def is_sampled(instance: InstanceId, purpose: str, share: float) -> bool:
    """Tell whether the turn is among that share of all turns. `share`: 0 draws none, 1 all."""
    return int(digest("sample", purpose, instance)[:8], 16) < share * 16**8
