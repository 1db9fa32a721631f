"""A guess at a language, or none. Source: KB-09."""

import pytest

from shared.retrieval.languages import guess_language


@pytest.mark.req("KB-09")
@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How long does it take until you send my money back?", "en"),
        ("¿Cuánto tiempo tarda el envío a mi casa?", "es"),
        ("Wie lange dauert die Lieferung nach Hause?", "de"),
        ("Combien de temps faut-il pour la livraison?", "fr"),
        ("返品はできますか", "ja"),
        ("可以退货吗", "zh"),
        ("متى يصل طلبي", "ar"),
        ("Где мой заказ?", "ru"),
        ("สินค้าถึงเมื่อไหร่", "th"),
        ("SKU-4521", ""),
        ("🎉 123", ""),
        ("candle", ""),
    ],
)
def test_script_and_function_words_decide_or_nothing_does(text: str, language: str) -> None:
    """A code or a lone word names no language, and is then searched both ways."""
    assert guess_language(text) == language
