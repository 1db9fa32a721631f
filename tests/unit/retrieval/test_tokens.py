"""Both sides of a search see a text as the same terms. Source: KB-06."""

import sys
import unicodedata

import pytest

from shared.retrieval.tokens import (
    FUNCTION_WEIGHT,
    analyse,
    fold,
    query_words,
    surface_tokens,
    terms_of,
    weighted_terms,
)

pytestmark = pytest.mark.req("KB-06")


def test_identifier_is_kept_whole_and_split() -> None:
    """A SKU is found by its exact string and by its parts."""
    terms = analyse("Ask for SKU-4521")

    assert {"sku-4521", "sku", "4521", "sku4521"} <= set(terms)


@pytest.mark.parametrize("code", ["SKU-4521S", "52KDRVN4S", "ab_12/classes9", "61PLMQT3"])
def test_identifiers_are_never_stemmed(code: str) -> None:
    """A stemmer would cut the s of 4521s; a word with a digit keeps every letter."""
    terms = analyse(code)

    assert code.casefold() in terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IŞIK", "ışık"),
        ("İade", "iade"),
        ("Café", "cafe"),
        ("STRASSE", "straße"),
        ("ﬁt", "fit"),
        ("don’t", "dont"),
        ("customer's", "customer"),
        ("ig\u200bnore", "ignore"),
        ("ＳＫＵ－１", "sku-1"),
    ],
)
def test_spellings_of_one_word_fold_alike(one: str, other: str) -> None:
    """Case, accents, widths, apostrophes and invisible characters never decide a match; nor does a Turkish i."""
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("返品方法", ["返品", "品方", "方法"]),
        ("茶", ["茶"]),
        ("환불", ["환불"]),
        ("คืนเงิน", ["คื", "ืน", "นเ", "เง", "งิ", "ิน"]),
    ],
)
def test_scripts_without_spaces_give_bigrams(text: str, terms: list[str]) -> None:
    """A run of such a script has no words to split at."""
    assert analyse(text) == terms


def test_mixed_scripts_split_at_the_border() -> None:
    """A Latin product name inside Japanese text stays one word."""
    assert "iphone15" in analyse("新品iPhone15ケース")


def test_words_are_stemmed_in_their_own_language() -> None:
    """Porter2 for English, Snowball for Spanish; an unknown language falls back."""
    assert analyse("returning returns", "en") == ["return", "return"]
    assert analyse("devoluciones", "es") == analyse("devolucion", "es")
    assert analyse("returns", "xx") == ["return"]


def test_question_matches_articles_of_every_language_of_the_index() -> None:
    """The question's language is unknown, so each of its words has the forms of all languages in the index."""
    (word,) = query_words("devoluciones", ("en", "es"))

    assert analyse("devoluciones", "es")[0] in terms_of([word])
    assert analyse("devoluciones", "en")[0] in terms_of([word])


def test_function_words_carry_no_content() -> None:
    """Coverage asks for what the question is about; negations stay, they change what is asked."""
    content = [word.surface for word in query_words("How do I not return the jacket?") if word.is_content]

    assert content == ["not", "return", "jacket"]


def test_hindi_vowel_signs_do_not_split_words() -> None:
    """Signs that Python does not count as letters belong to the word."""
    assert surface_tokens("हिन्दी में") == ("हिन्दी", "में")


def test_text_without_words_gives_no_terms() -> None:
    """Punctuation and emoji are no terms, and no error."""
    assert analyse("?! 🎉 …") == []
    assert query_words("") == ()


def test_every_invisible_character_is_folded_away() -> None:
    """The pattern is Unicode's category of format characters; what it holds beyond them is not assigned yet."""
    categories = {c: unicodedata.category(c) for c in map(chr, range(sys.maxunicode + 1)) if fold(f"a{c}b") == "ab"}

    assert set(categories.values()) <= {"Cf", "Cn", "Mn"}
    assert all(fold(f"a{c}b") == "ab" for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Cf")


def test_function_words_count_half_and_question_words_whole() -> None:
    """ "How" and "what" say which answer is due; "is" and "the" hold the sentence together."""
    weights = weighted_terms(query_words("what is the warranty and how long is it"))

    assert weights["what"] == weights["how"] == weights["warranti"] == weights["long"] == 1.0
    assert weights["is"] == weights["the"] == weights["it"] == FUNCTION_WEIGHT
