"""Minting: the only place where approvals and grants come into being. Only agents.supervisor imports it.

Never decides whether something may be approved: ApprovedReply refuses by itself, grants are shaped by the caller's
verified facts. Source: SU-03, SU-04, AX-02, AX-05.
"""

from datetime import timedelta

from shared.authority.payloads import APPROVAL, GRANT, approval_payload, grant_payload
from shared.authority.seal import KeyRing, seal
from shared.domain.actions import Action, payload_hash
from shared.domain.drafts import ApprovedReply, Draft, Review
from shared.domain.grants import MAX_GRANT_TTL_S, Grant, SignedGrant
from shared.ports.clock import Clock, IdSource


class SealMint:
    """Seals replies and grants with the newest key."""

    def __init__(self, *, keys: KeyRing, clock: Clock, ids: IdSource) -> None:
        self._keys = keys
        self._clock = clock
        self._ids = ids

    def seal_reply(self, draft: Draft, review: Review, *, scope: str) -> ApprovedReply:
        """Return the approved form of a draft for one turn.

        Raises: AuthorityError when any required verdict is missing or negative, or is about another draft.
        """
        mark = seal(approval_payload(draft, review, scope), purpose=APPROVAL, keys=self._keys)
        return ApprovedReply(draft=draft, review=review, scope=scope, seal=mark)

    def seal_grant(
        self,
        action: Action,
        *,
        policy_version: int,
        fence: int = 0,
        ttl_s: int = MAX_GRANT_TTL_S,
    ) -> SignedGrant:
        """Return a single-use right to exactly this action, with its amount, lines and payload.

        Raises: ValueError when the life is longer than allowed.
        """
        now = self._clock.now()
        proposal = action.proposal
        grant = Grant(
            grant_id=self._ids.new_id(),
            tenant_id=action.tenant_id,
            account_id=action.customer_id,
            action_type=action.type,
            action_id=action.action_id,
            payload_hash=payload_hash(proposal),
            order_id=getattr(proposal, "order_id", None),
            lines=getattr(proposal, "lines", ()),
            amount=action.amount,
            policy_version=policy_version,
            approved_by=action.approved_by,
            fence=fence,
            issued_at=now,
            expires_at=now + timedelta(seconds=ttl_s),
        )
        return SignedGrant(grant=grant, seal=seal(grant_payload(grant), purpose=GRANT, keys=self._keys))
