"""From what a search found to its confidence: gathers the evidence of the results, asks the table.

Owns which results count as evidence on which rung; the numbers are evidence.py's, the table's weights confidence.py's.
Source: design §4 "Confidence is not rank", RT-06.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from shared.domain.sources import RetrievalPath
from shared.retrieval.confidence import Judge
from shared.retrieval.evidence import Evidence, measure_words
from shared.retrieval.found import Found


def judge(found: Found, table: Judge, *, unembedded: Collection[str]) -> float:
    """Return the probability, 0–1, that some result answers the question; without results 0.

    `unembedded` are articles without a vector yet: published a moment ago, their words alone may answer.
    """
    if not found.hits:
        return 0.0
    ids = [hit.id for hit in found.hits]
    evidence = _evidence(found, ids)
    confidence = table.confidence(found.path, evidence)
    waiting = [id for id in ids if id in unembedded]
    if waiting and found.path is RetrievalPath.HYBRID:
        by_words = replace(_evidence(found, waiting), similarity=0.0)
        confidence = max(confidence, table.confidence(RetrievalPath.KEYWORD_ONLY, by_words))
    return confidence


def _evidence(found: Found, ids: Sequence[str]) -> Evidence:
    by_words = Evidence()
    if found.index is not None:
        titles = {id: found.index.title_words(id) for id in ids}
        by_words = measure_words(found.words, titles, found.index.keywords)
    return replace(
        by_words,
        similarity=max((found.similarities.get(id, 0.0) for id in ids), default=0.0),
        is_exact=any(hit.is_identifier_match for hit in found.hits),
    )
