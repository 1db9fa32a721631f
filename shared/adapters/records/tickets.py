"""Ticket records: everything of one conversation that must commit together, in its own partition.

Owns how a message is accepted and what people do to a conversation; settling, notices and reading are inherited.
It refuses what the ticket's owner or status forbids. Source: design §3, §6, PR-03, faults 010, 011.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.notices import Notices
from shared.adapters.records.ticket_changes import Settled
from shared.adapters.records.ticket_rows import ACCEPT_ATTEMPTS, CAS_ATTEMPTS, turn_id
from shared.domain.errors import AlreadyExists, NotFound, SchemaError, StalenessError, VersionConflict
from shared.domain.ids import ConversationId, CustomerId, InstanceId, MessageId
from shared.domain.text import MaskedText
from shared.domain.ticket import OutboxRow, PersonRow, Ticket, TurnRow, TurnStatus
from shared.domain.transitions import TicketOp, after
from shared.ports.documents import Container, Create, Operation, Replace, TenantScope, Where, conversation_partition

MAX_FRESH_STARTS: Final = 50
"""Most turns whose attempts begin anew with a release; fewer than a batch holds. Value ours."""

__all__ = ["Accepted", "Arrival", "MessageIdReused", "Settled", "TicketRecords"]


class MessageIdReused(SchemaError):
    """The same message id was sent before with another body (GW-04)."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message as it is accepted: masked, hashed, identified."""

    conversation_id: ConversationId
    message_id: MessageId
    instance_id: InstanceId
    masked_text: MaskedText
    body_hmac: str
    channel: str
    language: str
    trace_id: str
    customer_id: CustomerId | None
    secret_hash: str
    is_opening: bool = False
    """The sender saw no conversation of this id: if there is one now, it must be this sender's own."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The turn row in force, and whether this call created it."""

    row: TurnRow
    ticket: Ticket
    is_new: bool


class TicketRecords(Notices):
    """Conversations of every tenant, one partition each."""

    async def accept(self, scope: TenantScope, arrival: Arrival) -> Accepted:
        """Write the turn row and move the ticket's sequence in one batch; the same message id gives the same turn.

        Raises: MessageIdReused for the same id with another body; NotFound when somebody else opened the conversation
        while this message was on its way; VersionConflict after ACCEPT_ATTEMPTS lost races.
        """
        partition = conversation_partition(scope, arrival.conversation_id)
        for _ in range(ACCEPT_ATTEMPTS):
            stored, known = await asyncio.gather(
                self._read(scope, arrival.conversation_id, "ticket"),
                self._read(scope, arrival.conversation_id, turn_id(arrival.message_id)),
            )
            if known is not None and stored is not None:
                row = from_stored(TurnRow, known)
                if row.body_hmac != arrival.body_hmac:
                    raise MessageIdReused(f"message id {arrival.message_id!r} was used with another body")
                return Accepted(row, from_stored(Ticket, stored), is_new=False)
            if stored is not None and arrival.is_opening and not _is_opener(from_stored(Ticket, stored), arrival):
                raise NotFound(f"conversation {arrival.conversation_id!r} was opened by somebody else meanwhile")
            now = self._clock.now()
            ticket = from_stored(Ticket, stored) if stored else self._new_ticket(scope, arrival, now)
            ticket = self._with_message(ticket, arrival, now)
            row = TurnRow(
                id=turn_id(arrival.message_id),
                tenant_id=scope.tenant_id,
                conversation_id=arrival.conversation_id,
                customer_id=ticket.customer_id,
                message_id=arrival.message_id,
                seq=ticket.last_customer_seq,
                instance_id=arrival.instance_id,
                masked_text=arrival.masked_text,
                body_hmac=arrival.body_hmac,
                channel=arrival.channel,
                language=arrival.language,
                trace_id=arrival.trace_id,
                accepted_at=now,
            )
            write = Replace(to_document(ticket), stored.etag) if stored else Create(to_document(ticket))
            try:
                await self._documents.batch(Container.TICKETS, scope, partition, (write, Create(to_document(row))))
            except (VersionConflict, AlreadyExists, NotFound):
                continue
            return Accepted(row, ticket, is_new=True)
        raise VersionConflict(f"conversation {arrival.conversation_id!r} is changing too fast to accept a message")

    async def mark_started(self, scope: TenantScope, row: TurnRow) -> None:
        """Record that the turn's instance runs, so that the sweeper leaves it alone. Losing a race is success."""
        stored = await self._read(scope, row.conversation_id, row.id)
        if stored is None:
            return
        current = from_stored(TurnRow, stored)
        if current.status is TurnStatus.DONE:
            return
        started = current.model_copy(update={"status": TurnStatus.STARTED, "starts": current.starts + 1})
        try:
            await self._replace(scope, row.conversation_id, to_document(started), stored.etag)
        except StalenessError:
            return

    async def bind_customer(self, scope: TenantScope, conversation: ConversationId, customer: CustomerId) -> None:
        """Bind an anonymous conversation to a customer who proved both, once (design §7)."""
        stored, ticket = await self._ticket(scope, conversation)
        if ticket.customer_id is not None:
            if ticket.customer_id != customer:
                raise StalenessError(f"conversation {conversation!r} belongs to another customer")
            return
        bound = ticket.model_copy(
            update={"customer_id": customer, "version": ticket.version + 1, "updated_at": self._clock.now()}
        )
        await self._replace(scope, conversation, to_document(bound), stored.etag)

    async def add_person_reply(
        self, scope: TenantScope, conversation: ConversationId, text: MaskedText, *, author: str, reply_id: str
    ) -> PersonRow:
        """Append a person's reply and its outbox row in one batch; the same reply_id appends once.

        Raises: StalenessError when no person owns the conversation.
        """
        for _ in range(CAS_ATTEMPTS):
            known = await self._read(scope, conversation, f"person:{reply_id}")
            if known is not None:
                return from_stored(PersonRow, known)
            stored, ticket = await self._ticket(scope, conversation)
            owner, status = after(TicketOp.PERSON_REPLIES, ticket.owner, ticket.status)
            now = self._clock.now()
            seq = ticket.last_seq + 1
            moved = ticket.model_copy(
                update={
                    "owner": owner,
                    "status": status,
                    "last_seq": seq,
                    "answered_seq": ticket.last_customer_seq,
                    "first_unanswered_at": None,
                    "version": ticket.version + 1,
                    "updated_at": now,
                }
            )
            row = PersonRow(
                id=f"person:{reply_id}",
                tenant_id=scope.tenant_id,
                conversation_id=conversation,
                customer_id=ticket.customer_id,
                seq=seq,
                text=text,
                author=author,
                at=now,
            )
            out = OutboxRow(
                id=f"out:p{seq}",
                tenant_id=scope.tenant_id,
                conversation_id=conversation,
                customer_id=ticket.customer_id,
                seq=seq,
                text=text,
                at=now,
            )
            operations = (
                Replace(to_document(moved), stored.etag),
                Create(to_document(row)),
                Create(to_document(out)),
            )
            if await self._try_batch(scope, conversation, operations):
                return row
        raise VersionConflict(f"conversation {conversation!r} is changing too fast for a reply")

    async def move(self, scope: TenantScope, conversation: ConversationId, op: TicketOp) -> Ticket:
        """Release, resolve or close by the table of transitions. Raises: StalenessError when it is not legal."""
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            owner, status = after(op, ticket.owner, ticket.status)
            now = self._clock.now()
            update: dict[str, object] = {
                "owner": owner,
                "status": status,
                "version": ticket.version + 1,
                "updated_at": now,
            }
            if op in (TicketOp.RESOLVE, TicketOp.CLOSE):
                update |= {"closed_at": now, "contacts_on_issue": 0, "has_clarified": False}
            if op in (TicketOp.RELEASE, TicketOp.RESOLVE):
                # A message whose turn has not ended is nobody's yet: the bot has the conversation, the bot answers it.
                settled = max(ticket.answered_seq, ticket.committed_seq)
                update |= {
                    "case_id": None,
                    "answered_seq": settled,
                    "first_unanswered_at": now if settled < ticket.last_customer_seq else None,
                    "superseded_run": 0,
                }
            moved = ticket.model_copy(update=update)
            operations: list[Operation] = [Replace(to_document(moved), stored.etag)]
            if op is TicketOp.RELEASE:
                operations += await self._fresh_starts(scope, moved)
            if await self._try_batch(scope, conversation, operations):
                return moved
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to {op.value}")

    async def _fresh_starts(self, scope: TenantScope, ticket: Ticket) -> list[Operation]:
        """Return the writes that let turns the bot still owes begin anew: what died before counts no more (RK-03)."""
        where = (Where("kind", "=", "turn"), Where("seq", ">", ticket.answered_seq))
        rows = await self._query(scope, ticket.conversation_id, where, limit=MAX_FRESH_STARTS)
        owed = [(stored, from_stored(TurnRow, stored)) for stored in rows]
        return [
            Replace(to_document(row.model_copy(update={"starts": 0})), stored.etag)
            for stored, row in owed
            if row.status is not TurnStatus.DONE and row.starts
        ]

    def _new_ticket(self, scope: TenantScope, arrival: Arrival, now: datetime) -> Ticket:
        return Ticket(
            tenant_id=scope.tenant_id,
            conversation_id=arrival.conversation_id,
            customer_id=arrival.customer_id,
            secret_hash=arrival.secret_hash,
            channel=arrival.channel,
            opened_at=now,
            updated_at=now,
        )

    def _with_message(self, ticket: Ticket, arrival: Arrival, now: datetime) -> Ticket:
        owner, status = after(TicketOp.ACCEPT, ticket.owner, ticket.status)
        seq = ticket.last_seq + 1
        update: dict[str, object] = {
            "owner": owner,
            "status": status,
            "last_seq": seq,
            "last_customer_seq": seq,
            "first_unanswered_at": ticket.first_unanswered_at or now,
            "closed_at": None,
            "updated_at": now,
        }
        if status is not ticket.status:
            update["version"] = ticket.version + 1
        return ticket.model_copy(update=update)


def _is_opener(ticket: Ticket, arrival: Arrival) -> bool:
    """Tell whether the conversation was opened by who sends this: two strangers may choose one id at once (GW-03)."""
    return (ticket.customer_id, ticket.secret_hash) == (arrival.customer_id, arrival.secret_hash)
