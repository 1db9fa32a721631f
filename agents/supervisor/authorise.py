"""Authorising: the supervisor's only power, to seal an approved reply and to grant one action.

Reads everything anew before it grants: what the shop would move, the ceilings, the account's sum, the owner, whether
the customer was erased. Mints nothing without every verdict; never executes. Source: SU-03, SU-04, AX-02, AX-05,
design §9 "Approvals".
"""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from shared.authority.mint import SealMint
from shared.domain.actions import (
    RULES,
    Action,
    ActionState,
    ChangeAddressProposal,
    CrmNoteProposal,
    Effect,
    Proposal,
    Quote,
    TicketUpdateProposal,
)
from shared.domain.anomalies import is_unusual_amount, is_unusual_frequency
from shared.domain.drafts import ApprovedReply, Draft, Review
from shared.domain.errors import Unavailable
from shared.domain.governance import ROLLING_DAYS, ActionFacts, Decision, Verdict, decide
from shared.domain.grants import SignedGrant
from shared.domain.ids import ConversationId, TenantId
from shared.domain.intents import CustomerIntent
from shared.domain.lanes import may_be_under_way
from shared.domain.policy import TenantPolicy
from shared.domain.tiers import Tier
from shared.ports.clock import Clock
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.readers import ActionReader, BillingReader, Tombstones

BY_POLICY: Final = "policy:"
"""How the ceilings sign an approval."""
BY_PERSON: Final = "person:"
"""How a person's signature begins; nothing else is taken for one."""


def approval_scope(tenant: TenantId, conversation: ConversationId, seq: int) -> str:
    """Return `tenant|conversation|seq`: the one turn an approval is for."""
    return f"{tenant}|{conversation}|{seq}"


def approve_reply(draft: Draft, review: Review, *, scope: str, mint: SealMint) -> ApprovedReply:
    """Return the sealed reply.

    Raises: AuthorityError when any required check is missing or failed, or the review is of another draft.
    """
    return mint.seal_reply(draft, review, scope=scope)


async def weigh_action(
    scope: CustomerScope,
    proposal: Proposal,
    *,
    action_id: str,
    intent: CustomerIntent | None,
    is_screened: bool,
    policy: TenantPolicy,
    clock: Clock,
    billing: BillingReader,
    actions: ActionReader,
) -> ActionFacts:
    """Return the facts a decision about the proposal rests on, read from the shop and the store now.

    Raises: Unavailable, RateLimited: without facts there is no decision.
    """
    quote, is_owner = await _quote(scope, proposal, billing)
    amount = quote.amount if quote is not None else None
    spent, is_unusual = 0, False
    if RULES[proposal.type].is_billing:
        since = clock.now() - timedelta(days=ROLLING_DAYS)
        currency = amount.currency if amount is not None else policy.currency
        spent, times, past = await asyncio.gather(
            actions.spent_minor(scope, currency, since=since, without=action_id),
            actions.payments(scope, since=since, without=action_id),
            actions.past_amounts(TenantScope(scope.tenant_id), currency, since=since),
        )
        paid = amount.amount_minor if amount is not None else 0
        is_unusual = is_unusual_amount(paid, past) or is_unusual_frequency(times)
    return ActionFacts(
        type=proposal.type,
        intent=intent,
        amount=amount,
        spent_minor=spent,
        is_possible=quote is None or quote.is_possible,
        is_owner=is_owner,
        is_unusual=is_unusual,
        is_screened=is_screened,
        refusal=quote.reason if quote is not None else "",
    )


@dataclass(frozen=True, slots=True)
class Minted:
    """What came of asking for a grant: the grant, or the decision that stands against it."""

    grant: SignedGrant | None
    decision: Decision
    effect: Effect | None = None
    """What an earlier start has done after all: nothing is to be decided any more, the action is to be confirmed."""


async def grant_action(
    action: Action,
    *,
    fence: int,
    policy: TenantPolicy,
    tier: Tier,
    clock: Clock,
    billing: BillingReader,
    actions: ActionReader,
    tombstones: Tombstones,
    mint: SealMint,
) -> Minted:
    """Return a grant for exactly this action, or the decision that sends it back to the desk or refuses it.

    A person's approval covers the amount they saw and nothing else; the ceilings' approval is asked for again. After a
    start that was undone the shop is read once more before anything is decided against the action: what its call has
    done since would look like a change.
    Raises: Unavailable, RateLimited, IntegrationError: then nothing is granted, and nothing decided.
    """
    minted = await _grant(
        action,
        fence=fence,
        policy=policy,
        tier=tier,
        clock=clock,
        billing=billing,
        actions=actions,
        tombstones=tombstones,
        mint=mint,
    )
    is_started = action.state is ActionState.APPROVED and action.starts > 0 and RULES[action.type].needs_lane
    if minted.grant is not None or not is_started:
        return minted
    is_open = may_be_under_way(action.started_at, clock.now())
    effect = await billing.find_effect(CustomerScope(action.tenant_id, action.customer_id), action)
    if effect is None and is_open:
        raise Unavailable(f"an earlier call of action {action.action_id!r} may still be under way")
    return Minted(None, minted.decision, effect)


async def _grant(
    action: Action,
    *,
    fence: int,
    policy: TenantPolicy,
    tier: Tier,
    clock: Clock,
    billing: BillingReader,
    actions: ActionReader,
    tombstones: Tombstones,
    mint: SealMint,
) -> Minted:
    """Read everything anew and mint, or say what stands against it."""
    scope = CustomerScope(action.tenant_id, action.customer_id)
    if action.state is not ActionState.APPROVED:
        return Minted(None, Decision(Verdict.REFUSE, f"the action is {action.state.value}"))
    if await tombstones.is_erased(scope):
        return Minted(None, Decision(Verdict.REFUSE, "the customer was erased"))
    if isinstance(action.proposal, ChangeAddressProposal) and action.proposal.address is None:
        return Minted(None, Decision(Verdict.ASK, "a person has to write the address"))
    facts = await weigh_action(
        scope,
        action.proposal,
        action_id=action.action_id,
        intent=action.intent,
        is_screened=True,  # an unscreened message never became an action
        policy=policy,
        clock=clock,
        billing=billing,
        actions=actions,
    )
    decision = decide(facts, policy.governance, tier, policy.currency)
    if decision.verdict is Verdict.REFUSE:
        return Minted(None, decision)
    if facts.amount != action.amount:
        return Minted(None, Decision(Verdict.ASK, "what would be moved has changed since the decision"))
    is_by_person = action.approved_by.startswith(BY_PERSON)
    if decision.verdict is Verdict.ASK and not is_by_person:
        return Minted(None, decision)
    return Minted(mint.seal_grant(action, policy_version=policy.version, fence=fence), decision)


async def _quote(scope: CustomerScope, proposal: Proposal, billing: BillingReader) -> tuple[Quote | None, bool]:
    """Return the shop's quote and whether the order is the account's; notes and tickets need neither."""
    if isinstance(proposal, CrmNoteProposal | TicketUpdateProposal):
        return None, True
    quote = await billing.quote(scope, proposal)
    return quote, quote is not None and quote.owner == scope.customer_id
