"""The offline EscalationModel: sentiment and the words that call for a person.

Owns trained heads for an explicit wish, legal language, distress, danger, self-harm and fraud, with narrow phrase rules
added for safety and law only, where a miss costs most. Never decides who answers. Source: ES-01, GO-03.
"""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.artefacts import shipped_head
from shared.adapters.embedded.intent_classifier import readable, sentiment
from shared.adapters.embedded.passages import to_pieces
from shared.domain.deltas import Escalation
from shared.domain.human_triggers import HumanTrigger, ranked
from shared.domain.language import to_plain
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

_SELF_HARM = re.compile(
    r"\b(?:kill(?:ing)?\s+my\s?self|suicid(?:e|al)(?!\s+squad)|end(?:ing)?\s+my\s+(?:own\s+)?life|take\s+my\s+own\s+life"
    r"|want\s+to\s+die|wish\s+i\s+(?:was|were)\s+dead|self[\s-]?harm|hurt(?:ing)?\s+my\s?self\s+(?:on\s+purpose|again|tonight)"
    r"|suicid(?:arme|io)|me\s+quiero\s+matar|quiero\s+morir|me\s+suicider|veux\s+mourir|mich\s+umbringen|selbstmord"
    r"|me\s+matar|quero\s+morrer|voglio\s+morire|uccidermi|zelfmoord)\b",
    re.IGNORECASE,
)
_LEGAL = re.compile(
    r"\b(?:(?:my|our)\s+(?:lawyers?|attorneys?|solicitors?|barrister)\s+(?:will|is|are|has|have|wants?|advised|says?|told)"
    r"|(?:sue|suing)\s+(?:you|your|the\s+company|this\s+company)|legal\s+(?:action|proceedings|notice)|law\s?suit"
    r"|small\s+claims|consumer\s+(?:court|forum|protection\s+agency)|trading\s+standards|see\s+you\s+in\s+court|ombudsman"
    r"|(?:take|taking)\s+you\s+to\s+court|press\s+charges|letter\s+before\s+action"
    r"|verbraucherzentrale|procon|porter\s+plainte|mon\s+avocat|mi\s+abogado|mein\s+anwalt|meu\s+advogado|mio\s+avvocato|mijn\s+advocaat)\b",
    re.IGNORECASE,
)
RULES: Final = (("self_harm_phrase", HumanTrigger.SAFETY, _SELF_HARM), ("legal_phrase", HumanTrigger.LEGAL, _LEGAL))
"""Phrases that name the matter outright: added to what the heads find, never taken from it."""


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
        plain, pieces = to_plain(request.message.value), to_pieces(text)
        vectors = await self._embedder.embed([MaskedText(t) for t in (*pieces, *earlier)])
        own, past = vectors[: len(pieces)], vectors[len(pieces) :]
        mood = sentiment(own, self._embedder.model)
        moods_before = sentiment(past, self._embedder.model)
        fired = {*self._labels(own), *(name for name, _, pattern in RULES if pattern.search(plain))}
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
    by_rule = {rule: trigger for rule, trigger, _ in RULES}
    return TRIGGERS.get(name) or by_rule.get(name) or HumanTrigger.DISTRESS


def _is_sustained_anger(mood: float, before: Sequence[float] | NDArray[np.float64]) -> bool:
    return mood <= ANGRY and len(before) > 1 and all(value <= ANGRY for value in before[-2:])


def _blend(mood: NDArray[np.float64], before: NDArray[np.float64]) -> float:
    """Return the message's sentiment, tinted by the lines before it."""
    own = float(mood[0])
    value = own if not len(before) else own * (1 - RECENT_WEIGHT) + float(before.mean()) * RECENT_WEIGHT
    return round(max(-1.0, min(1.0, value)), 4)
