"""What one search measured, before anyone judges it: how near, how much of the question, which names.

Owns the measurements by words; the judgement is confidence.py's. Source: design §4 "Confidence is not rank".
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.tokens import QueryWord, terms_of


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything confidence is made of; nothing was found where all is 0."""

    similarity: float = 0.0
    """Best raw cosine among the results; 0 where no vector was compared."""
    coverage: float = 0.0
    """Largest share of the question's content words one result holds, weighted by how much each word tells apart."""
    matched: float = 0.0
    """The most that one result holds of the question, however long that is. Unit: words no other article has."""
    title: float = 0.0
    """Largest share of a result's title that the question names, weighted the same way: long messages name what they
    are about in passing."""
    is_exact: bool = False
    """An article holds an identifier of the question, or its whole title is the question."""


def measure_words(
    words: Sequence[QueryWord], titles: Mapping[str, Sequence[QueryWord]], index: KeywordIndex
) -> Evidence:
    """Return what the words of the question and the results' titles by article id say; similarity is left at 0."""
    content = [word for word in words if word.is_content]
    if not content or not titles:
        return Evidence()
    idf = cache(index.idf)
    weights = np.array([_weight(word, idf) for word in content])
    held = _holds(content, tuple(titles), index) @ weights
    asked = frozenset(terms_of(words))
    return Evidence(
        coverage=float(held.max() / weights.sum()),
        matched=float(held.max() / math.log(len(index) + 1)) if len(index) else 0.0,
        title=max(_named_share(title, asked, idf) for title in titles.values()),
    )


def _weight(word: QueryWord, idf: Callable[[str], float]) -> float:
    """Return how much the word tells articles apart: the idf of the form that more of them hold."""
    return min(max(map(idf, form)) for form in word.alternatives)


def _named_share(title: Sequence[QueryWord], asked: frozenset[str], idf: Callable[[str], float]) -> float:
    content = [word for word in title if word.is_content]
    weights = [_weight(word, idf) for word in content]
    named = (w for word, w in zip(content, weights, strict=True) if any(asked.issuperset(f) for f in word.alternatives))
    return sum(named) / sum(weights) if weights else 0.0


def _holds(content: Sequence[QueryWord], ids: Sequence[str], index: KeywordIndex) -> NDArray[np.bool_]:
    """Return which article holds which word in one of its forms. Shape: (articles, words)."""
    terms = terms_of(content)
    column = {term: i for i, term in enumerate(terms)}
    held = index.holds(ids, terms)
    return np.stack(
        [
            np.any([held[:, [column[term] for term in form]].all(axis=1) for form in word.alternatives], axis=0)
            for word in content
        ],
        axis=1,
    )
