"""Sending a message: mask, accept, start, wait. In that order, so that raw text is never stored and nothing is lost.

Source: GW-04, PV-01, design §3 "Accept first", §7 POST …/messages, faults 045, 106.
"""

import asyncio
import re
from typing import Final

from orchestrators.triggers.access import Identity, enter, identify, may_enter, read_ticket
from orchestrators.triggers.contract import Call
from orchestrators.triggers.models import MessageIn
from orchestrators.triggers.outside_text import exempt_contacts
from orchestrators.triggers.problems import NO_CONVERSATION, Problem, ProblemKind, not_found
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.starting import start_turn
from orchestrators.triggers.turns import is_done, show_pending, show_turn, turn_url
from shared.adapters.records.tickets import Arrival, MessageIdReused
from shared.domain.api_key import KeyScope
from shared.domain.deltas import Channel
from shared.domain.errors import AuthorityError, VouchError
from shared.domain.ids import ConversationId, MessageId, turn_instance_id
from shared.domain.ticket import Ticket, TurnRow
from shared.ports.vault import ConversationScope
from shared.privacy.keys import is_equal
from shared.privacy.normalise import clean_input
from shared.settings import DEFAULT_WAIT_S, MAX_WAIT_S

POLL_S: Final = 0.25
"""Seconds between two looks at the row while waiting; the announced end of a turn comes sooner. Value ours."""
ASK_AGAIN_S: Final = 1
"""Seconds a caller should wait before asking for a running turn again. Value ours."""

_WAIT: Final = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?(\d{1,6})\"?(?=$|[,;\s])", re.I)
_ASYNC: Final = re.compile(r"(?:^|[,\s])respond-async(?=$|[,;\s])", re.I)


async def post_message(call: Call) -> Answer:
    """Accept a message and run its turn; 200 with the Turn, or 202 with where to find it."""
    body = call.body_as(MessageIn)
    channel = _channel(call.by.scope, body.channel)
    who = await identify(call)
    ticket, known = await asyncio.gather(enter(call, who), _known(call, body))
    call.take_conversation_token(call.ids["cid"])
    fingerprint = await call.services.body_hmac(call.tenant.tenant_id, call.raw_body)
    if known is not None and not is_equal(known.body_hmac, fingerprint):
        raise MessageIdReused(f"message id {known.message_id!r} was used with another body")
    row = known or await _accepted(call, body, who, ticket, channel, fingerprint)
    return await _start_and_wait(call, row)


async def get_turn(call: Call) -> Answer:
    """Return one turn: 200 when it is done, 202 while it runs."""
    await read_ticket(call, await identify(call))
    row = await call.services.tickets.turn(call.tenant, ConversationId(call.ids["cid"]), MessageId(call.ids["mid"]))
    if row is None:
        raise not_found(NO_CONVERSATION)
    return await _answer(call, row)


def wait_seconds(prefer: str) -> int:
    """Return how long `Prefer` lets us wait: the wait it gives, 0 for respond-async alone, else the default."""
    found = _WAIT.search(prefer)
    if found:
        return min(int(found[1]), MAX_WAIT_S)
    return 0 if _ASYNC.search(prefer) else DEFAULT_WAIT_S


def _channel(scope: KeyScope, asked: Channel | None) -> Channel:
    """Return the message's channel. Raises: Problem (403): the admin channel and the admin key go together."""
    default = Channel.WEB if scope is KeyScope.PUBLISHABLE else Channel.API
    channel = asked or default
    if (channel is Channel.ADMIN) != (scope is KeyScope.ADMIN):
        raise Problem(ProblemKind.SCOPE, "The channel admin takes an admin key, and an admin key takes no other.")
    return channel


async def _known(call: Call, body: MessageIn) -> TurnRow | None:
    """Return the turn an earlier send of the same message id made."""
    if body.message_id is None:
        return None
    conversation = ConversationId(call.ids["cid"])
    return await call.services.tickets.turn(call.tenant, conversation, MessageId(body.message_id))


async def _accepted(
    call: Call, body: MessageIn, who: Identity, ticket: Ticket | None, channel: Channel, fingerprint: str
) -> TurnRow:
    """Return the row in force.

    Raises: MessageIdReused; Problem (404) when somebody else opened the conversation meanwhile.
    """
    services, tenant = call.services, call.tenant
    conversation = ConversationId(call.ids["cid"])
    message = MessageId(body.message_id or services.ids.new_id())
    customer = ticket.customer_id if ticket else who.customer_id
    masked = await services.vault.mask_message(
        ConversationScope(tenant.tenant_id, conversation, customer),
        clean_input(body.text),
        regions=call.policy.phone_regions,
        exempt=exempt_contacts(call),
    )
    accepted = await services.tickets.accept(
        tenant,
        Arrival(
            conversation_id=conversation,
            message_id=message,
            instance_id=turn_instance_id(tenant.tenant_id, conversation, message),
            masked_text=masked.text,
            body_hmac=fingerprint,
            channel=channel.value,
            language=body.language or "",
            trace_id=call.trace_id,
            customer_id=customer,
            # A known customer's conversation never opens to a mere secret.
            secret_hash="" if customer else who.secret_hash,
            is_opening=ticket is None,
        ),
    )
    if not may_enter(who, accepted.ticket):
        raise not_found(NO_CONVERSATION)
    return accepted.row


async def _start_and_wait(call: Call, row: TurnRow) -> Answer:
    """Start the accepted turn and wait for it.

    From here on the message is accepted: a store that goes away costs the caller the waiting, not the message, and
    the sweeper starts what could not be started.
    """
    if call.starter is None:
        raise AuthorityError("this call cannot start a turn")
    wait_s = float(wait_seconds(call.headers.get("prefer", "")))
    # Listens before it starts: a turn may end while the start is still being written down.
    hint = asyncio.ensure_future(call.services.signals.wait(row.instance_id, wait_s))
    try:
        if not is_done(row):
            await start_turn(call.starter, row, call.services)
            row = await _wait(call, row, hint, wait_s)
        return await _answer(call, row)
    except VouchError as error:
        if not error.is_transient:
            raise
        return _pending(call, row)
    finally:
        hint.cancel()


async def _wait(call: Call, row: TurnRow, hint: "asyncio.Future[None]", wait_s: float) -> TurnRow:
    """Return the row when it is done or the time is over; the row is the truth, the hint only saves polling."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + wait_s
    while not is_done(row) and (left_s := deadline - loop.time()) > 0:
        if hint.done():
            await asyncio.sleep(min(left_s, POLL_S))
        else:
            await asyncio.wait({hint}, timeout=min(left_s, POLL_S))
        row = await call.services.tickets.turn(call.tenant, row.conversation_id, row.message_id) or row
    return row


async def _answer(call: Call, row: TurnRow) -> Answer:
    if is_done(row):
        return json_answer(await show_turn(call.services, row))
    return _pending(call, row)


def _pending(call: Call, row: TurnRow) -> Answer:
    mount = call.by.mount
    headers = (("Location", turn_url(row, mount)), ("Retry-After", str(ASK_AGAIN_S)))
    return json_answer(show_pending(row, mount), status=202, headers=headers)
