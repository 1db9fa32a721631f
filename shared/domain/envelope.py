"""The message envelope between the supervisor's flow and an agent; validated at every hop.

Owns the shape, the rule that a token goes with writes only, and the header the ledger keeps. A message's id follows
from its turn and place, so that a repeated step says the same thing. Source: PR-01, PR-02, S2 §2.
"""

from datetime import datetime
from functools import lru_cache
from typing import Final, Generic, Literal, Self, TypeVar

from pydantic import Field, model_validator

from shared.domain.actions import ActionRef, Proposal
from shared.domain.agents import SPECS, AgentName, MessageIntent
from shared.domain.drafts import CheckVerdict
from shared.domain.errors import SchemaError
from shared.domain.grants import SignedGrant
from shared.domain.ids import ConversationId, InstanceId, SourceRef, TenantId, TraceId, digest
from shared.domain.intents import CustomerIntent
from shared.domain.outcome import Outcome
from shared.domain.turns import StepTimes, TurnInput
from shared.domain.wire_model import Wire

SCHEMA_VERSION: Final = 2
"""Version of the envelope's own shape. Source: PR-01."""
ID_CHARS: Final = 32
"""Hex characters of a message id. Value ours."""


class ReadRequest(Wire):
    """Asks an agent to look and to return a delta."""

    kind: Literal["read"] = "read"
    state: str = ""
    """The turn's state, cut to what the agent may read and packed: readers that see the same get one text, which is
    parsed once. Empty where the question is about an action alone."""
    intent: CustomerIntent | None = None
    """The real intent, when the first look was made for another."""
    is_widened: bool = False
    verdicts: tuple[CheckVerdict, ...] = ()
    """Why the last draft was rejected (SU-02)."""
    attempt: int = 0
    proposals: tuple[Proposal, ...] = ()
    """What the customer asks to be done, for the supervisor to decide."""
    action: ActionRef | None = None
    """The decided action a grant is asked for, within the lane of that fence."""
    fence: int = 0


class WriteRequest(Wire):
    """Asks the executor to act; there is none without a grant."""

    kind: Literal["write"] = "write"
    grant: SignedGrant
    action: ActionRef
    base_version: int


class EnvelopeHeader(Wire):
    """A message without its payload."""

    msg_id: str
    parent_msg_id: str | None
    sender_agent: AgentName
    recipient_agent: AgentName
    intent: MessageIntent
    confidence: float
    source_refs: tuple[SourceRef, ...]
    is_write: bool
    attempt_count: int
    timestamp: datetime
    text_hash: str
    """SHA-256 of the whole message as it crossed the hop."""


class RecordRequest(Wire):
    """Asks the recorder to record a finished turn; it writes to our own store only, under no grant."""

    kind: Literal["record"] = "record"
    turn: TurnInput
    times: StepTimes
    trail: tuple[EnvelopeHeader, ...] = ()


class ResultPayload(Wire):
    """What an agent's activity answers: its outcome, the delta packed inside."""

    kind: Literal["outcome"] = "outcome"
    outcome: Outcome


Payload = ReadRequest | WriteRequest | RecordRequest | ResultPayload
P = TypeVar("P", bound=Payload)


class Envelope(Wire, Generic[P]):
    """One message; `payload` is typed by its schema, a missing confidence is 0."""

    msg_id: str = Field(min_length=1, max_length=64)
    trace_id: TraceId
    parent_msg_id: str | None = None
    sender_agent: AgentName
    recipient_agent: AgentName
    intent: MessageIntent
    payload: P
    confidence: float = Field(default=0.0, ge=0, le=1)
    source_refs: tuple[SourceRef, ...] = ()
    authority_token: str | None = None
    """The seal of the grant in the payload: on a write, and only there."""
    attempt_count: int = Field(default=1, ge=1)
    timestamp: datetime
    schema_version: Literal[2] = SCHEMA_VERSION
    conversation_id: ConversationId
    tenant_id: TenantId
    metadata: tuple[tuple[str, str], ...] = ()
    """Language, channel and routing of the message (PR-01)."""

    @model_validator(mode="after")
    def _token_goes_with_writes(self) -> Self:
        is_write = isinstance(self.payload, WriteRequest)
        if is_write != (self.authority_token is not None):
            raise ValueError("a write needs an authority token, and only a write carries one")
        if isinstance(self.payload, WriteRequest) and self.authority_token != self.payload.grant.seal:
            raise ValueError("the authority token is not the grant's")
        return self

    @model_validator(mode="after")
    def _sender_may_say_it(self) -> Self:
        if self.intent not in SPECS[self.sender_agent].emits:
            raise ValueError(f"{self.sender_agent.value} may not send a {self.intent.value}")
        if (self.intent is MessageIntent.REQUEST) == isinstance(self.payload, ResultPayload):
            raise ValueError("a request carries a request, an answer an outcome")
        return self

    def header(self, text: str) -> EnvelopeHeader:
        """Return what the ledger keeps of the message as it was sent: all but the payload, whose hash stands for it."""
        return EnvelopeHeader(
            msg_id=self.msg_id,
            parent_msg_id=self.parent_msg_id,
            sender_agent=self.sender_agent,
            recipient_agent=self.recipient_agent,
            intent=self.intent,
            confidence=self.confidence,
            source_refs=self.source_refs,
            is_write=self.authority_token is not None,
            attempt_count=self.attempt_count,
            timestamp=self.timestamp,
            text_hash=digest(text),
        )


ReadEnvelope = Envelope[ReadRequest]
WriteEnvelope = Envelope[WriteRequest]
RecordEnvelope = Envelope[RecordRequest]
AnswerEnvelope = Envelope[ResultPayload]
"""Each shape once: asking for one by its parameters costs a tenth of a millisecond."""
Request = ReadEnvelope | WriteEnvelope | RecordEnvelope
"""Anything the supervisor's flow sends."""


REMEMBERED_IDS: Final = 1_024
"""Answer ids kept, because every replay asks for those of the episodes before. Value ours."""


def message_id(instance: InstanceId | str, place: int) -> str:
    """Return the id of the message at that place of an instance's exchange."""
    return digest("message", instance, str(place))[:ID_CHARS]


@lru_cache(maxsize=REMEMBERED_IDS)
def answer_id(request_id: str) -> str:
    """Return the id of the answer to a request: a repeated activity answers with the same one."""
    return digest("answer", request_id)[:ID_CHARS]


def check_answer(request: Request, answer: AnswerEnvelope) -> None:
    """Refuse an answer that is not to this request, not from whom was asked, or of another conversation.

    Raises: SchemaError naming what differs.
    """
    if answer.parent_msg_id != request.msg_id or answer.msg_id != answer_id(request.msg_id):
        raise SchemaError(f"message {answer.msg_id!r} does not answer {request.msg_id!r}")
    if (answer.sender_agent, answer.recipient_agent) != (request.recipient_agent, request.sender_agent):
        raise SchemaError(f"{answer.sender_agent.value} answered what {request.recipient_agent.value} was asked")
    if (answer.tenant_id, answer.conversation_id) != (request.tenant_id, request.conversation_id):
        raise SchemaError("an answer is of another conversation")
