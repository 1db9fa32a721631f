"""Proofs under seal: who may close one, who may open one, and who may only name things by keyed hashes.

Whoever holds ProofSealer reads nothing back; the recorder holds Pseudonyms alone, so it copies ciphertext it cannot
read. Source: ME-06, design §6 row ledger ("keyed hashes, ciphertext under the customer's key").
"""

from typing import Protocol

from shared.domain.ids import MessageId
from shared.domain.ledger import Pseudonym
from shared.domain.proof_body import ProofBody, SealedProof
from shared.ports.vault import ConversationScope


class ProofSealer(Protocol):
    """Closes proofs. Raises: Unavailable, RateLimited."""

    async def seal(self, scope: ConversationScope, message: MessageId, body: ProofBody) -> SealedProof:
        """Return the body under the customer's data key, or the conversation's own while nobody is known."""
        ...


class ProofReader(Protocol):
    """Opens proofs. Raises: Unavailable, RateLimited."""

    async def open(self, scope: ConversationScope, message: MessageId, sealed: SealedProof) -> ProofBody | None:
        """Return the body, or None once its key is destroyed; the scope's customer need not be who it was sealed for.

        Raises: AuthorityError when it was changed or belongs to another turn.
        """
        ...


class Pseudonyms(Protocol):
    """Names a customer's things so that entries can be told to belong together, and to whom only with the key."""

    async def pseudonym(self, scope: ConversationScope, sealed: SealedProof | None) -> Pseudonym:
        """Return the naming under the key of the sealed proof, or without one under the scope's own.

        Where that key has been destroyed meanwhile, names are drawn that nobody can ever repeat.
        Raises: Unavailable, RateLimited.
        """
        ...
