"""A conversation from outside: open, read, rate, close.

Source: design §7, LA-01 ("context is precomputed when the channel opens"), AN-01 (CSAT).
"""

from orchestrators.triggers.access import enter, identify, read_ticket
from orchestrators.triggers.contract import Call
from orchestrators.triggers.feedback import record_feedback
from orchestrators.triggers.models import (
    ConversationShown,
    FeedbackIn,
    FeedbackShown,
    Opened,
    ThreadQuery,
)
from orchestrators.triggers.problems import NO_CONVERSATION, not_found
from orchestrators.triggers.responses import Answer, cached_answer, json_answer
from orchestrators.triggers.turns import show_thread
from shared.domain.ids import ConversationId
from shared.domain.ticket import Ticket, TicketStatus
from shared.domain.transitions import TicketOp


async def open_conversation(call: Call) -> Answer:
    """Warm the tenant's search while the visitor is still typing; creates nothing."""
    who = await identify(call)
    ticket = await enter(call, who)
    await call.services.search.warm(call.tenant)
    return json_answer(
        Opened(
            conversation_id=call.ids["cid"],
            is_known=ticket is not None,
            last_seq=ticket.last_seq if ticket else 0,
        )
    )


async def get_conversation(call: Call) -> Answer:
    """Return the thread after a sequence, with people's replies; 304 when the caller has it."""
    ticket = await read_ticket(call, await identify(call))
    thread = await show_thread(call.services, ticket, call.query_as(ThreadQuery).after_seq)
    return cached_answer(thread, call.headers.get("if-none-match", ""))


async def rate_conversation(call: Call) -> Answer:
    """Record the customer's rating, one a conversation; the last one counts."""
    ticket = await _entered(call)
    call.take_conversation_token(call.ids["cid"])
    given = call.body_as(FeedbackIn)
    await record_feedback(call.services, ticket, given.rating, given.resolved)
    return json_answer(
        FeedbackShown(conversation_id=ticket.conversation_id, rating=given.rating, resolved=given.resolved)
    )


async def close_conversation(call: Call) -> Answer:
    """Close the conversation; closing it again changes nothing. A person's conversation is theirs to end (409)."""
    ticket = await _entered(call)
    call.take_conversation_token(call.ids["cid"])
    if ticket.status is not TicketStatus.CLOSED:
        ticket = await call.services.tickets.move(call.tenant, ConversationId(call.ids["cid"]), TicketOp.CLOSE)
    return json_answer(
        ConversationShown(conversation_id=ticket.conversation_id, status=ticket.status, owner=ticket.owner)
    )


async def _entered(call: Call) -> Ticket:
    """Return the existing conversation of a writer. Raises: Problem (404)."""
    ticket = await enter(call, await identify(call))
    if ticket is None:
        raise not_found(NO_CONVERSATION)
    return ticket
