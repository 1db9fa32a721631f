"""The message envelope between the supervisor's flow and an agent; validated at every hop.

Source: PR-01, PR-02, S2 §2.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final, Generic, TypeVar

from pydantic import Field, model_validator

from shared.domain.agents import AgentName
from shared.domain.ids import ConversationId, SourceRef, TenantId, TraceId
from shared.domain.wire_model import Wire

SCHEMA_VERSION: Final = 1
"""Version of the envelope's own shape. Source: PR-01."""

P = TypeVar("P")


class MessageIntent(StrEnum):
    """S2's four kinds of message."""

    REQUEST = "request"
    RESULT = "result"
    ERROR = "error"
    ESCALATION = "escalation"


class Envelope(Wire, Generic[P]):
    """One message; `payload` is typed by its schema, a missing confidence is 0."""

    msg_id: str
    trace_id: TraceId
    parent_msg_id: str | None = None
    sender_agent: AgentName
    recipient_agent: AgentName
    intent: MessageIntent
    payload: P
    confidence: float = Field(default=0.0, ge=0, le=1)
    source_refs: tuple[SourceRef, ...] = ()
    authority_token: str | None = None
    is_write: bool = False
    attempt_count: int = Field(default=1, ge=1)
    timestamp: datetime
    schema_version: int = SCHEMA_VERSION
    conversation_id: ConversationId
    tenant_id: TenantId
    metadata: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _token_goes_with_writes(self) -> "Envelope[P]":
        if self.is_write != (self.authority_token is not None):
            raise ValueError("a write needs an authority token, and only a write carries one")
        return self
