"""Authorising: the supervisor's only power, to seal an approved reply and to grant one action.

Mints nothing without every required verdict; never executes. Source: SU-03, SU-04, AX-02, AX-05.
"""

from shared.authority.mint import SealMint
from shared.domain.drafts import ApprovedReply, Draft, Review
from shared.domain.grants import SignedGrant
from shared.domain.ids import ConversationId, CustomerId, OrderId, TenantId
from shared.domain.intents import ActionType
from shared.domain.money import Money
from shared.domain.policy import TenantPolicy


def approval_scope(tenant: TenantId, conversation: ConversationId, seq: int) -> str:
    """Return `tenant|conversation|seq`: the one turn an approval is for."""
    return f"{tenant}|{conversation}|{seq}"


def approve_reply(draft: Draft, review: Review, *, scope: str, mint: SealMint) -> ApprovedReply:
    """Return the sealed reply.

    Raises: AuthorityError when any required check is missing or failed, or the review is of another draft.
    """
    return mint.seal_reply(draft, review, scope=scope)


def grant_action(
    *,
    tenant_id: TenantId,
    account_id: CustomerId,
    action_type: ActionType,
    action_id: str,
    policy: TenantPolicy,
    mint: SealMint,
    amount: Money | None = None,
    order_id: OrderId | None = None,
) -> SignedGrant:
    """Return a single-use grant for one action of one account, tied to the policy version that allowed it."""
    return mint.seal_grant(
        tenant_id=tenant_id,
        account_id=account_id,
        action_type=action_type,
        action_id=action_id,
        amount=amount,
        policy_version=policy.version,
        order_id=order_id,
    )
