"""Intake classifier: says what a customer wants, how severe it is, what it names and in which language.

Holds one port, a model of words; it may not contact the customer, write to the CRM, resolve tickets or touch billing
(CL-06), and its signature gives it no way to. Source: CL-01…06, S2 §1.
"""

from typing import Final

from shared.domain.deltas import Channel, Classification, ClassificationDelta, Context, Snapshot
from shared.domain.entities import extract_entities
from shared.domain.human_triggers import Severity
from shared.domain.intents import CustomerIntent
from shared.domain.language import choose_language
from shared.ports.models import ClassifyRequest, IntentClassifier

CONTEXT_CHARS: Final = 400
"""Most of the earlier turns a classification sees. Unit: characters. Source: fault 017; value ours."""
CONTEXT_LINES: Final = 2
"""Customer lines that stand in for a summary while there is none. Value ours."""


async def classify_message(snapshot: Snapshot, *, base_version: int, model: IntentClassifier) -> ClassificationDelta:
    """Return the classification of what the customer has said and not yet been answered.

    The model sees the new message and a bounded summary, so a long chat on one topic does not drown a change of topic.
    Entities and language are found by rule from the customer's own words. Raises: whatever the model raises.
    """
    found = await model.classify(
        ClassifyRequest(
            message=snapshot.message,
            summary=_bounded_context(snapshot.context),
            language_hint=snapshot.metadata.language,
        )
    )
    classification = _held_to_channel(found, snapshot.metadata.channel).model_copy(
        update={
            "entities": extract_entities(snapshot.message, answers_which_order=snapshot.has_clarified),
            "language": choose_language(snapshot.message.value, hint=snapshot.metadata.language),
        }
    )
    return ClassificationDelta(
        base_version=base_version, confidence=classification.confidence, classification=classification
    )


def _held_to_channel(found: Classification, channel: Channel) -> Classification:
    """Give the admin channel its one intent, and give it to nobody else, whatever a model says (CL-01)."""
    if channel is Channel.ADMIN:
        return found.model_copy(
            update={
                "customer_intent": CustomerIntent.ADMIN_ASSISTANCE,
                "confidence": 1.0,
                "is_out_of_scope": False,
                "is_social": False,
                "social": "",
                "severity": Severity.NORMAL if found.severity is Severity.LOW else found.severity,
            }
        )
    if found.customer_intent is CustomerIntent.ADMIN_ASSISTANCE:
        return found.model_copy(update={"customer_intent": CustomerIntent.GENERAL_INQUIRY, "confidence": 0.0})
    return found


def _bounded_context(context: Context) -> str:
    """Return the summary, or else the customer's last lines, cut: never the turns in full."""
    if context.summary:
        return context.summary[:CONTEXT_CHARS]
    lines = [line.text.value for line in context.history if line.role == "customer"][-CONTEXT_LINES:]
    return " ".join(line[: CONTEXT_CHARS // CONTEXT_LINES] for line in lines)
