"""The offline classifier reads what customers write, says how sure it is, and cannot be talked into an admin."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.adapters.embedded.artefacts import read_head
from shared.adapters.embedded.classification_cache import RememberingClassifier
from shared.adapters.embedded.intent_classifier import EmbeddedIntentClassifier, readable
from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.domain.agents import CLARIFY_BELOW
from shared.domain.deltas import Classification
from shared.domain.human_triggers import Severity
from shared.domain.intents import CUSTOMER_FACING, CustomerIntent
from shared.domain.language import detect_language
from shared.domain.text import MaskedText
from shared.ports.models import ClassifyRequest

SMALL_TALK = ("social_greeting", "social_thanks", "social_goodbye")
SIZING_CHAT = (
    "Customer asks how the running shoes fit: usual size 42, wide feet. Between 42 and 43 the shop suggested 43. "
    "Customer asked about insoles, the sole's width, whether the leather stretches and how the size chart is measured."
)


@pytest.fixture(scope="session")
def classifier(embedder: OnnxEmbedder) -> EmbeddedIntentClassifier:
    """The shipped classifier."""
    return EmbeddedIntentClassifier(embedder)


async def read(classifier: EmbeddedIntentClassifier, text: str, summary: str = "") -> Classification:
    return await classifier.classify(ClassifyRequest(message=MaskedText(text), summary=summary))


@pytest.mark.req("CL-01", "CL-03")
@pytest.mark.parametrize("text", ["wheres my stuff", "has it left yet", "still nothing??"])
async def test_fault_028_customers_words_for_order_status_are_understood(
    classifier: EmbeddedIntentClassifier, text: str
) -> None:
    found = await read(classifier, text)

    assert found.customer_intent is CustomerIntent.ORDER_STATUS
    assert found.confidence >= CLARIFY_BELOW


@pytest.mark.req("CL-01", "CL-03")
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("siparişimi iptal etmek istiyorum", CustomerIntent.ORDER_CANCEL),
        ("ÜRÜNÜ İADE ETMEK İSTİYORUM", CustomerIntent.RETURN_EXCHANGE),
        ("ürün kırık geldi", CustomerIntent.DELIVERY_PROBLEM),
        ("kredi kartımdan iki kez çekildi", CustomerIntent.BILLING_DISPUTE),
        ("sifremi unuttum giris yapamiyorum", CustomerIntent.ACCOUNT_ACCESS),
        ("müşteri temsilcisi ile görüşmek istiyorum", CustomerIntent.HUMAN_AGENT),
    ],
)
async def test_turkish_is_understood_and_named(
    classifier: EmbeddedIntentClassifier, text: str, intent: CustomerIntent
) -> None:
    found = await read(classifier, text)

    assert (found.customer_intent, found.language) == (intent, "tr")
    assert found.confidence >= CLARIFY_BELOW


@pytest.mark.req("CL-01", "CL-03")
async def test_fault_017_a_long_chat_does_not_lower_the_confidence_of_a_new_question(
    classifier: EmbeddedIntentClassifier,
) -> None:
    alone = await read(classifier, "where is 1001?")

    later = await read(classifier, "where is 1001?", SIZING_CHAT)

    assert later.customer_intent is CustomerIntent.ORDER_STATUS
    assert later.confidence >= alone.confidence >= CLARIFY_BELOW


@pytest.mark.req("CL-03")
@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["and the blue one?", "ok and then", "how long", "1003", "it", "so?", "the second"]), st.text())
async def test_earlier_turns_never_lower_a_confidence(message: str, summary: str) -> None:
    """Law: a summary settles what a message leaves open; it cannot make a clear one unclear."""
    model = EmbeddedIntentClassifier(_shared_embedder())

    alone = await read(model, message)
    later = await read(model, message, summary)

    assert later.confidence >= alone.confidence


@pytest.mark.req("CL-01")
@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("pls deliver my parcel to another adress, i moved", CustomerIntent.ORDER_CHANGE),
        ("dont need it any more pls cancel 48213", CustomerIntent.ORDER_CANCEL),
        ("do u deliver to 560034", CustomerIntent.SHIPPING_INFO),
        ("it says delivered but there is nothing at my door", CustomerIntent.DELIVERY_PROBLEM),
        ("boots too tight, can i swap for a 43", CustomerIntent.RETURN_EXCHANGE),
        ("when do i get my money back for the chair i returned", CustomerIntent.REFUND),
        ("is the kettle dishwasher safe", CustomerIntent.PRODUCT_QUESTION),
        ("need a present for my sister who likes cooking, ideas?", CustomerIntent.PRODUCT_RECOMMENDATION),
        ("any voucher codes atm", CustomerIntent.PRICING_PROMOTION),
        ("card keeps getting declined at checkout", CustomerIntent.PAYMENT_ISSUE),
        ("there are two charges of 49.99 on my statement", CustomerIntent.BILLING_DISPUTE),
        ("reset link never arrives, cant log in", CustomerIntent.ACCOUNT_ACCESS),
        ("how do i delete my profile for good", CustomerIntent.ACCOUNT_MANAGEMENT),
        ("worst shop ever, your staff is rude", CustomerIntent.COMPLAINT),
        ("let me talk to somebody real", CustomerIntent.HUMAN_AGENT),
        ("do you have a shop in Leeds i can visit", CustomerIntent.GENERAL_INQUIRY),
        ("wo bleibt mein paket", CustomerIntent.ORDER_STATUS),
        ("quiero devolver los zapatos", CustomerIntent.RETURN_EXCHANGE),
        ("je ne veux plus ma commande, annulez la", CustomerIntent.ORDER_CANCEL),
        ("quanto costa la spedizione in sicilia", CustomerIntent.SHIPPING_INFO),
        ("não lembro minha senha", CustomerIntent.ACCOUNT_ACCESS),
        ("ik wacht nog op mijn terugbetaling", CustomerIntent.REFUND),
        ("mera paisa wapas kab aayega", CustomerIntent.REFUND),
    ],
)
async def test_messages_of_every_intent_are_recognised(
    classifier: EmbeddedIntentClassifier, text: str, intent: CustomerIntent
) -> None:
    found = await read(classifier, text)

    assert found.customer_intent is intent
    assert not found.is_out_of_scope
    assert not found.is_social


@pytest.mark.req("CL-01")
@pytest.mark.parametrize(
    "text", ["will it rain in Oslo tomorrow", "write a sonnet about owls", "how tall is the eiffel tower"]
)
async def test_what_is_no_shops_business_is_marked_and_forced_into_nothing(
    classifier: EmbeddedIntentClassifier, text: str
) -> None:
    found = await read(classifier, text)

    assert (found.customer_intent, found.is_out_of_scope) == (CustomerIntent.GENERAL_INQUIRY, True)


@pytest.mark.req("CL-01")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hi there", "greeting"),
        ("guten morgen zusammen", "greeting"),
        ("thank you so much!", "thanks"),
        ("danke schön", "thanks"),
        ("bye, have a nice evening", "goodbye"),
    ],
)
async def test_small_talk_is_marked_with_its_kind(classifier: EmbeddedIntentClassifier, text: str, kind: str) -> None:
    found = await read(classifier, text)

    assert (found.customer_intent, found.is_social) == (CustomerIntent.GENERAL_INQUIRY, True)
    assert found.social == kind


@pytest.mark.req("CL-01")
def test_the_customers_head_has_no_admin_class() -> None:
    """Not "never predicted": it cannot be, because the class does not exist."""
    known = set(read_head("intents").labels)

    assert known == {i.value for i in CUSTOMER_FACING} | {"out_of_scope", *SMALL_TALK}


@pytest.mark.req("CL-03")
@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("the charger burst into flames and burned my arm", Severity.CRITICAL),
        ("my lawyer will be in touch about this", Severity.CRITICAL),
        ("my account was hacked and somebody ordered with my saved card", Severity.CRITICAL),
        ("URGENT!! 300 euro gone and nobody answers me, I am furious", Severity.HIGH),
        ("where is order 1003", Severity.NORMAL),
        ("thanks a lot!", Severity.LOW),
    ],
)
async def test_severity_follows_what_is_told(
    classifier: EmbeddedIntentClassifier, text: str, severity: Severity
) -> None:
    assert (await read(classifier, text)).severity is severity


@pytest.mark.req("CL-03")
async def test_nothing_readable_gives_no_confidence(classifier: EmbeddedIntentClassifier) -> None:
    assert (await read(classifier, "\u200b \U000e0041")).confidence == 0.0


@pytest.mark.req("CL-01", "PV-01")
async def test_a_masked_contact_reads_as_the_word_for_it(classifier: EmbeddedIntentClassifier) -> None:
    token = "[phone:550e8400-e29b-41d4-a716-446655440000]"

    found = await read(classifier, f"please change my number to {token}")

    assert readable(f"call {token} now") == "call my phone now"
    assert found.customer_intent is CustomerIntent.ACCOUNT_MANAGEMENT
    assert found.entities.contact_tokens == (token,)


@pytest.mark.req("CL-01")
async def test_invisible_characters_change_nothing(classifier: EmbeddedIntentClassifier) -> None:
    plain = await read(classifier, "cancel my order")

    assert await read(classifier, "can\u200bcel my\ufeff or\u00adder") == plain


class CountingClassifier:
    """An IntentClassifier that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Return one finding for everything."""
        self.asked += 1
        return Classification(customer_intent=CustomerIntent.ORDER_STATUS, confidence=0.9)


@pytest.mark.req("CL-05")
async def test_a_near_duplicate_reuses_the_classification_but_not_the_order_it_names() -> None:
    inner = CountingClassifier()
    model = RememberingClassifier(inner)

    await model.classify(ClassifyRequest(message=MaskedText("Where is order 1003?")))
    again = await model.classify(ClassifyRequest(message=MaskedText("where is  order 1004 ???")))

    assert inner.asked == 1
    assert again.entities.order_refs == ("1004",)


@pytest.mark.req("CL-05")
@pytest.mark.parametrize("other", ["where is my refund", "where is order", "wo ist order 1003"])
async def test_other_words_are_classified_anew(other: str) -> None:
    inner = CountingClassifier()
    model = RememberingClassifier(inner, capacity=1)

    await model.classify(ClassifyRequest(message=MaskedText("where is order 1003")))
    await model.classify(ClassifyRequest(message=MaskedText(other)))

    assert inner.asked == 2


@pytest.mark.req("CL-01")
def test_every_intent_has_enough_utterances_in_several_languages() -> None:
    """Our own words: at least 60 lines an intent, some of them not English."""
    folder = Path("shared/adapters/embedded/training/utterances/intents")
    counts = {path.stem: len(path.read_text().splitlines()) for path in folder.glob("*.txt")}
    assert set(counts) == {i.value for i in CustomerIntent} | {"out_of_scope", *SMALL_TALK}
    assert min(counts[i.value] for i in CUSTOMER_FACING) >= 70
    assert counts["out_of_scope"] >= 150
    for path in folder.glob("*.txt"):
        found = Counter(
            code for line in path.read_text().splitlines() for code, sure in [detect_language(line)] if sure > 0.5
        )
        assert path.stem not in set(CUSTOMER_FACING) or len(found) >= 4, path.stem


_EMBEDDERS: list[OnnxEmbedder] = []


def _shared_embedder() -> OnnxEmbedder:
    """Return one embedder for all examples of a property: fixtures of a session cannot be given to them."""
    if not _EMBEDDERS:
        _EMBEDDERS.append(OnnxEmbedder(find_minilm()))
    return _EMBEDDERS[0]
