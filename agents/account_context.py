"""Account context: pulls the proven customer's own records, all at once; read-only.

Must never change anything, and never sees another customer: its scope is the proven identity. Source: S2 §1, AC-01/02.
"""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Final, TypeVar

from shared.domain.deltas import Account, AccountDelta, Snapshot
from shared.domain.entities import extract_entities
from shared.domain.errors import VouchError
from shared.domain.ids import OrderId
from shared.domain.intents import NEEDS, CustomerIntent
from shared.domain.sources import Order
from shared.domain.ticket import REPEAT_CONTACT_DAYS
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope
from shared.ports.readers import AccountReader, CustomerHistory, TicketHistoryReader

RESOLVED_TICKETS: Final = 3
"""Earlier resolved tickets loaded on intake. Source: AC-02."""
BILLING_DAYS: Final = 90
"""Days of billing events loaded on a billing intent. Source: AC-02."""
RECENT_ORDERS: Final = 3
"""Newest orders shown when the message names none. Value ours."""
MAX_NAMED_ORDERS: Final = 5
"""Most orders looked up for one message: a list of numbers is not a way to probe. Value ours."""

T = TypeVar("T")


async def read_account(
    snapshot: Snapshot,
    *,
    base_version: int,
    intent: CustomerIntent | None,
    accounts: AccountReader,
    history: TicketHistoryReader,
    clock: Clock,
) -> AccountDelta:
    """Return what the shop knows of the proven customer, as far as this turn needs it.

    An anonymous visitor gets an empty account whose named orders are all missing: no identity, no data (GW-03).
    Raises: VouchError only when the orders themselves cannot be read; other pulls degrade to is_complete = False.
    """
    named = extract_entities(snapshot.message, answers_which_order=snapshot.has_clarified).order_refs
    wanted = named[:MAX_NAMED_ORDERS]
    if snapshot.customer_id is None:
        return AccountDelta(
            base_version=base_version, confidence=1.0, account=Account(missing_order_refs=wanted, is_complete=True)
        )
    scope = CustomerScope(snapshot.tenant_id, snapshot.customer_id)
    now = clock.now()
    is_billing = intent is not None and NEEDS[intent].is_billing
    # The earlier thread matters when the customer has just come back, not in the middle of a conversation.
    thread_since = now - timedelta(days=REPEAT_CONTACT_DAYS) if snapshot.is_first_reply else None
    (found, missing), profile, earlier, billing = await asyncio.gather(
        _orders(accounts, scope, wanted),
        _or_none(accounts.profile(scope)),
        _or_none(history.recall(scope, resolved=RESOLVED_TICKETS, thread_since=thread_since)),
        _or_none(accounts.billing_events(scope, now - timedelta(days=BILLING_DAYS)) if is_billing else _nothing()),
    )
    past = earlier[0] if earlier else CustomerHistory()
    account = Account(
        profile=profile[0] if profile else None,
        orders=found,
        missing_order_refs=missing,
        resolved_tickets=past.resolved,
        billing_events=billing[0] if billing else (),
        prior_thread=past.recent_thread,
        open_tickets=past.open_tickets,
        is_complete=None not in (profile, earlier, billing),
    )
    return AccountDelta(
        base_version=base_version,
        confidence=1.0 if account.is_complete else 0.5,
        source_refs=tuple(order.ref for order in found),
        account=account,
    )


async def _orders(
    accounts: AccountReader, scope: CustomerScope, wanted: tuple[OrderId, ...]
) -> tuple[tuple[Order, ...], tuple[OrderId, ...]]:
    """Return the named orders that are the customer's, and those that are not; without names the newest ones."""
    if not wanted:
        return await accounts.recent_orders(scope, RECENT_ORDERS), ()
    looked_up = await asyncio.gather(*(accounts.order(scope, ref) for ref in wanted))
    found = tuple(order for order in looked_up if order is not None)
    missing = tuple(ref for ref, order in zip(wanted, looked_up, strict=True) if order is None)
    return found, missing


async def _or_none(pull: Awaitable[T]) -> tuple[T] | None:
    """Return the pull's value boxed, or None when the integration failed: a missing side pull never fails the turn."""
    try:
        return (await pull,)
    except VouchError:
        return None


async def _nothing() -> tuple[()]:
    return ()
