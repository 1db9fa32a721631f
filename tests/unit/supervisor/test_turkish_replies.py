"""Replies in Turkish: written as Turkish writes, and held to the same checks as every other language."""

from datetime import date

import pytest

from agents.supervisor.grounding import check_grounding
from agents.supervisor.language_check import check_language
from agents.supervisor.policy import check_policy
from agents.supervisor.promises import find_promises
from agents.supervisor.tone import check_tone
from shared.domain.drafts import CheckVerdict, SentenceKind
from shared.domain.language import detect_language
from shared.domain.money import Money
from shared.domain.phrases import LANGUAGES, Phrase, order_sentences, phrase, render_date, render_money, status_label
from shared.domain.phrases.order_texts import ORDER_TEXTS, STATUS_LABELS, STATUS_WORDS
from shared.domain.phrases.product_texts import PRODUCT_TEXTS
from shared.domain.phrases.texts import TEXTS
from tests.unit.supervisor.turns import POLICY, article, claim, draft, order, plain, turn

ARTICLE = (
    "Ürünleri teslimattan sonra 30 gün içinde iade edebilirsiniz. İç giyim ürünleri iade edilemez."
    " Kargo 500 TL üzerindeki siparişlerde ücretsizdir."
)


def grounded(text: str, *refs: str) -> CheckVerdict:
    own = order()
    state = turn("iade?", articles=(article(ARTICLE),), orders=(own,), language="tr")
    return check_grounding(state, draft(claim(text, *refs), language="tr"), POLICY)


@pytest.mark.req("CO-05")
@pytest.mark.parametrize("table", [TEXTS, PRODUCT_TEXTS, ORDER_TEXTS], ids=["fixed texts", "products", "orders"])
def test_every_wording_exists_in_every_product_language_with_the_same_placeholders(
    table: dict[str, dict[str, str]],
) -> None:
    names = ("shop", "ref", "id", "date", "items", "carrier", "tracking", "url", "amount", "label")
    names += ("title", "price", "low", "high", "name", "values")
    for key, by_language in table.items():
        assert set(by_language) == set(LANGUAGES), key
        used = {language: {n for n in names if f"{{{n}}}" in text} for language, text in by_language.items()}
        assert {frozenset(found) for found in used.values()} == {frozenset(used["en"])}, key


@pytest.mark.req("CO-05")
def test_every_state_of_an_order_has_its_word_in_every_product_language() -> None:
    for table in (*STATUS_LABELS.values(), *STATUS_WORDS.values()):
        assert set(table) == set(LANGUAGES)


@pytest.mark.req("CO-05")
@pytest.mark.parametrize(
    ("money", "written"),
    [
        (Money(amount_minor=123_456, currency="TRY"), "₺1.234,56"),
        (Money(amount_minor=-5_000, currency="EUR"), "-€50,00"),
        (Money(amount_minor=99, currency="USD"), "$0,99"),
        (Money(amount_minor=1_500, currency="CHF"), "CHF\u00a015,00"),
    ],
    ids=lambda value: str(value),
)
def test_money_is_written_as_turkish_writes_it(money: Money, written: str) -> None:
    assert render_money(money, "tr-TR") == written


@pytest.mark.req("CO-05")
def test_dates_and_states_are_written_as_turkish_writes_them() -> None:
    assert render_date(date(2026, 8, 1), "tr") == "1 Ağustos 2026"
    assert status_label("out_for_delivery", "tr") == "dağıtımda"
    assert order_sentences(order(), "tr")
    assert phrase(Phrase.GREETING, "tr-TR") == "Merhaba! Size nasıl yardımcı olabilirim?"


@pytest.mark.req("CO-05", "SU-01")
def test_every_turkish_text_of_ours_reads_as_turkish() -> None:
    """The language check would block what reads as another language."""
    own = [phrase(key, "tr", shop="Lumen", ref="1001") for key in Phrase]
    frames = [s for state in STATUS_LABELS for ss in order_sentences(order(status=state), "tr").values() for s in ss]
    for text in (*own, *frames):
        assert detect_language(text)[0] in ("tr", ""), text

    answer = draft(*(claim(f, "order:1001") for f in frames), language="tr")
    state = turn("siparişim nerede?", orders=(order(),), language="tr", draft=answer)
    assert check_language(state, answer, POLICY).is_passed


@pytest.mark.req("SU-01")
@pytest.mark.parametrize(
    ("text", "is_passed"),
    [
        ("Ürünleri teslimattan sonra 30 gün içinde iade edebilirsiniz.", True),
        ("Ürünleri teslimattan sonra 60 gün içinde iade edebilirsiniz.", False),
        ("Ürünleri teslimattan sonra 30 iş günü içinde iade edebilirsiniz.", False),
        ("İç giyim ürünleri iade edilemez.", True),
        ("İç giyim ürünleri iade edilebilir.", False),
        ("Ürünleri teslimattan sonra 30 gün içinde iade edemezsiniz.", False),
        ("Kargo 500 TL üzerindeki siparişlerde ücretsizdir.", True),
        ("Kargo 50 TL üzerindeki siparişlerde ücretsizdir.", False),
        ("Kargo tüm siparişlerde ücretsizdir.", False),
    ],
)
def test_figures_negations_and_reach_are_held_against_the_source(text: str, is_passed: bool) -> None:
    assert grounded(text).is_passed is is_passed


@pytest.mark.req("SU-01")
@pytest.mark.parametrize(
    ("text", "is_passed"),
    [
        ("#1001 numaralı siparişiniz kargoya verildi ve yolda.", True),
        ("#1001 numaralı siparişiniz teslim edildi.", False),
        ("#1001 numaralı siparişinizi iptal ettik.", False),
        ("#1001 numaralı siparişinizin ücreti iade edildi.", False),
    ],
)
def test_a_turkish_sentence_about_an_order_says_only_what_its_record_says(text: str, is_passed: bool) -> None:
    assert grounded(text, "order:1001").is_passed is is_passed


@pytest.mark.req("AX-05", "SU-01")
@pytest.mark.parametrize(
    ("text", "promised"),
    [
        ("Para iadenizi yaptık.", {"refund"}),
        ("Ücretini iade ettik.", {"refund"}),
        ("Siparişinizi iptal ettim.", {"cancel_order"}),
        ("Siparişinizi iptal edeceğiz.", {"cancel_order"}),
        ("Siparişiniz talebiniz üzerine iptal edildi.", {"cancel_order"}),
        ("Adresinizi güncelledik.", {"change_address"}),
        ("Ürünü yeniden göndereceğim.", {"resend"}),
        ("Size bir hediye çeki tanımladık.", {"credit"}),
        ("Bunu sizin için yaptım.", {"something"}),
        ("Temsilcimiz size yarın dönecek.", {"handoff"}),
        ("İadeniz onaylandığında e-posta alırsınız.", set()),
        ("Ürünleri 30 gün içinde iade edebilirsiniz.", set()),
        ("Sizin için bulduklarım bunlar.", set()),
        ("Size yardımcı olmak isterim.", set()),
    ],
)
def test_turkish_promises_and_deeds_are_seen(text: str, promised: set[str]) -> None:
    assert find_promises(text) == promised


@pytest.mark.req("SU-01")
@pytest.mark.parametrize(
    "text", ["Bu bağlayıcı bir tekliftir, bağlayıcı teklif!", "Size garanti ediyorum, para iadesi alırsınız."]
)
def test_fault_031_no_turkish_commitment_leaves_the_shop(text: str) -> None:
    answer = draft(plain(text), language="tr")

    assert not check_policy(turn("?", language="tr", draft=answer), answer, POLICY).is_passed


@pytest.mark.req("SU-01", "CO-02")
def test_a_turkish_insult_is_no_tone_of_ours() -> None:
    answer = draft(plain("Aptalca bir soru.", SentenceKind.SOCIAL), language="tr")

    assert not check_tone(turn("?", language="tr", draft=answer), answer, POLICY).is_passed
