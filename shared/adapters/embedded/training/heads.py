"""Which utterances teach which head: the one table of the training.

Owns composition of the training sets; no numbers are learned here. Source: CL-01, CL-03, ES-01, GO-03.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.artefacts import LinearHead
from shared.adapters.embedded.intent_classifier import readable
from shared.adapters.embedded.training.corpus import Example, corpus_hash, labels, read_examples
from shared.adapters.embedded.training.fitting import fit_sigmoids, fit_softmax

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Sentence vectors of plain texts, on the calling thread."""

NOT_TAUGHT: Final = frozenset({"admin_assistance"})
"""Intents the customers' head does not know at all. Source: CL-01."""


def train_all(embed: Embed, embedder: str) -> dict[str, LinearHead]:
    """Return every shipped head by artefact name."""
    return {name: build(embed, embedder) for name, build in BUILDERS.items()}


def train_intents(embed: Embed, embedder: str) -> LinearHead:
    """Return the seventeen intents plus small talk and out of scope."""
    examples = intent_examples()
    return fit_softmax(
        embed([readable(e.text) for e in examples]),
        [e.label for e in examples],
        [e.group for e in examples],
        embedder=embedder,
        corpus=corpus_hash(),
    )


def train_severity(embed: Embed, embedder: str) -> LinearHead:
    """Return the two raised tiers: critical (danger, injury, fraud, self-harm, legal threat) and high (anger, loss)."""
    critical = _signals("self_harm", "danger", "fraud", "legal")
    high = _signals("high", "distress")
    calm = (
        *(e for e in intent_examples() if e.label != "complaint"),
        *_signals("distress_not", "legal_not", "wish_not"),
    )
    return _sigmoids(
        embed,
        embedder,
        {
            "critical": (critical, (*calm, *_signals("high"))),
            "high": (high, calm),
        },
        {"critical": 0.002, "high": 0.01},
    )


def intent_examples() -> tuple[Example, ...]:
    """Return the sentences of every intent a customer may have, small talk and out of scope included."""
    return tuple(e for label in labels("intents") if label not in NOT_TAUGHT for e in read_examples("intents", label))


def _signals(*names: str) -> tuple[Example, ...]:
    return tuple(e for name in names for e in read_examples("signals", name))


def _sigmoids(
    embed: Embed,
    embedder: str,
    sides: dict[str, tuple[tuple[Example, ...], tuple[Example, ...]]],
    max_false_rate: dict[str, float],
) -> LinearHead:
    """Fit one label a pair of (is, is not); a sentence of neither side is left out of that label."""
    every = tuple(dict.fromkeys(e for yes, no in sides.values() for e in (*yes, *no)))
    flags: dict[str, NDArray[np.int8]] = {}
    for label, (yes, no) in sides.items():
        positive, negative = {e.text for e in yes}, {e.text for e in no}
        flags[label] = np.array(
            [1 if e.text in positive else 0 if e.text in negative else -1 for e in every], dtype=np.int8
        )
    return fit_sigmoids(
        embed([readable(e.text) for e in every]),
        flags,
        [e.group for e in every],
        max_false_rate=max_false_rate,
        embedder=embedder,
        corpus=corpus_hash(),
    )


BUILDERS: Final[dict[str, Callable[[Embed, str], LinearHead]]] = {
    "intents": train_intents,
    "severity": train_severity,
}
"""Artefact name → how it is made."""
