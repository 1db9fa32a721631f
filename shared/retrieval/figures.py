"""Counts what search does, for `SearchFigures`: plain numbers of one process.

Holds no text, no id, no tenant. Source: KB-08 (hit rates), KB-09 (which path served), KB-13 (freshness), OB-01.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from shared.domain.article import Article
from shared.domain.search_figures import SearchFigures
from shared.domain.sources import RetrievalPath
from shared.retrieval.caches import CacheUse


@dataclass(slots=True)
class SearchCounters:
    """The same while they are counted; one writer, the event loop of its process."""

    by_path: Counter[str] = field(default_factory=Counter)
    by_cache: Counter[str] = field(default_factory=Counter)
    built: int = 0
    restored: int = 0
    caught_up: int = 0
    evicted: int = 0
    snapshots_kept: int = 0
    snapshots_refused: int = 0
    catch_up_ms: float = 0.0
    longest_catch_up_ms: float = 0.0
    vector_lag_s: float = 0.0
    longest_vector_lag_s: float = 0.0

    def searched(self, path: RetrievalPath, cache: CacheUse) -> None:
        """Note one search."""
        self.by_path[path.value] += 1
        self.by_cache[cache.value] += 1

    def figures(self, *, indexes: int, index_bytes: int, spared: Iterable[str]) -> SearchFigures:
        """Return the counts of this moment."""
        return SearchFigures(
            searches=self.by_path.total(),
            by_path=dict(self.by_path),
            by_cache=dict(self.by_cache),
            indexes=indexes,
            index_bytes=index_bytes,
            built=self.built,
            restored=self.restored,
            caught_up=self.caught_up,
            evicted=self.evicted,
            snapshots_kept=self.snapshots_kept,
            snapshots_refused=self.snapshots_refused,
            catch_up_ms=self.catch_up_ms,
            longest_catch_up_ms=self.longest_catch_up_ms,
            vector_lag_s=self.vector_lag_s,
            longest_vector_lag_s=self.longest_vector_lag_s,
            spared=tuple(sorted(spared)),
        )

    def waited(self, took_ms: float) -> None:
        """Note how long an index took to catch up."""
        self.catch_up_ms = took_ms
        self.longest_catch_up_ms = max(self.longest_catch_up_ms, took_ms)

    def followed(self, article: Article) -> None:
        """Note the lag of an article whose vector has just come."""
        if article.lag_ms is not None and article.embedded_hash == article.text_hash:
            self.vector_lag_s = article.lag_ms / 1_000
            self.longest_vector_lag_s = max(self.longest_vector_lag_s, self.vector_lag_s)
