"""The agents' side of a hop: a request envelope is checked on arrival, an answer leaves in one.

Refuses what was not sent to this agent, what speaks of another tenant or conversation than its envelope does, and what
does not have its schema; the agent is not run then. Source: PR-01, PR-02, PR-05.
"""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pydantic import BaseModel

from orchestrators.activities.ladder import climb
from shared.domain.agents import AgentName, MessageIntent
from shared.domain.deltas import Delta, TurnState
from shared.domain.envelope import (
    AnswerEnvelope,
    ReadEnvelope,
    RecordEnvelope,
    Request,
    ResultPayload,
    WriteEnvelope,
    answer_id,
)
from shared.domain.errors import SchemaError
from shared.domain.outcome import Outcome
from shared.ports.clock import Clock
from shared.wire import Json, pack, unpack

R = TypeVar("R", ReadEnvelope, WriteEnvelope, RecordEnvelope)


@dataclass(frozen=True, slots=True)
class Said:
    """What an agent has to say: its value, and the delta that tells confidence and sources."""

    value: BaseModel
    delta: Delta | None = None
    is_escalation: bool = False


class AgentCall(Protocol):
    """One call of an agent; `is_reduced` asks for a narrower query and a smaller context."""

    def __call__(self, *, is_reduced: bool) -> Awaitable[Said]:
        """Return what it says. Raises: VouchError."""
        ...


def received_read(payload: Json, agent: AgentName) -> ReadEnvelope:
    """Return the request to look. Raises: SchemaError."""
    request = unpack(ReadEnvelope, payload.get("envelope"))
    if request.payload.state:
        snapshot = unpack(TurnState, request.payload.state).snapshot
        if (snapshot.tenant_id, snapshot.conversation_id) != (request.tenant_id, request.conversation_id):
            raise SchemaError(f"message {request.msg_id!r} carries another conversation's state")
    return _for(request, agent)


def received_write(payload: Json, agent: AgentName) -> WriteEnvelope:
    """Return the request to act. Raises: SchemaError."""
    request = unpack(WriteEnvelope, payload.get("envelope"))
    if request.payload.action.tenant_id != request.tenant_id:
        raise SchemaError(f"message {request.msg_id!r} carries another tenant's action")
    return _for(request, agent)


def received_record(payload: Json, agent: AgentName) -> RecordEnvelope:
    """Return the request to record. Raises: SchemaError."""
    request = unpack(RecordEnvelope, payload.get("envelope"))
    turn = request.payload.turn
    if (turn.tenant_id, turn.conversation_id) != (request.tenant_id, request.conversation_id):
        raise SchemaError(f"message {request.msg_id!r} carries another conversation's turn")
    return _for(request, agent)


def state_of(request: ReadEnvelope) -> TurnState:
    """Return the state a reading agent works on. Raises: SchemaError without one."""
    if not request.payload.state:
        raise SchemaError(f"message {request.msg_id!r} carries no state")
    return unpack(TurnState, request.payload.state)


async def answer(request: Request, agent: AgentName, call: AgentCall, *, clock: Clock) -> str:
    """Run the agent up the ladder's first rungs and return its answer envelope, packed."""
    heard: list[Said] = []

    async def attempt(*, is_reduced: bool) -> str:
        said = await call(is_reduced=is_reduced)
        heard[:] = [said]
        return pack(said.value)

    outcome = await climb(agent, attempt, sleep=asyncio.sleep)
    return pack(_envelope(request, agent, outcome, heard[0] if outcome.ok else None, clock))


def _envelope(request: Request, agent: AgentName, outcome: Outcome, said: Said | None, clock: Clock) -> AnswerEnvelope:
    delta = said.delta if said else None
    intent = MessageIntent.ERROR if said is None else MessageIntent.RESULT
    return AnswerEnvelope(
        msg_id=answer_id(request.msg_id),
        trace_id=request.trace_id,
        parent_msg_id=request.msg_id,
        sender_agent=agent,
        recipient_agent=request.sender_agent,
        intent=MessageIntent.ESCALATION if said is not None and said.is_escalation else intent,
        payload=ResultPayload(outcome=outcome),
        confidence=delta.confidence if delta else 0.0,
        source_refs=delta.source_refs if delta else (),
        attempt_count=1 + len(outcome.rungs),
        timestamp=clock.now(),
        conversation_id=request.conversation_id,
        tenant_id=request.tenant_id,
        metadata=request.metadata,
    )


def _for(request: R, agent: AgentName) -> R:
    if request.recipient_agent is not agent:
        raise SchemaError(f"message {request.msg_id!r} is for {request.recipient_agent.value}")
    if request.intent is not MessageIntent.REQUEST:
        raise SchemaError(f"message {request.msg_id!r} is no request")
    return request
