"""How well the offline classifier reads messages nobody here wrote: one table, real shop chat apart.

`python -m evals.intents` prints accuracy against the label (strict) and against label or accepted alternatives
(lenient), calibration error, the share under the clarification mark and milliseconds a message. Nothing was trained on
these rows. Source: CL-01…03, data README.
"""

import asyncio
import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.adapters.embedded.intent_classifier import EmbeddedIntentClassifier
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.domain.agents import CLARIFY_BELOW
from shared.domain.deltas import Classification
from shared.domain.text import MaskedText
from shared.ports.models import ClassifyRequest

BINS: Final = 10
"""Confidence bins of the calibration error."""
REAL_CHAT: Final = "hint3"
"""Prefix of the sources that are real shop chat. Source: data README."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One message classified."""

    source: str
    is_right: bool
    """The label itself."""
    is_acceptable: bool
    """The label or one of its accepted alternatives."""
    confidence: float
    took_ms: float


def to_label(found: Classification) -> str:
    """Return the finding in the data's vocabulary, which has out_of_scope as a label of its own."""
    return "out_of_scope" if found.is_out_of_scope else found.customer_intent.value


def calibration_error(outcomes: list[Outcome]) -> float:
    """Return the expected calibration error over equal-width bins, lenient. Unit: 0–1."""
    bins: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        bins.setdefault(min(BINS - 1, int(outcome.confidence * BINS)), []).append(outcome)
    gaps = (abs(sum(o.is_acceptable for o in b) - sum(o.confidence for o in b)) for b in bins.values())
    return sum(gaps) / len(outcomes)


async def run(rows: Iterable[dict[str, object]]) -> list[Outcome]:
    """Classify every row, one after another."""
    embedder = OnnxEmbedder(find_minilm())
    embedder.load()
    classifier = EmbeddedIntentClassifier(embedder)
    outcomes: list[Outcome] = []
    for row in rows:
        start = time.perf_counter()
        found = await classifier.classify(ClassifyRequest(message=MaskedText(str(row["text"]))))
        took_ms = (time.perf_counter() - start) * 1000
        label, alternatives = to_label(found), row["alt"]
        is_right = label == row["intent"]
        accepted = is_right or (isinstance(alternatives, list) and label in alternatives)
        outcomes.append(Outcome(str(row["source"]), is_right, accepted, found.confidence, took_ms))
    embedder.close()
    return outcomes


def table(outcomes: list[Outcome]) -> str:
    """Return the printed table."""
    groups = {"all": outcomes, "real shop chat": [o for o in outcomes if o.source.startswith(REAL_CHAT)]}
    for source in sorted({o.source for o in outcomes}):
        groups[source] = [o for o in outcomes if o.source == source]
    lines = [f"{'source':22}{'n':>6}{'strict':>8}{'lenient':>9}{'ECE':>7}{'<0.6':>7}{'lenient ≥0.6':>14}{'ms':>7}"]
    for name, group in groups.items():
        sure = [o for o in group if o.confidence >= CLARIFY_BELOW]
        lines.append(
            f"{name:22}{len(group):>6}{_mean(o.is_right for o in group):>8.3f}"
            f"{_mean(o.is_acceptable for o in group):>9.3f}{calibration_error(group):>7.3f}"
            f"{_mean(o.confidence < CLARIFY_BELOW for o in group):>7.3f}{_mean(o.is_acceptable for o in sure):>14.3f}"
            f"{_mean(o.took_ms for o in group):>7.1f}"
        )
    return "\n".join(lines)


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def main() -> None:
    """Print the table for the development set at VOUCH_DATA."""
    path = Path(os.environ.get("VOUCH_DATA", "../shared/data")) / "intents.dev.jsonl"
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    print(table(asyncio.run(run(rows))))


if __name__ == "__main__":
    main()
