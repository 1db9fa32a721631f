"""The supervisor's side of a turn's messages: every agent is asked, and answers, in an envelope.

Keeps the chain (each request names the answer it follows from) and the headers the ledger will hold. An answer that is
malformed, from somebody else or to something else counts as the agent's failure. Source: PR-01, PR-02, S2 §2.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final, TypeVar

from orchestrators.context import FlowContext, Task
from orchestrators.names import ActivityName
from shared.domain.agents import AgentName, MessageIntent
from shared.domain.deltas import Snapshot
from shared.domain.envelope import (
    AnswerEnvelope,
    Envelope,
    EnvelopeHeader,
    Payload,
    ReadEnvelope,
    ReadRequest,
    RecordEnvelope,
    RecordRequest,
    Request,
    WriteEnvelope,
    WriteRequest,
    check_answer,
    message_id,
)
from shared.domain.errors import ErrorClass, SchemaError
from shared.domain.ids import ConversationId, TenantId, TraceId
from shared.domain.outcome import Failure, Outcome
from shared.wire import Remembered, pack, unpack

WHO: Final = {
    ActivityName.CLASSIFY: AgentName.INTAKE_CLASSIFIER,
    ActivityName.DETECT_ESCALATION: AgentName.ESCALATION_DETECTOR,
    ActivityName.RETRIEVE: AgentName.KNOWLEDGE_RETRIEVER,
    ActivityName.READ_ACCOUNT: AgentName.ACCOUNT_CONTEXT,
    ActivityName.COMPOSE: AgentName.RESPONSE_COMPOSER,
    ActivityName.REVIEW: AgentName.SUPERVISOR,
    ActivityName.SHADOW_REVIEW: AgentName.SUPERVISOR,
    ActivityName.AUTHORISE: AgentName.SUPERVISOR,
    ActivityName.GRANT: AgentName.SUPERVISOR,
    ActivityName.EXECUTE: AgentName.ACTION_EXECUTOR,
    ActivityName.RECORD: AgentName.ANALYTICS_RECORDER,
}
"""Whose activity it is; tests hold it against what each activity accepts."""

REMEMBERED_MESSAGES: Final = 1_024
"""Messages packed in earlier episodes that are kept: those of some eighty turns in flight. Value ours."""
SAID: Final = Remembered[tuple[Request, str]](REMEMBERED_MESSAGES)
"""What instances of this process said, so that a replay does not pack it again."""

P = TypeVar("P", bound=Payload)


class Exchange:
    """One instance's messages. Rebuilt in every episode from the same inputs, so it says the same each time."""

    def __init__(self, context: FlowContext, tenant: TenantId, conversation: ConversationId) -> None:
        self._context = context
        self._tenant = tenant
        self._conversation = conversation
        self._trace = TraceId("")
        self._metadata: tuple[tuple[str, str], ...] = ()
        self._asked: dict[str, Request] = {}
        self._last: str | None = None
        self._sent = 0
        self._began = context.now.timestamp()
        self._said: list[tuple[Request | AnswerEnvelope, str]] = []

    @property
    def trail(self) -> tuple[EnvelopeHeader, ...]:
        """Return the headers of everything said so far, in order; asked for once, when the turn is recorded."""
        return tuple(message.header(text) for message, text in self._said)

    @property
    def place(self) -> tuple[str, float, int]:
        """Return where the flow stands: one run of an instance says one thing at one place, in every episode."""
        return self._context.instance_id, self._began, self._sent

    def about(self, snapshot: Snapshot) -> None:
        """Take trace and metadata of the message from its snapshot."""
        self._trace = snapshot.trace_id
        self._metadata = (
            ("language", snapshot.metadata.language),
            ("channel", snapshot.metadata.channel.value),
            ("message", snapshot.message_id),
        )

    def read(self, activity: ActivityName, request: ReadRequest) -> Task:
        """Ask an agent to look."""
        return self.read_made(activity, lambda: request)

    def read_made(self, activity: ActivityName, make: Callable[[], ReadRequest]) -> Task:
        """Ask an agent to look; `make` is called unless the message was packed in an earlier episode."""
        return self._send(activity, lambda: self._envelope(ReadEnvelope, activity, make(), None))

    def write(self, activity: ActivityName, request: WriteRequest) -> Task:
        """Ask the executor to act; the grant's seal is the authority token."""
        return self._send(activity, lambda: self._envelope(WriteEnvelope, activity, request, request.grant.seal))

    def record(self, activity: ActivityName, request: RecordRequest) -> Task:
        """Ask the recorder to record."""
        return self._send(activity, lambda: self._envelope(RecordEnvelope, activity, request, None))

    def pause(self, after: timedelta) -> Task:
        """Return a durable timer."""
        return self._context.timer(after)

    def heard(self, raw: object) -> Outcome:
        """Return what the agent's answer says, once it is found to be one."""
        try:
            answer = unpack(AnswerEnvelope, raw)
            asked = self._asked.pop(answer.parent_msg_id or "", None)
            if asked is None:
                raise SchemaError(f"message {answer.msg_id!r} answers nothing that was asked")
            check_answer(asked, answer)
        except SchemaError as error:
            return Outcome(ok=False, error=Failure(error_class=ErrorClass.SCHEMA, message=str(error)))
        self._said.append((answer, str(raw)))
        self._last = answer.msg_id
        return answer.payload.outcome

    def _envelope(self, kind: type[Envelope[P]], activity: ActivityName, payload: P, token: str | None) -> Envelope[P]:
        return kind(
            msg_id=message_id(self._context.instance_id, self._sent),
            trace_id=self._trace,
            parent_msg_id=self._last,
            sender_agent=AgentName.SUPERVISOR,
            recipient_agent=WHO[activity],
            intent=MessageIntent.REQUEST,
            payload=payload,
            confidence=1.0,
            authority_token=token,
            timestamp=self._context.now,
            conversation_id=self._conversation,
            tenant_id=self._tenant,
            metadata=self._metadata,
        )

    def _send(self, activity: ActivityName, build: Callable[[], Request]) -> Task:
        def packed() -> tuple[Request, str]:
            envelope = build()
            return envelope, pack(envelope)

        envelope, text = SAID.once(self.place, packed)
        self._sent += 1
        self._asked[envelope.msg_id] = envelope
        self._said.append((envelope, text))
        return self._context.call(activity, {"envelope": text})
