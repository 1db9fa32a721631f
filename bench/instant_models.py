"""Models that take no time: what remains of a turn is the product itself.

They implement the ports of shared.ports.models; everything behind them in a benchmark is real. Source: design §10.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shared.container import Services
from shared.domain.deltas import Classification, Escalation
from shared.domain.drafts import Check, CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.intents import CustomerIntent
from shared.domain.phrases import done_sentence
from shared.domain.text import MaskedText, ModelText
from shared.ports.models import ClassifyRequest, ComposeRequest, EscalationRequest, ReviewRequest, ScreenVerdict
from shared.retrieval.ladder import HybridSearch


class InstantClassifier:
    """Every message asks about shipping, but for those that ask for a refund."""

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Return the classification by one word."""
        is_request = "refund" in request.message.value
        intent = CustomerIntent.REFUND if is_request else CustomerIntent.SHIPPING_INFO
        return Classification(customer_intent=intent, confidence=0.95, language="en")


class InstantEscalation:
    """Nobody is upset."""

    async def assess(self, request: EscalationRequest) -> Escalation:
        """Return no trigger."""
        return Escalation()


class InstantScreen:
    """Nothing is unsafe."""

    async def screen(self, texts: Sequence[ModelText]) -> ScreenVerdict:
        """Return a clean verdict."""
        return ScreenVerdict(is_blocked=False)


class InstantComposer:
    """Says what was done, or else quotes the best article's first sentence."""

    async def compose(self, request: ComposeRequest) -> Draft:
        """Return the one sentence, with its source."""
        for action in request.actions:
            if text := done_sentence(action, "en"):
                done = Sentence(text=MaskedText(text), kind=SentenceKind.CLAIM, refs=(action.ref,))
                return Draft(sentences=(done,), language="en", confidence=0.95)
        best = request.knowledge.articles[0]
        said = best.content.value.split(". ")[0].rstrip(".") + "."
        sentence = Sentence(text=MaskedText(said), kind=SentenceKind.CLAIM, refs=(best.ref,))
        return Draft(sentences=(sentence,), language="en", confidence=0.95)


class InstantReviewer:
    """Has no objection."""

    async def review(self, request: ReviewRequest) -> tuple[CheckVerdict, ...]:
        """Return one passing verdict."""
        return (CheckVerdict(check=Check.POLICY, is_passed=True),)


class InstantEmbedder:
    """The same unit vector for every text: search pays for everything but the model."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return equal rows."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        rows[:, 0] = 1.0
        return rows


def with_instant_models(services: Services) -> Services:
    """Return the services with every model replaced; vectors keep the real embedder's name and dimension."""
    embedder = InstantEmbedder(services.embedder.model, services.embedder.dimension)
    return replace(
        services,
        classifier=InstantClassifier(),
        escalation_model=InstantEscalation(),
        screen=InstantScreen(),
        composer=InstantComposer(),
        reviewer=InstantReviewer(),
        embedder=embedder,
        search=HybridSearch(services.articles, embedder, clock=services.clock),
    )
