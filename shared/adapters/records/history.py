"""A customer's earlier tickets, read from the ticket records. Implements TicketHistoryReader. Source: AC-02, ME-05."""

from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.tickets import TicketRecords
from shared.domain.sources import HistoryLine, ResolvedTicket
from shared.domain.thread import to_lines
from shared.domain.ticket import Ticket, TicketStatus
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.readers import CustomerHistory

LOOK_BACK_DAYS: Final = 365
"""How far back a customer's tickets are looked for. Value ours."""
THREAD_LINES: Final = 12
"""Most lines of an earlier thread handed on. Value ours."""
TICKETS_LOOKED_AT: Final = 20
"""Newest tickets of a customer considered. Value ours."""


class HistoryRecords:
    """Earlier conversations of one customer; only ever the scope's own."""

    def __init__(self, tickets: TicketRecords, clock: Clock) -> None:
        self._tickets = tickets
        self._clock = clock

    async def recall(self, scope: CustomerScope, *, resolved: int, thread_since: datetime | None) -> CustomerHistory:
        """Return at most `resolved` ended tickets, and the newest ended thread since the moment if one is asked."""
        since = self._clock.now() - timedelta(days=LOOK_BACK_DAYS)
        tickets = await self._tickets.of_customer(
            TenantScope(scope.tenant_id), scope.customer_id, since=since, limit=TICKETS_LOOKED_AT
        )
        ended = [t for t in tickets if t.status in (TicketStatus.RESOLVED, TicketStatus.CLOSED)]
        latest = next((t for t in ended if thread_since is not None and t.updated_at >= thread_since), None)
        return CustomerHistory(
            resolved=tuple(_resolved(t) for t in ended[:resolved]),
            recent_thread=await self._lines(scope, latest) if latest is not None else (),
            open_tickets=len(tickets) - len(ended),
        )

    async def _lines(self, scope: CustomerScope, ticket: Ticket) -> tuple[HistoryLine, ...]:
        rows = await self._tickets.latest(TenantScope(scope.tenant_id), ticket.conversation_id, THREAD_LINES)
        return tuple(line for row in rows for line in to_lines(row))[-THREAD_LINES:]


def _resolved(ticket: Ticket) -> ResolvedTicket:
    return ResolvedTicket(
        conversation_id=ticket.conversation_id,
        customer_intent=ticket.issue.partition(":")[0],
        summary="",
        outcome=ticket.status.value,
        at=ticket.closed_at or ticket.updated_at,
    )
