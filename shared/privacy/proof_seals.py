"""Sealing proofs and naming by keyed hashes, under the data key whose destruction is the erasure.

Bound to tenant, conversation and message: a sealed proof put beside another turn does not open. Never holds an opened
proof. Implements ProofSealer, ProofReader and Pseudonyms. Source: design §6 row ledger, §9 "Erasure order".
"""

import json
import os

from shared.domain.errors import SchemaError
from shared.domain.ids import MessageId
from shared.domain.ledger import Pseudonym
from shared.domain.proof_body import ProofBody, SealedProof
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.vault import ConversationScope
from shared.privacy.keys import KEY_BYTES, DataKey, KeyRing, join_parts
from shared.wire import decode


class ProofSeals:
    """Proofs of every tenant's turns, under the keys of one ring."""

    def __init__(self, keys: KeyRing) -> None:
        self._keys = keys

    async def seal(self, scope: ConversationScope, message: MessageId, body: ProofBody) -> SealedProof:
        """Return the body under the customer's data key, or the conversation's own while nobody is known."""
        key = await self._keys.key_for(seal_owner(scope))
        return SealedProof(
            key_id=key.key_id, ciphertext=key.encrypt(body.model_dump_json(), bound_to=_place(scope, message))
        )

    async def open(self, scope: ConversationScope, message: MessageId, sealed: SealedProof) -> ProofBody | None:
        """Return the body, or None once its key is destroyed."""
        key = await self._key(scope, sealed)
        if key is None:
            key = await self._keys.key_of(TenantScope(scope.tenant_id), sealed.key_id)
        if key is None:
            return None
        text = key.decrypt(sealed.ciphertext, bound_to=_place(scope, message))
        try:
            return decode(ProofBody, json.loads(text))
        except json.JSONDecodeError:
            raise SchemaError(f"the proof of message {message!r} is no JSON") from None

    async def pseudonym(self, scope: ConversationScope, sealed: SealedProof | None) -> Pseudonym:
        """Return the naming under the key of the sealed proof, or without one under the scope's own."""
        if sealed is None:
            key: DataKey | None = await self._keys.key_for(seal_owner(scope))
        else:
            key = await self._key(scope, sealed)
        return (key or DataKey("destroyed", os.urandom(KEY_BYTES))).value_id

    async def _key(self, scope: ConversationScope, sealed: SealedProof) -> DataKey | None:
        key = await self._keys.existing_key(seal_owner(scope))
        return key if key is not None and key.key_id == sealed.key_id else None


def seal_owner(scope: ConversationScope) -> CustomerScope | ConversationScope:
    """Return whose key seals what is said now.

    An unknown visitor's conversation has a key of its own: it may become a customer's later, and then has to be erased
    with them.
    """
    return scope if scope.customer_id is None else CustomerScope(scope.tenant_id, scope.customer_id)


def _place(scope: ConversationScope, message: MessageId) -> bytes:
    return join_parts("proof", scope.tenant_id, scope.conversation_id, message)
