"""What the product asks of models. Every text argument is masked or published: raw text does not type.

Each Protocol has an offline adapter (adapters/embedded) and, later, an Azure OpenAI one. Nothing a model returns is
trusted: the supervisor's code checks it. Source: design §8, CL-02, CO-01, SU-01.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shared.domain.deltas import Account, ActionResult, Classification, Escalation, Knowledge, Snapshot
from shared.domain.drafts import CheckVerdict, Draft
from shared.domain.policy import TenantPolicy
from shared.domain.text import MaskedText, ModelText
from shared.domain.wire_model import Wire

Vector = NDArray[np.float32]
"""One embedding, L2-normalised, shape (dimension,)."""


class Embedder(Protocol):
    """Turns text into vectors for semantic search (KB-02)."""

    @property
    def model(self) -> str:
        """Name that changes whenever vectors of old and new are not comparable."""
        ...

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        ...

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return one L2-normalised row a text, shape (len(texts), dimension).

        Raises: Unavailable, RateLimited.
        """
        ...


@runtime_checkable
class MeasuresText(Protocol):
    """An Embedder that has its model's tokenizer at hand; one that has not is given texts of a safe length."""

    def fit(self, text: str) -> int:
        """Return how many leading characters of the text the model reads."""
        ...


class ClassifyRequest(Wire):
    """What the classifier may see."""

    message: MaskedText
    summary: str = ""
    """Bounded context of earlier turns, never their full text (fault 017)."""
    language_hint: str = ""


class IntentClassifier(Protocol):
    """Finds intent, severity, entities and language (CL-01…03)."""

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Return the classification with a calibrated confidence. Raises: Unavailable, RateLimited."""
        ...


class EscalationRequest(Wire):
    """What the escalation model may see (ES-01)."""

    message: MaskedText
    recent: tuple[MaskedText, ...] = ()


class EscalationModel(Protocol):
    """Weighs sentiment, distress, threat and complexity in the words alone; rules add the rest."""

    async def assess(self, request: EscalationRequest) -> Escalation:
        """Return sentiment and the triggers the words give. Raises: Unavailable, RateLimited."""
        ...


class RevisionReason(Wire):
    """Why the supervisor sent a draft back, and what to do about it (SU-02)."""

    verdicts: tuple[CheckVerdict, ...]
    attempt: int = Field(ge=1)


class ComposeRequest(Wire):
    """What the composer may see (CO-01)."""

    snapshot: Snapshot
    classification: Classification
    knowledge: Knowledge
    account: Account
    policy: TenantPolicy
    actions: tuple[ActionResult, ...] = ()
    """What the executor did in this turn: all a reply may say was done."""
    previous: Draft | None = None
    revision: RevisionReason | None = None


class ComposerModel(Protocol):
    """Drafts a reply from sources only (CO-02)."""

    async def compose(self, request: ComposeRequest) -> Draft:
        """Return a draft whose every claim cites a source of the request. Raises: Unavailable, RateLimited."""
        ...


class ReviewRequest(Wire):
    """What the reviewing model may see."""

    draft: Draft
    knowledge: Knowledge
    account: Account
    customer_words: MaskedText
    policy: TenantPolicy


class ReviewModel(Protocol):
    """A second opinion on a draft; it can block, never approve on its own (SU-01)."""

    async def review(self, request: ReviewRequest) -> tuple[CheckVerdict, ...]:
        """Return the model's verdicts, at least one. Raises: Unavailable, RateLimited."""
        ...


class ScreenVerdict(Wire):
    """What a safety screen found in a text."""

    is_blocked: bool
    categories: tuple[str, ...] = ()
    """prompt_attack, self_harm, violence, hate, sexual, …"""


class SafetyScreen(Protocol):
    """Screens inbound and outbound text (SU-01, design §9)."""

    async def screen(self, texts: Sequence[ModelText]) -> ScreenVerdict:
        """Return the verdict on a window of texts. Raises: Unavailable; callers fail closed."""
        ...
