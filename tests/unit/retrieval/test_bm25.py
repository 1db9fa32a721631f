"""The keyword index ranks as BM25 says and changes by one document. Source: KB-06."""

import math

import pytest

from shared.retrieval.bm25 import KeywordIndex

pytestmark = pytest.mark.req("KB-06")


def _index(**documents: tuple[str, str]) -> KeywordIndex:
    index = KeywordIndex()
    for id, (title, body) in documents.items():
        index.put(id, title.split(), body.split())
    return index


def test_score_is_the_formula_with_k1_1_5_and_b_0_75() -> None:
    """One document, one term: idf · tf·(k1+1) / (tf + k1·(1 − b + b·length/average))."""
    index = _index(a=("", "red red blue"), b=("", "green"))

    (hit,) = index.search(["red"], 5)

    idf = math.log(1 + (2 - 1 + 0.5) / 1.5)
    assert hit.score == pytest.approx(idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2)))


def test_title_counts_three_times() -> None:
    """A title word weighs as much as the word three times in the body of a text of the same length."""
    by_title = _index(a=("red", "x y z"), b=("", "green"))
    by_body = _index(a=("", "red red red x y z"), b=("", "green"))

    assert by_title.search(["red"], 1)[0].score == by_body.search(["red"], 1)[0].score


def test_ties_are_broken_by_id() -> None:
    """Equal documents come in the order of their ids, whatever the order they came in and however few are asked."""
    index = _index(c=("", "red"), a=("", "red"), b=("", "red"))

    assert [hit.id for hit in index.search(["red"], 2)] == ["a", "b"]


def test_removed_document_is_found_no_more() -> None:
    """And its terms no longer count in the statistics."""
    index = _index(a=("", "red"), b=("", "red blue"))

    assert index.remove("a")

    assert [hit.id for hit in index.search(["red"], 5)] == ["b"]
    assert index.count("red") == 1
    assert not index.remove("a")


def test_replaced_document_is_found_by_its_new_words_only() -> None:
    """A put of a known id replaces it."""
    index = _index(a=("", "red"), b=("", "blue"))

    index.put("a", [], ["green"])

    assert index.search(["red"], 5) == ()
    assert [hit.id for hit in index.search(["green"], 5)] == ["a"]
    assert len(index) == 2


def test_unknown_terms_and_an_empty_index_find_nothing() -> None:
    """Nothing is no error."""
    assert KeywordIndex().search(["red"], 5) == ()
    assert _index(a=("", "red")).search(["blue"], 5) == ()
    assert _index(a=("", "red")).search([], 5) == ()


def test_holds_says_which_document_has_which_term() -> None:
    """Unknown ids hold nothing."""
    index = _index(a=("", "red blue"), b=("", "blue"))

    assert index.holds(["a", "b", "zz"], ["red", "blue"]).tolist() == [[True, True], [False, True], [False, False]]
    assert index.holders("blue") == ("a", "b")


def test_a_term_counts_what_it_is_given() -> None:
    """Half the weight, half the score; no weight, no score."""
    index = _index(a=("", "red blue"), b=("", "green"))
    (whole,) = index.search(["red"], 5)

    (half,) = index.search({"red": 0.5}, 5)

    assert half.score == pytest.approx(whole.score / 2)
    assert index.search({"red": 0.0}, 5) == ()
