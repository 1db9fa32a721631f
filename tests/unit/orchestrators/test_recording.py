"""The end of a turn's flow: what cannot be recorded now is recorded later, within bounds."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestrators.context import FlowContext
from orchestrators.flows.answer_message import MAX_RECORD_WAITS, RECORD_WAIT, answer_message_flow
from orchestrators.names import ActivityName
from shared.domain.agents import AgentName, MessageIntent
from shared.domain.envelope import AnswerEnvelope, RecordEnvelope, ResultPayload, answer_id
from shared.domain.errors import ErrorClass
from shared.domain.ids import ConversationId, MessageId, TenantId
from shared.domain.outcome import Failure, Outcome
from shared.domain.turns import OpenedTurn, TurnInput
from shared.wire import encode, pack

NOW = datetime(2026, 3, 3, tzinfo=UTC)
TURN = TurnInput(tenant_id=TenantId("t1"), conversation_id=ConversationId("c1"), message_id=MessageId("m1"), seq=1)


@dataclass(slots=True)
class Durable:
    """The part of the SDK's context a settled turn touches; a task is what it asks for."""

    current_utc_datetime: datetime = NOW
    instance_id: str = "t-1"
    asked: list[object] = field(default_factory=list)
    request: str = ""

    def get_input(self) -> object:
        """Return the turn."""
        return encode(TURN)

    def call_activity(self, name: str, payload: dict[str, Any]) -> str:
        """Return the activity's name."""
        self.asked.append(name)
        self.request = payload.get("envelope", "")
        return name

    def create_timer(self, at: datetime) -> timedelta:
        """Return the length of the timer."""
        self.asked.append(at - NOW)
        return at - NOW


def answering(request: str, outcome: Outcome) -> str:
    """Return the recorder's answer to a request."""
    asked = RecordEnvelope.model_validate_json(request)
    return pack(
        AnswerEnvelope(
            msg_id=answer_id(asked.msg_id),
            trace_id=asked.trace_id,
            parent_msg_id=asked.msg_id,
            sender_agent=AgentName.ANALYTICS_RECORDER,
            recipient_agent=AgentName.SUPERVISOR,
            intent=MessageIntent.RESULT if outcome.ok else MessageIntent.ERROR,
            payload=ResultPayload(outcome=outcome),
            timestamp=NOW,
            conversation_id=TURN.conversation_id,
            tenant_id=TURN.tenant_id,
        )
    )


def play(down_for: int) -> tuple[list[object], object]:
    """Run the flow of a turn that is settled already, with a recorder that fails so often; return tasks and result."""
    durable = Durable()
    flow = answer_message_flow(FlowContext(durable))
    failed = Outcome(ok=False, error=Failure(error_class=ErrorClass.INTEGRATION, message="down"))
    answer: object = None
    try:
        while True:
            match flow.send(answer):
                case ActivityName.OPEN_TURN.value:
                    answer = pack(OpenedTurn())
                case ActivityName.RECORD.value:
                    answer = answering(durable.request, failed if down_for else Outcome(ok=True, value="{}"))
                    down_for = max(0, down_for - 1)
                case _:
                    answer = None
    except StopIteration as end:
        return durable.asked[1:], end.value


@pytest.mark.req("ME-06", "AX-03")
def test_a_ledger_that_is_down_at_the_end_of_a_turn_is_asked_again() -> None:
    """Nobody but the flow would write this entry: it must not end without it."""
    record, wait = ActivityName.RECORD.value, RECORD_WAIT

    assert play(0)[0] == [record]
    assert play(2)[0] == [record, wait, record, wait, record]


@pytest.mark.req("RK-03")
def test_a_ledger_that_stays_down_does_not_keep_the_flow_for_ever() -> None:
    """Bounded; the turn itself has long been told."""
    asked, result = play(10_000)

    assert asked.count(ActivityName.RECORD.value) == MAX_RECORD_WAITS + 1
    assert asked[-1] == ActivityName.RECORD.value
    assert result == {"settled": "done"}
