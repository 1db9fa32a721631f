"""Ticket records: everything of one conversation that must commit together, in its own partition.

Owns the conditional writes of a turn's life: accept, commit, deliver, hand over. Decides nothing about content; it
refuses what the ticket's version, owner or sequence forbids. Source: design §3, §6, PR-03, faults 004, 005, 009–012.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from shared.adapters.records.codec import from_stored, to_document, to_moment
from shared.domain.errors import AlreadyExists, NotFound, SchemaError, StalenessError, VersionConflict
from shared.domain.ids import CaseId, ConversationId, CustomerId, InstanceId, MessageId
from shared.domain.text import MaskedText
from shared.domain.ticket import (
    COMMIT_HOLD_S,
    SUPERSEDE_AT_MOST,
    SUPERSEDE_WITHIN_S,
    HandoffRow,
    OutboxRow,
    Outcome,
    Owner,
    PersonRow,
    Ticket,
    TurnResult,
    TurnRow,
    TurnStatus,
)
from shared.domain.transitions import TicketOp, after
from shared.ports.clock import Clock
from shared.ports.documents import (
    Container,
    Create,
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
THREAD_PAGE: Final = 200
"""Most rows of one thread page. Value ours."""


class MessageIdReused(SchemaError):
    """The same message id was sent before with another body (GW-04)."""


class Settled(StrEnum):
    """What a conditional write of a turn came to."""

    DONE = "done"
    """Written now, or found written by an earlier attempt of the same turn."""
    SUPERSEDED = "superseded"
    PERSON_OWNS = "person_owns"
    STALE = "stale"
    """Something but a new customer message changed the ticket: take a fresh snapshot."""
    BUSY = "busy"
    """An earlier turn has committed and not yet delivered: wait for it."""


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


@dataclass(frozen=True, slots=True)
class Accepted:
    """The turn row in force, and whether this call created it."""

    row: TurnRow
    ticket: Ticket
    is_new: bool


def turn_id(message: MessageId) -> str:
    """Return the document id of a turn."""
    return f"turn:{message}"


def must_answer(ticket: Ticket, now: datetime) -> bool:
    """Tell whether superseding has to stop: too many in a row, or the customer has waited too long (design §3)."""
    waited_s = (now - ticket.first_unanswered_at).total_seconds() if ticket.first_unanswered_at else 0.0
    return ticket.superseded_run >= SUPERSEDE_AT_MOST or waited_s > SUPERSEDE_WITHIN_S


class TicketRecords:
    """Conversations of every tenant, one partition each."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    # ---- reading ------------------------------------------------------------------------------------------------

    async def ticket(self, scope: TenantScope, conversation: ConversationId) -> Ticket | None:
        """Return the ticket, or None when the conversation does not exist in this tenant."""
        stored = await self._read(scope, conversation, "ticket")
        return from_stored(Ticket, stored) if stored else None

    async def turn(self, scope: TenantScope, conversation: ConversationId, message: MessageId) -> TurnRow | None:
        """Return the turn row of a message."""
        stored = await self._read(scope, conversation, turn_id(message))
        return from_stored(TurnRow, stored) if stored else None

    async def thread(
        self, scope: TenantScope, conversation: ConversationId, after_seq: int = 0, limit: int = THREAD_PAGE
    ) -> tuple[TurnRow | PersonRow, ...]:
        """Return messages after `after_seq`, oldest first: customer turns with their replies, and people's replies."""
        where = (Where("kind", "in", ["turn", "person"]), Where("seq", ">", after_seq))
        page = await self._query(scope, conversation, where, limit=limit)
        return tuple(_thread_row(item) for item in page)

    async def latest(
        self, scope: TenantScope, conversation: ConversationId, limit: int
    ) -> tuple[TurnRow | PersonRow, ...]:
        """Return the newest `limit` messages, oldest first: what a window of turns is cut from."""
        where = (Where("kind", "in", ["turn", "person"]),)
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
        """Return turns of every tenant that were accepted before the moment and never started (sweeper)."""
        page = await self._documents.query(
            Container.TICKETS,
            PlatformScope("sweeper restarts turns whose starter died"),
            Query(
                partition=None,
                where=(
                    Where("kind", "=", "turn"),
                    Where("status", "=", TurnStatus.ACCEPTED.value),
                    Where("accepted_at", "<", to_moment(before)),
                ),
                limit=limit,
                reason="sweep over all conversations",
            ),
        )
        return tuple(from_stored(TurnRow, item) for item in page.items)

    # ---- accepting ----------------------------------------------------------------------------------------------

    async def accept(self, scope: TenantScope, arrival: Arrival) -> Accepted:
        """Write the turn row and move the ticket's sequence in one batch; the same message id gives the same turn.

        Raises: MessageIdReused for the same id with another body; VersionConflict after CAS_ATTEMPTS lost races.
        """
        partition = conversation_partition(scope, arrival.conversation_id)
        for _ in range(CAS_ATTEMPTS):
            stored = await self._read(scope, arrival.conversation_id, "ticket")
            known = await self._read(scope, arrival.conversation_id, turn_id(arrival.message_id))
            if known is not None and stored is not None:
                row = from_stored(TurnRow, known)
                if row.body_hmac != arrival.body_hmac:
                    raise MessageIdReused(f"message id {arrival.message_id!r} was used with another body")
                return Accepted(row, from_stored(Ticket, stored), is_new=False)
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
        if current.status is not TurnStatus.ACCEPTED:
            return
        started = current.model_copy(update={"status": TurnStatus.STARTED})
        try:
            await self._replace(scope, row.conversation_id, to_document(started), stored.etag)
        except StalenessError:
            return

    # ---- settling a turn ----------------------------------------------------------------------------------------

    async def commit(self, scope: TenantScope, conversation: ConversationId, seq: int, version: int) -> Settled:
        """Claim the right to act for this turn: after it no newer message supersedes it (design §3)."""
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            if ticket.committed_seq == seq and ticket.answered_seq < seq:
                return Settled.DONE
            blocked = self._blocked(ticket, seq, version)
            if blocked is not None:
                return blocked
            now = self._clock.now()
            committed = ticket.model_copy(update={"committed_seq": seq, "committed_at": now, "updated_at": now})
            try:
                await self._replace(scope, conversation, to_document(committed), stored.etag)
            except VersionConflict:
                continue
            return Settled.DONE
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to commit a turn")

    async def deliver(
        self, scope: TenantScope, conversation: ConversationId, message: MessageId, version: int, result: TurnResult
    ) -> Settled:
        """Write reply, outbox row and ticket in one batch, if the turn may still answer; idempotent.

        SUPERSEDED and PERSON_OWNS finish the turn without a reply; STALE and BUSY change nothing.
        """
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            row_stored, row = await self._row(scope, conversation, message)
            if row.status is TurnStatus.DONE and row.result is not None:
                return _SETTLED_AS.get(row.result.outcome, Settled.DONE)
            blocked = self._blocked(ticket, row.seq, version)
            if blocked in (Settled.STALE, Settled.BUSY):
                return blocked
            operations: list[Operation] = []
            if blocked is not None:
                operations += await self._blocked_ending(scope, stored, ticket, row_stored, row, blocked)
            else:
                now = self._clock.now()
                moved = _answered(ticket, row.seq, result, now)
                done = self._done(row, result, now, moved.last_seq)
                operations.append(Replace(to_document(moved), stored.etag))
                operations.append(Create(to_document(self._outbox(row, result, now))))
                operations.append(Replace(to_document(done), row_stored.etag))
            if await self._try_batch(scope, conversation, operations):
                return blocked or Settled.DONE
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to deliver a turn")

    async def settle_blocked(
        self, scope: TenantScope, conversation: ConversationId, message: MessageId
    ) -> Settled | None:
        """End the turn without a reply if a person owns the ticket or a newer turn answers; None when it may work."""
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            row_stored, row = await self._row(scope, conversation, message)
            if row.status is TurnStatus.DONE and row.result is not None:
                return _SETTLED_AS.get(row.result.outcome, Settled.DONE)
            if ticket.owner is Owner.PERSON and ticket.committed_seq == row.seq:
                return None
            blocked = self._blocked(ticket, row.seq, ticket.version)
            if blocked is None or blocked is Settled.BUSY:
                return None
            operations = await self._blocked_ending(scope, stored, ticket, row_stored, row, blocked)
            if await self._try_batch(scope, conversation, operations):
                return blocked
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to open a turn")

    async def begin_handoff(
        self,
        scope: TenantScope,
        conversation: ConversationId,
        message: MessageId,
        version: int,
        *,
        case: CaseId,
        triggers: Sequence[str],
        severity: str,
    ) -> Settled:
        """Give the conversation to a person and write the handoff row in the same batch (fault 009); idempotent."""
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            _, row = await self._row(scope, conversation, message)
            if ticket.case_id == case and ticket.owner is Owner.PERSON:
                return Settled.DONE
            if row.status is TurnStatus.DONE and row.result is not None:
                return _SETTLED_AS.get(row.result.outcome, Settled.DONE)
            blocked = self._blocked(ticket, row.seq, version)
            if blocked is not None:
                return blocked
            now = self._clock.now()
            owner, status = after(TicketOp.HAND_OVER, ticket.owner, ticket.status)
            moved = ticket.model_copy(
                update={
                    "owner": owner,
                    "status": status,
                    "case_id": case,
                    "committed_seq": row.seq,
                    "committed_at": now,
                    "version": ticket.version + 1,
                    "updated_at": now,
                }
            )
            handoff = HandoffRow(
                id=f"handoff:{case}",
                tenant_id=scope.tenant_id,
                conversation_id=conversation,
                customer_id=ticket.customer_id,
                case_id=case,
                message_id=message,
                seq=row.seq,
                triggers=tuple(triggers),
                severity=severity,
                at=now,
            )
            operations = (Replace(to_document(moved), stored.etag), Create(to_document(handoff)))
            if await self._try_batch(scope, conversation, operations):
                return Settled.DONE
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to hand over")

    async def finish_handoff(
        self, scope: TenantScope, conversation: ConversationId, message: MessageId, result: TurnResult
    ) -> None:
        """Tell the customer and acknowledge the handoff row, once the case is in the queue; idempotent."""
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            row_stored, row = await self._row(scope, conversation, message)
            if row.status is TurnStatus.DONE:
                return
            now = self._clock.now()
            told = _told(ticket, row.seq, now)
            done = self._done(row, result, now, told.last_seq)
            operations: list[Operation] = [
                Replace(to_document(told), stored.etag),
                Replace(to_document(done), row_stored.etag),
                Create(to_document(self._outbox(row, result, now))),
            ]
            handoff = await self._read(scope, conversation, f"handoff:{result.case_id}")
            if handoff is not None:
                projected = from_stored(HandoffRow, handoff).model_copy(update={"is_projected": True})
                operations.append(Replace(to_document(projected), handoff.etag))
            if await self._try_batch(scope, conversation, operations):
                return
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to finish a handoff")

    # ---- the human side -----------------------------------------------------------------------------------------

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
                update |= {"case_id": None, "answered_seq": ticket.last_customer_seq, "first_unanswered_at": None}
            moved = ticket.model_copy(update=update)
            try:
                await self._replace(scope, conversation, to_document(moved), stored.etag)
            except VersionConflict:
                continue
            return moved
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to {op.value}")

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
                limit=limit,
                reason="sweep over all conversations",
            ),
        )
        return tuple(from_stored(HandoffRow, item) for item in page.items)

    # ---- helpers ------------------------------------------------------------------------------------------------

    def _blocked(self, ticket: Ticket, seq: int, version: int) -> Settled | None:
        """Return why this turn may not act now, or None."""
        if ticket.owner is Owner.PERSON:
            return Settled.PERSON_OWNS
        if ticket.answered_seq >= seq or ticket.committed_seq > seq:
            return Settled.SUPERSEDED
        if ticket.committed_seq == seq:
            return None
        if self._is_held(ticket):
            return Settled.BUSY
        if ticket.last_customer_seq > seq and not must_answer(ticket, self._clock.now()):
            return Settled.SUPERSEDED
        return Settled.STALE if ticket.version != version else None

    def _is_held(self, ticket: Ticket) -> bool:
        """Tell whether an earlier turn has committed and may still be delivering."""
        if ticket.committed_seq <= ticket.answered_seq or ticket.committed_at is None:
            return False
        return (self._clock.now() - ticket.committed_at).total_seconds() < COMMIT_HOLD_S

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

    async def _blocked_ending(
        self, scope: TenantScope, stored: Stored, ticket: Ticket, row_stored: Stored, row: TurnRow, blocked: Settled
    ) -> list[Operation]:
        """Return the writes that end a turn without a reply, and without any effect but saying so."""
        now = self._clock.now()
        operations: list[Operation] = []
        if blocked is Settled.PERSON_OWNS:
            result = TurnResult(outcome=Outcome.HUMAN_OWNED, case_id=ticket.case_id)
        else:
            successor = await self._successor(scope, row.conversation_id, row.seq)
            result = TurnResult(outcome=Outcome.SUPERSEDED, superseded_by=successor)
            if ticket.answered_seq < row.seq:
                moved = ticket.model_copy(update={"superseded_run": ticket.superseded_run + 1, "updated_at": now})
                operations.append(Replace(to_document(moved), stored.etag))
        operations.append(Replace(to_document(self._done(row, result, now, None)), row_stored.etag))
        return operations

    def _done(self, row: TurnRow, result: TurnResult, now: datetime, reply_seq: int | None) -> TurnRow:
        return row.model_copy(
            update={"status": TurnStatus.DONE, "done_at": now, "result": result, "reply_seq": reply_seq}
        )

    def _outbox(self, row: TurnRow, result: TurnResult, now: datetime) -> OutboxRow:
        if result.reply is None:
            raise SchemaError(f"turn {row.message_id!r} has nothing to send")
        return OutboxRow(
            id=f"out:{row.seq}",
            tenant_id=row.tenant_id,
            conversation_id=row.conversation_id,
            customer_id=row.customer_id,
            seq=row.seq,
            text=result.reply,
            at=now,
        )

    async def _successor(self, scope: TenantScope, conversation: ConversationId, seq: int) -> MessageId | None:
        rows = await self._query(scope, conversation, (Where("kind", "=", "turn"), Where("seq", ">", seq)), limit=1)
        return from_stored(TurnRow, rows[0]).message_id if rows else None

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


_SETTLED_AS: Final = {Outcome.SUPERSEDED: Settled.SUPERSEDED, Outcome.HUMAN_OWNED: Settled.PERSON_OWNS}


def _thread_row(stored: Stored) -> TurnRow | PersonRow:
    return from_stored(PersonRow, stored) if stored.body["kind"] == "person" else from_stored(TurnRow, stored)


def _told(ticket: Ticket, seq: int, now: datetime) -> Ticket:
    """Return the ticket after the customer has been told something in answer to `seq`."""
    is_all = ticket.last_customer_seq <= seq
    return ticket.model_copy(
        update={
            "last_seq": ticket.last_seq + 1,
            "committed_seq": seq,
            "answered_seq": seq,
            "superseded_run": 0,
            "first_unanswered_at": None if is_all else now,
            "has_greeted": True,
            "version": ticket.version + 1,
            "updated_at": now,
        }
    )


def _answered(ticket: Ticket, seq: int, result: TurnResult, now: datetime) -> Ticket:
    """Return the ticket after the bot's answer, with the count of contacts on the same issue."""
    owner, status = after(TicketOp.ANSWER, ticket.owner, ticket.status)
    update: dict[str, object] = {"owner": owner, "status": status, "language": result.language}
    if result.issue:
        is_same = result.issue == ticket.issue
        update |= {"issue": result.issue, "contacts_on_issue": ticket.contacts_on_issue + 1 if is_same else 1}
        if not is_same:
            update["has_clarified"] = False
    if result.outcome is Outcome.CLARIFICATION:
        update["has_clarified"] = True
    return _told(ticket, seq, now).model_copy(update=update)
