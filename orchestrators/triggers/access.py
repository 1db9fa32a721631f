"""Who may touch a conversation: the customer it is bound to, the holder of its secret, or the tenant itself.

Anyone else learns nothing: a foreign conversation and an absent one are the same 404. Decides from proofs only, never
from what a message says. Source: GW-03, design §7, faults 046, 069.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from orchestrators.triggers.contract import Call
from orchestrators.triggers.customer_token import verify_customer_token
from orchestrators.triggers.problems import NO_CONVERSATION, Problem, ProblemKind, not_found
from shared.domain.api_key import KeyScope
from shared.domain.deltas import Channel
from shared.domain.errors import StalenessError, VersionConflict
from shared.domain.ids import ConversationId, CustomerId, is_id
from shared.domain.ticket import Ticket
from shared.privacy.keys import is_equal

SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43,256}={0,2}")
"""A conversation secret: at least 256 bits in URL-safe base64. Source: design §7."""

BIND_ATTEMPTS: Final = 8
"""Times binding is tried against messages that arrive meanwhile. Value ours."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What the caller has proven about who is asking."""

    customer_id: CustomerId | None
    secret_hash: str
    """Hash of the conversation secret shown; empty when none was."""
    is_tenant: bool
    """A server's key, which acts for the tenant, or a desk key, whose person may see what the tenant may."""
    is_admin: bool = False

    @property
    def is_nobody(self) -> bool:
        """Tell whether nothing was proven at all."""
        return self.customer_id is None and not self.secret_hash and not (self.is_tenant or self.is_admin)


async def identify(call: Call) -> Identity:
    """Return what the customer headers prove. Raises: Problem (400, 401, 403)."""
    token = call.headers.get("x-customer-token", "")
    named = call.headers.get("x-customer-id", "")
    secret = call.headers.get("x-conversation-secret", "")
    scope = call.by.scope
    if named and scope is not KeyScope.SECRET:
        raise Problem(ProblemKind.IDENTITY_NOT_ALLOWED, "X-Customer-Id is taken with a secret key only.")
    if named and not is_id(named):
        raise Problem(ProblemKind.INVALID_HEADER, "X-Customer-Id is malformed.")
    if secret and not SECRET.fullmatch(secret):
        raise Problem(ProblemKind.SECRET_INVALID, "A conversation secret is 256 random bits or more, URL-safe base64.")
    customer = CustomerId(named) if named else call.by.customer
    if token:
        customer = await _verified(call, token, customer)
    return Identity(
        customer_id=customer,
        secret_hash=hashlib.sha256(secret.encode()).hexdigest() if secret else "",
        is_tenant=scope in (KeyScope.SECRET, KeyScope.DESK),
        is_admin=scope is KeyScope.ADMIN,
    )


def may_enter(who: Identity, ticket: Ticket) -> bool:
    """Tell whether these proofs open this conversation.

    A bound conversation opens to its customer; an unbound one to its secret, with or without an identity beside it.
    """
    if who.is_admin:
        return ticket.channel == Channel.ADMIN
    if ticket.customer_id is not None:
        return who.customer_id == ticket.customer_id or (who.is_tenant and who.customer_id is None)
    return who.is_tenant or bool(
        ticket.secret_hash and who.secret_hash and is_equal(ticket.secret_hash, who.secret_hash)
    )


def must_bind(who: Identity, ticket: Ticket) -> bool:
    """Tell whether entering binds the anonymous conversation to the customer, who has proven both."""
    return ticket.customer_id is None and who.customer_id is not None


async def read_ticket(call: Call, who: Identity) -> Ticket:
    """Return the conversation's ticket for a reader. Raises: Problem (404) for absent and foreign ones alike."""
    ticket = await call.services.tickets.ticket(call.tenant, ConversationId(call.ids["cid"]))
    if ticket is None or not may_enter(who, ticket):
        raise not_found(NO_CONVERSATION)
    return ticket


async def enter(call: Call, who: Identity) -> Ticket | None:
    """Return the ticket a writer may write to, bound if both were proven; None when the conversation is new.

    Raises: Problem (401) when nothing was proven, (404) for a foreign conversation.
    """
    if who.is_nobody:
        raise Problem(
            ProblemKind.SECRET_REQUIRED, "Send X-Customer-Token, or an X-Conversation-Secret of your own making."
        )
    tickets, conversation = call.services.tickets, ConversationId(call.ids["cid"])
    for _ in range(BIND_ATTEMPTS):
        ticket = await tickets.ticket(call.tenant, conversation)
        if ticket is None:
            return None
        if not may_enter(who, ticket):
            raise not_found(NO_CONVERSATION)
        if who.customer_id is None or not must_bind(who, ticket):
            return ticket
        try:
            await tickets.bind_customer(call.tenant, conversation, who.customer_id)
        except StalenessError:
            continue
        return ticket.model_copy(update={"customer_id": who.customer_id})
    raise VersionConflict(f"conversation {conversation!r} is changing too fast to bind")


async def _verified(call: Call, token: str, named: CustomerId | None) -> CustomerId:
    tenant = call.tenant
    secret = await call.services.tenants.identity_secret(tenant)
    customer = verify_customer_token(token, secret=secret or "", tenant=tenant.tenant_id, now=call.services.clock.now())
    if named is not None and named != customer:
        raise Problem(ProblemKind.INVALID_HEADER, "X-Customer-Token names another customer than the call itself.")
    return customer
