"""Whether a message asks or asks for, by its form."""

import pytest

from shared.domain.question_form import is_question


@pytest.mark.req("RT-02")
@pytest.mark.parametrize(
    "text",
    [
        "has my refund been processed?",
        "Hi, why was I charged a delivery fee",
        "How much did I pay for order 1003?",
        "¿Cuánto pagué por el pedido 1015?",
        "Wurde mir die Bestellung 1003 erstattet?",
        "Combien ai-je payé pour la commande 1003 ?",
        "İadem ne zaman yapılacak?",
        "1003 numaralı siparişim için ödediğim para yattı mı",
    ],
)
def test_sentences_that_open_with_a_question_word_or_an_auxiliary_ask(text: str) -> None:
    assert is_question(text)


@pytest.mark.req("RT-02")
@pytest.mark.parametrize(
    "text",
    [
        "refund me",
        "cancel order 1003",
        "can you cancel order 1003?",
        "has 1003 been shipped? please cancel it now",
        "do it now please",
        "was haben sie mir da geschickt. ich will mein Geld",
        "1003 numaralı siparişimi iptal edin",
        "paramı geri istiyorum lütfen",
        "siparişi iptal eder misiniz",
        "perdí mi pedido en el tren",
        "",
        "thanks!",
    ],
)
def test_requests_orders_and_doubtful_forms_do_not(text: str) -> None:
    assert not is_question(text, with_permission=False)


@pytest.mark.req("RT-02")
def test_asking_leave_is_a_question_only_where_the_caller_says_so() -> None:
    assert not is_question("Can I cancel my order?")
    assert is_question("Can I cancel my order?", with_permission=True)
    assert not is_question("Siparişimi iptal edebilir miyim?")
    assert is_question("Siparişimi iptal edebilir miyim?", with_permission=True)
