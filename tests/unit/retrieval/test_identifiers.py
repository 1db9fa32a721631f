"""Identifiers of a question, and what is no identifier. Source: KB-06, design §4."""

import pytest

from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.identifiers import declared_identifiers, find_identifiers, title_key
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
        ("43mchbl2 in stock?", "43MCHBL2"),
        ("who makes 885315872579", "barcode 885315872579"),
        ("fn-penn", "SKU fn-penn"),
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
    declared = declared_identifiers({"sku": "4255, fn-penn, Blue", "price": "12.00 USD"})

    assert declared == {"4255", "fn-penn"}
    assert find_identifiers("how much is 4255?", dict.fromkeys(declared), _index("4255")) == ("4255",)


def test_titles_compare_without_case_and_punctuation() -> None:
    """The whole title as the question is an exact match."""
    assert title_key("Return Policy — Physical Products") == title_key("return policy: physical products?")
