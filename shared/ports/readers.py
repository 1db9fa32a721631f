"""What may be read, by capability. Holding one of these gives no way to change anything. Source: design §2, AC-01."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from shared.domain.actions import Action, Effect, OrderProposal, Quote
from shared.domain.deltas import Knowledge
from shared.domain.ids import ArticleId, ConversationId, OrderId, SourceRef
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.ledger import Chain
from shared.domain.policy import TenantPolicy
from shared.domain.search_figures import SearchFigures
from shared.domain.sources import BillingEvent, HistoryLine, Order, Profile, ResolvedTicket
from shared.domain.text import MaskedText
from shared.ports.documents import CustomerScope, TenantScope


class AccountReader(Protocol):
    """The shop's records of one customer: Shopify's Admin API, or the embedded shop. Only ever the scope's own."""

    async def profile(self, scope: CustomerScope) -> Profile | None:
        """Return the customer's L1 profile, or None when the shop does not know them."""
        ...

    async def order(self, scope: CustomerScope, order: OrderId) -> Order | None:
        """Return the order if it is this customer's; None for foreign and absent orders alike."""
        ...

    async def recent_orders(self, scope: CustomerScope, limit: int) -> tuple[Order, ...]:
        """Return the newest orders first."""
        ...

    async def billing_events(self, scope: CustomerScope, since: datetime) -> tuple[BillingEvent, ...]:
        """Return charges, refunds and credits since the moment, newest first."""
        ...


class BillingReader(Protocol):
    """What may be asked of the shop before and after an action. Raises (every method): Unavailable, RateLimited."""

    async def quote(self, scope: CustomerScope, proposal: OrderProposal) -> Quote | None:
        """Return what the proposal would move now; None when the order is not this customer's, or is not there."""
        ...

    async def find_effect(self, scope: CustomerScope, action: Action) -> Effect | None:
        """Return what the shop did for this action, or None when it is certain that it did nothing.

        Raises: Unavailable, RateLimited, IntegrationError when that cannot be known: never None for "don't know".
        """
        ...


class Tombstones(Protocol):
    """Who was erased."""

    async def is_erased(self, scope: CustomerScope) -> bool:
        """Tell whether the customer was erased and has not come back since. Raises: Unavailable, RateLimited."""
        ...


class ActionReader(Protocol):
    """Actions of an account, and what a shop has paid before."""

    async def get(self, scope: CustomerScope, action_id: str) -> Action | None:
        """Return the action, or None."""
        ...

    async def under_way(self, scope: CustomerScope) -> tuple[Action, ...]:
        """Return the account's actions that were started and whose end is not known, oldest first.

        One whose start was undone is among them: its call may have arrived after the shop was read.
        """
        ...

    async def spent_minor(self, scope: CustomerScope, currency: str, *, since: datetime, without: str) -> int:
        """Return the account's rolling sum: amounts of counted actions since the moment, one action left out."""
        ...

    async def payments(self, scope: CustomerScope, *, since: datetime, without: str) -> int:
        """Return how many billing actions of the account count since the moment, one action left out."""
        ...

    async def past_amounts(self, scope: TenantScope, currency: str, *, since: datetime) -> tuple[int, ...]:
        """Return the amounts the shop has paid since the moment, newest first, bounded (anomaly monitor)."""
        ...


@dataclass(frozen=True, slots=True)
class CustomerHistory:
    """A customer's earlier tickets, as far as a turn needs them (AC-02)."""

    resolved: tuple[ResolvedTicket, ...] = ()
    """The last resolved tickets, newest first."""
    recent_thread: tuple[HistoryLine, ...] = ()
    """The newest ended thread since the asked moment, masked, oldest line first."""
    open_tickets: int = 0


class TicketHistoryReader(Protocol):
    """Earlier tickets of one customer."""

    async def recall(self, scope: CustomerScope, *, resolved: int, thread_since: datetime | None) -> CustomerHistory:
        """Return at most `resolved` ended tickets, and the newest ended thread since the moment if one is asked."""
        ...


class LedgerReader(Protocol):
    """The interaction ledger, one conversation's chain at a time (ME-06)."""

    async def chain(self, scope: TenantScope, conversation: ConversationId) -> Chain:
        """Return the conversation's chain as it is stored, whether or not it is intact. Raises: Unavailable."""
        ...


class PolicyReader(Protocol):
    """The tenant's policy in force."""

    async def policy(self, scope: TenantScope) -> TenantPolicy:
        """Return the current version; the default policy when none was saved."""
        ...


class ArticleSearch(Protocol):
    """Hybrid search over one tenant's published articles (KB-05…09)."""

    async def search(
        self,
        scope: TenantScope,
        query: MaskedText,
        *,
        intent: CustomerIntent | None,
        types: Sequence[ArticleType],
        top_k: int,
    ) -> Knowledge:
        """Return pinned results within the context budget, the path that served and the absolute confidence.

        `types` are preferred kinds, not a filter that may empty the result. Never raises for a failing rung: it
        degrades and records the path; an empty result has confidence 0.
        """
        ...

    async def warm(self, scope: TenantScope) -> None:
        """Load what the tenant's first search would have to load (KB-13, LA-01). Never raises, waits no longer."""
        ...

    def figures(self) -> SearchFigures:
        """Return what this process has counted since it began: paths, cache hits, indexes, lag."""
        ...


class PinnedArticles(Protocol):
    """Whether pinned versions are still the current ones (KB-10)."""

    async def stale_refs(self, scope: TenantScope, refs: Sequence[SourceRef]) -> tuple[SourceRef, ...]:
        """Return the article refs among `refs` whose article has changed or gone since."""
        ...

    async def current_version(self, scope: TenantScope, article: ArticleId) -> int | None:
        """Return the published version, or None."""
        ...
