"""Keyword search over one tenant's articles: an inverted index that changes by one document at a time.

Owns postings and BM25 scoring; never tokenises, never sees another tenant's statistics. Safe for one writer beside any
number of readers. Source: KB-06, libraries table "keyword index".
"""

import math
import threading
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.retrieval.postings import IndexParts, Posting, cut, joined, to_array

K1: Final = 1.5
"""Term frequency saturation. Source: KB-06, S1 "Retrieval parameters"."""
B: Final = 0.75
"""Document length normalisation. Source: KB-06, S1 "Retrieval parameters"."""
TITLE_WEIGHT: Final = 3
"""Times a title's term counts. Source: KB-06."""

_POSTING_BYTES: Final = 14
"""Measured bytes a (document, term) pair takes: three array cells with slack."""
_TERM_BYTES: Final = 400
"""Measured bytes a distinct term takes: the string, its dict entry, three list entries, two arrays."""
_DOCUMENT_BYTES: Final = 260
"""Measured bytes a document takes beside its pairs: its id, its dict entry, its array of terms."""


@dataclass(frozen=True, slots=True)
class KeywordHit:
    """A document and its BM25 score: comparable within one search only."""

    id: str
    score: float


class KeywordIndex:
    """BM25 over weighted term counts; any order of puts and removes gives what a fresh build would."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}
        self._words: list[str] = []
        self._postings: list[Posting] = []
        self._free_numbers: list[int] = []
        self._slots: dict[str, int] = {}
        self._ids: list[str] = []
        self._held: list[array[int]] = []
        self._free: list[int] = []
        self._lengths: NDArray[np.float64] = np.zeros(64)
        self._total_length = 0
        self._pairs = 0
        self._norms: NDArray[np.float64] | None = None

    @classmethod
    def of_parts(cls, parts: IndexParts) -> "KeywordIndex":
        """Return the index that was taken apart. Raises: SchemaError when the parts do not fit each other."""
        parts.check()
        index = cls()
        index._ids = list(parts.ids)
        index._slots = {id: slot for slot, id in enumerate(index._ids) if id}
        index._free = [slot for slot, id in enumerate(index._ids) if not id]
        index._words = list(parts.terms)
        index._numbers = {term: number for number, term in enumerate(index._words)}
        index._postings = [
            Posting.of(s, c) for s, c in zip(cut(parts.slots, parts.ends), cut(parts.counts, parts.ends), strict=True)
        ]
        index._held = [to_array("i", numbers) for numbers in cut(parts.held, parts.held_ends)]
        index._lengths = np.concatenate([parts.lengths, np.zeros(max(64, len(parts.lengths) // 4))])
        index._total_length = int(parts.lengths.sum())
        index._pairs = len(parts.slots)
        return index

    def to_parts(self) -> IndexParts:
        """Return the index as flat arrays, terms nobody holds left out."""
        with self._lock:
            kept = [number for number, posting in enumerate(self._postings) if posting.slots]
            renumbered = np.zeros(len(self._postings), dtype=np.int32)
            renumbered[kept] = np.arange(len(kept), dtype=np.int32)
            postings = [self._postings[number] for number in kept]
            return IndexParts(
                ids=tuple(self._ids),
                terms=tuple(self._words[number] for number in kept),
                ends=np.cumsum([len(posting.slots) for posting in postings], dtype=np.int64),
                slots=joined("i", (posting.slots for posting in postings)),
                counts=joined("f", (posting.counts for posting in postings)),
                lengths=self._lengths[: len(self._ids)].copy(),
                held_ends=np.cumsum([len(numbers) for numbers in self._held], dtype=np.int64),
                held=renumbered[joined("i", self._held)],
            )

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id: object) -> bool:
        return id in self._slots

    @property
    def size_bytes(self) -> int:
        """Return about how much memory the index holds."""
        return self._pairs * _POSTING_BYTES + len(self._postings) * _TERM_BYTES + len(self._ids) * _DOCUMENT_BYTES

    def put(self, id: str, title_terms: Sequence[str], body_terms: Sequence[str]) -> None:
        """Add the document, or replace it if it is known."""
        counts = Counter(body_terms)
        for term in title_terms:
            counts[term] += TITLE_WEIGHT
        length = len(body_terms) + TITLE_WEIGHT * len(title_terms)
        with self._lock:
            self._remove(id)
            numbers = array("i", [self._number(term) for term in counts])
            slot = self._new_slot(id, numbers, length)
            for number, count in zip(numbers, counts.values(), strict=True):
                posting = self._postings[number]
                posting.slots.append(slot)
                posting.counts.append(count)
            self._pairs += len(counts)

    def remove(self, id: str) -> bool:
        """Remove the document; False when it was not there."""
        with self._lock:
            return self._remove(id)

    def search(self, terms: Sequence[str] | Mapping[str, float], top_n: int) -> tuple[KeywordHit, ...]:
        """Return the documents that hold a term of the query, best first, ties by id.

        `terms` may come with what each counts; without, each counts 1.
        Shapes: at most top_n hits, each with a positive score. Units: BM25, idf = ln(1 + (N − n + ½) / (n + ½)).
        """
        with self._lock:
            if not self._slots or top_n < 1:
                return ()
            scores = self._scores(terms if isinstance(terms, Mapping) else dict.fromkeys(terms, 1.0))
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
        posting = self._posting(term)
        return len(posting.slots) if posting is not None else 0

    def holders(self, term: str) -> tuple[str, ...]:
        """Return the ids of the documents that hold the term, sorted."""
        with self._lock:
            posting = self._posting(term)
            return tuple(sorted(self._ids[slot] for slot in posting.slots)) if posting is not None else ()

    def holds(self, ids: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """Return which document holds which term. Shapes: (len(ids), len(terms)); unknown ids hold nothing."""
        held = np.zeros((len(ids), len(terms)), dtype=np.bool_)
        with self._lock:
            slots = np.array([self._slots.get(id, -1) for id in ids], dtype=np.intc)
            for column, term in enumerate(terms):
                posting = self._posting(term)
                if posting is not None and len(ids):
                    view = np.frombuffer(posting.slots, dtype=np.intc)
                    held[:, column] = (slots[:, None] == view).any(axis=1)
                    del view
        return held

    def _scores(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        scores = np.zeros(len(self._ids))
        norms = self._length_norms()
        for term, weight in weights.items():
            posting = self._posting(term)
            if posting is not None:
                slots, counts = posting.views()
                scores[slots] += weight * self._idf(term) * (counts * (K1 + 1) / (counts + norms[slots]))
                # An array cannot grow while a view of it lives.
                del slots, counts
        return scores

    def _length_norms(self) -> NDArray[np.float64]:
        """Return k1 · (1 − b + b · length/average) of each slot, computed once between two changes."""
        if self._norms is None:
            used, average = len(self._ids), self._total_length / len(self._slots)
            self._norms = K1 * (1 - B + B * self._lengths[:used] / average) if average else np.full(used, K1)
        return self._norms

    def _idf(self, term: str) -> float:
        posting = self._posting(term)
        n = len(posting.slots) if posting is not None else 0
        return math.log(1 + (len(self._slots) - n + 0.5) / (n + 0.5))

    def _posting(self, term: str) -> Posting | None:
        number = self._numbers.get(term)
        return None if number is None else self._postings[number]

    def _number(self, term: str) -> int:
        number = self._numbers.get(term)
        if number is not None:
            return number
        if self._free_numbers:
            number = self._free_numbers.pop()
            self._words[number] = term
        else:
            number = len(self._words)
            self._words.append(term)
            self._postings.append(Posting())
        self._numbers[term] = number
        return number

    def _new_slot(self, id: str, numbers: "array[int]", length: int) -> int:
        if self._free:
            slot = self._free.pop()
            self._ids[slot], self._held[slot] = id, numbers
        else:
            slot = len(self._ids)
            self._ids.append(id)
            self._held.append(numbers)
            if slot >= len(self._lengths):
                self._lengths = np.concatenate([self._lengths, np.zeros(len(self._lengths))])
        self._slots[id] = slot
        self._lengths[slot] = length
        self._total_length += length
        self._norms = None
        return slot

    def _remove(self, id: str) -> bool:
        slot = self._slots.pop(id, None)
        if slot is None:
            return False
        for number in self._held[slot]:
            posting = self._postings[number]
            posting.drop(slot)
            if not posting.slots:
                del self._numbers[self._words[number]]
                self._words[number] = ""
                self._free_numbers.append(number)
        self._pairs -= len(self._held[slot])
        self._total_length -= int(self._lengths[slot])
        self._ids[slot], self._held[slot], self._lengths[slot] = "", array("i"), 0
        self._free.append(slot)
        self._norms = None
        return True
