"""Tokens in, values out: never another value, never a raw token."""

import re
from collections.abc import Iterator

import pytest

from shared.domain.text import MaskedText
from shared.ports.vault import ContactKind, Masked, TokenMapping
from shared.privacy.masking import (
    TOKEN_PATTERN,
    RestoreError,
    contains_token,
    mask,
    mask_alone,
    missing_phrase,
    restore,
    restore_stored,
)

ANA = TokenMapping("[email:3f2b8c1e-77aa-4b0c-9d11-204679460958]", ContactKind.EMAIL, "ana@x.example")
BEN = TokenMapping("[phone:a81d0c55-0e1f-4c7a-8b1e-0fd34c0a9be2]", ContactKind.PHONE, "07911 123456")


def uuids() -> Iterator[str]:
    return (f"{n:08x}-0000-4000-8000-{n:012x}" for n in range(0xA1, 0xFFFF))


def masked(text: str, known: dict[str, str] | None = None) -> Masked:
    return mask(text, regions=("GB",), known=known or {}, new_token=uuids().__next__)


@pytest.mark.req("PV-01")
def test_a_value_has_one_token_however_often_it_is_said() -> None:
    """And another value has another."""
    result = masked("ana@x.example, again ana@x.example, not ben@x.example")

    tokens = re.findall(TOKEN_PATTERN, result.text.value)
    assert tokens[0] == tokens[1] != tokens[2]
    assert [mapping.value for mapping in result.mappings] == ["ana@x.example", "ben@x.example"]


@pytest.mark.req("PV-01")
def test_a_known_value_keeps_its_token() -> None:
    """One token a value in a conversation, not in a message."""
    result = masked("still ana@x.example", {ANA.value: ANA.token})

    assert result.text == MaskedText(f"still {ANA.token}")


@pytest.mark.req("PV-01")
def test_fault_044_values_that_contain_each_other_never_swap() -> None:
    """One address is a prefix of the other, and a display name holds a third."""
    text = "ana@x.example, ana@x.example.org and bana@x.example, ana@x.example"

    result = masked(text)

    assert restore(result.text, result.mappings) == text
    assert restore(result.text, reversed(result.mappings)) == text


@pytest.mark.req("PV-01")
def test_fault_044_a_value_that_looks_like_a_token_is_not_restored_twice() -> None:
    """Restoring is one pass."""
    sly = TokenMapping("[email:99999999-0000-4000-8000-000000000001]", ContactKind.EMAIL, f'"{BEN.token}"@x.example')

    assert restore(MaskedText(f"to {sly.token}"), (sly, BEN)) == f"to {sly.value}"


@pytest.mark.req("PV-01")
def test_fault_040_masked_text_is_masked_already() -> None:
    """Our own tokens are never tokenised again."""
    once = masked("ana@x.example or 07911 123456")

    assert masked(once.text.value).text == once.text


@pytest.mark.req("PV-01")
@pytest.mark.parametrize(
    "altered",
    [
        "[EMAIL:3F2B8C1E-77AA-4B0C-9D11-204679460958]",
        "[Email: 3f2b8c1e-77aa-4b0c-9d11-204679460958 ]",
        "(email:3f2b8c1e-77aa-4b0c-9d11-204679460958)",
        "{e-mail:3f2b8c1e77aa4b0c9d11204679460958}",
        "email:3f2b8c1e-77aa-4b0c-9d11-204679460958",
        "[email:3f2b8c1e-77aa-4b0c-9d11-204679460958",
        "[email:3f2b8c1e\u201177aa\u20114b0c\u20119d11\u2011204679460958]",
        "[email:3f2b8c1e-77aa-4b0c…]",
        "[email:3f2b8c1e]",
        "[phone:3f2b8c1e-77aa-4b0c-9d11-204679460958]",
        "3f2b8c1e-77aa-4b0c-9d11-204679460958",
        "\\[email:3f2b8c1e-77aa-4b0c-9d11-204679460958\\]",
    ],
)
def test_an_altered_token_that_can_mean_only_one_value_is_restored(altered: str) -> None:
    """Case, brackets, spaces, joints, the kind, or its end may have changed on the way through a model."""
    assert restore(MaskedText(f"We wrote to {altered} today."), (ANA, BEN)) == "We wrote to ana@x.example today."


@pytest.mark.req("PV-01")
@pytest.mark.parametrize(
    "altered",
    [
        "[email:3f2b8c1e-77aa-4b0c-9d11-204679460959]",
        "[email:3f2b8c1e-77ab-4b0c-9d11-204679460958]",
        "[email:3f2b8c1efe]",
        "[email:3f2b8]",
        "[email:7d-9d11-204679460958]",
        "…9d11-204679460958]",
        "[email:9e0d77c2-11ab]",
    ],
)
def test_an_altered_token_that_is_not_certain_is_held(altered: str) -> None:
    """A wrong digit, a stump, a tail: nothing is guessed and nothing is sent."""
    with pytest.raises(RestoreError):
        restore(MaskedText(f"We wrote to {altered} today."), (ANA, BEN))


@pytest.mark.req("PV-01")
def test_a_stump_takes_no_word_after_it_along() -> None:
    """The next word may go on like the id."""
    assert restore(MaskedText("3f2b8c1e 77 times"), (ANA,)) == "ana@x.example 77 times"


@pytest.mark.req("PV-01")
def test_text_of_no_conversation_is_masked_alone() -> None:
    """A search query keeps no mapping."""
    text = mask_alone("is ana@x.example known", regions=("GB",), new_token=uuids().__next__)

    assert re.fullmatch(f"is {TOKEN_PATTERN} known", text.value)


@pytest.mark.req("PV-01")
def test_a_stump_that_fits_two_tokens_is_held() -> None:
    """Two values begin alike: which one is not certain."""
    twin = TokenMapping("[email:3f2b8c1e-0000-4000-8000-000000000000]", ContactKind.EMAIL, "eve@x.example")

    with pytest.raises(RestoreError):
        restore(MaskedText("to [email:3f2b8c1e]"), (ANA, twin))


@pytest.mark.req("PV-01")
@pytest.mark.parametrize(
    "text",
    [
        "Your reference is 9e0d77c2-11ab-4c7a-8b1e-0fd34c0a9be3.",
        "Order 20467946 was sent.",
        "[email: ada@shop.example] or [phone: 0800 123 4567]",
        "a bad cafe faced 12345678",
        "E-mail: help@shop.example",
    ],
)
def test_what_is_no_token_comes_through_unchanged(text: str) -> None:
    """References, orders and published contacts are the reply's own words."""
    assert restore(MaskedText(text), (ANA, BEN)) == text


@pytest.mark.req("PV-01")
@pytest.mark.parametrize("language", ["en", "de", "fr", "ja", "pt-BR", "xx"])
def test_a_token_without_mapping_reads_as_a_neutral_phrase(language: str) -> None:
    """Expired or erased: the sentence still reads, in the customer's language, English for unknown ones."""
    restored = restore(MaskedText(f"We wrote to {ANA.token}."), (BEN,), language=language)

    assert restored == f"We wrote to {missing_phrase(ContactKind.EMAIL, language)}."
    assert not contains_token(restored)


@pytest.mark.req("PV-01")
def test_a_token_typed_by_a_customer_reads_nobody_elses_value() -> None:
    """Only this conversation's mappings restore, in replies and in what is shown back."""
    typed = masked(f"tell me {ANA.token}")

    assert "ana@x.example" not in restore(typed.text, (BEN,))
    assert "ana@x.example" not in restore_stored(typed.text, (BEN,))


@pytest.mark.req("PV-01")
def test_stored_text_is_shown_as_typed_even_when_it_resembles_a_token() -> None:
    """Nobody can lock their own thread by typing half a token."""
    stored = MaskedText(f"{ANA.token} [email:3f2b8c1e-dead")

    assert restore_stored(stored, (ANA,)) == "ana@x.example [email:3f2b8c1e-dead"


@pytest.mark.req("PV-01", "PV-05")
def test_a_mapping_never_shows_its_value_in_a_representation() -> None:
    """Traces and failed assertions print representations."""
    assert ANA.value not in repr(ANA)
    assert ANA.value not in repr(Masked(MaskedText(ANA.token), (ANA,)))
