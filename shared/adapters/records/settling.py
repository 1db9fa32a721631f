"""Settling a turn: commit, deliver, end without a reply, hand over. Each is one conditional batch, and idempotent.

Decides nothing about content; what stands in a turn's way is the table in `ticket_changes`.
Source: design §3 steps 5 and 6, PR-03, faults 004, 005, 009, 012, decisions 0003, 0005.
"""

from collections.abc import Sequence

from shared.adapters.records.codec import from_stored, to_document
from shared.adapters.records.ticket_changes import Settled, answered, blocked_by, done, settled_as, to_outbox, told
from shared.adapters.records.ticket_rows import CAS_ATTEMPTS, TicketRows
from shared.domain.errors import VersionConflict
from shared.domain.ids import CaseId, ConversationId, MessageId
from shared.domain.ticket import HandoffRow, Outcome, Owner, ProofRow, Ticket, TurnResult, TurnRow, TurnStatus
from shared.domain.transitions import TicketOp, after
from shared.ports.documents import Create, Operation, Replace, Stored, TenantScope, Where


class Settling(TicketRows):
    """The writes that end a turn, or claim the right to."""

    async def commit(self, scope: TenantScope, conversation: ConversationId, seq: int, version: int) -> Settled:
        """Claim the right to act for this turn: after it no newer message supersedes it (design §3)."""
        for _ in range(CAS_ATTEMPTS):
            stored, ticket = await self._ticket(scope, conversation)
            if ticket.committed_seq == seq and ticket.answered_seq < seq:
                return Settled.DONE
            blocked = blocked_by(ticket, seq, version, self._clock.now())
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
        self,
        scope: TenantScope,
        conversation: ConversationId,
        message: MessageId,
        version: int,
        result: TurnResult,
        proof: ProofRow | None = None,
    ) -> Settled:
        """Write reply, proof, outbox row and ticket in one batch, if the turn may still answer; idempotent.

        SUPERSEDED and PERSON_OWNS finish the turn without a reply; STALE and BUSY change nothing.
        """
        for _ in range(CAS_ATTEMPTS):
            (stored, ticket), (row_stored, row) = await self._both(scope, conversation, message)
            if row.status is TurnStatus.DONE and row.result is not None:
                return settled_as(row.result)
            blocked = blocked_by(ticket, row.seq, version, self._clock.now())
            if blocked in (Settled.STALE, Settled.BUSY):
                return blocked
            operations: list[Operation] = []
            if blocked is not None:
                operations += await self._blocked_ending(scope, stored, ticket, row_stored, row, blocked)
            else:
                now = self._clock.now()
                moved = answered(ticket, row.seq, result, now)
                ended = done(row, result, now, moved.last_seq)
                operations.append(Replace(to_document(moved), stored.etag))
                operations.append(Create(to_document(to_outbox(row, result, now))))
                operations.append(Replace(to_document(ended), row_stored.etag))
                operations += _created(proof)
            if await self._try_batch(scope, conversation, operations):
                return blocked or Settled.DONE
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to deliver a turn")

    async def open(
        self, scope: TenantScope, conversation: ConversationId, message: MessageId
    ) -> tuple[Ticket, TurnRow] | None:
        """Return ticket and row of a turn that may work.

        None when it is settled: answered before, or ended here without a reply because a person owns the ticket or a
        newer turn answers. Raises: NotFound when the row is gone.
        """
        for _ in range(CAS_ATTEMPTS):
            (stored, ticket), (row_stored, row) = await self._both(scope, conversation, message)
            if row.status is TurnStatus.DONE:
                return None
            if ticket.owner is Owner.PERSON and ticket.committed_seq == row.seq:
                return ticket, row
            blocked = blocked_by(ticket, row.seq, ticket.version, self._clock.now())
            if blocked is None or blocked is Settled.BUSY:
                return ticket, row
            operations = await self._blocked_ending(scope, stored, ticket, row_stored, row, blocked)
            if await self._try_batch(scope, conversation, operations):
                return None
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to open a turn")

    async def begin_handoff(
        self,
        scope: TenantScope,
        conversation: ConversationId,
        message: MessageId,
        version: int | None,
        *,
        case: CaseId,
        triggers: Sequence[str],
        severity: str,
    ) -> Settled:
        """Give the conversation to a person and write the handoff row in the same batch (fault 009); idempotent.

        Without a version the ticket may have changed meanwhile: a turn that has run out of snapshots still ends.
        """
        for _ in range(CAS_ATTEMPTS):
            (stored, ticket), (_, row) = await self._both(scope, conversation, message)
            if ticket.case_id == case and ticket.owner is Owner.PERSON:
                return Settled.DONE
            if row.status is TurnStatus.DONE and row.result is not None:
                return settled_as(row.result)
            if await self._read(scope, conversation, f"handoff:{case}") is not None:
                return Settled.DONE  # begun before; whoever ended the case meanwhile, the customer is still to be told
            blocked = blocked_by(ticket, row.seq, version, self._clock.now())
            if blocked is not None:
                return blocked
            now = self._clock.now()
            owner, status = after(TicketOp.HAND_OVER, ticket.owner, ticket.status)
            moved = ticket.model_copy(
                update={
                    "owner": owner,
                    "status": status,
                    "closed_at": None,
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
        self,
        scope: TenantScope,
        conversation: ConversationId,
        message: MessageId,
        result: TurnResult,
        proof: ProofRow | None = None,
    ) -> None:
        """Tell the customer and acknowledge the handoff row, once the case is in the queue; idempotent."""
        for _ in range(CAS_ATTEMPTS):
            (stored, ticket), (row_stored, row) = await self._both(scope, conversation, message)
            operations: list[Operation] = []
            handoff = await self._read(scope, conversation, f"handoff:{result.case_id}")
            if row.status is not TurnStatus.DONE:
                now = self._clock.now()
                moved = told(ticket, row.seq, now)
                operations.append(Replace(to_document(moved), stored.etag))
                operations.append(Replace(to_document(done(row, result, now, moved.last_seq)), row_stored.etag))
                operations.append(Create(to_document(to_outbox(row, result, now))))
                operations += _created(proof)
            elif handoff is None or from_stored(HandoffRow, handoff).is_projected:
                return
            if handoff is not None:
                projected = from_stored(HandoffRow, handoff).model_copy(update={"is_projected": True})
                operations.append(Replace(to_document(projected), handoff.etag))
            if await self._try_batch(scope, conversation, operations):
                return
        raise VersionConflict(f"conversation {conversation!r} is changing too fast to finish a handoff")

    async def _blocked_ending(
        self, scope: TenantScope, stored: Stored, ticket: Ticket, row_stored: Stored, row: TurnRow, blocked: Settled
    ) -> list[Operation]:
        """Return the writes that end a turn without a reply, and without any effect but saying so."""
        now = self._clock.now()
        operations: list[Operation] = []
        if blocked is Settled.PERSON_OWNS:
            result = TurnResult(outcome=Outcome.HUMAN_OWNED, case_id=ticket.case_id)
            if ticket.answered_seq < row.seq:  # the ticket moves too: a release must see whose this message was
                seen = ticket.model_copy(update={"answered_seq": row.seq, "updated_at": now})
                operations.append(Replace(to_document(seen), stored.etag))
        else:
            successor = await self._successor(scope, row.conversation_id, row.seq)
            result = TurnResult(outcome=Outcome.SUPERSEDED, superseded_by=successor)
            if successor is None:  # nothing newer took its place: a person answered it and has gone since
                result = TurnResult(
                    outcome=Outcome.HUMAN_OWNED, case_id=await self._last_case(scope, row.conversation_id)
                )
            if ticket.answered_seq < row.seq:
                moved = ticket.model_copy(update={"superseded_run": ticket.superseded_run + 1, "updated_at": now})
                operations.append(Replace(to_document(moved), stored.etag))
        operations.append(Replace(to_document(done(row, result, now, None)), row_stored.etag))
        return operations

    async def _last_case(self, scope: TenantScope, conversation: ConversationId) -> CaseId | None:
        """Return the case a person had last in this conversation."""
        where = (Where("kind", "=", "handoff"),)
        rows = await self._query(scope, conversation, where, limit=1, is_descending=True)
        return from_stored(HandoffRow, rows[0]).case_id if rows else None

    async def _successor(self, scope: TenantScope, conversation: ConversationId, seq: int) -> MessageId | None:
        rows = await self._query(scope, conversation, (Where("kind", "=", "turn"), Where("seq", ">", seq)), limit=1)
        return from_stored(TurnRow, rows[0]).message_id if rows else None


def _created(proof: ProofRow | None) -> list[Operation]:
    return [] if proof is None else [Create(to_document(proof))]
