"""Quality of article search on labelled data: one command, one table; `--calibrate` also fits the confidence table.

    python -m evals.retrieval --data ../shared/data [--calibrate]

Everything runs through HybridSearch itself, over a corpus in memory. Three kinds of question are told apart:
*relevant* (an article answers it), *removed* (the same question after the articles that answer it were deleted: near
misses, and labels that are not exhaustive), *off-topic* (a question of another set). Source: KB-05…07, design §4.
"""

import argparse
import asyncio
import json
import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.adapters.embedded.onnx_embedder import OnnxEmbedder, find_minilm
from shared.adapters.embedded.system import SystemClock
from shared.domain.article import Article, ArticleStatus
from shared.domain.deltas import Knowledge
from shared.domain.errors import Unavailable
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.sources import RetrievalPath
from shared.domain.text import MaskedText, ModelText, PublishedText
from shared.ports.articles import ArticlePage, KnowledgeHead
from shared.ports.documents import TenantScope
from shared.ports.models import Vector
from shared.retrieval.confidence import (
    CALIBRATION_DIR,
    PROVISIONAL,
    Calibration,
    Coefficients,
    Evidence,
    Judge,
    calibration_file,
    load_calibration,
)
from shared.retrieval.embedding_text import build_embedding_text, embedding_key, fit_of
from shared.retrieval.ladder import HybridSearch

SEED: Final = 20_260
MAX_QUERIES: Final = 150
"""Questions taken of one set and kind, drawn with SEED, so that a run takes two minutes."""
OFF_TOPIC_PER_SET: Final = 25
"""Questions of each other set asked of a corpus."""
CLASS_WEIGHTS: Final = {"relevant": 1.0, "off-topic": 0.7, "removed": 0.02}
"""Weight a kind of question has in the fit, whatever its number of rows. Removed questions hardly count: what is left
is on the topic, and often an article nobody labelled answers; the supervisor's grounding judges those, not this."""
REGULARISATION: Final = 30.0
"""Inverse strength of the ridge penalty: keeps the weight of exact matches finite, which separate perfectly."""
SHOPS: Final = frozenset({"known_item", "tau_product", "tau_banking", "candle_shop"})
"""Sets about buying, paying and sending back: their questions are not off-topic for each other."""
NOT_FITTED: Final = frozenset({"tau_product", "candle_shop"})
"""tau_product: its texts are stage directions to an actor, not messages. candle_shop: ours, kept apart as a check."""
CAUTION: Final = 1.0
"""Log-odds by which the provisional table is harder to convince; every language is trusted to an unknown model."""
TOLERATED_LOSS: Final = 0.02
"""Loss of hit@5 against words alone up to which a language's questions are still searched by meaning."""
CODE_SENTENCES: Final = (
    "how much is {}?",
    "is {} still available",
    "do you have {} in a bigger size",
    "I bought {} last week, what is it made of?",
)
"""Ways to ask about an article number."""
_SCOPE: Final = TenantScope(TenantId("eval"))


@dataclass(frozen=True)
class Question:
    """A question and the articles that answer it."""

    text: str
    answers: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    """One set: its articles, its questions, and questions known to have no answer in it."""

    name: str
    articles: tuple[Article, ...]
    questions: tuple[Question, ...]
    unanswered: tuple[str, ...] = ()


@dataclass
class Row:
    """What one search of one question gave."""

    corpus: str
    kind: str
    ranked: tuple[str, ...]
    answers: frozenset[str]
    path: RetrievalPath
    evidence: Evidence
    ranked_by_words: tuple[str, ...]
    words_only: Evidence


@dataclass
class CorpusSource:
    """ArticleIndexSource over a corpus in memory; articles can be taken out and put back like any other change."""

    articles: dict[str, Article]
    ids: list[str]
    matrix: NDArray[np.float32]
    seq: int = 1
    gone: frozenset[str] = frozenset()

    def take_out(self, ids: frozenset[str]) -> None:
        """Delete these articles and publish again those taken out before."""
        self.seq += 1
        for id in ids | self.gone:
            status = ArticleStatus.DELETED if id in ids else ArticleStatus.PUBLISHED
            self.articles[id] = self.articles[id].model_copy(update={"seq": self.seq, "status": status})
        self.gone = ids

    async def head(self, scope: TenantScope) -> KnowledgeHead:
        return KnowledgeHead(self.seq)

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        return ArticlePage(tuple(a for a in self.articles.values() if a.seq > after_seq))

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        return self.articles.get(article)

    async def nearest(
        self, scope: TenantScope, vector: Vector, *, embedding_key: str, top_k: int
    ) -> tuple[tuple[ArticleId, float], ...]:
        similarities = self.matrix @ vector
        order = [i for i in np.argsort(-similarities, kind="stable").tolist() if self.ids[i] not in self.gone]
        return tuple((ArticleId(self.ids[i]), float(similarities[i])) for i in order[:top_k])


@dataclass
class Recorder:
    """A Judge that also keeps what it was shown."""

    judge: Judge
    seen: list[tuple[RetrievalPath, Evidence]] = field(default_factory=list)

    @property
    def is_calibrated(self) -> bool:
        return self.judge.is_calibrated

    def confidence(self, path: RetrievalPath, evidence: Evidence) -> float:
        self.seen.append((path, evidence))
        return self.judge.confidence(path, evidence)

    def understands(self, language: str) -> bool:
        return self.judge.understands(language)

    def take(self) -> Evidence:
        """Return the evidence of the last search; nothing found is no evidence."""
        evidence = self.seen[0][1] if self.seen else Evidence()
        self.seen.clear()
        return evidence


class NoEmbedder:
    """An Embedder that never answers: what search by words alone would see."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model, self.dimension = model, dimension

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        raise Unavailable("no embedder in this run")


# -- the sets --------------------------------------------------------------------------------------------------------


def load_corpora(data: Path) -> tuple[Corpus, ...]:
    """Return every labelled set under the folder, and our own shop."""
    folder = data / "retrieval"
    names = {"covidfaq": "covidfaq", "stackfaq": "stackfaq", "tau_banking": "tau_banking", "tau_product": "tau_product"}
    corpora = [_labelled(folder, stem, name) for stem, name in names.items()]
    known = _labelled(folder, "shopify_known_item", "known_item")
    asked = [q for q in known.questions if any(c.isdigit() or c == "-" for c in q.text) and " " not in q.text]
    sentences = tuple(Question(CODE_SENTENCES[i % 4].format(q.text), q.answers) for i, q in enumerate(asked))
    corpora.append(Corpus("known_item", known.articles, known.questions + sentences))
    corpora += [_labelled(folder, "xquad", f"xquad-{lang}", lang) for lang in ("en", "es", "de", "tr", "zh", "ar")]
    return (*corpora, _own_shop())


def _labelled(folder: Path, stem: str, name: str, language: str = "") -> Corpus:
    def read(kind: str) -> list[dict[str, str]]:
        lines = (folder / f"{stem}.{kind}.dev.jsonl").read_text(encoding="utf-8").splitlines()
        return [row for row in map(json.loads, lines) if not language or row.get("lang", language) == language]

    docs = {row["id"]: row for row in read("docs")}
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for row in read("qrels"):
        if row["did"] in docs:
            answers[row["qid"]].add(row["did"])
    questions = [
        Question(row["text"], frozenset(answers[row["id"]])) for row in read("queries") if row["id"] in answers
    ]
    articles = [
        _article(id, ArticleType.FAQ, d.get("title") or "", d["text"], _codes(d["text"]), language)
        for id, d in docs.items()
    ]
    return Corpus(name, tuple(articles), tuple(_draw(questions, MAX_QUERIES)))


def _codes(text: str) -> dict[str, str]:
    """Return the article numbers a product export names in its text, as the catalog sync would hand them in."""
    return {kind.casefold(): code for kind, code in re.findall(r"\b(SKU|barcode) +([\w-]+)", text) if code != "barcode"}


def _own_shop() -> Corpus:
    shop = json.loads((Path(__file__).parent / "candle_shop.json").read_text(encoding="utf-8"))
    articles = [
        _article(id, ArticleType(kind), title, text, facts, "en") for kind, id, title, text, facts in shop["articles"]
    ]
    questions = [Question(text, frozenset({id})) for text, id in shop["answered"]]
    return Corpus("candle_shop", tuple(articles), tuple(questions), tuple(shop["unanswered"]))


def _article(id: str, type: ArticleType, title: str, content: str, facts: dict[str, str], language: str) -> Article:
    return Article(
        article_id=ArticleId(id),
        tenant_id=_SCOPE.tenant_id,
        version=1,
        seq=1,
        type=type,
        title=PublishedText(title),
        content=PublishedText(content),
        attributes=facts,
        language=language,
        updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def _draw(items: Iterable[Question], n: int) -> list[Question]:
    drawn = list(items)
    random.Random(SEED).shuffle(drawn)
    return drawn[:n]


# -- running ---------------------------------------------------------------------------------------------------------


async def measure(corpora: Sequence[Corpus], embedder: OnnxEmbedder, judge: Judge) -> list[Row]:
    """Search every question of every kind in every corpus."""
    rows: list[Row] = []
    for corpus in corpora:
        rows += await _measure_one(corpus, _off_topic(corpus, corpora), embedder, judge)
    return rows


def _off_topic(corpus: Corpus, corpora: Sequence[Corpus]) -> list[str]:
    texts = list(corpus.unanswered)
    for other in corpora:
        is_apart = other.name.partition("-")[0] != corpus.name.partition("-")[0]
        if is_apart and not {other.name, corpus.name} <= SHOPS:
            n = OFF_TOPIC_PER_SET if not other.name.startswith("xquad-") else OFF_TOPIC_PER_SET // 5
            texts += [q.text for q in _draw(other.questions, n)]
    return texts


async def _measure_one(corpus: Corpus, off_topic: Sequence[str], embedder: OnnxEmbedder, judge: Judge) -> list[Row]:
    texts = [
        build_embedding_text(a.type, a.title, a.tags, a.content, fit=fit_of(embedder)).text for a in corpus.articles
    ]
    key = embedding_key(embedder.model, embedder.dimension)
    articles: dict[str, Article] = {a.article_id: a.model_copy(update={"embedded_model": key}) for a in corpus.articles}
    matrix = await embedder.embed(texts)
    source = CorpusSource(articles, [a.article_id for a in corpus.articles], matrix)
    seen, seen_words = Recorder(judge), Recorder(judge)
    hybrid = HybridSearch(source, embedder, clock=SystemClock(), calibration=seen)
    words = HybridSearch(
        source, NoEmbedder(embedder.model, embedder.dimension), clock=SystemClock(), calibration=seen_words
    )

    async def ask(kind: str, text: str, answers: frozenset[str]) -> Row:
        query = MaskedText(text)
        found = await hybrid.search(_SCOPE, query, intent=None, types=(), top_k=10)
        evidence = seen.take()
        by_words = await words.search(_SCOPE, query, intent=None, types=(), top_k=10)
        return Row(corpus.name, kind, _ids(found), answers, found.path, evidence, _ids(by_words), seen_words.take())

    rows = [await ask("relevant", q.text, q.answers) for q in corpus.questions]
    rows += [await ask("off-topic", text, frozenset()) for text in off_topic]
    for question in corpus.questions:
        source.take_out(question.answers)
        rows.append(await ask("removed", question.text, frozenset()))
    return rows


def _ids(knowledge: Knowledge) -> tuple[str, ...]:
    return tuple(str(article.article_id) for article in knowledge.articles)


# -- fitting ---------------------------------------------------------------------------------------------------------


def fit(rows: Sequence[Row], key: str) -> Calibration:
    """Return the confidence table of the model the rows were made with, all languages searched by both rankings."""
    languages = _languages_helped(rows)
    used = [row for row in rows if row.corpus not in NOT_FITTED]
    known = [row for row in used if row.path is RetrievalPath.HYBRID and _language(row.corpus) in languages]
    counts = Counter(row.corpus for row in used)
    similar = [[row.evidence.similarity] for row in known]
    both = [[row.evidence.similarity, row.evidence.coverage, float(row.evidence.is_exact)] for row in known]
    worded = [[row.words_only.coverage, float(row.words_only.is_exact)] for row in used]
    hybrid, vector, keyword = _logistic(both, known), _logistic(similar, known), _logistic(worded, used)
    return Calibration(
        model=key,
        hybrid=Coefficients(bias=hybrid[0], similarity=hybrid[1], coverage=hybrid[2], exact=hybrid[3]),
        vector_only=Coefficients(bias=vector[0], similarity=vector[1]),
        keyword_only=Coefficients(bias=keyword[0], coverage=keyword[1], exact=keyword[2]),
        languages=languages,
        fitted_on=dict(counts),
    )


def cautious(table: Calibration) -> Calibration:
    """Return the provisional table for models nobody has calibrated: the fitted one, harder to convince."""

    def harder(model: Coefficients) -> Coefficients:
        return model.model_copy(update={"bias": round(model.bias - CAUTION, 3)})

    return Calibration(
        model=PROVISIONAL,
        hybrid=harder(table.hybrid),
        vector_only=harder(table.vector_only),
        keyword_only=harder(table.keyword_only),
    )


def _languages_helped(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the languages in which adding vectors to words loses no answers."""
    helped = []
    for corpus in sorted({row.corpus for row in rows if row.corpus.startswith("xquad-")}):
        asked = [row for row in rows if row.corpus == corpus and row.kind == "relevant"]
        gain = np.mean([_hit(row, 5) for row in asked]) - np.mean(
            [_hits(row.ranked_by_words, row.answers, 5) for row in asked]
        )
        if gain >= -TOLERATED_LOSS:
            helped.append(_language(corpus))
    return tuple(helped)


def _language(corpus: str) -> str:
    return corpus.partition("-")[2] or "en"


def _logistic(features: Sequence[Sequence[float]], rows: Sequence[Row]) -> tuple[float, ...]:
    # Needed to fit only: the product itself never imports it.
    from sklearn.linear_model import LogisticRegression

    sizes = Counter(map(_group, rows))
    weights = [CLASS_WEIGHTS[row.kind] * _language_share(row.corpus) / sizes[_group(row)] * 100 for row in rows]
    model = LogisticRegression(C=REGULARISATION)
    model.fit(np.array(features), [row.kind == "relevant" for row in rows], sample_weight=weights)
    return tuple(round(float(value), 3) for value in (model.intercept_[0], *model.coef_[0]))


def _group(row: Row) -> tuple[str, str]:
    return row.corpus, row.kind


def _language_share(corpus: str) -> float:
    """Six languages of one set count as one set, English as half of it."""
    return 1.0 if not corpus.startswith("xquad-") else 0.5 if corpus == "xquad-en" else 0.1


# -- the table -------------------------------------------------------------------------------------------------------


def report(rows: Sequence[Row], judge: Judge) -> str:
    """Return the table: rank quality, how well confidence parts the kinds, and its share at or above 0.5."""
    lines = [
        "| set | n | hit@5 | nDCG@10 | AUC off-topic | AUC removed | ≥ 0.5 relevant | off-topic | removed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row.corpus for row in rows):
        kinds = {k: [r for r in rows if r.corpus == name and r.kind == k] for k in CLASS_WEIGHTS}
        relevant = kinds["relevant"]
        scores = {k: np.array([judge.confidence(r.path, r.evidence) for r in v]) for k, v in kinds.items()}
        apart = (_auc(scores["relevant"], scores["off-topic"]), _auc(scores["relevant"], scores["removed"]))
        lines.append(
            f"| {name} | {len(relevant)} | {np.mean([_hit(r, 5) for r in relevant]):.3f} "
            f"| {np.mean([_ndcg(r, 10) for r in relevant]):.3f} "
            f"| {apart[0]:.3f} | {apart[1]:.3f} "
            + "".join(f"| {np.mean(scores[k] >= 0.5):.3f} " for k in CLASS_WEIGHTS)
            + "|"
        )
    return "\n".join(lines)


def _hit(row: Row, n: int) -> bool:
    return _hits(row.ranked, row.answers, n)


def _hits(ranked: Sequence[str], answers: frozenset[str], n: int) -> bool:
    return any(id in answers for id in ranked[:n])


def _ndcg(row: Row, n: int) -> float:
    gain = sum(1 / np.log2(i + 2) for i, id in enumerate(row.ranked[:n]) if id in row.answers)
    return float(gain / sum(1 / np.log2(i + 2) for i in range(min(n, len(row.answers)))))


def _auc(yes: NDArray[np.float64], no: NDArray[np.float64]) -> float:
    return float(np.mean((yes[:, None] > no) + 0.5 * (yes[:, None] == no)))


async def run(data: Path, is_calibrating: bool) -> None:
    """Measure, fit when asked to, and print the table."""
    embedder = OnnxEmbedder(find_minilm(), threads=2)
    key = embedding_key(embedder.model, embedder.dimension)
    corpora = load_corpora(data)
    judge = load_calibration(key)
    if is_calibrating:
        judge = fit(await measure(corpora, embedder, judge.model_copy(update={"languages": ()})), key)
        for table in (judge, cautious(judge)):
            path = CALIBRATION_DIR / calibration_file(table.model)
            path.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
            print(f"wrote {path.name}\n{table}\n")
    print(report(await measure(corpora, embedder, judge), judge))
    embedder.close()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("VOUCH_DATA", "../shared/data")))
    parser.add_argument("--calibrate", action="store_true", help="fit and store the confidence table")
    args = parser.parse_args()
    asyncio.run(run(args.data, args.calibrate))


if __name__ == "__main__":
    main()
