"""Evidence: pinned article passages, the customer's own records, and how a reply cites them.

Source: KB-10, CO-03, AC-01, design §5 "Grounding".
"""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from shared.domain.ids import ArticleId, CustomerId, OrderId, SourceRef, article_ref, order_ref
from shared.domain.intents import ArticleType
from shared.domain.money import Money
from shared.domain.read_only import FrozenMap, ReadOnlyMap
from shared.domain.text import MaskedText, PublishedText
from shared.domain.wire_model import Wire


class RetrievalPath(StrEnum):
    """Which rung of the search ladder served (KB-09)."""

    HYBRID = "hybrid"
    VECTOR_ONLY = "vector_only"
    KEYWORD_ONLY = "keyword_only"
    EMPTY = "empty"


class RetrievedArticle(Wire):
    """One pinned search result."""

    article_id: ArticleId
    version: int = Field(ge=1)
    type: ArticleType
    title: PublishedText
    content: PublishedText
    """The passage handed on, within the context budget (KB-07)."""
    attributes: ReadOnlyMap[str, str] = Field(default_factory=FrozenMap)
    """Typed facts of a product: price, sku, availability and the like."""
    relevance: float = Field(ge=0, le=1)
    """Normalised reciprocal rank fusion value (KB-05): order, not truth."""
    similarity: float | None = None
    """Raw cosine with the query, where a vector was compared."""
    is_identifier_match: bool = False
    is_strong: bool = False
    """Relevance ≥ 0.7 (KB-07)."""

    @property
    def ref(self) -> SourceRef:
        """The reference that pins this version."""
        return article_ref(self.article_id, self.version)


class Passage(Wire):
    """What one source says, for a person to compare."""

    ref: SourceRef
    text: str


class OrderLine(Wire):
    """One line of an order."""

    title: str
    sku: str
    quantity: int = Field(ge=1)
    unit_price: Money
    variant: str = ""
    line_id: str = ""
    """The shop's own id of the line; where there is none the SKU stands for it."""
    refundable_quantity: int | None = Field(default=None, ge=0)
    """How many of it can still be refunded; None where the shop does not say."""


class Shipment(Wire):
    """A parcel of an order."""

    carrier: str = ""
    tracking_number: str = ""
    tracking_url: str = ""
    status: str = ""
    """As the shop says it: label_created, in_transit, out_for_delivery, delivered, …"""
    last_scan_at: datetime | None = None
    """When the carrier last reported the parcel; `status` is what it said."""
    expected_on: datetime | None = None
    delivered_at: datetime | None = None


class Order(Wire):
    """An order of one customer, as the shop's own system reports it."""

    order_id: OrderId
    customer_id: CustomerId
    status: str
    """open, processing, shipped, delivered, cancelled, return_requested, refunded, …"""
    placed_at: datetime | None = None
    lines: tuple[OrderLine, ...] = ()
    total: Money
    refunded: Money | None = None
    shipments: tuple[Shipment, ...] = ()
    payment: str = ""
    """How it was paid, e.g. "card" or "PayPal"; never a number."""
    as_of: datetime | None = None
    """When the shop's system said so."""

    @property
    def ref(self) -> SourceRef:
        """The reference a reply cites."""
        return order_ref(self.order_id)


class BillingEvent(Wire):
    """A charge, refund or credit on the customer's account."""

    event_id: str
    kind: str
    """charge, refund, credit"""
    amount: Money
    order_id: OrderId | None = None
    at: datetime


class Profile(Wire):
    """L1 customer context (ME-01). Holds no contact data."""

    customer_id: CustomerId
    name: str = ""
    plan: str = ""
    language: str = ""
    is_vip: bool = False
    is_churn_risk: bool = False
    preferences: ReadOnlyMap[str, str] = Field(default_factory=FrozenMap)


class ResolvedTicket(Wire):
    """What an earlier ticket was about and how it ended (ME-06)."""

    conversation_id: str
    customer_intent: str
    summary: str
    outcome: str
    at: datetime


class HistoryLine(Wire):
    """One earlier message of this conversation, masked."""

    seq: int
    role: str
    """customer, assistant or person"""
    text: MaskedText
