"""Fits a linear head and its calibration; needs scikit-learn, at train time only.

Owns regularisation, class balance and temperature. Folds keep sentences of one line together, so the calibration never
sees a near copy of what it was fitted on. Source: CL-03 "calibrated confidence", design §4.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped] # comes with scikit-learn

from shared.adapters.embedded.artefacts import LinearHead

INVERSE_PENALTY: Final = 10.0
"""scikit-learn's C. Source: grouped cross-validation on our utterances, flat between 3 and 30."""
FOLDS: Final = 5
"""Folds of the calibration."""
TEMPERATURES: Final = np.round(np.geomspace(1.0, 3.0, 45), 4)
"""Temperatures tried; none sharpens, because real messages lie farther from ours than our folds from each other."""

DEFAULT_THRESHOLD: Final = 0.7
"""No independent label counts below this, however clean its folds. Unit: 0–1. Value ours."""
LOWEST_THRESHOLD: Final = {"self_harm": 0.5}
"""Labels whose misses cost more than their false alarms."""


def fit_softmax(
    vectors: NDArray[np.float32], y: Sequence[str], groups: Sequence[str], *, embedder: str, corpus: str
) -> LinearHead:
    """Return a head over labels that exclude one another, its temperature the one of least held-out log loss."""
    truth = np.array(y)
    labels = tuple(sorted(set(y)))
    weights, bias = _coefficients(vectors, truth, labels)
    held = np.zeros((len(truth), len(labels)))
    for train, test in GroupKFold(FOLDS).split(vectors, truth, list(groups)):
        fold_weights, fold_bias = _coefficients(vectors[train], truth[train], labels)
        held[test] = vectors[test] @ fold_weights.T + fold_bias
    column = np.searchsorted(np.array(labels), truth)
    losses = [_log_loss(held / t, column) for t in TEMPERATURES]
    return LinearHead(
        labels=labels,
        weights=weights,
        bias=bias,
        temperature=float(TEMPERATURES[int(np.argmin(losses))]),
        thresholds=np.zeros(len(labels), dtype=np.float32),
        embedder=embedder,
        corpus=corpus,
    )


def fit_sigmoids(
    vectors: NDArray[np.float32],
    flags: dict[str, NDArray[np.int8]],
    groups: Sequence[str],
    *,
    max_false_rate: dict[str, float],
    embedder: str,
    corpus: str,
) -> LinearHead:
    """Return a head of independent labels; each threshold lets through at most its share of held-out negatives.

    Shapes: flags[label] holds 1 (is), 0 (is not) or −1 (leave this sentence out of that label) a row.
    """
    rows_w, rows_b, limits = [], [], []
    for label, flag in flags.items():
        keep = [int(i) for i in np.flatnonzero(flag >= 0)]
        sub, truth = vectors[keep], flag[keep].astype(np.int64)
        weights, bias = _binary(sub, truth)
        held = np.zeros(len(keep))
        for train, test in GroupKFold(FOLDS).split(sub, truth, [groups[i] for i in keep]):
            fold_weights, fold_bias = _binary(sub[train], truth[train])
            held[test] = 1 / (1 + np.exp(-(sub[test] @ fold_weights + fold_bias)))
        floor = LOWEST_THRESHOLD.get(label, DEFAULT_THRESHOLD)
        limits.append(max(floor, float(np.quantile(held[truth == 0], 1 - max_false_rate[label]))))
        rows_w.append(weights)
        rows_b.append(bias)
    return LinearHead(
        labels=tuple(flags),
        weights=np.stack(rows_w).astype(np.float32),
        bias=np.array(rows_b, dtype=np.float32),
        temperature=1.0,
        thresholds=np.array(limits, dtype=np.float32),
        embedder=embedder,
        corpus=corpus,
    )


def _coefficients(
    vectors: NDArray[np.float32], truth: NDArray[np.str_], labels: tuple[str, ...]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    model = LogisticRegression(C=INVERSE_PENALTY, class_weight="balanced", max_iter=3000)
    _fit(model, vectors, truth)
    if tuple(model.classes_) != labels:
        raise ValueError(f"a fold lacks a label: {sorted(set(labels) - set(model.classes_))}")
    return model.coef_.astype(np.float32), model.intercept_.astype(np.float32)


def _binary(vectors: NDArray[np.float32], truth: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    model = LogisticRegression(
        C=INVERSE_PENALTY, class_weight="balanced", max_iter=200, tol=1e-8, solver="newton-cholesky"
    )
    _fit(model, vectors, truth)
    return np.asarray(model.coef_[0], dtype=np.float64), float(model.intercept_[0])


def _fit(model: LogisticRegression, vectors: NDArray[np.float32], truth: NDArray[np.str_] | NDArray[np.int64]) -> None:
    """Fit on one thread: sums in one order give the same bytes, and the matrices are too small to share out."""
    with threadpool_limits(limits=1):
        model.fit(vectors.astype(np.float64), truth)


def _log_loss(logits: NDArray[np.float64], column: NDArray[np.intp]) -> float:
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_odds = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return float(-log_odds[np.arange(len(column)), column].mean())
