"""Confidence is absolute, monotonic and honest about its table. Source: design §4."""

import pytest

from shared.domain.sources import RetrievalPath
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.confidence import load_calibration
from shared.retrieval.evidence import Evidence, measure_words
from shared.retrieval.tokens import analyse, query_words

pytestmark = pytest.mark.req("RT-06", "KB-11")

MINILM = "all-MiniLM-L6-v2-int8/384"


@pytest.mark.parametrize("key", [MINILM, "nobody-calibrated-this/3072"])
@pytest.mark.parametrize("path", [RetrievalPath.HYBRID, RetrievalPath.VECTOR_ONLY, RetrievalPath.KEYWORD_ONLY])
def test_more_evidence_never_lowers_confidence(key: str, path: RetrievalPath) -> None:
    """In each measurement, on every rung, in every table."""
    table = load_calibration(key)
    steps = [
        Evidence(),
        Evidence(0.3),
        Evidence(0.6),
        Evidence(0.6, 0.4),
        Evidence(0.6, 1.0),
        Evidence(0.6, 1.0, 1.5),
        Evidence(0.6, 1.0, 1.5, 1.0),
        Evidence(0.6, 1.0, 1.5, 1.0, True),
    ]

    values = [table.confidence(path, evidence) for evidence in steps]

    assert values == sorted(values)
    assert values[0] < 0.5 < values[-1]


def test_empty_path_has_no_confidence() -> None:
    """Missing confidence is 0."""
    assert load_calibration(MINILM).confidence(RetrievalPath.EMPTY, Evidence(1.0, 1.0, 2.0, 1.0, True)) == 0.0


def test_unknown_model_gets_the_provisional_table_and_says_so() -> None:
    """It is more careful than the fitted one: the same evidence gives less."""
    known, unknown = load_calibration(MINILM), load_calibration("nobody-calibrated-this/3072")

    assert (known.is_calibrated, unknown.is_calibrated) == (True, False)
    for evidence in (Evidence(0.4, 0.4), Evidence(0.5, 0.2), Evidence(0.3, 0.8)):
        assert unknown.confidence(RetrievalPath.HYBRID, evidence) < known.confidence(RetrievalPath.HYBRID, evidence)


def _measure(question: str, titles: dict[str, str], index: KeywordIndex) -> Evidence:
    return measure_words(query_words(question), {id: query_words(title) for id, title in titles.items()}, index)


def test_coverage_weighs_the_words_that_tell_apart() -> None:
    """A word no article has counts most against; function words count nothing."""
    index = KeywordIndex()
    for i in range(10):
        index.put(f"a{i}", [], analyse("scented candle" + (" lavender" if i == 0 else "")))

    topical = _measure("do you have a lavender candle", {"a0": ""}, index)
    foreign = _measure("do you have a router candle", {"a0": ""}, index)

    assert topical.coverage == pytest.approx(1.0)
    assert foreign.coverage < 0.1


def test_coverage_is_of_one_article_not_of_all_together() -> None:
    """Two articles that hold half each do not answer."""
    index = KeywordIndex()
    index.put("a", [], analyse("reset"))
    index.put("b", [], analyse("router"))

    assert _measure("reset router", {"a": "", "b": ""}, index).coverage == pytest.approx(0.5)


def test_what_is_matched_does_not_shrink_with_the_length_of_the_message() -> None:
    """A long story around the same words: its covered share falls, what is matched of it stays."""
    index = KeywordIndex()
    index.put("a", analyse("Mechanical keyboard"), analyse("clicky switches"))
    index.put("b", analyse("Desk lamp"), analyse("warm light"))
    short, long = "keyboard with clicky switches", "my aunt gave me money so I want a keyboard with clicky switches"

    few, many = _measure(short, {"a": ""}, index), _measure(long, {"a": ""}, index)

    assert many.coverage < few.coverage
    assert many.matched == pytest.approx(few.matched)


def test_a_title_is_named_by_share_of_its_telling_words() -> None:
    """All of it, half of it, none of it; the best title counts."""
    index = KeywordIndex()
    index.put("a", analyse("Mechanical keyboard"), [])
    index.put("b", analyse("Desk lamp"), [])
    titles = {"a": "Mechanical keyboard", "b": "Desk lamp"}

    named = [_measure(q, titles, index).title for q in ("my mechanical keyboard broke", "a keyboard", "a router")]

    assert named == [pytest.approx(1.0), pytest.approx(0.5), 0.0]


def test_a_question_without_content_words_measures_nothing() -> None:
    """ "How is it?" names nothing."""
    index = KeywordIndex()
    index.put("a", [], analyse("how is it"))

    assert _measure("how is it?", {"a": "How is it"}, index) == Evidence()
