"""A customer's earlier tickets, read from the ticket records. Implements TicketHistoryReader. Source: AC-02, ME-05."""

from datetime import datetime, timedelta
from typing import Final

from shared.adapters.records.tickets import TicketRecords
from shared.domain.sources import HistoryLine, ResolvedTicket
from shared.domain.ticket import PersonRow, Ticket, TicketStatus
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope, TenantScope

RESOLVED_WITHIN_DAYS: Final = 365
"""How far back resolved tickets are looked for. Value ours."""
THREAD_LINES: Final = 12
"""Most lines of an earlier thread handed on. Value ours."""
TICKETS_LOOKED_AT: Final = 20
"""Newest tickets of a customer considered. Value ours."""


class HistoryRecords:
    """Earlier conversations of one customer; only ever the scope's own."""

    def __init__(self, tickets: TicketRecords, clock: Clock) -> None:
        self._tickets = tickets
        self._clock = clock

    async def resolved(self, scope: CustomerScope, limit: int) -> tuple[ResolvedTicket, ...]:
        """Return the last resolved tickets, newest first (AC-02)."""
        since = self._clock.now() - timedelta(days=RESOLVED_WITHIN_DAYS)
        ended = [t for t in await self._all(scope, since) if t.status in (TicketStatus.RESOLVED, TicketStatus.CLOSED)]
        return tuple(
            ResolvedTicket(
                conversation_id=t.conversation_id,
                customer_intent=t.issue.partition(":")[0],
                summary="",
                outcome=t.status.value,
                at=t.closed_at or t.updated_at,
            )
            for t in ended[:limit]
        )

    async def recent_thread(self, scope: CustomerScope, since: datetime) -> tuple[HistoryLine, ...]:
        """Return the newest ended thread since the moment, masked, oldest line first (AC-02)."""
        for ticket in await self._all(scope, since):
            if ticket.status in (TicketStatus.RESOLVED, TicketStatus.CLOSED):
                return await self._lines(scope, ticket)
        return ()

    async def open_count(self, scope: CustomerScope) -> int:
        """Return how many of the customer's tickets are open."""
        since = self._clock.now() - timedelta(days=RESOLVED_WITHIN_DAYS)
        return sum(t.status in (TicketStatus.OPEN, TicketStatus.NEEDS_REVIEW) for t in await self._all(scope, since))

    async def _all(self, scope: CustomerScope, since: datetime) -> tuple[Ticket, ...]:
        return await self._tickets.of_customer(
            TenantScope(scope.tenant_id), scope.customer_id, since=since, limit=TICKETS_LOOKED_AT
        )

    async def _lines(self, scope: CustomerScope, ticket: Ticket) -> tuple[HistoryLine, ...]:
        lines: list[HistoryLine] = []
        for row in await self._tickets.latest(TenantScope(scope.tenant_id), ticket.conversation_id, THREAD_LINES):
            if isinstance(row, PersonRow):
                lines.append(HistoryLine(seq=row.seq, role="person", text=row.text))
                continue
            lines.append(HistoryLine(seq=row.seq, role="customer", text=row.masked_text))
            if row.result is not None and row.result.reply is not None:
                lines.append(HistoryLine(seq=row.reply_seq or row.seq, role="assistant", text=row.result.reply))
        return tuple(lines[-THREAD_LINES:])
