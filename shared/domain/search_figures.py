"""What search counts about itself: plain numbers of one process, for health, metrics and tests to read.

Holds no text, no id, no tenant. Source: KB-08 (hit rates), KB-09 (which path served), KB-13 (freshness), OB-01.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """The counts at one moment, since the process began."""

    searches: int = 0
    by_path: Mapping[str, int] = field(default_factory=dict)
    """Searches by the rung that served (KB-09)."""
    by_cache: Mapping[str, int] = field(default_factory=dict)
    """Searches by the cache that served, `miss` for none (KB-08)."""
    indexes: int = 0
    """Tenants whose index is in memory."""
    index_bytes: int = 0
    built: int = 0
    """Indexes read article by article."""
    restored: int = 0
    """Indexes loaded from a snapshot, and brought up to date."""
    caught_up: int = 0
    """Times an index in memory followed a change."""
    evicted: int = 0
    snapshots_kept: int = 0
    snapshots_refused: int = 0
    """Snapshots found damaged, foreign or of another format."""
    catch_up_ms: float = 0.0
    """How long the last search that found its index behind waited for it."""
    longest_catch_up_ms: float = 0.0
    vector_lag_s: float = 0.0
    """Freshness lag: how long the article embedded last had waited for its vector; words find it at once (KB-13)."""
    longest_vector_lag_s: float = 0.0
    spared: tuple[str, ...] = ()
    """Steps whose breaker is open (RK-01)."""

    def hit_rate(self, cache: str) -> float:
        """Return the share of searches the cache served, 0–1."""
        return self.by_cache.get(cache, 0) / self.searches if self.searches else 0.0
