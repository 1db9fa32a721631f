"""Analytics recorder: turns a finished turn into one ledger entry and one record of figures; decides nothing.

Holds store-writing ports, so it may never hold one that reaches a customer or an integration. It names nobody: what it
keeps of a customer is hashed under their key, and the proof it copies is sealed before it gets here.
Source: S1 step 7, PR-01, ME-06, AN-01.
"""

from datetime import datetime

from shared.domain.envelope import EnvelopeHeader
from shared.domain.ids import SourceRef
from shared.domain.ledger import LedgerEntry, Pseudonym, TurnRecord, kept_header, without_names
from shared.domain.ticket import ProofRow, TurnResult, TurnRow
from shared.domain.turns import StepTimes
from shared.ports.documents import TenantScope
from shared.ports.proofs import Pseudonyms
from shared.ports.vault import ConversationScope
from shared.ports.writers import AnalyticsWriter, LedgerWriter


async def record_turn(
    row: TurnRow,
    times: StepTimes,
    trail: tuple[EnvelopeHeader, ...],
    proof: ProofRow | None,
    *,
    at: datetime,
    pseudonyms: Pseudonyms,
    ledger: LedgerWriter,
    analytics: AnalyticsWriter,
) -> bool:
    """Write the turn's ledger entry and figures once; return False when both were there before.

    `trail` is the turn's exchange of envelopes in order, `proof` what was stored beside the reply, if there was one.
    A turn without a result is not recorded: it has not ended.
    """
    result = row.result
    if result is None:
        return False
    scope = TenantScope(row.tenant_id)
    customer = row.customer_id if proof is None else proof.customer_id
    owner = ConversationScope(row.tenant_id, row.conversation_id, customer)
    pseudonym = await pseudonyms.pseudonym(owner, proof.sealed if proof is not None else None)
    entry = _entry(row, result, owner, trail, proof, at, pseudonym)
    is_new = await ledger.append(scope, entry)
    return await analytics.record(scope, _figures(row, result, times, at)) or is_new


def _entry(
    row: TurnRow,
    result: TurnResult,
    owner: ConversationScope,
    trail: tuple[EnvelopeHeader, ...],
    proof: ProofRow | None,
    at: datetime,
    pseudonym: Pseudonym,
) -> LedgerEntry:
    return LedgerEntry(
        id=row.id,
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        message_id=row.message_id,
        instance_id=row.instance_id,
        customer_hash=pseudonym("customer", owner.customer_id) if owner.customer_id is not None else "",
        seq=row.seq,
        outcome=result.outcome.value,
        intent=result.intent,
        refs=without_names((SourceRef(source.ref) for source in result.sources), pseudonym),
        verdicts=result.verdicts,
        reply_hash=pseudonym("reply", result.reply.value) if result.reply else "",
        triggers=result.triggers,
        trace_id=row.trace_id,
        messages=tuple(kept_header(header, pseudonym) for header in trail),
        sealed=proof.sealed if proof is not None else None,
        at=at,
    )


def _figures(row: TurnRow, result: TurnResult, times: StepTimes, at: datetime) -> TurnRecord:
    took = (row.done_at - row.accepted_at).total_seconds() if row.done_at else 0.0
    return TurnRecord(
        id=f"turn:{row.conversation_id}:{row.message_id}",
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        message_id=row.message_id,
        outcome=result.outcome.value,
        intent=result.intent,
        severity=result.severity,
        confidence=result.confidence,
        path=result.path,
        triggers=result.triggers,
        revisions=times.revisions,
        took_ms=round(took * 1000),
        agent_ms=times.took_ms,
        rungs=times.rungs,
        facts=times.facts,
        action_facts=times.action_facts,
        has_widened=times.has_widened,
        is_first=times.is_first,
        shadow=times.shadow,
        is_audited=times.is_audited,
        at=at,
    )
