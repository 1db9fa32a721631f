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

CALM_INTENTS: Final = ("product_question", "shipping_info", "general_inquiry", "pricing_promotion", "order_status")
"""Intents whose sentences carry no mood."""


def train_all(embed: Embed, embedder: str) -> dict[str, LinearHead]:
    """Return every shipped head by artefact name; a sentence that teaches several heads is embedded once."""
    known: dict[str, NDArray[np.float32]] = {}

    def embed_once(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        known.update(zip(missing, embed(missing), strict=True))
        return np.stack([known[text] for text in texts])

    return {name: build(embed_once, embedder) for name, build in BUILDERS.items()}


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
        *_signals("distress_not", "legal_not", "wish_not", "everyday"),
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


def train_escalation(embed: Embed, embedder: str) -> LinearHead:
    """Return the reasons for a person that words alone give; each learns against the calm and its look-alikes."""
    calm = (
        *(e for e in intent_examples() if e.label not in {"human_agent", "complaint"}),
        *_signals(
            "sentiment_neutral", "sentiment_positive", "distress_not", "legal_not", "wish_not", "unsafe_not", "everyday"
        ),
    )
    cross = (*read_examples("intents", "complaint"), *_signals("high", "sentiment_negative"))
    sides = {
        "explicit_wish": (_signals("wish"), (*calm, *cross)),
        "legal": (_signals("legal"), (*calm, *cross, *_signals("distress"))),
        "distress": (_signals("distress"), (*calm, *cross, *_signals("legal"))),
        "self_harm": (_signals("self_harm"), (*calm, *cross, *_signals("legal", "distress", "fraud"))),
        "danger": (_signals("danger", "violence"), (*calm, *cross, *_signals("legal", "fraud"))),
        "fraud": (_signals("fraud"), (*calm, *cross, *_signals("legal", "distress"))),
    }
    rates = dict.fromkeys(sides, 0.003) | {"self_harm": 0.005, "distress": 0.005}
    return _sigmoids(embed, embedder, sides, rates)


def train_sentiment(embed: Embed, embedder: str) -> LinearHead:
    """Return negative, neutral and positive; a plain request is neutral, and so is a problem told calmly."""
    told = {
        "positive": _signals("sentiment_positive"),
        "negative": _signals("sentiment_negative", "high", "distress"),
        "neutral": (
            *_signals("sentiment_neutral", "wish_not"),
            *(e for label in CALM_INTENTS for e in read_examples("intents", label)),
        ),
    }
    pairs = [(e, mood) for mood, examples in told.items() for e in examples]
    return fit_softmax(
        embed([readable(e.text) for e, _ in pairs]),
        [mood for _, mood in pairs],
        [e.group for e, _ in pairs],
        embedder=embedder,
        corpus=corpus_hash(),
    )


def train_screen(embed: Embed, embedder: str) -> LinearHead:
    """Return prompt attack and the kinds of unsafe content; rude is not unsafe."""
    calm = (
        *intent_examples(),
        *_signals("attack_not", "unsafe_not", "distress_not", "wish_not", "legal_not", "everyday"),
        *_signals("sentiment_neutral", "sentiment_positive", "sentiment_negative", "high", "legal", "wish"),
    )
    kinds = ("self_harm", "violence", "hate", "sexual", "illicit")
    sides = {
        "prompt_attack": (_signals("attack"), (*calm, *_signals("distress", "danger", "fraud", *kinds))),
        **{kind: (_signals(kind), (*calm, *_signals("attack", "fraud"))) for kind in kinds},
    }
    rates = dict.fromkeys(sides, 0.003) | {"self_harm": 0.005, "prompt_attack": 0.005}
    return _sigmoids(embed, embedder, sides, rates)


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
    "escalation": train_escalation,
    "sentiment": train_sentiment,
    "screen": train_screen,
}
"""Artefact name → how it is made."""
