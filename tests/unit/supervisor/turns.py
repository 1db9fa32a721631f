"""Turns as a test needs them: one shop's articles, two customers' orders, drafts of plain sentences."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from shared.domain.deltas import Account, Classification, Entities, Knowledge, Metadata, Snapshot, TurnState
from shared.domain.drafts import CheckVerdict, Draft, Sentence, SentenceKind
from shared.domain.ids import ArticleId, ConversationId, CustomerId, InstanceId, MessageId, OrderId, SourceRef, TenantId
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.money import Money
from shared.domain.policy import TenantPolicy
from shared.domain.sources import HistoryLine, Order, OrderLine, RetrievedArticle, Shipment
from shared.domain.text import MaskedText, ModelText, PublishedText
from shared.ports.models import ReviewRequest, ScreenVerdict

NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
POLICY: Final = TenantPolicy(shop_name="Lumen")
RETURNS: Final = SourceRef("article:returns@3")


def article(
    text: str,
    *,
    name: str = "returns",
    title: str = "Returns",
    kind: ArticleType = ArticleType.POLICY,
    version: int = 3,
    **attributes: str,
) -> RetrievedArticle:
    """Return one pinned article."""
    return RetrievedArticle(
        article_id=ArticleId(name),
        version=version,
        type=kind,
        title=PublishedText(title),
        content=PublishedText(text),
        attributes=attributes,
        relevance=0.8,
    )


def order(number: str = "1001", *, owner: str = "ana", status: str = "shipped", refunded: int | None = None) -> Order:
    """Return an order of two kettles by DHL, expected on 16 March 2026."""
    shipment = Shipment(
        carrier="DHL",
        tracking_number="JJD0001234567",
        tracking_url="https://dhl.example/t/JJD0001234567",
        expected_on=datetime(2026, 3, 16, tzinfo=UTC),
        delivered_at=datetime(2026, 3, 14, tzinfo=UTC) if status == "delivered" else None,
    )
    return Order(
        order_id=OrderId(number),
        customer_id=CustomerId(owner),
        status=status,
        placed_at=datetime(2026, 3, 12, tzinfo=UTC),
        lines=(OrderLine(title="Kettle", sku="KT-1", quantity=2, unit_price=Money(amount_minor=1800, currency="USD")),),
        total=Money(amount_minor=4090, currency="USD"),
        refunded=Money(amount_minor=refunded, currency="USD") if refunded is not None else None,
        shipments=(shipment,) if status in ("shipped", "delivered") else (),
    )


def turn(
    message: str = "hello",
    *,
    articles: Sequence[RetrievedArticle] = (),
    orders: Sequence[Order] = (),
    missing: Sequence[str] = (),
    named: Sequence[str] = (),
    intent: CustomerIntent = CustomerIntent.RETURN_EXCHANGE,
    language: str = "en",
    customer: str | None = "ana",
    is_first_reply: bool = False,
    history: Sequence[HistoryLine] = (),
    social: str = "",
    draft: Draft | None = None,
) -> TurnState:
    """Return a turn's state after classification, retrieval and account context."""
    snapshot = Snapshot(
        conversation_id=ConversationId("c1"),
        tenant_id=TenantId("t1"),
        message=MaskedText(message),
        metadata=Metadata(timestamp=NOW, language=language),
        message_id=MessageId("m1"),
        instance_id=InstanceId("t-1"),
        customer_id=CustomerId(customer) if customer else None,
        is_first_reply=is_first_reply,
    )
    if history:
        context = snapshot.context.model_copy(update={"history": tuple(history)})
        snapshot = snapshot.model_copy(update={"context": context})
    found = Classification(
        customer_intent=intent,
        confidence=0.9,
        language=language,
        entities=Entities(order_refs=tuple(OrderId(n) for n in named)),
        is_social=bool(social),
        social=social,
    )
    return TurnState(
        snapshot=snapshot,
        classification=found,
        knowledge=Knowledge(articles=tuple(articles), confidence=0.8),
        account=Account(orders=tuple(orders), missing_order_refs=tuple(OrderId(m) for m in missing)),
        draft=draft,
    )


def claim(text: str, *refs: str) -> Sentence:
    """Return a claim citing the references, the returns article when none is given."""
    return Sentence(
        text=MaskedText(text), kind=SentenceKind.CLAIM, refs=tuple(map(SourceRef, refs)) if refs else (RETURNS,)
    )


def plain(text: str, kind: SentenceKind = SentenceKind.SOCIAL) -> Sentence:
    """Return a sentence that cites nothing."""
    return Sentence(text=MaskedText(text), kind=kind)


def draft(*sentences: Sentence, language: str = "en", confidence: float = 0.9) -> Draft:
    """Return a draft of the sentences."""
    return Draft(sentences=sentences, language=language, confidence=confidence)


class Opinion:
    """A review model that says what it is told to, or fails."""

    def __init__(self, *verdicts: CheckVerdict, error: Exception | None = None) -> None:
        self.verdicts = verdicts
        self.error = error
        self.asked: list[ReviewRequest] = []

    async def review(self, request: ReviewRequest) -> tuple[CheckVerdict, ...]:
        """Return the verdicts or raise the error."""
        self.asked.append(request)
        if self.error:
            raise self.error
        return self.verdicts


class Screen:
    """A safety screen that says what it is told to, or fails."""

    def __init__(self, *categories: str, error: Exception | None = None) -> None:
        self.categories = categories
        self.error = error

    async def screen(self, texts: Sequence[ModelText]) -> ScreenVerdict:
        """Return the verdict or raise the error."""
        if self.error:
            raise self.error
        return ScreenVerdict(is_blocked=bool(self.categories), categories=self.categories)
