"""Identifiers of a question, and what is no identifier. Source: KB-06, design §4."""

import pytest

from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.identifiers import declared_identifiers, find_identifiers, title_key, typed_code, whole_names
from shared.retrieval.tokens import analyse

pytestmark = pytest.mark.req("KB-06")


def _index(*texts: str) -> KeywordIndex:
    index = KeywordIndex()
    for i, text in enumerate(texts):
        index.put(f"a{i}", [], analyse(text))
    return index


@pytest.mark.parametrize(
    ("query", "held"),
    [
        ("is SKU-4521 vegan?", "SKU-4521"),
        ("is sku 4521 vegan?", "SKU-4521"),
        ("sku4521", "SKU-4521"),
        ("52kdrvn4 in stock?", "52KDRVN4"),
        ("who makes 702694318055", "barcode 702694318055"),
        ("ab-quill", "SKU ab-quill"),
        ("4521", "SKU-4521"),
    ],
)
def test_code_in_a_question_is_found(query: str, held: str) -> None:
    """As written, in lower case, with the hyphen lost, and as the whole question."""
    index = _index(held, "something else")

    assert find_identifiers(query, {}, index)


@pytest.mark.parametrize(
    "query",
    [
        "do you offer 30-day returns",
        "a 500ml bottle",
        "open 24/7?",
        "since 2024",
        "paid $12500 for it",
        "t-shirt in red",
    ],
)
def test_amounts_sizes_dates_and_words_identify_nothing(query: str) -> None:
    """An article that happens to hold the same amount is not what was named."""
    index = _index("30-day 500ml 24/7 2024 12500 t-shirt")

    assert find_identifiers(query, {}, index) == ()


def test_code_that_many_articles_hold_identifies_none() -> None:
    """`covid-19` in every article is a topic."""
    index = _index(*["about covid-19"] * 10)

    assert find_identifiers("what is covid-19", {}, index) == ()


def test_declared_codes_count_even_where_they_look_like_sizes() -> None:
    """The SKU attribute says what is an identifier; a plain word is none even there."""
    declared = declared_identifiers({"sku": "7316, ab-quill, Blue", "price": "12.00 USD"})

    assert declared == {"7316", "ab-quill"}
    assert find_identifiers("how much is 7316?", dict.fromkeys(declared), _index("7316")) == ("7316",)


def test_titles_compare_without_case_and_punctuation() -> None:
    """The whole title as the question is an exact match."""
    assert title_key("Return Policy — Physical Products") == title_key("return policy: physical products?")


def test_an_article_is_named_by_its_whole_title_and_each_whole_article_number() -> None:
    """Also where a number is made of plain words; other attributes name nothing."""
    attributes = {"sku": "OAK POLISH, AB-1; 7316", "price": "12.00 USD", "barcode": ""}

    assert whole_names("The Wax!", attributes) == {"the wax", "oak polish", "ab-1", "7316"}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("BENCHNT", "BENCHNT"),
        (" OAK POLISH ", "OAK POLISH"),
        ("Stool", ""),
        ("TEA", ""),
        ("I WANT MY MONEY BACK", ""),
        ("5093", ""),
        ("", ""),
    ],
)
def test_a_question_in_capitals_may_be_a_code_typed_as_printed(query: str, code: str) -> None:
    """A few words in capitals and nothing else; a shouted sentence is none."""
    assert typed_code(query) == code
