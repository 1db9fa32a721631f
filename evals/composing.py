"""How well the offline composer picks the article that answers, and how honest its confidence is, on public questions.

`python -m evals.composing` prints for each set how often a chosen sentence is of a relevant article, and the area under
the curve of confidence between answerable questions and the same ones with every relevant article removed.
`--fit` refits the confidence. Source: CO-03, GO-03, data README (retrieval sets).
"""

import asyncio
import json
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.adapters.embedded.sentence_selection import Candidate, Selection, select_sentences
from shared.domain.ids import ArticleId, article_ref
from shared.domain.passages import clean_sentences
from shared.domain.text import MaskedText

SETS: Final = ("covidfaq", "stackfaq", "tau_banking")
QUESTIONS: Final = 120
"""Questions of each set. Source: ours; 480 compositions take two minutes."""
TOP: Final = 4
"""Articles handed to the composer. Source: near KB-07's five within its 4,000 characters."""
CONTEXT_CHARS: Final = 1000
"""Characters of each. Source: KB-07's 4,000 over four."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One composition: what was chosen, whether the answer was among the articles, whether it was found."""

    selection: Selection
    is_answerable: bool
    is_right: bool


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the articles that answer it; none answers an unanswerable one."""

    text: str
    good: frozenset[str]


def load_public(name: str, root: Path) -> tuple[list[dict[str, str]], list[Question]]:
    """Return a public set's articles and a sample of its questions."""
    docs = _rows(root / f"{name}.docs.dev.jsonl")
    relevant: dict[str, set[str]] = {}
    for row in _rows(root / f"{name}.qrels.dev.jsonl"):
        if float(row["rel"]) > 0:
            relevant.setdefault(row["qid"], set()).add(row["did"])
    asked = [q for q in _rows(root / f"{name}.queries.dev.jsonl") if relevant.get(q["id"])]
    random.Random(7).shuffle(asked)
    return docs, [Question(q["text"], frozenset(relevant[q["id"]])) for q in asked[:QUESTIONS]]


def load_own() -> tuple[list[dict[str, str]], list[Question]]:
    """Return our own candle shop, with questions it answers and questions of other worlds."""
    shop = json.loads((Path(__file__).parent / "candle_shop.json").read_text(encoding="utf-8"))
    docs = [{"id": a[1], "title": a[2], "text": a[3]} for a in shop["articles"]]
    asked = [Question(text, frozenset({did})) for text, did in shop["answered"]]
    return docs, asked + [Question(text, frozenset()) for text in shop["unanswered"]]


async def run_set(docs: list[dict[str, str]], questions: list[Question], embedder: OnnxEmbedder) -> list[Trial]:
    """Return two trials a question: with its relevant articles and without them; one where there are none."""
    vectors = await embedder.embed([MaskedText(f"{d.get('title', '')}. {d['text'][:CONTEXT_CHARS]}") for d in docs])
    trials: list[Trial] = []
    for question in questions:
        asked = MaskedText(question.text)
        near: NDArray[np.float32] = vectors @ (await embedder.embed([asked]))[0]
        order = [docs[i] for i in np.argsort(-near)]
        answer = [d for d in order if d["id"] in question.good][:1]
        top = order[:TOP] if any(d in order[:TOP] for d in answer) else [*order[: TOP - 1], *answer]
        without = [d for d in order if d["id"] not in question.good][:TOP]
        for pinned, is_answerable in ((top, True), (without, False)) if answer else ((without, False),):
            candidates = [
                Candidate(s.text, article_ref(ArticleId(d["id"]), 1), d.get("title", ""), rank, s.position)
                for rank, d in enumerate(pinned)
                for s in clean_sentences(d["text"][:CONTEXT_CHARS])
            ]
            selection = await select_sentences(asked, candidates, embedder, language="en", currency="USD")
            ids = {c.ref.removeprefix("article:").rsplit("@", 1)[0] for c in selection.chosen}
            trials.append(Trial(selection, is_answerable, is_answerable and bool(ids & question.good)))
    return trials


async def main() -> None:
    """Print one table."""
    root = Path(os.environ.get("VOUCH_DATA", "../shared/data")) / "retrieval"
    embedder = OnnxEmbedder(find_minilm(), threads=1)
    everything: list[Trial] = []
    print(f"{'set':14}right  AUROC  answered  of these right  unanswerable held back")
    for name in (*SETS, "own shop"):
        docs, questions = load_own() if name == "own shop" else load_public(name, root)
        trials = await run_set(docs, questions, embedder)
        everything += trials
        _report(name, trials)
        if "--fit" in sys.argv:
            _fit(trials)
    _report("all", everything)
    if "--fit" in sys.argv:
        _fit(everything)
    embedder.close()


def _report(name: str, trials: list[Trial]) -> None:
    answerable = [t for t in trials if t.is_answerable]
    right = np.mean([t.is_right for t in answerable])
    labels = [t.is_answerable for t in trials]
    confidence = [t.selection.confidence for t in trials]
    given = [t for t in trials if t.selection.confidence >= 0.5]
    held = np.mean([t.selection.confidence < 0.5 for t in trials if not t.is_answerable])
    precision = np.mean([t.is_right for t in given]) if given else float("nan")
    answered = np.mean([t.selection.confidence >= 0.5 for t in answerable])
    print(
        f"{name:14}{right:5.2f} {roc_auc_score(labels, confidence):6.3f} {answered:9.2f} {precision:15.2f} {held:23.2f}"
    )


def _fit(trials: list[Trial]) -> None:
    table = np.array([t.selection.signals for t in trials])
    labels = np.array([t.is_right for t in trials])
    model = LogisticRegression(C=10.0, max_iter=5000)
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    chance = cross_val_predict(model, table, labels, cv=folds, method="predict_proba")[:, 1]
    print(
        f"refit, 10-fold: AUROC {roc_auc_score(labels, chance):.3f}, accuracy {np.mean((chance >= 0.5) == labels):.3f}"
    )
    model.fit(table, labels)
    print("CONFIDENCE_WEIGHTS =", tuple(round(float(w), 3) for w in (model.intercept_[0], *model.coef_[0])))


if __name__ == "__main__":
    asyncio.run(main())
