"""Labelled sets as corpora: `{set}.docs*.jsonl`, and beside it `{set}.queries*.jsonl` and `{set}.qrels*.jsonl`.

A docs row is `{id, title?, text, lang?}` or an article as `GET /v1/articles` gives it; a query row `{id, text, lang?,
kind?}`; a label `{qid, did, rel}`. A set in several languages becomes a corpus a language. Source: data README.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from evals.retrieval.generated import generate_questions
from shared.domain.article import Article
from shared.domain.ids import ArticleId, TenantId
from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText

OWN_SHOP: Final = "candle_shop"
"""Our own small shop: it has a word in the fit, as the sets are hardly shops, and in no target."""
TITLE_CHARS: Final = 80
"""Part of its first sentence that stands in for the title a document lacks: no article is without one. Value ours."""
IDENTIFIER: Final = "sku"
"""Kind of a question that is nothing but an article number."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_CODES: Final = re.compile(r"\b(SKU|barcode) ([^|]*)\|")
_CODE_SENTENCES: Final = (
    "how much is {}?",
    "is {} still available",
    "do you have {} in a bigger size",
    "I bought {} last week, what is it made of?",
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the articles that answer it, if any."""

    text: str
    answers: frozenset[str] = frozenset()
    kind: str = ""

    def fold(self, n_folds: int) -> int:
        """Return the fold of the question, the same whichever corpus it is asked of."""
        return int(hashlib.sha256(self.text.encode()).hexdigest(), 16) % n_folds


@dataclass(frozen=True, slots=True)
class Corpus:
    """The articles of one set in one language, and its questions."""

    set: str
    language: str
    """Empty where the set names none."""
    articles: tuple[Article, ...]
    questions: tuple[Question, ...]
    unanswered: tuple[Question, ...] = ()
    """Questions known to have no answer here."""

    @property
    def name(self) -> str:
        """Return the set, with its language where the set has several."""
        return f"{self.set}-{self.language}" if self.language else self.set

    @property
    def is_english(self) -> bool:
        """Tell whether questions of the other sets, which are English, could be meant for it."""
        return self.language in ("", "en")


def load_corpora(folder: Path, *, with_own_shop: bool = True) -> tuple[Corpus, ...]:
    """Return every set of the folder (or of `retrieval/` in it), and our own shop.

    Raises: FileNotFoundError when there is no set.
    """
    inner = folder / "retrieval"
    home = inner if inner.is_dir() else folder
    corpora = [corpus for docs in sorted(home.glob("*.docs*.jsonl")) for corpus in _read_set(docs)]
    if not corpora:
        raise FileNotFoundError(f"no {{set}}.docs*.jsonl under {folder}")
    return (*corpora, own_shop()) if with_own_shop else tuple(corpora)


def own_shop() -> Corpus:
    """Return the candle shop with the questions it answers and those of other worlds."""
    shop = json.loads((Path(__file__).parents[1] / "candle_shop.json").read_text(encoding="utf-8"))
    articles = tuple(
        _article(id, ArticleType(kind), title, text, facts, "en") for kind, id, title, text, facts in shop["articles"]
    )
    questions = tuple(Question(text, frozenset({id})) for text, id in shop["answered"])
    return Corpus(OWN_SHOP, "", articles, questions, tuple(Question(text) for text in shop["unanswered"]))


def _read_set(docs: Path) -> Iterable[Corpus]:
    name, ending = docs.name.split(".docs", 1)
    rows = _rows(docs)
    queries = docs.with_name(f"{name}.queries{ending}")
    labels = docs.with_name(f"{name}.qrels{ending}")
    languages = sorted({str(row.get("lang") or row.get("language") or "") for row in rows})
    for language in languages:
        articles = tuple(
            _to_article(row) for row in rows if str(row.get("lang") or row.get("language") or "") == language
        )
        if queries.is_file():
            found = _labelled(_rows(queries), _rows(labels), {str(a.article_id) for a in articles}, language)
        else:
            found = tuple(Question(text, frozenset({id})) for text, id in generate_questions(articles))
        yield Corpus(name, language if len(languages) > 1 else "", articles, found + _about_codes(found))


def _labelled(
    queries: Iterable[dict[str, Any]], labels: Iterable[dict[str, Any]], ids: set[str], language: str
) -> tuple[Question, ...]:
    answers: defaultdict[str, set[str]] = defaultdict(set)
    for row in labels:
        if row["did"] in ids and float(row["rel"]) > 0:
            answers[row["qid"]].add(row["did"])
    return tuple(
        Question(row["text"], frozenset(answers[row["id"]]), row.get("kind", ""))
        for row in queries
        if row["id"] in answers and row.get("lang", language) == language
    )


def _about_codes(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Return sentences around the article numbers that are asked bare."""
    bare = [q for q in questions if q.kind == IDENTIFIER]
    return tuple(Question(_CODE_SENTENCES[i % 4].format(q.text), q.answers, "sentence") for i, q in enumerate(bare))


def _to_article(row: dict[str, Any]) -> Article:
    id, text = str(row.get("id") or row["article_id"]), str(row.get("text") or row.get("content") or "")
    title = str(row.get("title") or "") or _SENTENCE_END.split(text.strip(), maxsplit=1)[0][:TITLE_CHARS]
    kind = ArticleType(row.get("type", ArticleType.FAQ))
    language = str(row.get("lang") or row.get("language") or "")
    return _article(id, kind, title, text, dict(row.get("attributes") or _codes(text)), language)


def _codes(text: str) -> dict[str, str]:
    """Return the article numbers a product export names in its text, as the catalog sync would hand them in."""
    found = {kind.casefold(): codes.split() for kind, codes in _CODES.findall(text)}
    return {kind: ", ".join(codes) for kind, codes in found.items() if codes}


def _article(id: str, type: ArticleType, title: str, content: str, facts: dict[str, str], language: str) -> Article:
    return Article(
        article_id=ArticleId(id),
        tenant_id=TenantId("eval"),
        version=1,
        seq=1,
        type=type,
        title=PublishedText(title),
        content=PublishedText(content),
        attributes=facts,
        language=language,
        updated_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
