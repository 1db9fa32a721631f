"""The life of a ticket as one table: which owner and status may follow which, by which operation.

Pure policy; two tiny functions read it. Source: S2 §2 "State passing logic", design §3.
"""

from enum import StrEnum
from typing import Final

from shared.domain.errors import StalenessError
from shared.domain.ticket import Owner, TicketStatus


class TicketOp(StrEnum):
    """What can happen to a ticket."""

    ACCEPT = "accept"
    ANSWER = "answer"
    HAND_OVER = "hand_over"
    PERSON_REPLIES = "person_replies"
    RELEASE = "release"
    RESOLVE = "resolve"
    CLOSE = "close"
    REOPEN = "reopen"


State = tuple[Owner, TicketStatus]
_BOT_OPEN: Final[State] = (Owner.BOT, TicketStatus.OPEN)
_PERSON: Final[State] = (Owner.PERSON, TicketStatus.NEEDS_REVIEW)
_RESOLVED: Final[State] = (Owner.BOT, TicketStatus.RESOLVED)
_CLOSED: Final[State] = (Owner.BOT, TicketStatus.CLOSED)

TRANSITIONS: Final[dict[tuple[TicketOp, State], State]] = {
    (TicketOp.ACCEPT, _BOT_OPEN): _BOT_OPEN,
    (TicketOp.ACCEPT, _PERSON): _PERSON,
    (TicketOp.ACCEPT, _RESOLVED): _BOT_OPEN,
    (TicketOp.ACCEPT, _CLOSED): _BOT_OPEN,
    (TicketOp.ANSWER, _BOT_OPEN): _BOT_OPEN,
    (TicketOp.ANSWER, _RESOLVED): _BOT_OPEN,
    (TicketOp.ANSWER, _CLOSED): _BOT_OPEN,
    (TicketOp.HAND_OVER, _BOT_OPEN): _PERSON,
    (TicketOp.HAND_OVER, _RESOLVED): _PERSON,
    (TicketOp.HAND_OVER, _CLOSED): _PERSON,
    (TicketOp.PERSON_REPLIES, _PERSON): _PERSON,
    (TicketOp.RELEASE, _PERSON): _BOT_OPEN,
    (TicketOp.RESOLVE, _PERSON): _RESOLVED,
    (TicketOp.RESOLVE, _BOT_OPEN): _RESOLVED,
    (TicketOp.CLOSE, _BOT_OPEN): _CLOSED,
    (TicketOp.CLOSE, _RESOLVED): _CLOSED,
    (TicketOp.REOPEN, _CLOSED): _BOT_OPEN,
    (TicketOp.REOPEN, _RESOLVED): _BOT_OPEN,
}
"""Anything absent is illegal: the bot never answers what a person owns (fault 005). A turn that was under way when its
conversation was closed still ends: the reply, or the person, opens it again (fault 011)."""


def is_legal(op: TicketOp, owner: Owner, status: TicketStatus) -> bool:
    """Tell whether the operation may happen in this state."""
    return (op, (owner, status)) in TRANSITIONS


def after(op: TicketOp, owner: Owner, status: TicketStatus) -> State:
    """Return the state after the operation. Raises: StalenessError when the table does not allow it."""
    try:
        return TRANSITIONS[op, (owner, status)]
    except KeyError:
        raise StalenessError(
            f"{op.value} is not possible while {owner.value} owns a ticket that is {status.value}"
        ) from None
