"""Trained coefficients beside the code that applies them: linear heads over sentence vectors.

Owns the file format only. Every `.npz` here is written by `make train` and by nothing else; none holds text or
pickles. Source: CL-01, ES-01, design §8 "a classifier trained on our own utterances".
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.domain.errors import IntegrationError

ARTEFACTS: Final = Path(__file__).parent
"""Where the shipped heads lie."""


@dataclass(frozen=True, slots=True)
class LinearHead:
    """One trained linear layer: `labels[i]` scores `vector · weights[i] + bias[i]`, divided by the temperature."""

    labels: tuple[str, ...]
    weights: NDArray[np.float32]
    """Shape (labels, dimension)."""
    bias: NDArray[np.float32]
    """Shape (labels,)."""
    temperature: float
    """Above 1 softens over-confident odds; fitted on held-out folds of our own utterances."""
    thresholds: NDArray[np.float32]
    """Shape (labels,): probability from which a label counts, where labels are independent. Unit: 0–1."""
    embedder: str
    """Name of the embedding model the weights belong to."""
    corpus: str
    """SHA-256 of the utterances they were trained on."""

    def softmax(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each label, labels excluding one another. Shapes: (n, d) → (n, labels)."""
        logits = self._logits(vectors)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def sigmoid(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probability of each label on its own. Shapes: (n, d) → (n, labels)."""
        return np.asarray(1.0 / (1.0 + np.exp(-self._logits(vectors))))

    def _logits(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        return np.asarray(
            (vectors.astype(np.float64) @ self.weights.T.astype(np.float64) + self.bias) / self.temperature
        )

    def save(self, name: str, *, folder: Path = ARTEFACTS) -> Path:
        """Write the head as `{name}.npz`, the same bytes for the same head."""
        path = folder / f"{name}.npz"
        np.savez(
            path,
            labels=np.array(self.labels),
            weights=self.weights,
            bias=self.bias,
            temperature=np.float64(self.temperature),
            thresholds=self.thresholds,
            embedder=np.array(self.embedder),
            corpus=np.array(self.corpus),
        )
        return path


def read_head(name: str, *, folder: Path = ARTEFACTS) -> LinearHead:
    """Return the head stored as `{name}.npz`."""
    with np.load(folder / f"{name}.npz", allow_pickle=False) as stored:
        return LinearHead(
            labels=tuple(str(label) for label in stored["labels"]),
            weights=stored["weights"],
            bias=stored["bias"],
            temperature=float(stored["temperature"]),
            thresholds=stored["thresholds"],
            embedder=str(stored["embedder"]),
            corpus=str(stored["corpus"]),
        )


@cache
def shipped_head(name: str, embedder: str) -> LinearHead:
    """Return a shipped head for the named embedding model; heads are read once a process.

    Raises: IntegrationError when it was trained for another embedding model, whose vectors would mean nothing to it.
    """
    head = read_head(name)
    if head.embedder != embedder:
        raise IntegrationError(f"head {name!r} belongs to {head.embedder!r}, the embedder is {embedder!r}: make train")
    return head
