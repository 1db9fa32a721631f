"""The offline IntentClassifier: a linear head over sentence vectors, trained on our own utterances.

Owns turning a message into intent, calibrated confidence and severity. It has no class for `admin_assistance`, so no
customer's words can reach it (CL-01). Source: CL-01…03, design §4 "The classifier's confidence", §8.
"""

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.artefacts import LinearHead, shipped_head
from shared.adapters.embedded.glosses import gloss
from shared.domain.agents import CLARIFY_BELOW
from shared.domain.deltas import Classification
from shared.domain.entities import extract_entities
from shared.domain.human_triggers import Severity
from shared.domain.intents import CustomerIntent
from shared.domain.language import choose_language, to_plain
from shared.domain.text import MaskedText
from shared.ports.models import ClassifyRequest, Embedder

SOCIAL: Final = "social_"
"""Beginning of the head labels of greetings, thanks and goodbyes; all are general_inquiry with `is_social`."""
OUT_OF_SCOPE: Final = "out_of_scope"
"""Head label of messages that are none of a shop's business; reported as general_inquiry with `is_out_of_scope`."""
SUMMARY_CHARS: Final = 600
"""Most of the earlier turns' summary that is read. Unit: characters. Source: fault 017; value ours."""
SUMMARY_WEIGHT: Final = 0.5
"""Power of the summary's odds beside the message's own, which have power 1. Value ours."""

_TOKEN = re.compile(r"\[(email|phone)[:_-][^\]\s]{1,80}\]", re.IGNORECASE)


class EmbeddedIntentClassifier:
    """An IntentClassifier that needs nothing but an Embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Return intent, confidence, severity, language and entities of the newest message.

        Raises: Unavailable, RateLimited from the embedder.
        """
        text = readable(request.message.value)
        if not text:
            return Classification(
                customer_intent=CustomerIntent.GENERAL_INQUIRY, language=request.language_hint or "en"
            )
        head = shipped_head("intents", self._embedder.model)
        summary = readable(request.summary)[:SUMMARY_CHARS]
        vectors = await self._embedder.embed([MaskedText(text), *([MaskedText(summary)] if summary else [])])
        # Row by row: a product over two rows rounds differently from the same over one.
        own, earlier = head.softmax(vectors[:1])[0], head.softmax(vectors[1:])[0] if summary else None
        label, confidence = _decide(head, own, earlier)
        return Classification(
            customer_intent=to_intent(label),
            confidence=confidence,
            severity=self._severity(vectors[:1], label),
            language=choose_language(request.message.value, hint=request.language_hint),
            entities=extract_entities(request.message),
            is_out_of_scope=label == OUT_OF_SCOPE,
            is_social=label.startswith(SOCIAL),
            social=label.removeprefix(SOCIAL) if label.startswith(SOCIAL) else "",
        )

    def _severity(self, vector: NDArray[np.float32], label: str) -> Severity:
        """Return the worst tier whose threshold is reached; anger and loss must also sound negative.

        Small talk and what is no business of the shop is low, everything else normal.
        """
        head = shipped_head("severity", self._embedder.model)
        reached = dict(zip(head.labels, head.sigmoid(vector)[0] >= head.thresholds, strict=True))
        if reached[Severity.CRITICAL]:
            return Severity.CRITICAL
        if reached[Severity.HIGH] and sentiment(vector, self._embedder.model)[0] < 0:
            return Severity.HIGH
        return Severity.LOW if label == OUT_OF_SCOPE or label.startswith(SOCIAL) else Severity.NORMAL


def sentiment(vectors: NDArray[np.float32], embedder: str) -> NDArray[np.float64]:
    """Return probability of positive minus probability of negative, −1…1, a row each."""
    head = shipped_head("sentiment", embedder)
    odds = head.softmax(vectors) if len(vectors) else np.zeros((0, len(head.labels)))
    return np.asarray(odds[:, head.labels.index("positive")] - odds[:, head.labels.index("negative")])


def readable(text: str) -> str:
    """Return what the model reads: plain text, common words of other languages in English, tokens as words."""
    return gloss(to_plain(_TOKEN.sub(lambda match: f" my {match[1].lower()} ", text)))


def to_intent(label: str) -> CustomerIntent:
    """Return the intent a head label stands for."""
    is_nothing = label == OUT_OF_SCOPE or label.startswith(SOCIAL)
    return CustomerIntent.GENERAL_INQUIRY if is_nothing else CustomerIntent(label)


def _decide(head: LinearHead, own: NDArray[np.float64], earlier: NDArray[np.float64] | None) -> tuple[str, float]:
    """Let earlier turns settle what the message leaves open: they can raise a confidence, never lower it."""
    label, confidence = _best(head, own)
    if earlier is not None and confidence < CLARIFY_BELOW:
        joint = own * earlier**SUMMARY_WEIGHT
        joint /= joint.sum()
        other, joint_confidence = _best(head, joint)
        if joint_confidence > confidence:
            return other, joint_confidence
    return label, confidence


def _best(head: LinearHead, odds: NDArray[np.float64]) -> tuple[str, float]:
    """Return the likeliest label; the kinds of small talk stand together, and the likeliest of them names it."""
    small_talk = [i for i, label in enumerate(head.labels) if label.startswith(SOCIAL)]
    social = float(odds[small_talk].sum())
    best = int(odds.argmax())
    if social >= odds[best]:
        best = small_talk[int(odds[small_talk].argmax())]
        return head.labels[best], min(1.0, social)
    return head.labels[best], float(odds[best])
