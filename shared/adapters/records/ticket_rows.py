"""Ticket rows: what is read of conversations, and the conditional batch every change of one goes through.

Owns where the rows of a conversation lie and how they are found; changes nothing by itself.
Source: design §6 row tickets.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_moment
from shared.domain.errors import AlreadyExists, NotFound, VersionConflict
from shared.domain.ids import ConversationId, CustomerId, MessageId
from shared.domain.ticket import HandoffRow, NoticeRow, PersonRow, ProofRow, ThreadRow, Ticket, TurnRow, TurnStatus
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    Document,
    Documents,
    Operation,
    PlatformScope,
    Query,
    Replace,
    Stored,
    TenantScope,
    Where,
    conversation_partition,
)

CAS_ATTEMPTS: Final = 12
"""Times a conditional write is tried against fresh state before it is reported as a conflict. Value ours."""
ACCEPT_ATTEMPTS: Final = 64
"""The same for accepting a message: of messages that arrive at once, one gets in a round, and all must. Value ours."""
THREAD_PAGE: Final = 200
"""Most rows of one thread page. Value ours."""


def turn_id(message: MessageId) -> str:
    """Return the document id of a turn."""
    return f"turn:{message}"


def proof_id(message: MessageId) -> str:
    """Return the document id of a turn's proof."""
    return f"proof:{message}"


class TicketRows:
    """Conversations of every tenant, one partition each."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def ticket(self, scope: TenantScope, conversation: ConversationId) -> Ticket | None:
        """Return the ticket, or None when the conversation does not exist in this tenant."""
        stored = await self._read(scope, conversation, "ticket")
        return from_stored(Ticket, stored) if stored else None

    async def turn(self, scope: TenantScope, conversation: ConversationId, message: MessageId) -> TurnRow | None:
        """Return the turn row of a message."""
        stored = await self._read(scope, conversation, turn_id(message))
        return from_stored(TurnRow, stored) if stored else None

    async def proof(self, scope: TenantScope, conversation: ConversationId, message: MessageId) -> ProofRow | None:
        """Return the sealed proof of a message's turn; None while it runs, and when it told the customer nothing."""
        stored = await self._read(scope, conversation, proof_id(message))
        return from_stored(ProofRow, stored) if stored else None

    async def thread(
        self, scope: TenantScope, conversation: ConversationId, after_seq: int = 0, limit: int = THREAD_PAGE
    ) -> tuple[ThreadRow, ...]:
        """Return messages after `after_seq`, oldest first: turns with their replies, people's replies and notices."""
        where = (Where("kind", "in", list(_THREAD_ROWS)), Where("seq", ">", after_seq))
        page = await self._query(scope, conversation, where, limit=limit)
        return tuple(_thread_row(item) for item in page)

    async def latest(self, scope: TenantScope, conversation: ConversationId, limit: int) -> tuple[ThreadRow, ...]:
        """Return the newest `limit` messages, oldest first: what a window of turns is cut from."""
        where = (Where("kind", "in", list(_THREAD_ROWS)),)
        page = await self._query(scope, conversation, where, limit=limit, is_descending=True)
        return tuple(_thread_row(item) for item in reversed(page))

    async def unanswered(self, scope: TenantScope, ticket: Ticket, up_to_seq: int) -> tuple[TurnRow, ...]:
        """Return the customer's messages that nothing has answered yet, oldest first."""
        where = (Where("kind", "=", "turn"), Where("seq", ">", ticket.answered_seq), Where("seq", "<=", up_to_seq))
        page = await self._query(scope, ticket.conversation_id, where, limit=50)
        return tuple(from_stored(TurnRow, item) for item in page)

    async def of_customer(
        self, scope: TenantScope, customer: CustomerId, *, since: datetime, limit: int
    ) -> tuple[Ticket, ...]:
        """Return the customer's tickets touched since the moment, newest first."""
        page = await self._documents.query(
            Container.TICKETS,
            scope,
            Query(
                partition=None,
                where=(
                    Where("kind", "=", "ticket"),
                    Where("customer_id", "=", customer),
                    Where("updated_at", ">=", to_moment(since)),
                ),
                order_by="updated_at",
                is_descending=True,
                limit=limit,
                reason="tickets are partitioned by conversation; a customer has few",
            ),
        )
        return tuple(from_stored(Ticket, item) for item in page.items)

    async def accepted_not_started(self, before: datetime, limit: int) -> tuple[TurnRow, ...]:
        """Return turns of every tenant that were accepted before the moment and never started, oldest first."""
        return await self._left_behind(TurnStatus.ACCEPTED, before, limit, "sweeper restarts turns whose starter died")

    async def started_not_done(self, before: datetime, limit: int) -> tuple[TurnRow, ...]:
        """Return turns of every tenant that were accepted before the moment, started and never ended, oldest first."""
        return await self._left_behind(TurnStatus.STARTED, before, limit, "sweeper finds turns whose flow died")

    async def unprojected_handoffs(self, before: datetime, limit: int) -> tuple[HandoffRow, ...]:
        """Return handoffs of every tenant whose case was never acknowledged (sweeper)."""
        page = await self._documents.query(
            Container.TICKETS,
            PlatformScope("sweeper finishes handoffs whose flow died"),
            Query(
                partition=None,
                where=(
                    Where("kind", "=", "handoff"),
                    Where("is_projected", "=", False),
                    Where("at", "<", to_moment(before)),
                ),
                order_by="at",
                limit=limit,
                reason="sweep over all conversations",
            ),
        )
        return tuple(from_stored(HandoffRow, item) for item in page.items)

    async def _left_behind(self, status: TurnStatus, before: datetime, limit: int, why: str) -> tuple[TurnRow, ...]:
        page = await self._documents.query(
            Container.TICKETS,
            PlatformScope(why),
            Query(
                partition=None,
                where=(
                    Where("kind", "=", "turn"),
                    Where("status", "=", status.value),
                    Where("accepted_at", "<", to_moment(before)),
                ),
                order_by="accepted_at",
                limit=limit,
                reason="sweep over all conversations",
            ),
        )
        return tuple(from_stored(TurnRow, item) for item in page.items)

    async def _both(
        self, scope: TenantScope, conversation: ConversationId, message: MessageId
    ) -> tuple[tuple[Stored, Ticket], tuple[Stored, TurnRow]]:
        """Return ticket and turn row, read at the same time; what they say together is checked by the batch's ETags."""
        return await asyncio.gather(self._ticket(scope, conversation), self._row(scope, conversation, message))

    async def _ticket(self, scope: TenantScope, conversation: ConversationId) -> tuple[Stored, Ticket]:
        stored = await self._read(scope, conversation, "ticket")
        if stored is None:
            raise NotFound(f"conversation {conversation!r} does not exist")
        return stored, from_stored(Ticket, stored)

    async def _row(
        self, scope: TenantScope, conversation: ConversationId, message: MessageId
    ) -> tuple[Stored, TurnRow]:
        stored = await self._read(scope, conversation, turn_id(message))
        if stored is None:
            raise NotFound(f"message {message!r} does not exist")
        return stored, from_stored(TurnRow, stored)

    async def _read(self, scope: TenantScope, conversation: ConversationId, id: str) -> Stored | None:
        return await self._documents.read(Container.TICKETS, scope, conversation_partition(scope, conversation), id)

    async def _replace(self, scope: TenantScope, conversation: ConversationId, document: Document, etag: str) -> None:
        await self._documents.batch(
            Container.TICKETS, scope, conversation_partition(scope, conversation), (Replace(document, etag),)
        )

    async def _try_batch(
        self, scope: TenantScope, conversation: ConversationId, operations: Sequence[Operation]
    ) -> bool:
        try:
            await self._documents.batch(
                Container.TICKETS, scope, conversation_partition(scope, conversation), operations
            )
        except (VersionConflict, AlreadyExists):
            return False
        return True

    async def _query(
        self,
        scope: TenantScope,
        conversation: ConversationId,
        where: tuple[Where, ...],
        *,
        limit: int,
        is_descending: bool = False,
    ) -> tuple[Stored, ...]:
        query = Query(
            partition=conversation_partition(scope, conversation),
            where=where,
            order_by="seq",
            is_descending=is_descending,
            limit=limit,
        )
        return (await self._documents.query(Container.TICKETS, scope, query)).items


def _thread_row(stored: Stored) -> ThreadRow:
    return from_stored(_THREAD_ROWS[str(stored.body["kind"])], stored)


_THREAD_ROWS: Final[Mapping[str, type[ThreadRow]]] = {"turn": TurnRow, "person": PersonRow, "notice": NoticeRow}
"""Kind of a row → what it holds."""
