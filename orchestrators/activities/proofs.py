"""The proof of a turn that is about to tell the customer something: read what it cites, put it together, seal it.

Wiring; what a proof says is `proof_of`'s. Without a proof nothing is told: what cannot be read is an error of the step.
Source: KB-10, ME-06, design §7 "GET …/turns/{mid}/proof".
"""

import asyncio
from collections.abc import Mapping

from shared.adapters.records.ticket_rows import proof_id
from shared.domain.actions import Action
from shared.domain.article import Article
from shared.domain.deltas import TurnState
from shared.domain.drafts import ApprovedReply
from shared.domain.ids import MessageId, SourceRef
from shared.domain.proof_body import ProofBody, fixed_sentence, proof_of
from shared.domain.text import MaskedText
from shared.domain.ticket import ProofRow
from shared.ports.articles import ArticleReader
from shared.ports.documents import CustomerScope, TenantScope
from shared.ports.proofs import ProofSealer
from shared.ports.readers import ActionReader
from shared.ports.vault import ConversationScope


async def prove_turn(
    state: TurnState,
    *,
    approved: ApprovedReply | None = None,
    told: MaskedText | None = None,
    language: str = "",
    articles: ArticleReader,
    actions: ActionReader,
    sealer: ProofSealer,
) -> ProofRow:
    """Return the sealed proof of the approved reply, or else of the fixed text that is told in that language.

    Raises: Unavailable, RateLimited.
    """
    snapshot = state.snapshot
    owner = ConversationScope(snapshot.tenant_id, snapshot.conversation_id, snapshot.customer_id)
    refs = approved.draft.refs if approved is not None else ()
    pinned, done = await asyncio.gather(_pinned(owner, refs, articles), _stored(state, actions))
    body = proof_of(state, approved=approved, told=told, language=language, pinned=pinned, actions=done)
    return await _sealed(owner, snapshot.message_id, body, sealer)


async def prove_fixed_text(
    owner: ConversationScope,
    message: MessageId,
    told: MaskedText,
    *,
    language: str,
    policy_version: int,
    sealer: ProofSealer,
) -> ProofRow:
    """Return the sealed proof of a fixed text told in a turn whose state is lost. Raises: Unavailable, RateLimited."""
    body = ProofBody(
        language=language, policy_version=policy_version, is_approved=False, sentences=(fixed_sentence(told),)
    )
    return await _sealed(owner, message, body, sealer)


async def _sealed(owner: ConversationScope, message: MessageId, body: ProofBody, sealer: ProofSealer) -> ProofRow:
    return ProofRow(
        id=proof_id(message),
        tenant_id=owner.tenant_id,
        conversation_id=owner.conversation_id,
        customer_id=owner.customer_id,
        message_id=message,
        sealed=await sealer.seal(owner, message, body),
    )


async def _pinned(
    owner: ConversationScope, refs: tuple[SourceRef, ...], articles: ArticleReader
) -> Mapping[SourceRef, Article]:
    """Return the cited versions that exist."""
    scope = TenantScope(owner.tenant_id)
    found = await asyncio.gather(*(articles.version(scope, ref) for ref in refs))
    return {ref: article for ref, article in zip(refs, found, strict=True) if article is not None}


async def _stored(state: TurnState, actions: ActionReader) -> tuple[Action, ...]:
    """Return the turn's actions as they are stored, with who approved them."""
    snapshot = state.snapshot
    if snapshot.customer_id is None:
        return ()
    scope = CustomerScope(snapshot.tenant_id, snapshot.customer_id)
    ids = [outcome.action_id for outcome in state.outcomes if outcome.action_id]
    found = await asyncio.gather(*(actions.get(scope, action_id) for action_id in ids))
    return tuple(action for action in found if action is not None)
