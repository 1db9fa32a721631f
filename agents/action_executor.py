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
from shared.domain.errors import AuthorityError, NotFound, SchemaError, VouchError
from shared.domain.grants import SignedGrant
from shared.domain.lanes import CALL_DEADLINE_S, may_be_under_way
from shared.domain.verified import VerifiedGrant
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope
from shared.ports.integrations import BillingWriter, CrmWriter, Declined, NotCalled, TicketDesk
from shared.ports.readers import ActionReader, BillingReader
from shared.ports.writers import ActionClaims

PATIENCE: Final = timedelta(minutes=15)
"""Time the shop may stay unreadable after a call before a person has to look. Value ours."""
DECLINED: Final = "the shop declined it"
"""Reason of a refusal by the shop; its own words may quote a customer."""
HELD_BACK: Final = "the shop was not called in time, or may not be called now"
"""Reason of a call we did not make."""
NOTHING_DONE: Final = "nothing was done yet"
"""Reason of a start that is undone."""


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

    A repeated call reports the one effect; `executing` afterwards means that the shop could not be read yet,
    `approved` that nothing was done and a new grant is needed.
    Raises: AuthorityError when the grant does not verify for exactly this action, was consumed by something else, or
    its lane was given on; NotFound without such an action.
    """
    scope = CustomerScope(ref.tenant_id, ref.account_id)
    action = await _action(actions, scope, ref)
    if action.state in SETTLED or action.state is ActionState.UNCLEAR:
        return action
    if action.state is ActionState.EXECUTING and action.started_at is not None:
        # Whoever comes back after a crash may come late: the grant had to be live when it was consumed, not now.
        verified = verify_grant(signed, action, now=action.started_at, keys=keys)
        if action.grant_id != verified.grant.grant_id:
            raise AuthorityError(f"action {ref.action_id!r} was started under another grant")
        # Found to be undone, it needs a new grant all the same: this one is spent.
        return await reconcile_action(action, clock=clock, claims=claims, records=records, billing=billing)
    verified = verify_grant(signed, action, now=clock.now(), keys=keys)
    action = await claims.start(scope, verified)
    # Counted from what is written, as everybody else counts it: a process that slept since may not call any more.
    left_s = CALL_DEADLINE_S - (clock.now() - (action.started_at or clock.now())).total_seconds()
    if left_s <= 0:
        return await _finish(claims, action, ActionOp.UNDO_START, reason=HELD_BACK)
    try:
        async with asyncio.timeout(left_s):
            effect = _checked(await _call(verified, action, billing=billing, crm=crm, desk=desk))
    except Declined:
        return await _finish(claims, action, ActionOp.REFUSE, reason=DECLINED)
    except NotCalled:
        return await _finish(claims, action, ActionOp.UNDO_START, reason=HELD_BACK)
    except (VouchError, TimeoutError):
        return await _settle(action, is_own=True, clock=clock, claims=claims, records=records, billing=billing)
    return await _finish(claims, action, ActionOp.CONFIRM, effect=effect)


async def reconcile_action(
    action: Action, *, clock: Clock, claims: ActionClaims, records: BillingReader, billing: BillingWriter
) -> Action:
    """Find out what became of a call whose answer was lost, by reading; return the action as it then stands.

    `executed` and `approved` (nothing was done: it may be granted anew) are certain; `executing` means ask again;
    `unclear` that the shop could not be read for too long. While somebody else's call may still be under way, nothing
    found proves nothing. An action whose start was undone is looked at too: its call may have arrived since.
    """
    return await _settle(action, is_own=False, clock=clock, claims=claims, records=records, billing=billing)


async def _settle(
    action: Action,
    *,
    is_own: bool,
    clock: Clock,
    claims: ActionClaims,
    records: BillingReader,
    billing: BillingWriter,
) -> Action:
    """Reconcile; `is_own` tells that the call ended here, so that a shop that keys it may be asked again at once."""
    is_undone = action.state is ActionState.APPROVED and action.starts > 0
    if action.started_at is None or not (is_undone or action.state is ActionState.EXECUTING):
        return action
    if isinstance(action.proposal, CrmNoteProposal | TicketUpdateProposal):
        # Ours, and done once for one action id: doing it again is how to find out.
        return await _finish(claims, action, ActionOp.UNDO_START, reason=NOTHING_DONE)
    # Asked before the shop is: what it has not done by then, and cannot do any more, it will not have done.
    is_over = not may_be_under_way(action.started_at, clock.now())
    try:
        async with asyncio.timeout(CALL_DEADLINE_S):
            effect = await records.find_effect(CustomerScope(action.tenant_id, action.customer_id), action)
        effect = _checked(effect) if effect is not None else None
    except (VouchError, TimeoutError):
        if is_undone or clock.now() - action.started_at < PATIENCE:
            return action
        return await _finish(claims, action, ActionOp.DOUBT, reason="the shop cannot be read")
    if effect is not None:
        return await _finish(claims, action, ActionOp.CONFIRM, effect=effect)
    if is_undone or not (is_over or (is_own and action.type in billing.keyed)):
        return action
    return await _finish(claims, action, ActionOp.UNDO_START, reason=NOTHING_DONE)


async def _finish(
    claims: ActionClaims, action: Action, op: ActionOp, *, effect: Effect | None = None, reason: str = ""
) -> Action:
    """Write what came of exactly this start."""
    scope = CustomerScope(action.tenant_id, action.customer_id)
    return await claims.finish(scope, action.action_id, op, grant_id=action.grant_id, effect=effect, reason=reason)


def _checked(answer: object) -> Effect:
    """Return a port's answer as an effect. Raises: SchemaError: then nobody knows what was done."""
    if not isinstance(answer, Effect):
        raise SchemaError("the answer to an action is no effect")
    return answer


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
