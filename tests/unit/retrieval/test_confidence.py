"""Confidence is absolute, monotonic and honest about its table. Source: design §4."""

import pytest

from shared.domain.sources import RetrievalPath
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.confidence import Evidence, coverage, load_calibration
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
        Evidence(0.6, 1.0, True),
    ]

    values = [table.confidence(path, evidence) for evidence in steps]

    assert values == sorted(values)
    assert values[0] < 0.5 < values[-1]


def test_empty_path_has_no_confidence() -> None:
    """Missing confidence is 0."""
    assert load_calibration(MINILM).confidence(RetrievalPath.EMPTY, Evidence(1.0, 1.0, True)) == 0.0


def test_unknown_model_gets_the_provisional_table_and_says_so() -> None:
    """It is more careful than the fitted one: the same evidence gives less."""
    known, unknown = load_calibration(MINILM), load_calibration("nobody-calibrated-this/3072")

    assert (known.is_calibrated, unknown.is_calibrated) == (True, False)
    for evidence in (Evidence(0.4, 0.4), Evidence(0.5, 0.2), Evidence(0.3, 0.8)):
        assert unknown.confidence(RetrievalPath.HYBRID, evidence) < known.confidence(RetrievalPath.HYBRID, evidence)


def test_coverage_weighs_the_words_that_tell_apart() -> None:
    """A word no article has counts most against; function words count nothing."""
    index = KeywordIndex()
    for i in range(10):
        index.put(f"a{i}", [], analyse("scented candle" + (" lavender" if i == 0 else "")))

    topical = coverage(query_words("do you have a lavender candle"), ["a0"], index)
    foreign = coverage(query_words("do you have a router candle"), ["a0"], index)

    assert topical == pytest.approx(1.0)
    assert foreign < 0.1


def test_coverage_is_of_one_article_not_of_all_together() -> None:
    """Two articles that hold half each do not answer."""
    index = KeywordIndex()
    index.put("a", [], analyse("reset"))
    index.put("b", [], analyse("router"))

    assert coverage(query_words("reset router"), ["a", "b"], index) == pytest.approx(0.5)


def test_coverage_of_a_question_without_content_words_is_zero() -> None:
    """ "How is it?" names nothing."""
    index = KeywordIndex()
    index.put("a", [], analyse("how is it"))

    assert coverage(query_words("how is it?"), ["a"], index) == 0.0
