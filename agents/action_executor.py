"""Action executor: does what a verified, unconsumed grant allows, once; decides nothing.

The grant is consumed and the beginning written before anything is called. After an unclear answer it reads what the
shop did before it repeats anything, and repeats only what the shop itself does once for one key, or what the shop says
it has not done. Source: AX-01…04, S2 §1, design §9, faults 070, 072.
"""

import asyncio
from datetime import timedelta
from typing import Final, assert_never

from shared.authority.seal import KeyRing
from shared.authority.verify import verify_grant
from shared.domain.actions import (
    SETTLED,
    Action,
    ActionOp,
    ActionRef,
    ActionState,
    CancelOrderProposal,
    ChangeAddressProposal,
    CreditProposal,
    CrmNoteProposal,
    Effect,
    RefundProposal,
    RequestReturnProposal,
    ResendProposal,
    TicketUpdateProposal,
)
from shared.domain.errors import AuthorityError, IntegrationError, NotFound
from shared.domain.grants import SignedGrant
from shared.domain.lanes import CALL_DEADLINE_S, CALL_MARGIN_S
from shared.domain.verified import VerifiedGrant
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope
from shared.ports.integrations import BillingWriter, CrmWriter, Declined, TicketDesk
from shared.ports.readers import ActionReader, BillingReader
from shared.ports.writers import ActionClaims

PATIENCE: Final = timedelta(minutes=15)
"""Time the shop may stay unreadable after a call before a person has to look. Value ours."""
DECLINED: Final = "the shop declined it"
"""Reason of a refusal by the shop; its own words may quote a customer."""


async def execute_action(
    signed: SignedGrant,
    ref: ActionRef,
    *,
    keys: KeyRing,
    clock: Clock,
    actions: ActionReader,
    claims: ActionClaims,
    records: BillingReader,
    billing: BillingWriter,
    crm: CrmWriter,
    desk: TicketDesk,
) -> Action:
    """Verify the grant, consume it, call the shop, write what came of it; return the action as it then stands.

    A repeated call reports the one effect; `executing` afterwards means that the shop could not be read yet.
    Raises: AuthorityError when the grant does not verify for exactly this action, was consumed by something else, or
    its lane was given on; NotFound without such an action.
    """
    scope = CustomerScope(ref.tenant_id, ref.account_id)
    action = await _action(actions, scope, ref)
    if action.state in SETTLED:
        return action
    verified = verify_grant(signed, action, now=clock.now(), keys=keys)
    if action.state is ActionState.EXECUTING:
        if action.grant_id != verified.grant.grant_id:
            raise AuthorityError(f"action {ref.action_id!r} was started under another grant")
        # Found to be undone, it needs a new grant all the same: this one is spent.
        return await reconcile_action(action, clock=clock, claims=claims, records=records, billing=billing)
    action = await claims.start(scope, verified)
    try:
        async with asyncio.timeout(CALL_DEADLINE_S):
            effect = await _call(verified, action, billing=billing, crm=crm, desk=desk)
    except Declined:
        return await claims.finish(scope, action.action_id, ActionOp.REFUSE, reason=DECLINED)
    except (IntegrationError, TimeoutError):
        return await reconcile_action(action, clock=clock, claims=claims, records=records, billing=billing)
    return await claims.finish(scope, action.action_id, ActionOp.CONFIRM, effect=effect)


async def reconcile_action(
    action: Action, *, clock: Clock, claims: ActionClaims, records: BillingReader, billing: BillingWriter
) -> Action:
    """Find out what became of a call whose answer was lost, by reading; return the action as it then stands.

    `executed` and `approved` (nothing was done: it may be granted anew) are certain; `executing` means ask again;
    `unclear` that the shop could not be read for too long. A write that the shop does not key is left alone until its
    call can no longer be under way.
    """
    if action.state is not ActionState.EXECUTING or action.started_at is None:
        return action
    scope = CustomerScope(action.tenant_id, action.customer_id)
    waited = clock.now() - action.started_at
    try:
        async with asyncio.timeout(CALL_DEADLINE_S):
            effect = await records.find_effect(scope, action)
    except (IntegrationError, TimeoutError):
        if waited < PATIENCE:
            return action
        return await claims.finish(scope, action.action_id, ActionOp.DOUBT, reason="the shop cannot be read")
    if effect is not None:
        return await claims.finish(scope, action.action_id, ActionOp.CONFIRM, effect=effect)
    if action.type not in billing.keyed and waited < timedelta(seconds=CALL_DEADLINE_S + CALL_MARGIN_S):
        return action
    return await claims.finish(scope, action.action_id, ActionOp.UNDO_START, reason="nothing was done yet")


async def _action(actions: ActionReader, scope: CustomerScope, ref: ActionRef) -> Action:
    action = await actions.get(scope, ref.action_id)
    if action is None:
        raise NotFound(f"action {ref.action_id!r} does not exist")
    return action


async def _call(
    verified: VerifiedGrant, action: Action, *, billing: BillingWriter, crm: CrmWriter, desk: TicketDesk
) -> Effect:
    """Call the one port method the proposal is for."""
    proposal = action.proposal
    match proposal:
        case RefundProposal():
            return await billing.refund(verified, proposal)
        case CreditProposal():
            return await billing.credit(verified, proposal)
        case RequestReturnProposal():
            return await billing.request_return(verified, proposal)
        case CancelOrderProposal():
            return await billing.cancel_order(verified, proposal)
        case ChangeAddressProposal():
            return await billing.change_address(verified, proposal)
        case ResendProposal():
            return await billing.resend(verified, proposal)
        case CrmNoteProposal():
            return await crm.add_note(verified, proposal, conversation=action.conversation_id)
        case TicketUpdateProposal():
            return await desk.update(verified, proposal, conversation=action.conversation_id)
        case _:
            assert_never(proposal)
