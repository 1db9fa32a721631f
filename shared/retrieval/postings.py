"""Which documents hold a term, as arrays that grow, and a whole index as flat arrays that can be written down.

Owns the cells and their checks; scoring is bm25.py's. Source: design §6 "Keyword index".
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shared.domain.errors import SchemaError


@dataclass(frozen=True, slots=True)
class IndexParts:
    """An index as flat arrays: what a snapshot holds. Postings are grouped by term, terms grouped by slot."""

    ids: Sequence[str]
    """Document of each slot; an empty text is a free slot."""
    terms: Sequence[str]
    ends: NDArray[np.int64]
    """Where each term's postings end."""
    slots: NDArray[np.int32]
    counts: NDArray[np.float32]
    lengths: NDArray[np.float64]
    """Weighted length of each slot's document. Unit: terms."""
    held_ends: NDArray[np.int64]
    """Where each slot's terms end."""
    held: NDArray[np.int32]
    """Numbers of the terms that each slot's document holds: positions in `terms`."""

    def check(self) -> None:
        """Raises: SchemaError when the parts do not fit each other."""
        n_slots, n_terms, n_pairs = len(self.ids), len(self.terms), len(self.slots)
        named = [id for id in self.ids if id]
        fits = (
            len(self.ends) == n_terms == len(set(self.terms))
            and all(self.terms)
            and len(self.held_ends) == n_slots == len(self.lengths)
            and len(named) == len(set(named))
            and len(self.counts) == n_pairs == len(self.held)
            and _is_partition(self.ends, n_pairs)
            and _is_partition(self.held_ends, n_pairs)
            and _is_within(self.slots, n_slots)
            and _is_within(self.held, n_terms)
            and bool(np.all(self.counts > 0) and np.all(np.isfinite(self.counts)))
            and bool(np.all(self.lengths >= 0) and np.all(np.isfinite(self.lengths)))
        )
        if not fits:
            raise SchemaError("the parts of a keyword index do not fit each other")


class Posting:
    """Which slots hold a term and how often: two parallel arrays in no order."""

    __slots__ = ("counts", "slots")

    def __init__(self) -> None:
        self.slots = array("i")
        self.counts = array("f")

    @classmethod
    def of(cls, slots: NDArray[np.int32], counts: NDArray[np.float32]) -> "Posting":
        """Return a posting of its own copies."""
        posting = cls.__new__(cls)
        posting.slots, posting.counts = to_array("i", slots), to_array("f", counts)
        return posting

    def views(self) -> tuple[NDArray[np.intc], NDArray[np.float32]]:
        """Return both arrays without copying."""
        return np.frombuffer(self.slots, dtype=np.intc), np.frombuffer(self.counts, dtype=np.float32)

    def drop(self, slot: int) -> None:
        """Remove the slot by moving the last one into its place."""
        at = int(np.flatnonzero(np.frombuffer(self.slots, dtype=np.intc) == slot)[0])
        last_slot, last_count = self.slots.pop(), self.counts.pop()
        if at < len(self.slots):
            self.slots[at], self.counts[at] = last_slot, last_count


def to_array(code: Literal["i", "f"], values: NDArray[Any]) -> "array[Any]":
    copied = array(code)
    copied.frombytes(values.tobytes())
    return copied


def joined(code: Literal["i", "f"], arrays: Iterable["array[Any]"]) -> NDArray[Any]:
    return np.frombuffer(b"".join(arrays), dtype=np.dtype(code))


def cut(values: NDArray[Any], ends: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    start = 0
    for end in ends.tolist():
        yield values[start:end]
        start = end


def _is_partition(ends: NDArray[np.int64], total: int) -> bool:
    last = int(ends[-1]) if len(ends) else 0
    return last == total and bool(np.all(np.diff(ends, prepend=0) >= 0))


def _is_within(numbers: NDArray[np.int32], limit: int) -> bool:
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < limit)
