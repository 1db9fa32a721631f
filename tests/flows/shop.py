"""The invented shop of the flow tests: two articles, one customer with an order, and drafts about them."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from shared.domain.article import ArticleInput
from shared.domain.deltas import Classification
from shared.domain.drafts import Check, CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.ids import ArticleId, CustomerId, OrderId, TenantId
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.money import Money
from shared.domain.policy import TenantPolicy
from shared.domain.sources import Order, OrderLine
from shared.domain.text import MaskedText, PublishedText
from shared.ports.models import ComposeRequest

TENANT: Final = TenantId("mill-lane")
ANA: Final = CustomerId("ana")
POLICY: Final = TenantPolicy(shop_name="Mill Lane", rate_per_minute=100_000, conversation_rate_per_minute=10_000)

RETURNS: Final = ArticleId("returns-policy")
RETURNS_SENTENCE: Final = "You can return unworn items within 30 days of delivery."
QUESTION: Final = "Returns policy"
"""A message that is the article's whole title: found whatever the calibration of a model says."""
UNRELATED: Final = "zorbing permits on Ganymede"
"""A message no article speaks of."""

ORDER: Final = OrderId("1001")
ASKS_FOR_CANCELLATION: Final = "please cancel order 1001"


def article(article_id: str, title: str, content: str, kind: ArticleType = ArticleType.POLICY) -> ArticleInput:
    """Build an article."""
    return ArticleInput(
        article_id=ArticleId(article_id), type=kind, title=PublishedText(title), content=PublishedText(content)
    )


ARTICLES: Final = (
    article(RETURNS, QUESTION, f"{RETURNS_SENTENCE} We refund the price to the card you paid with."),
    article("gift-cards", "Gift cards", "A gift card is sent by e-mail on the day you choose.", ArticleType.FAQ),
)

ANAS_ORDER: Final = Order(
    order_id=ORDER,
    customer_id=ANA,
    status="processing",
    placed_at=datetime(2026, 3, 1, 10, 0, tzinfo=UTC),
    lines=(
        OrderLine(title="Linen shirt", sku="LS-1", quantity=1, unit_price=Money(amount_minor=4900, currency="USD")),
    ),
    total=Money(amount_minor=4900, currency="USD"),
)

GROUNDED: Final = (CheckVerdict(check=Check.GROUNDING, is_passed=True),)
"""What a reviewing model says of a draft it has nothing against."""


def understood(
    intent: CustomerIntent = CustomerIntent.RETURN_EXCHANGE, confidence: float = 0.95, **more: object
) -> Classification:
    """Build a classification."""
    return Classification.model_validate({"customer_intent": intent, "confidence": confidence, **more})


def claiming(text: str, *, about: str = RETURNS, confidence: float = 0.9) -> Callable[[ComposeRequest], Draft]:
    """Return a composer's step that claims the text and cites the article as it was retrieved."""

    def compose(request: ComposeRequest) -> Draft:
        cited = [a.ref for a in request.knowledge.articles if a.article_id == about]
        sentence = Sentence(text=MaskedText(text), kind=SentenceKind.CLAIM, refs=tuple(cited))
        return Draft(sentences=(sentence,), language="en", confidence=confidence)

    return compose


TRUE_DRAFT: Final = claiming(RETURNS_SENTENCE)
"""A draft the article bears out."""
FALSE_DRAFT: Final = claiming("You can return unworn items within 60 days of delivery.")
"""The same with a figure that is in no source (fault 019)."""
