"""Watching the machine: governance with its figures, the process's own counts, turns drawn for a person to look at.

Reads only. Source: SC-02 (phases, sampled audit, drift), SU-06, KB-08 (hit rates), fault 110.
"""

import asyncio
from typing import Final

from orchestrators.triggers.contract import Call
from orchestrators.triggers.oversight_models import (
    AuditedShown,
    AuditList,
    AuditQuery,
    AuditShown,
    CeilingShown,
    FiguresShown,
    FirstContactShown,
    GovernanceShown,
    ReviewLaneShown,
    SearchShown,
    ShadowShown,
)
from orchestrators.triggers.problems import not_found
from orchestrators.triggers.responses import Answer, json_answer
from orchestrators.triggers.tenants import scope_of
from orchestrators.triggers.turns import restore_all
from shared.domain.governance import ROLLING_DAYS, ceiling_of
from shared.domain.ledger import TurnRecord
from shared.domain.oversight import oversee, share
from shared.domain.text import MaskedText
from shared.ports.vault import ConversationScope

WATCHED_TURNS: Final = 1_000
"""Newest turns the figures are counted over. Value ours."""


async def get_figures(call: Call) -> Answer:
    """Return what the answering process has counted: search paths, cache hits, index sizes, lag, review lanes."""
    counted, lanes = call.services.search.figures(), call.services.review_lanes.figures()
    search = SearchShown(
        searches=counted.searches,
        by_path=dict(counted.by_path),
        hit_rates={cache: counted.hit_rate(cache) for cache in counted.by_cache},
        indexes=counted.indexes,
        index_bytes=counted.index_bytes,
        evicted=counted.evicted,
        built=counted.built,
        restored=counted.restored,
        longest_catch_up_ms=counted.longest_catch_up_ms,
        vector_lag_s=counted.vector_lag_s,
        longest_vector_lag_s=counted.longest_vector_lag_s,
        spared=counted.spared,
    )
    shown = {
        severity: ReviewLaneShown(
            waiting=lane.waiting,
            served=lane.served,
            refused=lane.refused,
            longest_ms=lane.longest_ms,
            deepest=lane.deepest,
        )
        for severity, lane in lanes.items()
    }
    return json_answer(FiguresShown(search=search, review_lanes=shown))


async def get_governance(call: Call) -> Answer:
    """Return phase, ceilings, open approvals, drift, audited share and first-contact errors."""
    scope = await scope_of(call)
    services = call.services
    tenant, policy, records, approvals = await asyncio.gather(
        services.tenants.get(scope),
        services.tenants.policy(scope),
        services.analytics.recent(scope, WATCHED_TURNS),
        services.cases.approvals_waiting(scope),
    )
    if tenant is None:
        raise not_found()
    governance, seen = policy.governance, oversee(records)
    ceiling = ceiling_of(governance, tenant.tier)
    return json_answer(
        GovernanceShown(
            tier=tenant.tier,
            phase=governance.phase,
            ceilings=CeilingShown(
                single_minor=ceiling.single_minor,
                rolling_minor=ceiling.rolling_minor,
                rolling_days=ROLLING_DAYS,
                currency=policy.currency,
            ),
            always_approve=governance.always_approve,
            open_approvals=approvals,
            turns=seen.turns,
            shadow=ShadowShown(
                share=governance.shadowed_share,
                checked=seen.shadowed,
                differed=seen.differed,
                drift_rate=share(seen.differed, seen.shadowed),
            ),
            audit=AuditedShown(
                share=governance.audited_share, drawn=seen.audited, drawn_share=share(seen.audited, seen.turns)
            ),
            first_contact=FirstContactShown(
                turns=seen.first_turns,
                errors=seen.first_errors,
                error_rate=share(seen.first_errors, seen.first_turns),
            ),
        )
    )


async def list_audits(call: Call) -> Answer:
    """Return a page of the turns drawn for a person to look at, with what was asked and answered."""
    asked = call.query_as(AuditQuery)
    records, continuation = await call.services.analytics.audited(call.tenant, asked.limit, asked.continuation)
    turns = await asyncio.gather(*(_shown(call, record) for record in records))
    return json_answer(AuditList(turns=tuple(turns), continuation=continuation))


async def _shown(call: Call, record: TurnRecord) -> AuditShown:
    row = await call.services.tickets.turn(call.tenant, record.conversation_id, record.message_id)
    message = reply = None
    if row is not None:
        said = row.result.reply if row.result is not None else None
        scope = ConversationScope(row.tenant_id, row.conversation_id, row.customer_id)
        language = row.result.language if row.result is not None else "en"
        texts = await restore_all(call.services, scope, [row.masked_text, said or MaskedText("")], language)
        message, reply = texts[0], texts[1] if said is not None else None
    return AuditShown(
        conversation_id=record.conversation_id,
        message_id=record.message_id,
        at=record.at,
        outcome=record.outcome,
        intent=record.intent,
        severity=record.severity,
        confidence=record.confidence,
        triggers=record.triggers,
        revisions=record.revisions,
        message=message,
        reply=reply,
    )
