"""How much of a tenant's knowledge has a vector of its present text, counted article by article.

Owns what is current, stale and missing, and how long texts took to become searchable by meaning.
Source: KB-13, fault 023.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.article import Article
from shared.ports.articles import IndexCoverage


@dataclass(slots=True)
class CoverageCount:
    """A count under way, against one model and dimension."""

    embedding_key: str
    published: int = 0
    current: int = 0
    missing: int = 0
    flagged: int = 0
    waiting: list[datetime] = field(default_factory=list)
    lags_ms: list[int] = field(default_factory=list)

    def add(self, article: Article) -> None:
        """Count one published article."""
        self.published += 1
        self.flagged += bool(article.flags)
        if article.embedded_model != self.embedding_key:
            self.missing += not article.embedded_hash
            self.waiting.append(article.waiting_since)
            return
        self.current += 1
        if article.lag_ms is not None:
            self.lags_ms.append(article.lag_ms)

    def result(self) -> IndexCoverage:
        """Return the count."""
        return IndexCoverage(
            published=self.published,
            current=self.current,
            stale=self.published - self.current - self.missing,
            missing=self.missing,
            flagged=self.flagged,
            oldest_waiting=min(self.waiting, default=None),
            lag_p50_ms=_percentile(self.lags_ms, 0.5),
            lag_p95_ms=_percentile(self.lags_ms, 0.95),
        )


def _percentile(values: Sequence[int], share: float) -> int | None:
    """Return the smallest value that the share of all values does not pass (nearest rank)."""
    return sorted(values)[math.ceil(share * len(values)) - 1] if values else None
