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
"""Least rows of room a matrix gets when it is made or full. Value ours."""
ROOM: Final = 0.25
"""Room a matrix gets when it is made or full, as a share of its rows: a write copies it every so often only. Ours."""
ROUNDING: Final = 1e-4
"""Above any error of a float32 product of unit rows: rows this close to the cut are compared exactly. Value ours."""

PARTITION_BYTES: Final = 1024
"""Bytes a loaded partition counts beside its matrices, so that partitions without vectors leave too. Value ours."""
CHUNK_ROWS: Final = 1024
"""Rows brought to length 1 at a time: bounds the float64 copy. Value ours."""

PartitionKey = tuple[str, str]
"""Container and partition."""


class VectorMatrix:
    """Unit rows of one dimension, by document id."""

    def __init__(self, n_dimensions: int) -> None:
        self._rows = np.zeros((FIRST_ROWS, n_dimensions), dtype=np.float32)
        self._ids: list[str] = []
        self._positions: dict[str, int] = {}

    @classmethod
    def of_rows(cls, ids: list[str], rows: NDArray[np.float32]) -> "VectorMatrix":
        """Return the matrix of these distinct documents."""
        matrix = cls(rows.shape[1])
        matrix._rows = _with_room(matrix._rows[:0], len(rows))
        for start in range(0, len(rows), CHUNK_ROWS):
            units = to_units(rows[start : start + CHUNK_ROWS])
            matrix._rows[start : start + len(units)] = units
        matrix._ids = ids
        matrix._positions = {id: position for position, id in enumerate(ids)}
        return matrix

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
                self._rows = _with_room(self._rows, position)
            self._ids.append(id)
            self._positions[id] = position
        self._rows[position] = to_units(vector[np.newaxis])[0]

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
        # Row by row on this thread: a matrix product wakes BLAS threads, which stall for 10–100 ms on a busy machine.
        rough = np.vecdot(self._rows[:n], unit)
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
        return PARTITION_BYTES + sum(matrix.n_bytes for matrix in self.by_dimension.values())

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

    def load(self, key: PartitionKey, rows: Iterable[tuple[str, bytes]]) -> None:
        """Take in a partition's vectors, as stored (float32); others leave until the bound holds, this one stays."""
        by_length: dict[int, tuple[list[str], list[bytes]]] = {}
        for id, blob in rows:
            ids, blobs = by_length.setdefault(len(blob), ([], []))
            ids.append(id)
            blobs.append(blob)
        partition = _Partition()
        for ids, blobs in by_length.values():
            matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(ids), -1)
            partition.by_dimension[matrix.shape[1]] = VectorMatrix.of_rows(ids, matrix)
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


def to_units(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows at length 1, each computed by itself so that equal rows come out equal; zero rows stay zero."""
    wide = rows.astype(np.float64)
    lengths = np.sqrt(np.vecdot(wide, wide))[:, np.newaxis]
    units: NDArray[np.float32] = (wide / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return units


def _with_room(rows: NDArray[np.float32], n_rows: int) -> NDArray[np.float32]:
    """Return the rows copied into a matrix that holds `n_rows` and some more."""
    wider = np.zeros((n_rows + max(FIRST_ROWS, int(n_rows * ROOM)), rows.shape[1]), dtype=np.float32)
    wider[: len(rows)] = rows
    return wider


def _best_first(hit: tuple[str, float]) -> tuple[float, str]:
    return -hit[1], hit[0]
