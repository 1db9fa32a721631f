"""Finished turns as the recorder finds them."""

from datetime import UTC, datetime
from typing import Final

from shared.domain.agents import AgentName, MessageIntent
from shared.domain.drafts import Check, CheckVerdict, SentenceKind
from shared.domain.envelope import EnvelopeHeader
from shared.domain.ids import ConversationId, CustomerId, InstanceId, MessageId, SourceRef, TenantId
from shared.domain.proof_body import CitedSource, ProofBody, ProvenSentence
from shared.domain.text import MaskedText
from shared.domain.ticket import Outcome, ProofRow, SourceShown, TurnResult, TurnRow, TurnStatus
from shared.ports.vault import ConversationScope
from shared.privacy.proof_seals import ProofSeals

NOW: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
T1: Final = TenantId("t1")
C1: Final = ConversationId("c1")
ANA: Final = CustomerId("ana-7f3b")
ORDER: Final = SourceRef("order:1001")
RETURNS: Final = SourceRef("article:returns@3")
REPLY: Final = "Your order 1001 has been shipped."

BODY: Final = ProofBody(
    language="en",
    policy_version=2,
    is_approved=True,
    sentences=(
        ProvenSentence(
            text=MaskedText(REPLY), kind=SentenceKind.CLAIM, sources=(CitedSource(ref=ORDER, text_hash="0" * 64),)
        ),
    ),
    verdicts=(CheckVerdict(check=Check.GROUNDING, is_passed=True, reason="all of it"),),
)


def scope(customer: CustomerId | None = ANA, conversation: ConversationId = C1) -> ConversationScope:
    """Return the right to the conversation's proofs."""
    return ConversationScope(T1, conversation, customer)


def row(message: str = "m1", *, seq: int = 1, customer: CustomerId | None = ANA, told: bool = True) -> TurnRow:
    """Return a finished turn that cited an order, or one that told the customer nothing."""
    result = TurnResult(
        outcome=Outcome.ANSWERED,
        reply=MaskedText(REPLY),
        intent="order_status",
        sources=(
            SourceShown(ref=RETURNS, title="Returns"),
            SourceShown(ref=ORDER, title="#1001"),
            SourceShown(ref=f"profile:{ANA}", title="profile"),
        ),
        verdicts={check.value: True for check in Check},
    )
    return TurnRow(
        id=f"turn:{message}",
        tenant_id=T1,
        conversation_id=C1,
        customer_id=customer,
        message_id=MessageId(message),
        seq=seq,
        instance_id=InstanceId(f"t-{message}"),
        masked_text=MaskedText("where is it?"),
        body_hmac="h",
        channel="web",
        trace_id="trace",
        status=TurnStatus.DONE,
        accepted_at=NOW,
        done_at=NOW,
        result=result if told else TurnResult(outcome=Outcome.SUPERSEDED),
    )


def trail() -> tuple[EnvelopeHeader, ...]:
    """Return a request to the account agent and its answer, which cites an order and the customer's profile."""
    asked = EnvelopeHeader(
        msg_id="msg-1",
        parent_msg_id=None,
        sender_agent=AgentName.SUPERVISOR,
        recipient_agent=AgentName.ACCOUNT_CONTEXT,
        intent=MessageIntent.REQUEST,
        confidence=1.0,
        source_refs=(),
        is_write=False,
        attempt_count=1,
        timestamp=NOW,
        text_hash="a" * 64,
    )
    answer = asked.model_copy(
        update={
            "msg_id": "msg-2",
            "parent_msg_id": "msg-1",
            "sender_agent": AgentName.ACCOUNT_CONTEXT,
            "recipient_agent": AgentName.SUPERVISOR,
            "intent": MessageIntent.RESULT,
            "source_refs": (ORDER, SourceRef(f"profile:{ANA}"), RETURNS),
            "confidence": 0.1,
            "text_hash": "b" * 64,
        }
    )
    return asked, answer


async def proof_row(
    seals: ProofSeals, message: str = "m1", customer: CustomerId | None = ANA, body: ProofBody = BODY
) -> ProofRow:
    """Return the sealed proof of a turn as it is stored beside the reply."""
    return ProofRow(
        id=f"proof:{message}",
        tenant_id=T1,
        conversation_id=C1,
        customer_id=customer,
        message_id=MessageId(message),
        sealed=await seals.seal(scope(customer), MessageId(message), body),
    )
