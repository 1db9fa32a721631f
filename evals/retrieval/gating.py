"""How honest confidence is: the gate at 0.5, the area under its curve, its calibration error.

Source: RT-06, the knowledge issue's demands on confidence, fault 024.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from evals.retrieval.ranking import Check, is_identifier_only
from evals.retrieval.searching import Kind, Row
from evals.retrieval.sets import OWN_SHOP

GATE: Final = 0.5
"""Confidence from which a question is answered. Source: RT-06."""
MIN_AUROC: Final = 0.95
MIN_REFUSED: Final = 0.88
MIN_KEPT: Final = 0.90
MIN_IDENTIFIERS: Final = 0.95
MAX_ECE: Final = 0.05
BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """One tenth of the confidence range."""

    confidence: float
    """Mean of its questions; 0 where it is empty."""
    answerable: float
    """Share of its questions that an article answers, off-topic and answerable ones weighing the same in all."""
    n: int


@dataclass(frozen=True, slots=True)
class Gate:
    """What confidence does with answerable and off-topic questions."""

    n_answerable: int
    n_off_topic: int
    auroc: float
    kept: float
    refused: float
    identifiers: float
    """Share of identifier-only questions that pass; NaN without any."""
    ece: float
    """Expected calibration error, answerable and off-topic questions weighing the same in all. Unit: 0–1."""
    ece_as_asked: float
    """The same, every question weighing one: off-topic ones are many times more."""
    bins: tuple[Bin, ...]


def measure(rows: Sequence[Row], confidences: Sequence[float]) -> Gate:
    """Return the gate over answerable and off-topic rows; removed ones are neither."""
    pairs = [(row, c) for row, c in zip(rows, confidences, strict=True) if row.kind is not Kind.REMOVED]
    yes = np.array([row.kind is Kind.RELEVANT for row, _ in pairs])
    values = np.array([c for _, c in pairs])
    even = np.where(yes, 0.5 / max(1, yes.sum()), 0.5 / max(1, (~yes).sum()))
    codes = [c >= GATE for row, c in pairs if is_identifier_only(row)]
    return Gate(
        n_answerable=int(yes.sum()),
        n_off_topic=int((~yes).sum()),
        auroc=float(roc_auc_score(yes, values)),
        kept=float(np.mean(values[yes] >= GATE)),
        refused=float(np.mean(values[~yes] < GATE)),
        identifiers=float(np.mean(codes)) if codes else float("nan"),
        ece=_ece(values, yes, even),
        ece_as_asked=_ece(values, yes, np.full(len(values), 1 / len(values))),
        bins=_bins(values, yes, even),
    )


def checks(gate: Gate, name: str) -> list[Check]:
    """Return every demand on confidence."""
    demands = [
        Check(f"{name}: AUROC {gate.auroc:.3f} ≥ {MIN_AUROC}", gate.auroc >= MIN_AUROC),
        Check(f"{name}: off-topic refused {gate.refused:.3f} ≥ {MIN_REFUSED}", gate.refused >= MIN_REFUSED),
        Check(f"{name}: answerable kept {gate.kept:.3f} ≥ {MIN_KEPT}", gate.kept >= MIN_KEPT),
        Check(f"{name}: calibration error {gate.ece:.3f} ≤ {MAX_ECE}", gate.ece <= MAX_ECE),
        Check(f"{name}: calibration error as asked {gate.ece_as_asked:.3f} ≤ {MAX_ECE}", gate.ece_as_asked <= MAX_ECE),
    ]
    if gate.identifiers == gate.identifiers:
        demands.append(
            Check(
                f"{name}: identifier-only passed {gate.identifiers:.3f} ≥ {MIN_IDENTIFIERS}",
                gate.identifiers >= MIN_IDENTIFIERS,
            )
        )
    return demands


def official(rows: Sequence[Row], confidences: Sequence[float]) -> Gate:
    """Return the gate over the labelled sets together."""
    return measure(*_of(rows, confidences, lambda row: row.corpus.set != OWN_SHOP))


def table(rows: Sequence[Row], shipped: Sequence[float], held_out: Sequence[float], *, is_short: bool = False) -> str:
    """Return the table: one line a corpus by the shipped table, then the labelled sets by it and cross-validated."""
    columns = (
        "confidence", "answerable", "off-topic", "AUROC", "kept ≥ 0.5", "off-topic refused", "answers removed ≥ 0.5",
        "identifiers passed", "ECE", "ECE as asked",
    )  # fmt: skip
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    if not is_short:
        for name in dict.fromkeys(row.corpus.name for row in rows):
            lines.append(_line(name, *_of(rows, shipped, lambda row, name=name: row.corpus.name == name)))  # type: ignore[misc]
    for label, values in (("shipped table", shipped), ("cross-validated", held_out)):
        lines.append(_line(f"**all sets, {label}**", *_of(rows, values, lambda row: row.corpus.set != OWN_SHOP)))
    return "\n".join(lines)


def _of(
    rows: Sequence[Row], values: Sequence[float], is_wanted: Callable[[Row], bool]
) -> tuple[list[Row], list[float]]:
    pairs = [(row, value) for row, value in zip(rows, values, strict=True) if is_wanted(row)]
    return [row for row, _ in pairs], [value for _, value in pairs]


def _line(name: str, rows: Sequence[Row], values: Sequence[float]) -> str:
    gate = measure(rows, values)
    removed = [value >= GATE for row, value in zip(rows, values, strict=True) if row.kind is Kind.REMOVED]
    near = f"{np.mean(removed):.3f}" if removed else "–"
    codes = f"{gate.identifiers:.3f}" if gate.identifiers == gate.identifiers else "–"
    cells = (
        name, str(gate.n_answerable), str(gate.n_off_topic), f"{gate.auroc:.4f}", f"{gate.kept:.3f}",
        f"{gate.refused:.3f}", near, codes, f"{gate.ece:.3f}", f"{gate.ece_as_asked:.3f}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _ece(values: NDArray[np.float64], yes: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    at = np.minimum((values * BINS).astype(int), BINS - 1)
    gaps = (abs(float((weights[at == b] * (values[at == b] - yes[at == b])).sum())) for b in range(BINS))
    return sum(gaps) / float(weights.sum())


def _bins(values: NDArray[np.float64], yes: NDArray[np.bool_], weights: NDArray[np.float64]) -> tuple[Bin, ...]:
    at = np.minimum((values * BINS).astype(int), BINS - 1)
    found = []
    for b in range(BINS):
        own = at == b
        if not own.any():
            found.append(Bin(0.0, 0.0, 0))
            continue
        found.append(
            Bin(
                float(np.average(values[own], weights=weights[own])),
                float(np.average(yes[own], weights=weights[own])),
                int(own.sum()),
            )
        )
    return tuple(found)
