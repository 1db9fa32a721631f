"""Verifying: what delivers a reply or executes an action checks the supervisor's seal here first.

A VerifiedGrant comes only out of `verify_grant`; consuming it (single use) is the store's conditional write.
Source: SU-03 (no approval, no delivery), AX-02.
"""

from datetime import datetime

from shared.authority.payloads import APPROVAL, GRANT, approval_payload, grant_payload
from shared.authority.seal import KeyRing, is_sealed
from shared.domain.actions import Action, payload_hash
from shared.domain.drafts import ApprovedReply
from shared.domain.errors import AuthorityError
from shared.domain.grants import SignedGrant
from shared.domain.proof import PROOF
from shared.domain.verified import VerifiedGrant


def verify_approval(approved: ApprovedReply, *, scope: str, keys: KeyRing) -> None:
    """Return when the reply is approved for exactly this turn.

    Raises: AuthorityError when the scope differs, a check is missing or failed, or the seal is not ours.
    """
    payload = approval_payload(approved.draft, approved.review, approved.scope)
    if approved.scope != scope:
        raise AuthorityError("approval is for another turn")
    if not approved.review.is_approved or payload["draft"] != payload["review"]:
        raise AuthorityError("approval lacks a verdict of this draft")
    if not is_sealed(payload, approved.seal, purpose=APPROVAL, keys=keys):
        raise AuthorityError("approval seal does not verify")


def verify_grant(signed: SignedGrant, action: Action, *, now: datetime, keys: KeyRing) -> VerifiedGrant:
    """Return the grant as verified for exactly this action as it is stored now.

    Raises: AuthorityError naming what differs: seal, tenant, account, action, payload, lines, amount or life.
    """
    grant = signed.grant
    if not is_sealed(grant_payload(grant), signed.seal, purpose=GRANT, keys=keys):
        raise AuthorityError("grant seal does not verify")
    if (grant.tenant_id, grant.account_id) != (action.tenant_id, action.customer_id):
        raise AuthorityError("grant is for another account")
    if (grant.action_type, grant.action_id) != (action.type, action.action_id):
        raise AuthorityError(f"grant {grant.grant_id!r} is for another action")
    if grant.payload_hash != payload_hash(action.proposal):
        raise AuthorityError(f"grant {grant.grant_id!r} is for another payload")
    if grant.amount != action.amount:
        raise AuthorityError(f"grant {grant.grant_id!r} is for another amount")
    if not grant.is_live(now):
        raise AuthorityError(f"grant {grant.grant_id!r} is not live")
    return VerifiedGrant(grant, PROOF)
