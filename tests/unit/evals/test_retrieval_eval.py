"""The measuring stick itself: sets are read as they are, figures are what they say. Source: RT-06, KB-05."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from evals.retrieval import gating, ranking
from evals.retrieval.fitting import FOLDS, fit
from evals.retrieval.generated import generate_questions
from evals.retrieval.reliability import draw
from evals.retrieval.searching import Kind, Leg, Ranked, Row, ask_everything
from evals.retrieval.sets import Corpus, Question, load_corpora, own_shop
from shared.domain.sources import RetrievalPath
from shared.retrieval.confidence import load_calibration
from shared.retrieval.evidence import Evidence
from tests.unit.retrieval.conftest import LetterEmbedder

pytestmark = pytest.mark.req("RT-06")


def _write(folder: Path, **files: list[dict[str, object]]) -> None:
    for name, rows in files.items():
        stem, kind = name.rsplit("_", 1)
        path = folder / f"{stem}.{kind}.dev.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A labelled set, one in two languages, and a tenant's articles nobody has labelled."""
    _write(
        tmp_path,
        faq_docs=[{"id": "f1", "title": "Returns", "text": "Within 30 days."}, {"id": "f2", "text": "We ship. Fast."}],
        faq_queries=[{"id": "q1", "text": "send back"}, {"id": "q2", "text": "nobody labelled this"}],
        faq_qrels=[{"qid": "q1", "did": "f1", "rel": 1}, {"qid": "q1", "did": "f2", "rel": 0}],
        two_docs=[{"id": "e1", "lang": "en", "text": "One."}, {"id": "d1", "lang": "de", "text": "Eins."}],
        two_queries=[{"id": "qe", "lang": "en", "text": "one"}, {"id": "qd", "lang": "de", "text": "eins"}],
        two_qrels=[{"qid": q, "did": d, "rel": 1} for q, d in (("qe", "e1"), ("qe", "d1"), ("qd", "d1"))],
        shop_docs=[
            {
                "article_id": "s1",
                "type": "policy",
                "title": "Repairs",
                "content": "We mend chairs in our workshop. Bring them on a Monday morning.",
            }
        ],
    )
    return tmp_path


def test_sets_are_read_with_their_languages_and_labels(folder: Path) -> None:
    """Answers of another language, and labels of 0, are none; no article is without a title."""
    corpora = {corpus.name: corpus for corpus in load_corpora(folder, with_own_shop=False)}

    assert sorted(corpora) == ["faq", "shop", "two-de", "two-en"]
    assert corpora["faq"].questions == (Question("send back", frozenset({"f1"})),)
    assert [a.title.value for a in corpora["faq"].articles] == ["Returns", "We ship."]
    assert corpora["two-de"].questions == (Question("eins", frozenset({"d1"})),)


def test_a_tenants_articles_ask_for_themselves(folder: Path) -> None:
    """Its title in passing, and its second sentence; the whole title alone would be an exact match."""
    (shop,) = [c for c in load_corpora(folder, with_own_shop=False) if c.name == "shop"]

    asked = list(generate_questions(shop.articles))

    assert asked == [("I have a question about Repairs", "s1"), ("Bring them on a Monday morning.", "s1")]
    assert [q.answers for q in shop.questions] == [frozenset({"s1"})] * 2


def test_a_folder_without_sets_says_so(tmp_path: Path) -> None:
    """A mistyped DATA must not read as a perfect score."""
    with pytest.raises(FileNotFoundError):
        load_corpora(tmp_path)


def test_gain_and_hits_are_the_textbook_ones() -> None:
    """Second place of one answer: 1 / log2(3); two answers share the ideal."""
    assert ranking.ndcg(["x", "a"], frozenset({"a"}), 10) == pytest.approx(0.6309, abs=1e-4)
    assert ranking.ndcg(["a", "x", "b"], frozenset({"a", "b"}), 10) == pytest.approx(1.5 / 1.6309, abs=1e-4)
    assert (ranking.hit(["x", "a"], frozenset({"a"}), 1), ranking.hit(["x", "a"], frozenset({"a"}), 2)) == (0, 1)


CORPUS = Corpus("stackfaq", "", (), ())


def _row(
    kind: Kind, *, ranked: dict[Leg, tuple[str, ...]] | None = None, similarity: float = 0.0, text: str = ""
) -> Row:
    return Row(
        CORPUS,
        Question(text, frozenset({"a"}) if kind is Kind.RELEVANT else frozenset()),
        kind,
        RetrievalPath.HYBRID,
        Evidence(similarity=similarity, coverage=similarity),
        Evidence(coverage=similarity),
        {leg: Ranked(ids, ids) for leg, ids in (ranked or {}).items()},
    )


def test_a_demand_fails_when_hybrid_is_far_behind_or_not_above() -> None:
    """Behind the better leg by all there is, and no better than the weaker one."""
    good, bad = ("a",), ("x",)
    rows = [_row(Kind.RELEVANT, ranked={Leg.WORDS: bad, Leg.VECTORS: good, Leg.HYBRID: bad})]

    failed = [check.what for check in ranking.checks(ranking.results(rows)) if not check.is_met]

    assert len(failed) == 5
    assert failed[0].startswith("stackfaq nDCG@10 0.000 ≥ 0.92")


def test_the_gate_is_measured_over_answerable_and_off_topic_questions() -> None:
    """Removed ones are neither; the calibration error is the gap between promise and truth."""
    rows = [_row(Kind.RELEVANT), _row(Kind.RELEVANT), _row(Kind.OFF_TOPIC), _row(Kind.OFF_TOPIC), _row(Kind.REMOVED)]

    gate = gating.measure(rows, [0.95, 0.45, 0.05, 0.55, 0.9])

    assert (gate.n_answerable, gate.n_off_topic, gate.kept, gate.refused) == (2, 2, 0.5, 0.5)
    assert gate.auroc == pytest.approx(0.75)
    assert gate.ece == gate.ece_as_asked == pytest.approx((0.05 + 0.55 + 0.05 + 0.55) / 4)
    assert any(not check.is_met for check in gating.checks(gate, "x"))


def test_a_table_is_fitted_from_what_was_measured_and_parts_the_kinds() -> None:
    """Answerable questions are near, off-topic ones far; every question has one fold, whatever it is asked of."""
    rows = [_row(Kind.RELEVANT, similarity=0.6 + 0.01 * i, text=f"r{i}") for i in range(20)]
    rows += [_row(Kind.OFF_TOPIC, similarity=0.1 + 0.01 * i, text=f"o{i}") for i in range(20)]

    table = fit(rows, "m/3", languages=("en",))

    assert (table.model, table.languages, table.fitted_on) == ("m/3", ("en",), {"stackfaq": 40})
    assert table.confidence(RetrievalPath.HYBRID, Evidence(similarity=0.7, coverage=0.7)) > 0.8
    assert table.confidence(RetrievalPath.KEYWORD_ONLY, Evidence(coverage=0.1)) < 0.2
    assert {q.fold(FOLDS) for q in (rows[0].question, replace(rows[0].question, kind="sku"))} == {
        rows[0].question.fold(FOLDS)
    }


async def test_every_question_is_asked_of_its_own_set_and_of_the_others(folder: Path) -> None:
    """Relevant, removed, off-topic; a language of its own is asked of the half that does not answer."""
    corpora = load_corpora(folder, with_own_shop=False)
    rows = await ask_everything(corpora, LetterEmbedder(), load_calibration("letters/26"))

    def count(name: str, kind: Kind) -> int:
        return sum(row.corpus.name == name and row.kind is kind for row in rows)

    assert [count("faq", kind) for kind in Kind] == [1, 3, 1]
    assert [count("two-de", kind) for kind in Kind] == [1, 4, 1]
    assert all(set(row.ranked) == set(Leg) for row in rows if row.kind is Kind.RELEVANT)


def test_the_diagram_shows_each_bin_that_holds_questions() -> None:
    """One point a bin; an empty bin has none."""
    svg = draw([gating.Bin(0.05, 0.1, 30), gating.Bin(0.0, 0.0, 0), gating.Bin(0.95, 0.9, 60)])

    assert svg.count("<circle") == 2
    assert svg.startswith("<svg")


def test_our_own_shop_knows_what_it_does_not_answer() -> None:
    """Its unanswered questions are off-topic wherever a table is fitted."""
    shop = own_shop()

    assert shop.unanswered
    assert all(question.answers <= {a.article_id for a in shop.articles} for question in shop.questions)
