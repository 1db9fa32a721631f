"""How well the offline composer picks the article that answers, and how honest its confidence is, on public questions.

`python -m evals.composing` prints, for each set, how often the best sentence comes from a relevant article, and the area
under the curve of confidence between answerable questions and the same questions with every relevant article removed.
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


async def run_set(name: str, root: Path, embedder: OnnxEmbedder) -> list[Trial]:
    """Return two trials a question: with its relevant articles and without them."""
    docs = _rows(root / f"{name}.docs.dev.jsonl")
    queries = _rows(root / f"{name}.queries.dev.jsonl")
    relevant: dict[str, set[str]] = {}
    for row in _rows(root / f"{name}.qrels.dev.jsonl"):
        if float(row["rel"]) > 0:
            relevant.setdefault(row["qid"], set()).add(row["did"])
    chosen = [q for q in queries if relevant.get(q["id"])]
    random.Random(7).shuffle(chosen)
    texts = [MaskedText(f"{d.get('title', '')}. {d['text'][:CONTEXT_CHARS]}") for d in docs]
    vectors = await embedder.embed(texts)
    trials: list[Trial] = []
    for query in chosen[:QUESTIONS]:
        asked = MaskedText(query["text"])
        near: NDArray[np.float32] = vectors @ (await embedder.embed([asked]))[0]
        order = [docs[i] for i in np.argsort(-near)]
        good = relevant[query["id"]]
        with_answer = (
            order[:TOP]
            if any(d["id"] in good for d in order[:TOP])
            else [*order[: TOP - 1], next(d for d in order if d["id"] in good)]
        )
        without = [d for d in order if d["id"] not in good][:TOP]
        for pinned, is_answerable in ((with_answer, True), (without, False)):
            candidates = [
                Candidate(s.text, article_ref(ArticleId(d["id"]), 1), d.get("title", ""), rank, s.position)
                for rank, d in enumerate(pinned)
                for s in clean_sentences(d["text"][:CONTEXT_CHARS])
            ]
            selection = await select_sentences(asked, candidates, embedder, language="en", currency="USD")
            ids = {c.ref.removeprefix("article:").rsplit("@", 1)[0] for c in selection.chosen}
            trials.append(Trial(selection, is_answerable, is_answerable and bool(ids & good)))
    return trials


async def main() -> None:
    """Print one table."""
    root = Path(os.environ.get("VOUCH_DATA", "../shared/data")) / "retrieval"
    embedder = OnnxEmbedder(find_minilm(), threads=1)
    everything: list[Trial] = []
    print(f"{'set':14}right  AUROC  answered  of these right  unanswerable held back")
    for name in SETS:
        trials = await run_set(name, root, embedder)
        everything += trials
        _report(name, trials)
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
