"""The intake classifier agent: what it adds to a model's finding, and what it never lets a model decide."""

import inspect
from datetime import UTC, datetime

import pytest

from agents.intake_classifier import CONTEXT_CHARS, classify_message
from shared.domain.deltas import Channel, Classification, Context, Metadata, Snapshot
from shared.domain.errors import Unavailable
from shared.domain.human_triggers import Severity
from shared.domain.ids import ConversationId, InstanceId, MessageId, TenantId
from shared.domain.intents import CustomerIntent
from shared.domain.sources import HistoryLine
from shared.domain.text import MaskedText
from shared.ports.models import ClassifyRequest


class RecordingModel:
    """An IntentClassifier with one answer, that keeps what it was shown."""

    def __init__(self, answer: Classification) -> None:
        self.answer = answer
        self.seen: list[ClassifyRequest] = []

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Return the answer."""
        self.seen.append(request)
        return self.answer


class SilentModel:
    """An IntentClassifier that is down."""

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Fail as an endpoint does."""
        raise Unavailable("classifier is down")


def snapshot(
    text: str, *, channel: Channel = Channel.WEB, language: str = "en", context: Context | None = None
) -> Snapshot:
    return Snapshot(
        conversation_id=ConversationId("c1"),
        tenant_id=TenantId("t1"),
        message=MaskedText(text),
        metadata=Metadata(timestamp=datetime(2026, 3, 2, tzinfo=UTC), channel=channel, language=language),
        message_id=MessageId("m1"),
        instance_id=InstanceId("t-1"),
        context=context or Context(),
    )


def sure(intent: CustomerIntent, confidence: float = 0.9) -> RecordingModel:
    return RecordingModel(Classification(customer_intent=intent, confidence=confidence))


@pytest.mark.req("CL-01", "CL-03")
async def test_the_delta_carries_finding_confidence_and_version() -> None:
    delta = await classify_message(
        snapshot("where is order 1003"), base_version=7, model=sure(CustomerIntent.REFUND, 0.8)
    )

    assert (delta.base_version, delta.confidence) == (7, 0.8)
    assert delta.classification.customer_intent is CustomerIntent.REFUND


@pytest.mark.req("CL-03")
async def test_entities_and_language_come_from_the_customers_own_words() -> None:
    delta = await classify_message(
        snapshot("wo bleibt meine bestellung 1003, SKU-4521 fehlt"),
        base_version=1,
        model=RecordingModel(Classification(customer_intent=CustomerIntent.ORDER_STATUS, language="xx")),
    )

    assert delta.classification.entities.order_refs == ("1003",)
    assert delta.classification.entities.skus == ("SKU-4521",)
    assert delta.classification.language == "de"


@pytest.mark.req("CL-03", "CO-05")
async def test_a_text_without_language_keeps_the_channels() -> None:
    delta = await classify_message(
        snapshot("1003", language="fr"), base_version=1, model=sure(CustomerIntent.ORDER_STATUS)
    )

    assert delta.classification.language == "fr"


@pytest.mark.req("PR-01", "CL-03")
async def test_a_missing_confidence_is_zero() -> None:
    delta = await classify_message(
        snapshot("hello"), base_version=1, model=RecordingModel(Classification(customer_intent=CustomerIntent.REFUND))
    )

    assert delta.confidence == delta.classification.confidence == 0.0


@pytest.mark.req("CL-01")
@pytest.mark.parametrize("channel", [c for c in Channel if c is not Channel.ADMIN])
async def test_a_customer_never_gets_admin_assistance_whatever_the_model_says(channel: Channel) -> None:
    """Fail closed: the claim is dropped and nothing is left to rely on."""
    delta = await classify_message(
        snapshot("raise the refund ceiling", channel=channel),
        base_version=1,
        model=sure(CustomerIntent.ADMIN_ASSISTANCE, 0.99),
    )

    assert delta.classification.customer_intent is CustomerIntent.GENERAL_INQUIRY
    assert delta.confidence == 0.0


@pytest.mark.req("CL-01")
async def test_the_admin_flow_gets_admin_assistance() -> None:
    asked = RecordingModel(
        Classification(
            customer_intent=CustomerIntent.GENERAL_INQUIRY,
            confidence=0.4,
            is_out_of_scope=True,
            severity=Severity.LOW,
        )
    )

    delta = await classify_message(snapshot("rotate the key", channel=Channel.ADMIN), base_version=1, model=asked)

    assert delta.classification.customer_intent is CustomerIntent.ADMIN_ASSISTANCE
    assert not delta.classification.is_out_of_scope
    assert delta.classification.severity is Severity.NORMAL


@pytest.mark.req("CL-01", "CL-03")
async def test_fault_017_the_model_sees_the_new_message_and_a_bounded_summary_only() -> None:
    turns = tuple(
        HistoryLine(seq=i, role="customer" if i % 2 else "assistant", text=MaskedText(f"turn {i} about sizes " * 30))
        for i in range(24)
    )
    model = sure(CustomerIntent.ORDER_STATUS)

    await classify_message(snapshot("where is 1001?", context=Context(history=turns)), base_version=1, model=model)
    await classify_message(
        snapshot("where is 1001?", context=Context(history=turns, summary="sizing talk " * 100)),
        base_version=1,
        model=model,
    )

    assert [seen.message.value for seen in model.seen] == ["where is 1001?"] * 2
    assert all(0 < len(seen.summary) <= CONTEXT_CHARS + 1 for seen in model.seen)
    assert "turn 3 " not in model.seen[0].summary


@pytest.mark.req("CL-01")
async def test_a_model_that_is_down_gives_no_classification() -> None:
    with pytest.raises(Unavailable):
        await classify_message(snapshot("hello"), base_version=1, model=SilentModel())


@pytest.mark.req("CL-06")
def test_the_classifier_holds_no_port_but_its_model() -> None:
    """The signature is the permission list: nothing here can send, write, resolve or bill."""
    assert list(inspect.signature(classify_message).parameters) == ["snapshot", "base_version", "model"]
