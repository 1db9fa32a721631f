"""The offline EscalationModel: sentiment and the words that call for a person.

Owns trained heads for an explicit wish, legal language, distress, danger, self-harm and fraud. Phrases that name the
matter outright are the detector's (shared.domain.alarms). Never decides who answers. Source: ES-01, GO-03.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.artefacts import shipped_head
from shared.adapters.embedded.intent_classifier import readable, sentiment
from shared.adapters.embedded.passages import to_pieces
from shared.domain.deltas import Escalation
from shared.domain.human_triggers import HumanTrigger, ranked
from shared.domain.text import MaskedText
from shared.ports.models import Embedder, EscalationRequest

TRIGGERS: Final = {
    "explicit_wish": HumanTrigger.EXPLICIT_WISH,
    "legal": HumanTrigger.LEGAL,
    "distress": HumanTrigger.DISTRESS,
    "self_harm": HumanTrigger.SAFETY,
    "danger": HumanTrigger.SAFETY,
    "fraud": HumanTrigger.CRITICAL_SEVERITY,
}
"""Head label → reason for a person."""
RECENT_LINES: Final = 3
"""Earlier customer lines that are weighed. Value ours."""
RECENT_WEIGHT: Final = 0.25
"""Share of the earlier lines in the sentiment. Unit: 0–1. Value ours."""
ANGRY: Final = -0.8
"""Sentiment that is plain anger; a message and two lines before it in a row count as distress. Value ours."""
DISTRESS_MOOD: Final = 0.3
"""How negative some sentence of the message must sound for distress to count: misery is never cheerful. Value ours."""


class EmbeddedEscalationModel:
    """An EscalationModel that needs nothing but an Embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def assess(self, request: EscalationRequest) -> Escalation:
        """Return sentiment −1…1 and the triggers the words give, by precedence, with the names of what fired.

        Raises: Unavailable, RateLimited from the embedder.
        """
        text = readable(request.message.value)
        if not text:
            return Escalation()
        earlier = [said for line in request.recent[-RECENT_LINES:] if (said := readable(line.value))]
        pieces = to_pieces(text)
        vectors = await self._embedder.embed([MaskedText(t) for t in (*pieces, *earlier)])
        own, past = vectors[: len(pieces)], vectors[len(pieces) :]
        mood = sentiment(own, self._embedder.model)
        moods_before = sentiment(past, self._embedder.model)
        fired = set(self._labels(own))
        if float(mood.min()) > -DISTRESS_MOOD:
            fired.discard("distress")
        if _is_sustained_anger(float(mood[0]), moods_before):
            fired.add("sustained_anger")
        return Escalation(
            triggers=ranked(frozenset(_trigger(name) for name in fired)),
            sentiment=_blend(mood, moods_before),
            rule_names=tuple(sorted(fired)),
        )

    def _labels(self, vectors: NDArray[np.float32]) -> tuple[str, ...]:
        head = shipped_head("escalation", self._embedder.model)
        strongest = head.sigmoid(vectors).max(axis=0)
        return tuple(
            label for label, p, limit in zip(head.labels, strongest, head.thresholds, strict=True) if p >= limit
        )


def _trigger(name: str) -> HumanTrigger:
    return TRIGGERS.get(name, HumanTrigger.DISTRESS)


def _is_sustained_anger(mood: float, before: Sequence[float] | NDArray[np.float64]) -> bool:
    return mood <= ANGRY and len(before) > 1 and all(value <= ANGRY for value in before[-2:])


def _blend(mood: NDArray[np.float64], before: NDArray[np.float64]) -> float:
    """Return the message's sentiment, tinted by the lines before it."""
    own = float(mood[0])
    value = own if not len(before) else own * (1 - RECENT_WEIGHT) + float(before.mean()) * RECENT_WEIGHT
    return round(max(-1.0, min(1.0, value)), 4)
