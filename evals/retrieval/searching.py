"""Asks every question of every corpus through HybridSearch, and of its legs alone: what was ranked, what was measured.

Four kinds of question: *relevant* (an article answers it), *off-topic* (of another set; in languages nobody else asks
in, of the other half of its own), *removed* (its answers were deleted: near misses, and labels that are not
exhaustive), *unanswered* (known to have no answer in our own shop). Source: design §4, KB-09.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from evals.retrieval.sets import OWN_SHOP, Corpus, Question
from shared.adapters.embedded.system import SystemClock
from shared.domain.article import Article, ArticleStatus
from shared.domain.errors import Unavailable
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import CustomerIntent
from shared.domain.sources import RetrievalPath
from shared.domain.text import MaskedText, ModelText
from shared.ports.articles import ArticlePage, KnowledgeHead
from shared.ports.documents import TenantScope
from shared.ports.models import Embedder, Vector
from shared.retrieval.confidence import Judge
from shared.retrieval.embedding_text import build_embedding_text, embedding_key, fit_of
from shared.retrieval.evidence import Evidence
from shared.retrieval.ladder import HybridSearch
from shared.retrieval.rungs import Deadlines

HIT_AT: Final = 5
"""Results of a customer's search. Source: KB-07."""
DEEP: Final = 10
"""Results of the searches nDCG@10 is taken of."""

_SCOPE: Final = TenantScope(TenantId("eval"))
_PATIENT: Final = Deadlines(head_s=600, index_s=600, embed_s=600, nearest_s=600)
"""A busy machine must not change a figure."""


class Kind(StrEnum):
    """What is known about a question's answer in the corpus it is asked of."""

    RELEVANT = "relevant"
    OFF_TOPIC = "off-topic"
    REMOVED = "removed"


class Leg(StrEnum):
    """Which search ranked."""

    WORDS = "BM25"
    VECTORS = "vectors"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class Ranked:
    """What one leg returned for a question: five results as a customer's search, and ten."""

    five: tuple[str, ...]
    ten: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What the searches of one question in one corpus gave."""

    corpus: Corpus
    question: Question
    kind: Kind
    path: RetrievalPath
    """The rung that served; words alone where the model does not know the language."""
    evidence: Evidence
    by_words: Evidence
    """What words alone measured: the evidence were the embedder down."""
    ranked: dict[Leg, Ranked] = field(default_factory=dict)
    """Of relevant questions only."""


class RememberingEmbedder:
    """An Embedder that computes each text once in a run: every question is asked of every corpus."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model, self.dimension = embedder.model, embedder.dimension
        self._known: dict[str, NDArray[np.float32]] = {}

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Return one row a text."""
        new = [text for text in {t.value: t for t in texts}.values() if text.value not in self._known]
        if new:
            for text, row in zip(new, await self._embedder.embed(new), strict=True):
                self._known[text.value] = row
        return np.stack([self._known[text.value] for text in texts])


class NoEmbedder:
    """An Embedder that never answers: what search by words alone sees."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension

    async def embed(self, texts: Sequence[ModelText]) -> NDArray[np.float32]:
        """Fail."""
        raise Unavailable("no embedder in this run")


class CorpusSource:
    """ArticleIndexSource over a corpus in memory; articles can be taken out and put back like any other change."""

    def __init__(self, articles: Iterable[Article], matrix: NDArray[np.float32]) -> None:
        self._articles = {str(article.article_id): article for article in articles}
        self._ids = list(self._articles)
        self._matrix = matrix
        self._seq = 1
        self._gone = frozenset[str]()

    def take_out(self, ids: frozenset[str]) -> None:
        """Delete these articles and publish again those taken out before."""
        self._seq += 1
        for id in ids | self._gone:
            status = ArticleStatus.DELETED if id in ids else ArticleStatus.PUBLISHED
            self._articles[id] = self._articles[id].model_copy(update={"seq": self._seq, "status": status})
        self._gone = ids

    async def head(self, scope: TenantScope) -> KnowledgeHead:
        """Return the corpus's version."""
        return KnowledgeHead(self._seq)

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        """Return what was taken out or put back since."""
        return ArticlePage(tuple(a for a in self._articles.values() if a.seq > after_seq))

    async def get(self, scope: TenantScope, article: ArticleId) -> Article | None:
        """Return the article, or None while it is out."""
        found = self._articles.get(article)
        return found if found is not None and found.is_published else None

    async def nearest(
        self, scope: TenantScope, vector: Vector, *, embedding_key: str, top_k: int
    ) -> tuple[tuple[ArticleId, float], ...]:
        """Return the exact neighbours, ties by id."""
        similarities = self._matrix @ vector
        order = [i for i in np.lexsort((np.array(self._ids), -similarities)).tolist() if self._ids[i] not in self._gone]
        return tuple((ArticleId(self._ids[i]), float(similarities[i])) for i in order[:top_k])


class VectorsOnly(CorpusSource):
    """The same corpus whose changes cannot be read: no keyword index ever comes about."""

    async def changes(self, scope: TenantScope, after_seq: int, *, continuation: str | None = None) -> ArticlePage:
        """Fail."""
        raise Unavailable("no keyword index in this run")


@dataclass
class Recorder:
    """A Judge that also keeps what it was shown; `all_languages` has vectors tried in every one."""

    judge: Judge
    all_languages: bool = False
    seen: list[tuple[RetrievalPath, Evidence]] = field(default_factory=list)

    @property
    def is_calibrated(self) -> bool:
        """Pass on."""
        return self.judge.is_calibrated

    def confidence(self, path: RetrievalPath, evidence: Evidence) -> float:
        """Note the evidence and pass on."""
        self.seen.append((path, evidence))
        return self.judge.confidence(path, evidence)

    def understands(self, language: str) -> bool:
        """Pass on."""
        return self.all_languages or self.judge.understands(language)

    def take(self) -> Evidence:
        """Return the evidence of the last search; nothing found is no evidence."""
        evidence = self.seen[0][1] if self.seen else Evidence()
        self.seen.clear()
        return evidence


async def ask_everything(
    corpora: Sequence[Corpus], embedder: Embedder, judge: Judge, *, all_languages: bool = False
) -> list[Row]:
    """Search every question of every kind in every corpus."""
    remembering, rows = RememberingEmbedder(embedder), list[Row]()
    for corpus in corpora:
        asker = await Asker.of(corpus, remembering, judge, all_languages=all_languages)
        rows += [await asker.ask(Kind.RELEVANT, q, with_legs=True) for q in corpus.questions]
        rows += [await asker.ask(Kind.OFF_TOPIC, q) for q in off_topic(corpus, corpora)]
        rows += await asker.ask_elsewhere()
        rows += await asker.ask_without_answers()
    return rows


def off_topic(corpus: Corpus, corpora: Sequence[Corpus]) -> list[Question]:
    """Return the questions of the other sets; only English ones, as other languages are no temptation."""
    others = [c for c in corpora if c.set != corpus.set and c.is_english and c.set != OWN_SHOP]
    return [*corpus.unanswered, *(q for other in others for q in other.questions)]


class Asker:
    """One corpus behind three searches."""

    def __init__(self, corpus: Corpus, sources: Sequence[CorpusSource], searches: dict[Leg, HybridSearch]) -> None:
        self._corpus, self._sources, self._searches = corpus, sources, searches
        self._seen: dict[Leg, Recorder] = {}

    @classmethod
    async def of(cls, corpus: Corpus, embedder: Embedder, judge: Judge, *, all_languages: bool) -> "Asker":
        """Return the corpus, embedded."""
        key = embedding_key(embedder.model, embedder.dimension)
        texts = [
            build_embedding_text(a.type, a.title, a.tags, a.content, fit=fit_of(embedder)).text for a in corpus.articles
        ]
        matrix = await embedder.embed(texts)
        articles = [a.model_copy(update={"embedded_model": key}) for a in corpus.articles]
        whole, vectors = CorpusSource(articles, matrix), VectorsOnly(articles, matrix)
        seen = {leg: Recorder(judge, all_languages or leg is Leg.VECTORS) for leg in Leg}

        def new_search(leg: Leg, source: CorpusSource, model: Embedder) -> HybridSearch:
            return HybridSearch(source, model, clock=SystemClock(), calibration=seen[leg], deadlines=_PATIENT)

        asker = cls(
            corpus,
            (whole, vectors),
            {
                Leg.WORDS: new_search(Leg.WORDS, whole, NoEmbedder(embedder)),
                Leg.VECTORS: new_search(Leg.VECTORS, vectors, embedder),
                Leg.HYBRID: new_search(Leg.HYBRID, whole, embedder),
            },
        )
        asker._seen = seen
        return asker

    async def ask(self, kind: Kind, question: Question, *, with_legs: bool = False) -> Row:
        """Return what the searches of the question give."""
        ranked = {leg: await self._rank(leg, question) for leg in Leg} if with_legs else {}
        path, _ = await self._search(Leg.HYBRID, question, HIT_AT)
        evidence = self._seen[Leg.HYBRID].take()
        await self._search(Leg.WORDS, question, HIT_AT)
        return Row(self._corpus, question, kind, path, evidence, self._seen[Leg.WORDS].take(), ranked)

    async def ask_elsewhere(self) -> list[Row]:
        """Return the questions of a language nobody else asks in, asked of the half without their answers."""
        if self._corpus.is_english:
            return []
        ids = [str(article.article_id) for article in self._corpus.articles]
        rows: list[Row] = []
        for half in (frozenset(ids[: len(ids) // 2]), frozenset(ids[len(ids) // 2 :])):
            self._take_out(half)
            rows += [await self.ask(Kind.OFF_TOPIC, q) for q in self._corpus.questions if q.answers <= half]
        self._take_out(frozenset())
        return rows

    async def ask_without_answers(self) -> list[Row]:
        """Return the questions asked after the articles that answer them were deleted."""
        rows: list[Row] = []
        for question in self._corpus.questions:
            self._take_out(question.answers)
            rows.append(await self.ask(Kind.REMOVED, question))
        return rows

    def _take_out(self, ids: frozenset[str]) -> None:
        for source in self._sources:
            source.take_out(ids)

    async def _rank(self, leg: Leg, question: Question) -> Ranked:
        _, five = await self._search(leg, question, HIT_AT)
        _, ten = await self._search(leg, question, DEEP)
        self._seen[leg].seen.clear()
        return Ranked(five, ten)

    async def _search(self, leg: Leg, question: Question, top_k: int) -> tuple[RetrievalPath, tuple[str, ...]]:
        self._seen[leg].seen.clear()
        # A question about one's own account is kept in no cache: every search measures.
        found = await self._searches[leg].search(
            _SCOPE, MaskedText(question.text), intent=CustomerIntent.REFUND, types=(), top_k=top_k
        )
        return found.path, tuple(str(article.article_id) for article in found.articles)
