"""Exact nearest neighbours in memory: one matrix a partition and dimension, kept in step by each write.

A cache of the table, bounded by bytes, the least recently asked partition leaving first. It ranks; it decides nothing
about scope, expiry or filters: the store asks the table about every id before it names one.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

CACHE_BYTES: Final = 256 * 1024 * 1024
"""Bytes of all cached matrices together; 10,000 vectors of 3,072 dimensions are 123 MB. Value ours."""
FIRST_ROWS: Final = 16
"""Rows a new matrix has room for; it doubles when full. Value ours."""
ROUNDING: Final = 1e-4
"""Above any error of a float32 product of unit rows: rows this close to the cut are compared exactly. Value ours."""

PartitionKey = tuple[str, str]
"""Container and partition."""


class VectorMatrix:
    """Unit rows of one dimension, by document id."""

    def __init__(self, n_dimensions: int) -> None:
        self._rows = np.zeros((FIRST_ROWS, n_dimensions), dtype=np.float32)
        self._ids: list[str] = []
        self._positions: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def n_bytes(self) -> int:
        """Bytes of the rows, room included."""
        return int(self._rows.nbytes)

    def put(self, id: str, vector: NDArray[np.float32]) -> None:
        """Add or overwrite the row of a document."""
        position = self._positions.get(id)
        if position is None:
            position = len(self._ids)
            if position == len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._ids.append(id)
            self._positions[id] = position
        self._rows[position] = to_unit(vector)

    def remove(self, id: str) -> None:
        """Forget a document; the last row takes its place, and no copy of the vector stays behind."""
        position = self._positions.pop(id, None)
        if position is None:
            return
        last_id = self._ids.pop()
        last = len(self._ids)
        if position != last:
            self._rows[position] = self._rows[last]
            self._ids[position] = last_id
            self._positions[last_id] = position
        self._rows[last] = 0.0

    def ranked(self, unit: NDArray[np.float32], first: int) -> Iterator[list[tuple[str, float]]]:
        """Yield blocks of (id, cosine similarity), best first, ties by id: `first` rows, then four times as many each.

        A float32 product finds each block; its members are ordered by float64 sums taken row by row, so that equal
        vectors tie exactly wherever they lie in the matrix.
        """
        n = len(self._ids)
        rough = self._rows[:n] @ unit
        exact_unit = unit.astype(np.float64)
        done, size = np.zeros(n, dtype=bool), first
        while not done.all():
            left = np.flatnonzero(~done)
            if size < len(left):
                cut = np.partition(rough[left], len(left) - size)[len(left) - size]
                left = left[rough[left] >= cut - ROUNDING]
            exact = (self._rows[left].astype(np.float64) * exact_unit).sum(axis=1)
            block = sorted(((self._ids[p], float(s)) for p, s in zip(left, exact, strict=True)), key=_best_first)
            # Beyond `size` a row not looked at yet may be nearer than one in hand; those wait for the next block.
            block = block[:size]
            done[[self._positions[id] for id, _ in block]] = True
            yield block
            size *= 4


@dataclass(slots=True)
class _Partition:
    by_dimension: dict[int, VectorMatrix] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        return sum(matrix.n_bytes for matrix in self.by_dimension.values())

    def put(self, id: str, vector: NDArray[np.float32]) -> None:
        for n_dimensions, matrix in self.by_dimension.items():
            if n_dimensions != vector.size:
                matrix.remove(id)
        matrix_of_size = self.by_dimension.get(vector.size)
        if matrix_of_size is None:
            matrix_of_size = self.by_dimension[vector.size] = VectorMatrix(vector.size)
        matrix_of_size.put(id, vector)

    def remove(self, id: str) -> None:
        for matrix in self.by_dimension.values():
            matrix.remove(id)


class VectorCache:
    """The matrices of the partitions asked last."""

    def __init__(self, max_bytes: int = CACHE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._partitions: OrderedDict[PartitionKey, _Partition] = OrderedDict()
        self.n_bytes = 0
        """Bytes of all matrices."""

    def has(self, key: PartitionKey) -> bool:
        """Tell whether the partition is loaded, and make it the most recently asked."""
        if key not in self._partitions:
            return False
        self._partitions.move_to_end(key)
        return True

    def load(self, key: PartitionKey, rows: Iterable[tuple[str, NDArray[np.float32]]]) -> None:
        """Take in a partition's vectors; others leave until the bound holds, this one stays."""
        partition = _Partition()
        for id, vector in rows:
            partition.put(id, vector)
        self._partitions[key] = partition
        self.n_bytes += partition.n_bytes
        self._shrink()

    def matrix(self, key: PartitionKey, n_dimensions: int) -> VectorMatrix | None:
        """Return the loaded partition's matrix of that dimension, if it has one."""
        return self._partitions[key].by_dimension.get(n_dimensions)

    def write(self, key: PartitionKey, id: str, vector: NDArray[np.float32] | None) -> None:
        """Follow a committed write or, with None, the loss of a document's vector."""
        partition = self._partitions.get(key)
        if partition is None:
            return
        if vector is None:
            partition.remove(id)
            return
        before = partition.n_bytes
        partition.put(id, vector)
        self.n_bytes += partition.n_bytes - before
        self._shrink()

    def clear(self) -> None:
        """Forget everything."""
        self._partitions.clear()
        self.n_bytes = 0

    def _shrink(self) -> None:
        while len(self._partitions) > 1 and self.n_bytes > self._max_bytes:
            _, oldest = self._partitions.popitem(last=False)
            self.n_bytes -= oldest.n_bytes


def to_unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector at length 1; the zero vector stays zero and is similar to nothing."""
    wide = vector.astype(np.float64)
    peak = float(np.abs(wide).max())
    if peak == 0.0:
        return vector.astype(np.float32)
    wide /= peak
    unit: NDArray[np.float32] = (wide / np.linalg.norm(wide)).astype(np.float32)
    return unit


def _best_first(hit: tuple[str, float]) -> tuple[float, str]:
    return -hit[1], hit[0]
