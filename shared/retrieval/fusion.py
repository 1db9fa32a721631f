"""Merges the two rankings of a search into one order. Owns relevance; says nothing about whether an answer exists.

Source: KB-05…07, S1 "Hybrid search with Reciprocal Rank Fusion", design §4 "Confidence is not rank".
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shared.domain.errors import SchemaError

RRF_K: Final = 60
"""Rank smoothing. Source: KB-05."""
TOP_K: Final = 5
"""Results by default. Source: KB-07."""
MAX_TOP_K: Final = 20
"""Most results of one search. Source: KB-07."""
POOL_FACTOR: Final = 3
"""Candidates taken from each ranking, in multiples of top_k. Source: KB-07."""
MIN_RELEVANCE: Final = 0.1
"""Results below are dropped. Unit: relevance 0–1. Source: KB-07."""
STRONG_RELEVANCE: Final = 0.7
"""Results at or above count as strong. Unit: relevance 0–1. Source: KB-07."""

SECOND_OPINION: Final = 0.9
"""Share of the best keyword score from which an article joins the keyword ranking beside vectors. Value ours: a third
of the score for everyone who shares a common word moves strangers over the best vector hits; decision 0025."""

Ranking = Sequence[str]
"""Article ids, best first."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each ranking counts."""

    vector: float
    keyword: float


SPEC: Final = Weights(vector=0.7, keyword=0.3)
"""Source: KB-05."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One fused result."""

    id: str
    relevance: float
    is_identifier_match: bool = False

    @property
    def is_strong(self) -> bool:
        """Tell whether analytics counts the result as a strong match (KB-07)."""
        return self.relevance >= STRONG_RELEVANCE - 1e-9


@dataclass(frozen=True, slots=True)
class Preference:
    """A nudge in the order: ids that win against others of nearly the same relevance."""

    ids: Collection[str] = field(default_factory=frozenset)
    bonus: float = 0.0
    """Relevance a preferred id may lack and still come first; the relevance itself stays as it is."""


class InvalidRanking(SchemaError):
    """A ranking names one article twice."""


def fuse(
    vector: Ranking,
    keyword: Ranking,
    *,
    ahead: Collection[str] = (),
    unembedded: Collection[str] = (),
    preference: Preference | None = None,
    weights: Weights = SPEC,
    top_k: int = TOP_K,
) -> tuple[Hit, ...]:
    """Merge two rankings by weighted reciprocal rank, exact identifier matches first.

    Shapes: each ranking is best-first and at most 3 × top_k long; `ahead` are the ids of exact matches; the result is
    at most top_k long, best-first, ties by id.
    Units: relevance is normalised to 0–1, where 1 means first in both rankings; being ahead does not change it. An
    article in `unembedded` could not take part by vector: its keyword rank stands for both, or a publish would stay
    below fifteen strangers until it is embedded.
    Raises: InvalidRanking if an article id repeats within one ranking.
    Source: S1 "Hybrid search with Reciprocal Rank Fusion" (k = 60, 0.7 / 0.3), KB-06.
    """
    relevance = dict.fromkeys(ahead, 0.0)
    total = weights.vector + weights.keyword
    for ranking, weight in ((vector, weights.vector), (keyword, weights.keyword)):
        for id, value in _reciprocals(ranking).items():
            share = 1.0 if id in unembedded else weight / total
            relevance[id] = relevance.get(id, 0.0) + share * value
    first = frozenset(ahead)
    hits = [Hit(id, min(1.0, value), id in first) for id, value in relevance.items()]
    kept = [hit for hit in hits if hit.is_identifier_match or hit.relevance >= MIN_RELEVANCE]
    nudge = preference or Preference()
    kept.sort(key=lambda h: (not h.is_identifier_match, -h.relevance - (nudge.bonus if h.id in nudge.ids else 0), h.id))
    return tuple(kept[: clamp_top_k(top_k)])


def second_opinion(scored: Sequence[tuple[str, float]], *, always: Collection[str] = ()) -> tuple[str, ...]:
    """Return the keyword ranking as it joins vectors: those that match nearly as well as the best one.

    `scored` are (id, keyword score), best first; `always` stay however weak: exact matches, and articles that words
    alone can find.
    """
    best = scored[0][1] if scored else 0.0
    return tuple(id for id, score in scored if score >= SECOND_OPINION * best or id in always)


def clamp_top_k(top_k: int) -> int:
    """Return how many results a search may give (KB-07)."""
    return max(1, min(top_k, MAX_TOP_K))


def pool_size(top_k: int) -> int:
    """Return how many candidates each ranking contributes (KB-07)."""
    return POOL_FACTOR * clamp_top_k(top_k)


def _reciprocals(ranking: Ranking) -> Mapping[str, float]:
    values = {id: (RRF_K + 1) / (RRF_K + rank) for rank, id in enumerate(ranking, start=1)}
    if len(values) != len(ranking):
        twice = next(id for i, id in enumerate(ranking) if id in ranking[:i])
        raise InvalidRanking(f"article {twice!r} appears twice in one ranking")
    return values
