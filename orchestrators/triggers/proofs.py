"""The proof of a turn, read back from the ledger: sentences with sources, verdicts, actions, messages, the chain.

For the tenant's server and desk only. Values are not restored: whoever checks a proof needs no e-mail address. An
erased customer's entry still stands in its chain and says no more. Source: design §7, PR-01, KB-10, ME-06, CO-03.
"""

import asyncio
from datetime import timedelta
from typing import Final

from orchestrators.triggers.access import Identity, identify, may_enter
from orchestrators.triggers.contract import Call
from orchestrators.triggers.messages import ASK_AGAIN_S
from orchestrators.triggers.problems import NO_CONVERSATION, Problem, ProblemKind, not_found
from orchestrators.triggers.proof_models import (
    ChainShown,
    CitedShown,
    Evidence,
    MessageShown,
    ProofShown,
    ProvenActionShown,
    SentenceShown,
    SpanShown,
    VerdictShown,
)
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.turns import show_pending
from shared.domain.actions import Action
from shared.domain.envelope import EnvelopeHeader
from shared.domain.errors import AuthorityError, SchemaError
from shared.domain.ids import ConversationId, MessageId, SourceRef, digest
from shared.domain.ledger import Chain, LedgerEntry, is_intact
from shared.domain.proof_body import CitedSource, ProofBody, ProvenAction, ProvenSentence, grant_hash
from shared.domain.ticket import Ticket
from shared.ports.documents import CustomerScope
from shared.ports.vault import ConversationScope

PROOF: Final = "/proof"
"""Below a turn's own address."""
RECORDED_WITHIN: Final = timedelta(minutes=10)
"""Time after a turn's end within which its entry is in the ledger; later, one that is not there is missing. Value ours:
its flow records right after the reply, with retries of seconds."""


async def get_turn_proof(call: Call) -> Answer:
    """Return the proof; 202 while the turn runs or is not recorded yet, 404 for other people's conversations.

    409 when the entry is missing: the chain is broken, or the turn has been over for longer than recording takes.
    """
    who = await identify(call)
    conversation, message = ConversationId(call.ids["cid"]), MessageId(call.ids["mid"])
    ticket = await call.services.tickets.ticket(call.tenant, conversation)
    if not _may_read(who, ticket):
        raise not_found(NO_CONVERSATION)
    chain = await call.services.ledger.chain(call.tenant, conversation)
    entry = chain.entry(message)
    if entry is None:
        return await _not_recorded(call, conversation, message, chain)
    scope = ConversationScope(call.tenant.tenant_id, conversation, ticket.customer_id if ticket is not None else None)
    evidence, body = await _opened(call, scope, entry)
    return json_answer(await _shown(call, scope, chain, entry, evidence, body))


def _may_read(who: Identity, ticket: Ticket | None) -> bool:
    """Tell whether the reader may read the conversation; the tenant itself may also when its working set is gone."""
    if ticket is None:
        return who.is_tenant and who.customer_id is None
    return may_enter(who, ticket)


async def _opened(call: Call, scope: ConversationScope, entry: LedgerEntry) -> tuple[Evidence, ProofBody | None]:
    if entry.sealed is None:
        return "none", None
    try:
        body = await call.services.proofs.open(scope, entry.message_id, entry.sealed)
    except (AuthorityError, SchemaError):
        return "broken", None
    return ("erased", None) if body is None else ("readable", body)


async def _not_recorded(call: Call, conversation: ConversationId, message: MessageId, chain: Chain) -> Answer:
    """Return where to look again. Raises: Problem (404 no such turn, 409 the entry may have been taken away)."""
    row = await call.services.tickets.turn(call.tenant, conversation, message)
    if row is None:
        raise not_found(NO_CONVERSATION)
    if not is_intact(chain):
        raise Problem(ProblemKind.CONFLICT, "The conversation's ledger is not intact and does not hold this turn.")
    # A chain cut off at its end together with its head follows from itself: the turn's own row tells.
    if row.done_at is not None and call.services.clock.now() - row.done_at > RECORDED_WITHIN:
        raise Problem(ProblemKind.CONFLICT, "The turn is long over and the conversation's ledger does not hold it.")
    pending = show_pending(row, call.by.mount)
    where = pending.status_url + PROOF
    headers = (("Location", where), ("Retry-After", str(ASK_AGAIN_S)))
    return json_answer(pending.model_copy(update={"status_url": where}), status=202, headers=headers)


async def _shown(
    call: Call,
    scope: ConversationScope,
    chain: Chain,
    entry: LedgerEntry,
    evidence: Evidence,
    body: ProofBody | None,
) -> ProofShown:
    sentences: tuple[SentenceShown, ...] = ()
    actions: tuple[ProvenActionShown, ...] = ()
    if body is not None:
        sentences, actions = await asyncio.gather(_sentences(call, body), _actions(call, scope, body))
    return ProofShown(
        conversation_id=entry.conversation_id,
        message_id=entry.message_id,
        outcome=entry.outcome,
        intent=entry.intent,
        triggers=entry.triggers,
        evidence=evidence,
        is_approved=body is not None and body.is_approved,
        language=body.language if body is not None else None,
        policy_version=body.policy_version if body is not None else None,
        sentences=sentences,
        verdicts=_verdicts(entry, body),
        actions=actions,
        messages=tuple(_message(header) for header in entry.messages),
        ledger=ChainShown(
            position=entry.position,
            previous_hash=entry.previous_hash,
            entry_hash=entry.entry_hash,
            intact=is_intact(chain),
        ),
        trace_id=entry.trace_id,
        recorded_at=entry.at,
    )


def _verdicts(entry: LedgerEntry, body: ProofBody | None) -> tuple[VerdictShown, ...]:
    """Return the verdicts with their reasons, or without when only what is not sealed is left."""
    if body is None:
        return tuple(VerdictShown(check=c, passed=p, reason="", evidence=()) for c, p in entry.verdicts.items())
    return tuple(
        VerdictShown(check=v.check.value, passed=v.is_passed, reason=v.reason, evidence=v.evidence)
        for v in body.verdicts
    )


async def _sentences(call: Call, body: ProofBody) -> tuple[SentenceShown, ...]:
    refs = tuple(dict.fromkeys(s.ref for sentence in body.sentences for s in sentence.sources if s.version))
    articles = call.services.articles
    stale, versions = await asyncio.gather(
        articles.stale_refs(call.tenant, refs), asyncio.gather(*(articles.version(call.tenant, ref) for ref in refs))
    )
    contents = {r: a.content.value for r, a in zip(refs, versions, strict=True) if a is not None}
    return tuple(_sentence(sentence, frozenset(stale), contents) for sentence in body.sentences)


def _sentence(sentence: ProvenSentence, stale: frozenset[SourceRef], contents: dict[SourceRef, str]) -> SentenceShown:
    return SentenceShown(
        text=sentence.text.value,
        kind=sentence.kind.value,
        sources=tuple(_cited(source, stale, contents.get(source.ref)) for source in sentence.sources),
    )


def _cited(source: CitedSource, stale: frozenset[SourceRef], content: str | None) -> CitedShown:
    quote = source.span.of(content) if source.span is not None and content is not None else None
    return CitedShown(
        ref=source.ref,
        title=source.title,
        version=source.version,
        span=SpanShown(start=source.span.start, end=source.span.end) if source.span is not None else None,
        text_hash=source.text_hash,
        quote=quote if quote is not None and digest(quote) == source.text_hash else None,
        still_current=source.ref not in stale if source.version is not None else None,
    )


async def _actions(call: Call, scope: ConversationScope, body: ProofBody) -> tuple[ProvenActionShown, ...]:
    owner = CustomerScope(scope.tenant_id, scope.customer_id) if scope.customer_id is not None else None
    found: list[Action | None] = [None] * len(body.actions)
    if owner is not None:
        found = list(await asyncio.gather(*(call.services.actions.get(owner, a.action_id) for a in body.actions)))
    return tuple(_action(proven, now) for proven, now in zip(body.actions, found, strict=True))


def _action(proven: ProvenAction, now: Action | None) -> ProvenActionShown:
    """Return the action as it was proven; who approved it and under which grant it ran may have come later."""
    return ProvenActionShown(
        action_id=proven.action_id,
        type=proven.type,
        decided=proven.decided.value if proven.decided is not None else None,
        status=proven.status.value,
        standing=now.state.value if now is not None else None,
        amount_minor=proven.amount_minor,
        currency=proven.currency,
        reason=proven.reason,
        approved_by=proven.approved_by or (now.approved_by if now is not None else ""),
        approved_at=proven.approved_at or (now.approved_at if now is not None else None),
        grant_hash=proven.grant_hash or (grant_hash(now.grant_id) if now is not None else ""),
        case_id=proven.case_id,
    )


def _message(header: EnvelopeHeader) -> MessageShown:
    return MessageShown(
        msg_id=header.msg_id,
        parent_msg_id=header.parent_msg_id,
        sender_agent=header.sender_agent.value,
        recipient_agent=header.recipient_agent.value,
        intent=header.intent.value,
        confidence=header.confidence,
        source_refs=header.source_refs,
        is_write=header.is_write,
        attempt_count=header.attempt_count,
        timestamp=header.timestamp,
        text_hash=header.text_hash,
    )
