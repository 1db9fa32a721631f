"""A case: what a person needs to take a conversation over, in the tenant's human queue.

A projection of the ticket's handoff row, created with the handoff's own id so that doing it twice makes one.
Source: HD-01, PR-04, RT-07.
"""

from datetime import datetime, timedelta
from enum import StrEnum

from shared.domain.deltas import ActionResult
from shared.domain.human_triggers import Severity
from shared.domain.ids import CaseId, ConversationId, CustomerId, MessageId, TenantId
from shared.domain.sources import Passage
from shared.domain.text import MaskedText
from shared.domain.ticket import SourceShown
from shared.domain.wire_model import Wire


class CaseStatus(StrEnum):
    """Where a case stands in the queue."""

    OPEN = "open"
    CLAIMED = "claimed"
    RELEASED = "released"
    RESOLVED = "resolved"


class Case(Wire):
    """One handoff with everything a person needs: reasons, draft, sources; the thread is read from the ticket."""

    id: CaseId
    kind: str = "case"
    tenant_id: TenantId
    conversation_id: ConversationId
    customer_id: CustomerId | None = None
    message_id: MessageId
    status: CaseStatus = CaseStatus.OPEN
    severity: Severity = Severity.NORMAL
    triggers: tuple[str, ...] = ()
    reason: str = ""
    """What stopped the automation, in words of ours."""
    intent: str | None = None
    draft: MaskedText | None = None
    """The unsent draft, for the person only."""
    sources: tuple[SourceShown, ...] = ()
    passages: tuple[Passage, ...] = ()
    """What the sources say that contradict each other (SU-05)."""
    proposed: tuple[ActionResult, ...] = ()
    action_id: str | None = None
    """The action a person decides about here; the bot keeps the conversation meanwhile (design §9 "Approvals")."""
    opened_at: datetime
    due_at: datetime
    """When on-call is paged if nobody has claimed it (PR-04)."""
    claimed_by: str | None = None
    claimed_at: datetime | None = None
    closed_at: datetime | None = None
    is_paged: bool = False
    queue_key: str = ""
    """Its place among cases of its severity, as the queue reads them; the records write it."""
    near_at: datetime | None = None
    """From when it counts as near its SLA (RT-07); the records write it."""
    named_by: str = ""
    """The trigger that names it, its first; the records write it."""

    @property
    def is_human(self) -> bool:
        """A case is always a person's (RT-07)."""
        return True

    @property
    def queued_at(self) -> datetime:
        """Return when it entered the queue; a case that came back keeps its place."""
        return self.opened_at

    @property
    def queue_id(self) -> str:
        """Return its id, which breaks ties."""
        return self.id


def opened_case(
    id: CaseId,
    *,
    tenant_id: TenantId,
    conversation_id: ConversationId,
    customer_id: CustomerId | None,
    message_id: MessageId,
    severity: Severity,
    triggers: tuple[str, ...],
    reason: str,
    sla_minutes: int,
    at: datetime,
) -> Case:
    """Return a case as it enters the queue; the caller adds what a person needs beyond that."""
    return Case(
        id=id,
        tenant_id=tenant_id,
        conversation_id=conversation_id,
        customer_id=customer_id,
        message_id=message_id,
        severity=severity,
        triggers=triggers,
        reason=reason,
        opened_at=at,
        due_at=at + timedelta(minutes=sla_minutes),
    )
