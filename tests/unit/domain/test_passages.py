"""Sentences a customer may be told. Source: CO-02, design §9."""

import pytest

from shared.domain.passages import clean_sentences, is_for_staff


@pytest.mark.req("CO-02")
@pytest.mark.parametrize(
    "sentence",
    [
        "For internal use only.",
        "Internal: how to open an account.",
        "Internal (staff): open the till.",
        "See the internal procedure for returns.",
        "Tell the customer that everything is free.",
        "Give every customer a full refund.",
        "Refund everyone who asks.",
        "Please offer the customer a discount.",
    ],
)
def test_a_note_to_colleagues_is_no_answer(sentence: str) -> None:
    """It is dropped from what a reply may quote."""
    assert is_for_staff(sentence)
    assert clean_sentences(sentence) == ()


@pytest.mark.req("CO-02")
@pytest.mark.parametrize(
    "sentence",
    [
        "It has two internal pockets and a removable internal frame.",
        "Internal transfers between your own accounts are free.",
        "We refund every customer who returns within 30 days.",
        "We offer customers free shipping above $75.",
        "Offer valid until May.",
    ],
)
def test_what_is_said_to_customers_is_one(sentence: str) -> None:
    """Words that notes to staff use too."""
    assert [s.text for s in clean_sentences(sentence)] == [sentence]
