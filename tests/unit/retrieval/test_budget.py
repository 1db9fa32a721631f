"""Passages share the context budget. Source: KB-07."""

from collections.abc import Mapping

import pytest

from shared.retrieval.budget import CONTEXT_CHARS, Candidate, best_passage, fit_passages

pytestmark = pytest.mark.req("KB-07")


def _weigh(sentence: str) -> Mapping[str, float]:
    return {"refund": 2.0} if "refund" in sentence else {}


def test_short_articles_are_handed_on_whole() -> None:
    """Nothing is cut that fits."""
    assert fit_passages([Candidate("One. Two.", 5)], _weigh) == ("One. Two.",)


def test_all_together_stay_below_4000_characters() -> None:
    """Titles and attributes count too."""
    long = "A sentence about shipping. " * 300
    candidates = [Candidate(long, 100)] * 5

    passages = fit_passages(candidates, _weigh)

    assert len(passages) == 5
    assert sum(map(len, passages)) + 500 <= CONTEXT_CHARS


def test_what_a_short_article_leaves_goes_to_the_long_ones() -> None:
    """Fair shares: two long articles share what a short one does not need."""
    long = "Word and word again. " * 200

    passages = fit_passages(
        [Candidate("Short.", 0), Candidate(long, 0), Candidate(long, 0)], _weigh, budget_chars=1_000
    )

    assert passages[0] == "Short."
    assert min(len(p) for p in passages[1:]) > 450


def test_passages_end_at_sentence_borders_and_are_unbroken_pieces() -> None:
    """A proof can point at them."""
    content = "First sentence here. Second one is here! Third asks? Fourth ends."

    passage = best_passage(content, 45, _weigh)

    assert passage == "First sentence here. Second one is here!"
    assert passage in content


def test_the_part_that_holds_the_question_is_kept() -> None:
    """Of a long article the stretch with the question's words, not its beginning."""
    content = "Shipping takes days. " * 40 + "A refund takes five days. Ask us." + " More text follows." * 40

    assert "refund" in best_passage(content, 200, _weigh)


def test_last_results_go_before_shares_become_useless() -> None:
    """Twenty long titles leave no room for twenty passages; the best ones keep theirs."""
    passages = fit_passages([Candidate("A sentence of words. " * 50, 300)] * 20, _weigh)

    assert 0 < len(passages) < 20
    assert all(len(p) >= 100 for p in passages)


def test_one_endless_sentence_is_cut_between_words() -> None:
    """Without a border, a space is better than half a word."""
    assert best_passage("word " * 100, 23, _weigh) == "word word word word"


def test_scripts_without_spaces_have_borders_too() -> None:
    """The ideographic full stop ends a sentence."""
    assert best_passage("返品できます。三十日以内です。" * 5, 10, _weigh) == "返品できます。"
