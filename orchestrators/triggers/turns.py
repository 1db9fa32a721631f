"""Turns and threads as an entitled reader sees them: values put back for the tokens, in memory only.

Callers have checked the reader. A token never comes through: what cannot be restored reads as a neutral phrase.
Source: design §3 "Stored text is masked text", §7 Turn, PV-01.
"""

from collections.abc import Sequence
from typing import Final

from orchestrators.triggers.models import (
    Thread,
    ThreadLine,
    Turn,
    TurnAction,
    TurnEscalation,
    TurnPending,
    TurnSource,
)
from shared.container import Services
from shared.domain.errors import SchemaError
from shared.domain.human_triggers import Severity
from shared.domain.phrases import Phrase, phrase
from shared.domain.text import MaskedText
from shared.domain.ticket import NoticeRow, PersonRow, ThreadRow, Ticket, TurnResult, TurnRow, TurnStatus
from shared.ports.documents import TenantScope
from shared.ports.vault import ConversationScope
from shared.privacy.masking import RestoreError, contains_token

PAGE: Final = 200
"""Most lines of one thread page. Value ours."""
LOOK_BACK: Final = 100
"""Sequences before the page that are read too: a reply's sequence is later than its message's. Value ours."""


async def show_turn(services: Services, row: TurnRow) -> Turn:
    """Return the finished turn. Raises: SchemaError when it has no result."""
    result = row.result
    if result is None:
        raise SchemaError(f"turn {row.message_id!r} is not done")
    return Turn(
        conversation_id=row.conversation_id,
        message_id=row.message_id,
        outcome=result.outcome,
        reply=await _restored_reply(services, row, result),
        language=result.language,
        intent=result.intent,
        severity=Severity(result.severity) if result.severity else None,
        confidence=result.confidence,
        sources=tuple(TurnSource(ref=s.ref, title=s.title, relevance=s.relevance) for s in result.sources),
        escalation=_escalation(result),
        actions=tuple(
            TurnAction(type=a.type, amount_minor=a.amount_minor, currency=a.currency, status=a.status)
            for a in result.actions
        ),
        memory_used=result.memory_used,
        superseded_by=result.superseded_by,
        trace_id=row.trace_id,
        took_ms=_took_ms(row),
    )


def show_pending(row: TurnRow, mount: str) -> TurnPending:
    """Return the status of a turn that is not done; `mount` is where the caller finds the surface."""
    return TurnPending(
        conversation_id=row.conversation_id,
        message_id=row.message_id,
        status=row.status,
        status_url=turn_url(row, mount),
        trace_id=row.trace_id,
    )


def turn_url(row: TurnRow, mount: str) -> str:
    """Return where the turn can be read; relative to the host the caller sees."""
    return f"{mount}/v1/conversations/{row.conversation_id}/turns/{row.message_id}"


async def show_thread(services: Services, ticket: Ticket, after_seq: int) -> Thread:
    """Return the lines after a sequence, oldest first, people's replies and notices among them."""
    scope = TenantScope(ticket.tenant_id)
    rows = await services.tickets.thread(
        scope, ticket.conversation_id, max(0, after_seq - LOOK_BACK), limit=LOOK_BACK + PAGE
    )
    lines = sorted((line for row in rows for line in _lines(row) if line.seq > after_seq), key=lambda line: line.seq)
    page = lines[:PAGE]
    return Thread(
        conversation_id=ticket.conversation_id,
        status=ticket.status,
        owner=ticket.owner,
        last_seq=page[-1].seq if page else after_seq,
        has_more=len(lines) > PAGE or len(rows) == LOOK_BACK + PAGE,
        messages=await _restored_lines(services, ticket, page),
    )


async def restore_all(
    services: Services, scope: ConversationScope, texts: Sequence[MaskedText], language: str
) -> tuple[str, ...]:
    """Return texts of one conversation with their values."""
    return await services.vault.restore_stored(scope, texts, language=language)


def conversation_scope(ticket: Ticket) -> ConversationScope:
    """Return the right to the conversation's mappings."""
    return ConversationScope(ticket.tenant_id, ticket.conversation_id, ticket.customer_id)


async def _restored_reply(services: Services, row: TurnRow, result: TurnResult) -> str | None:
    if result.reply is None or not contains_token(result.reply.value):
        return result.reply.value if result.reply else None
    scope = ConversationScope(row.tenant_id, row.conversation_id, row.customer_id)
    try:
        return await services.vault.restore_text(scope, result.reply, language=result.language)
    except RestoreError:
        return phrase(Phrase.ACKNOWLEDGE, result.language)


async def _restored_lines(services: Services, ticket: Ticket, lines: Sequence[ThreadLine]) -> tuple[ThreadLine, ...]:
    language = ticket.language or "en"
    texts = [MaskedText(line.text) for line in lines]
    restored = await restore_all(services, conversation_scope(ticket), texts, language) if texts else ()
    return tuple(
        line.model_copy(update={"text": _never_a_token(line, text, language)})
        for line, text in zip(lines, restored, strict=True)
    )


def _never_a_token(line: ThreadLine, text: str, language: str) -> str:
    """Keep what a customer typed; of our own words, nothing that still resembles a token."""
    is_ours = line.role == "assistant" and contains_token(line.text) and contains_token(text)
    return phrase(Phrase.ACKNOWLEDGE, language) if is_ours else text


def _lines(row: ThreadRow) -> tuple[ThreadLine, ...]:
    if isinstance(row, PersonRow):
        return (ThreadLine(seq=row.seq, role="person", text=row.text.value, at=row.at),)
    if isinstance(row, NoticeRow):
        return (ThreadLine(seq=row.seq, role="assistant", text=row.text.value, at=row.at),)
    result = row.result
    asked = ThreadLine(
        seq=row.seq,
        role="customer",
        text=row.masked_text.value,
        at=row.accepted_at,
        message_id=row.message_id,
        outcome=result.outcome if result else None,
    )
    if result is None or result.reply is None or row.reply_seq is None or row.done_at is None:
        return (asked,)
    reply = ThreadLine(
        seq=row.reply_seq, role="assistant", text=result.reply.value, at=row.done_at, message_id=row.message_id
    )
    return (asked, reply)


def _escalation(result: TurnResult) -> TurnEscalation | None:
    return TurnEscalation(case_id=result.case_id, triggers=result.triggers) if result.case_id else None


def _took_ms(row: TurnRow) -> int:
    return round((row.done_at - row.accepted_at).total_seconds() * 1000) if row.done_at else 0


def is_done(row: TurnRow) -> bool:
    """Tell whether the turn has ended."""
    return row.status is TurnStatus.DONE
