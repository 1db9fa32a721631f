"""Keyword search over one tenant's articles: an inverted index that changes by one document at a time.

Owns postings and BM25 scoring; never tokenises, never sees another tenant's statistics. Safe for one writer beside any
number of readers. Source: KB-06, libraries table "keyword index".
"""

import math
import threading
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

K1: Final = 1.5
"""Term frequency saturation. Source: KB-06, S1 "Retrieval parameters"."""
B: Final = 0.75
"""Document length normalisation. Source: KB-06, S1 "Retrieval parameters"."""
TITLE_WEIGHT: Final = 3
"""Times a title's term counts. Source: KB-06."""

_POSTING_BYTES: Final = 20
"""Measured bytes a (document, term) pair takes: two array cells with slack and one reference."""
_TERM_BYTES: Final = 360
"""Measured bytes a distinct term takes: the string, its dict entry, two arrays."""


@dataclass(frozen=True, slots=True)
class KeywordHit:
    """A document and its BM25 score: comparable within one search only."""

    id: str
    score: float


class KeywordIndex:
    """BM25 over weighted term counts; any order of puts and removes gives what a fresh build would."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._postings: dict[str, _Posting] = {}
        self._slots: dict[str, int] = {}
        self._ids: list[str] = []
        self._terms: list[tuple[str, ...]] = []
        self._free: list[int] = []
        self._lengths: NDArray[np.float64] = np.zeros(64)
        self._total_length = 0
        self._pairs = 0

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id: object) -> bool:
        return id in self._slots

    @property
    def size_bytes(self) -> int:
        """Return about how much memory the index holds."""
        return self._pairs * _POSTING_BYTES + len(self._postings) * _TERM_BYTES + len(self._ids) * 200

    def put(self, id: str, title_terms: Sequence[str], body_terms: Sequence[str]) -> None:
        """Add the document, or replace it if it is known."""
        counts = Counter(body_terms)
        for term in title_terms:
            counts[term] += TITLE_WEIGHT
        length = len(body_terms) + TITLE_WEIGHT * len(title_terms)
        with self._lock:
            self._remove(id)
            slot = self._new_slot(id, tuple(counts), length)
            for term, count in counts.items():
                posting = self._postings.get(term)
                if posting is None:
                    posting = self._postings[term] = _Posting()
                posting.slots.append(slot)
                posting.counts.append(count)
            self._pairs += len(counts)

    def remove(self, id: str) -> bool:
        """Remove the document; False when it was not there."""
        with self._lock:
            return self._remove(id)

    def search(self, terms: Sequence[str], top_n: int) -> tuple[KeywordHit, ...]:
        """Return the documents that hold a term of the query, best first, ties by id.

        Shapes: at most top_n hits, each with a positive score. Units: BM25, idf = ln(1 + (N − n + ½) / (n + ½)).
        """
        with self._lock:
            if not self._slots or top_n < 1:
                return ()
            scores = self._scores(terms)
            found = np.flatnonzero(scores > 0)
            if len(found) > top_n:
                # Everything as good as the n-th stays in, so that ties are broken by id and not by position.
                nth = np.partition(scores[found], len(found) - top_n)[len(found) - top_n]
                found = found[scores[found] >= nth]
            hits = [KeywordHit(self._ids[slot], float(scores[slot])) for slot in found.tolist()]
        hits.sort(key=lambda hit: (-hit.score, hit.id))
        return tuple(hits[:top_n])

    def idf(self, term: str) -> float:
        """Return how much the term tells apart; a term nobody holds has the highest value."""
        with self._lock:
            return self._idf(term)

    def count(self, term: str) -> int:
        """Return how many documents hold the term."""
        posting = self._postings.get(term)
        return len(posting.slots) if posting is not None else 0

    def holders(self, term: str) -> tuple[str, ...]:
        """Return the ids of the documents that hold the term, sorted."""
        with self._lock:
            posting = self._postings.get(term)
            return tuple(sorted(self._ids[slot] for slot in posting.slots)) if posting is not None else ()

    def holds(self, ids: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """Return which document holds which term. Shapes: (len(ids), len(terms)); unknown ids hold nothing."""
        held = np.zeros((len(ids), len(terms)), dtype=np.bool_)
        with self._lock:
            slots = np.array([self._slots.get(id, -1) for id in ids], dtype=np.intc)
            for column, term in enumerate(terms):
                posting = self._postings.get(term)
                if posting is not None and len(ids):
                    view = np.frombuffer(posting.slots, dtype=np.intc)
                    held[:, column] = (slots[:, None] == view).any(axis=1)
                    del view
        return held

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        used = len(self._ids)
        scores = np.zeros(used)
        average = self._total_length / len(self._slots)
        norms = K1 * (1 - B + B * self._lengths[:used] / average) if average else np.full(used, K1)
        for term in dict.fromkeys(terms):
            posting = self._postings.get(term)
            if posting is not None:
                slots, counts = posting.views()
                scores[slots] += self._idf(term) * (counts * (K1 + 1) / (counts + norms[slots]))
                # An array cannot grow while a view of it lives.
                del slots, counts
        return scores

    def _idf(self, term: str) -> float:
        posting = self._postings.get(term)
        n = len(posting.slots) if posting is not None else 0
        return math.log(1 + (len(self._slots) - n + 0.5) / (n + 0.5))

    def _new_slot(self, id: str, terms: tuple[str, ...], length: int) -> int:
        if self._free:
            slot = self._free.pop()
            self._ids[slot], self._terms[slot] = id, terms
        else:
            slot = len(self._ids)
            self._ids.append(id)
            self._terms.append(terms)
            if slot >= len(self._lengths):
                self._lengths = np.concatenate([self._lengths, np.zeros(len(self._lengths))])
        self._slots[id] = slot
        self._lengths[slot] = length
        self._total_length += length
        return slot

    def _remove(self, id: str) -> bool:
        slot = self._slots.pop(id, None)
        if slot is None:
            return False
        for term in self._terms[slot]:
            posting = self._postings[term]
            posting.drop(slot)
            if not posting.slots:
                del self._postings[term]
        self._pairs -= len(self._terms[slot])
        self._total_length -= int(self._lengths[slot])
        self._ids[slot], self._terms[slot], self._lengths[slot] = "", (), 0
        self._free.append(slot)
        return True


class _Posting:
    """Which slots hold a term and how often: two parallel arrays in no order."""

    __slots__ = ("counts", "slots")

    def __init__(self) -> None:
        self.slots = array("i")
        self.counts = array("f")

    def views(self) -> tuple[NDArray[np.intc], NDArray[np.float32]]:
        """Return both arrays without copying."""
        return np.frombuffer(self.slots, dtype=np.intc), np.frombuffer(self.counts, dtype=np.float32)

    def drop(self, slot: int) -> None:
        """Remove the slot by moving the last one into its place."""
        at = int(np.flatnonzero(np.frombuffer(self.slots, dtype=np.intc) == slot)[0])
        last_slot, last_count = self.slots.pop(), self.counts.pop()
        if at < len(self.slots):
            self.slots[at], self.counts[at] = last_slot, last_count
