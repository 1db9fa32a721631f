"""The words that call for a person are found; words that only look like them are not."""

import pytest

from shared.adapters.embedded.escalation_model import EmbeddedEscalationModel
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder
from shared.domain.human_triggers import HumanTrigger
from shared.domain.text import MaskedText
from shared.ports.models import EscalationRequest

CALM = " I ordered the blue one on Monday. The box was fine. My neighbour took it in. It is for the garden."


@pytest.fixture(scope="session")
def model(embedder: OnnxEmbedder) -> EmbeddedEscalationModel:
    """The shipped model."""
    return EmbeddedEscalationModel(embedder)


async def triggers(model: EmbeddedEscalationModel, text: str) -> tuple[HumanTrigger, ...]:
    return (await model.assess(EscalationRequest(message=MaskedText(text)))).triggers


@pytest.mark.req("ES-01", "GO-03")
@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("talk to a human", HumanTrigger.EXPLICIT_WISH),
        ("human", HumanTrigger.EXPLICIT_WISH),
        ("enough, get me somebody from your staff", HumanTrigger.EXPLICIT_WISH),
        ("ich möchte mit einem mitarbeiter sprechen", HumanTrigger.EXPLICIT_WISH),
        ("my solicitor is preparing the papers", HumanTrigger.LEGAL),
        ("i'm going to sue the lot of you", HumanTrigger.LEGAL),
        ("mein anwalt meldet sich bei ihnen", HumanTrigger.LEGAL),
        ("i've been crying all night, that was the money for our food", HumanTrigger.DISTRESS),
        ("i don't want to live any more", HumanTrigger.SAFETY),
        ("the battery exploded and burned my hand", HumanTrigger.SAFETY),
        ("i will come to your shop and kill you", HumanTrigger.SAFETY),
        ("a stranger hacked my account and spent 400 on gift cards", HumanTrigger.CRITICAL_SEVERITY),
    ],
)
async def test_each_reason_for_a_person_is_found(
    model: EmbeddedEscalationModel, text: str, trigger: HumanTrigger
) -> None:
    assert trigger in await triggers(model, text)


@pytest.mark.req("ES-01", "GO-03")
@pytest.mark.parametrize(
    "text",
    [
        "is this made for humans",
        "is the wig real human hair",
        "cleaning agent for leather?",
        "do you have a suit in navy",
        "swimsuit return please",
        "bath bomb gift set price",
        "these heels are killing me lol",
        "suicide squad poster in a3?",
        "my parcel is two days late",
        "where is order 1003",
        "thanks, that was lovely of you",
        "i want to return the kettle",
    ],
)
async def test_look_alikes_call_nobody(model: EmbeddedEscalationModel, text: str) -> None:
    assert await triggers(model, text) == ()


@pytest.mark.req("ES-01", "GO-03")
async def test_one_grave_sentence_in_a_long_calm_message_is_enough(model: EmbeddedEscalationModel) -> None:
    found = await triggers(model, "Hello." + CALM + " Honestly I want to end my life." + CALM)

    assert found[0] is HumanTrigger.SAFETY


@pytest.mark.req("ES-01")
async def test_sentiment_orders_praise_question_and_anger(model: EmbeddedEscalationModel) -> None:
    moods = [
        (await model.assess(EscalationRequest(message=MaskedText(text)))).sentiment
        for text in (
            "love it, best shop ever, thank you!",
            "do you have this in blue",
            "worst service ever, disgusting",
        )
    ]

    assert moods[0] > 0.3
    assert -0.3 < moods[1] < 0.3
    assert moods[2] < -0.5


@pytest.mark.req("ES-01")
@pytest.mark.parametrize("text", ["great, another delay. just great", "well done, wrong size for the third time"])
async def test_sarcasm_is_not_praise(model: EmbeddedEscalationModel, text: str) -> None:
    assert (await model.assess(EscalationRequest(message=MaskedText(text)))).sentiment < 0


@pytest.mark.req("ES-01")
async def test_anger_that_lasts_is_distress(model: EmbeddedEscalationModel) -> None:
    """History weighs: the same sentence alone brings nobody."""
    angry = MaskedText("this is unacceptable, worst company ever")
    before = (MaskedText("terrible service, i am disgusted"), MaskedText("you people are useless, disgraceful"))

    once = await model.assess(EscalationRequest(message=angry))
    third = await model.assess(EscalationRequest(message=angry, recent=before))

    assert HumanTrigger.DISTRESS not in once.triggers
    assert HumanTrigger.DISTRESS in third.triggers
    assert "sustained_anger" in third.rule_names


@pytest.mark.req("ES-01")
async def test_an_empty_message_has_no_mood(model: EmbeddedEscalationModel) -> None:
    found = await model.assess(EscalationRequest(message=MaskedText("\u200b")))

    assert (found.sentiment, found.triggers) == (0.0, ())
