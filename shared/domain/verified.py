"""A grant whose seal, life and purpose were checked: writers to the outside accept nothing less.

Only shared.authority.verify holds the proof that makes one (an import fence). Source: AX-02, conventions "Types".
"""

from shared.domain.actions import Proposal, payload_hash
from shared.domain.errors import AuthorityError
from shared.domain.grants import Grant
from shared.domain.proof import PROOF


class VerifiedGrant:
    """A verified right to one action."""

    __slots__ = ("_grant",)

    def __init__(self, grant: Grant, proof: object) -> None:
        """Raises: AuthorityError without the verifier's proof."""
        if proof is not PROOF:
            raise AuthorityError("a VerifiedGrant comes from verify_grant only")
        self._grant = grant

    def covering(self, proposal: Proposal) -> Grant:
        """Return the grant if it is for exactly this proposal. Raises: AuthorityError: nothing may be called then."""
        if self._grant.payload_hash != payload_hash(proposal) or self._grant.action_type is not proposal.type:
            raise AuthorityError(f"grant {self._grant.grant_id!r} is for another payload")
        return self._grant

    @property
    def grant(self) -> Grant:
        """Return what was granted."""
        return self._grant
