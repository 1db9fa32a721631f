"""How well the critic's word-level support tells supported claims from unsupported ones, on public claim–source pairs.

`python -m evals.grounding` prints accuracy and area under the curve of the shipped weights and of plain word overlap;
`--fit` refits the weights by logistic regression and prints their cross-validated quality. Source: SU-01, data README.
"""

import json
import os
import sys
from dataclasses import astuple
from pathlib import Path
from typing import Final

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from agents.supervisor.grounding import SUPPORT_FLOOR
from agents.supervisor.lexical import Overlap, measure, split_sentences, support
from shared.domain.typed_values import extract_values, unsupported

BASELINE: Final = {"accuracy": 0.867, "auroc": 0.933}
"""Plain word overlap on the sealed set. Source: data README."""
FOLDS: Final = 10


def load(path: Path) -> list[dict[str, str]]:
    """Return the rows of a grounding file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def features(row: dict[str, str]) -> tuple[Overlap, bool]:
    """Return the overlap of one pair and whether the answer holds a value the source does not."""
    claimed = extract_values(row["answer"], language="en", default_currency="USD")
    given = extract_values(row["source_text"], language="en", default_currency="USD")
    return measure(row["answer"], split_sentences(row["source_text"]), "en"), bool(unsupported(claimed, given))


def main() -> None:
    """Print one table; with --fit also the weights to ship."""
    path = Path(os.environ.get("VOUCH_DATA", "../shared/data")) / "grounding.dev.jsonl"
    rows = load(path)
    labels = np.array([row["label"] == "supported" for row in rows])
    found = [features(row) for row in rows]
    table = np.array([astuple(overlap) for overlap, _ in found])
    foreign = np.array([is_foreign for _, is_foreign in found])
    words = table[:, 1]
    shipped = np.array([support(overlap) for overlap, _ in found])
    print(f"{'':34}accuracy  AUROC")
    plain = max(np.mean((words >= t) == labels) for t in words)
    print(f"{'plain overlap, best threshold':34}{plain:8.3f} {roc_auc_score(labels, words):6.3f}")
    accuracy = np.mean((shipped >= SUPPORT_FLOOR) == labels)
    print(f"{'shipped critic':34}{accuracy:8.3f} {roc_auc_score(labels, shipped):6.3f}")
    verdicts = (shipped >= SUPPORT_FLOOR) & ~foreign
    print(f"{'… with the value check as a veto':34}{np.mean(verdicts == labels):8.3f}")
    print(f"{'published baseline (sealed set)':34}{BASELINE['accuracy']:8.3f} {BASELINE['auroc']:6.3f}")
    if "--fit" in sys.argv:
        accuracies, areas = [], []
        for seed in range(5):
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
            chance = cross_val_predict(
                LogisticRegression(C=10.0, max_iter=5000), table, labels, cv=folds, method="predict_proba"
            )[:, 1]
            accuracies.append(np.mean((chance >= 0.5) == labels))
            areas.append(roc_auc_score(labels, chance))
        print(f"{'refit, 5 × 10-fold cross-validated':34}{np.mean(accuracies):8.3f} {np.mean(areas):6.3f}")
        model = LogisticRegression(C=10.0, max_iter=5000).fit(table, labels)
        print(
            "WEIGHTS =",
            tuple(round(float(w), 3) for w in model.coef_[0]),
            "INTERCEPT =",
            round(float(model.intercept_[0]), 3),
        )


if __name__ == "__main__":
    main()
