"""Pure changes of a ticket and its turns, and what stands in a turn's way: the rules the conditional writes apply.

Reads no store and no clock. Source: design §3, PR-03, GO-03, RT-05, decision 0003.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final

from shared.domain.errors import SchemaError
from shared.domain.ticket import (
    COMMIT_HOLD_S,
    SUPERSEDE_AT_MOST,
    SUPERSEDE_WITHIN_S,
    OutboxRow,
    Outcome,
    Owner,
    Ticket,
    TurnResult,
    TurnRow,
    TurnStatus,
)
from shared.domain.transitions import TicketOp, after


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


def must_answer(ticket: Ticket, now: datetime) -> bool:
    """Tell whether superseding has to stop: too many in a row, or the customer has waited too long (design §3)."""
    waited_s = (now - ticket.first_unanswered_at).total_seconds() if ticket.first_unanswered_at else 0.0
    return ticket.superseded_run >= SUPERSEDE_AT_MOST or waited_s > SUPERSEDE_WITHIN_S


def blocked_by(ticket: Ticket, seq: int, version: int | None, now: datetime) -> Settled | None:
    """Return why this turn may not act now, or None; without a version nothing is stale."""
    if ticket.owner is Owner.PERSON:
        return Settled.PERSON_OWNS
    if ticket.answered_seq >= seq or ticket.committed_seq > seq:
        return Settled.SUPERSEDED
    if ticket.committed_seq == seq:
        return None
    if is_held(ticket, now):
        return Settled.BUSY
    if ticket.last_customer_seq > seq and not must_answer(ticket, now):
        return Settled.SUPERSEDED
    return Settled.STALE if version is not None and ticket.version != version else None


def is_held(ticket: Ticket, now: datetime) -> bool:
    """Tell whether an earlier turn has committed and may still be delivering."""
    if ticket.committed_seq <= ticket.answered_seq or ticket.committed_at is None:
        return False
    # A clock that was set back must not hold the conversation for as long.
    return 0 <= (now - ticket.committed_at).total_seconds() < COMMIT_HOLD_S


def settled_as(result: TurnResult) -> Settled:
    """Return what a turn that is done was settled as."""
    return _SETTLED_AS.get(result.outcome, Settled.DONE)


def done(row: TurnRow, result: TurnResult, now: datetime, reply_seq: int | None) -> TurnRow:
    """Return the turn as ended with the result."""
    return row.model_copy(update={"status": TurnStatus.DONE, "done_at": now, "result": result, "reply_seq": reply_seq})


def to_outbox(row: TurnRow, result: TurnResult, now: datetime) -> OutboxRow:
    """Return the one outgoing message of the turn. Raises: SchemaError when there is nothing to send."""
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


def told(ticket: Ticket, seq: int, now: datetime) -> Ticket:
    """Return the ticket after the customer has been told something in answer to `seq`."""
    is_all = ticket.last_customer_seq <= max(ticket.answered_seq, seq)
    return ticket.model_copy(
        update={
            "last_seq": ticket.last_seq + 1,
            "committed_seq": max(ticket.committed_seq, seq),
            "answered_seq": max(ticket.answered_seq, seq),
            "superseded_run": 0,
            "first_unanswered_at": None if is_all else now,
            "has_greeted": True,
            "version": ticket.version + 1,
            "updated_at": now,
        }
    )


def answered(ticket: Ticket, seq: int, result: TurnResult, now: datetime) -> Ticket:
    """Return the ticket after the bot's answer, with the count of contacts on the same issue."""
    owner, status = after(TicketOp.ANSWER, ticket.owner, ticket.status)
    update: dict[str, object] = {"owner": owner, "status": status, "language": result.language, "closed_at": None}
    if result.issue:
        is_same = result.issue == ticket.issue
        update |= {"issue": result.issue, "contacts_on_issue": ticket.contacts_on_issue + 1 if is_same else 1}
        if not is_same:
            update["has_clarified"] = False
    if result.outcome is Outcome.CLARIFICATION:
        update["has_clarified"] = True
    return told(ticket, seq, now).model_copy(update=update)


_SETTLED_AS: Final = {Outcome.SUPERSEDED: Settled.SUPERSEDED, Outcome.HUMAN_OWNED: Settled.PERSON_OWNS}
