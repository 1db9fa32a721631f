"""Analytics recorder: turns a finished turn into one ledger entry and one record of figures; decides nothing.

Holds store-writing ports, so it may never hold one that reaches a customer or an integration. Source: S1 step 7, AN-01.
"""

from datetime import datetime

from shared.domain.envelope import EnvelopeHeader
from shared.domain.ids import SourceRef, digest
from shared.domain.ledger import LedgerEntry, TurnRecord
from shared.domain.ticket import TurnRow
from shared.domain.turns import StepTimes
from shared.ports.documents import TenantScope
from shared.ports.writers import AnalyticsWriter, LedgerWriter


async def record_turn(
    row: TurnRow,
    times: StepTimes,
    trail: tuple[EnvelopeHeader, ...],
    *,
    at: datetime,
    ledger: LedgerWriter,
    analytics: AnalyticsWriter,
) -> bool:
    """Write the turn's ledger entry and figures once; return False when both were there before.

    A turn without a result is not recorded: it has not ended.
    """
    result = row.result
    if result is None:
        return False
    scope = TenantScope(row.tenant_id)
    entry = LedgerEntry(
        id=row.id,
        tenant_id=row.tenant_id,
        conversation_id=row.conversation_id,
        message_id=row.message_id,
        instance_id=row.instance_id,
        seq=row.seq,
        outcome=result.outcome.value,
        intent=result.intent,
        refs=tuple(SourceRef(source.ref) for source in result.sources),
        verdicts=result.verdicts,
        reply_hash=digest(result.reply.value) if result.reply else "",
        triggers=result.triggers,
        trace_id=row.trace_id,
        at=at,
    )
    took = (row.done_at - row.accepted_at).total_seconds() if row.done_at else 0.0
    record = TurnRecord(
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
    is_new = await ledger.append(scope, entry)
    return await analytics.record(scope, record) or is_new
