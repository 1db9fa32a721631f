"""One tenant's published articles in memory: their text, their keyword index, their identifiers and titles.

Follows the store article by article; never reads a vector and never holds a deleted article's text.
Source: design §6 "Keyword index", KB-06, KB-13.
"""

from collections import Counter, defaultdict
from typing import Final

from shared.domain.article import Article
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.identifiers import declared_identifiers, find_identifiers, holders, title_key
from shared.retrieval.languages import guess_language
from shared.retrieval.tokens import DEFAULT_LANGUAGE, analyse

_ARTICLE_BYTES: Final = 2_500
"""Measured bytes an article takes beside its text: the model, its strings' headers, dict entries."""


class TenantIndex:
    """Articles by id with everything that finds them by words; `seq` is the knowledge version it has caught up with."""

    def __init__(self) -> None:
        self.seq = 0
        self.keywords = KeywordIndex()
        self._articles: dict[str, Article] = {}
        self._titles: defaultdict[str, set[str]] = defaultdict(set)
        self._declared: defaultdict[str, set[str]] = defaultdict(set)
        self._languages: Counter[str] = Counter()
        self._text_bytes = 0

    def __len__(self) -> int:
        return len(self._articles)

    @property
    def size_bytes(self) -> int:
        """Return about how much memory the index holds."""
        return self._text_bytes + len(self._articles) * _ARTICLE_BYTES + self.keywords.size_bytes

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages its articles are written in."""
        return tuple(self._languages)

    def get(self, id: str) -> Article | None:
        """Return the published article, or None."""
        return self._articles.get(id)

    def apply(self, article: Article) -> None:
        """Take in what the store says about one article now: published, changed, embedded, flagged or deleted."""
        known = self._articles.get(article.article_id)
        if known is not None and known.version == article.version and article.may_answer:
            self._articles[article.article_id] = article
            return
        if known is not None:
            self._forget(known)
        if article.may_answer:
            self._learn(article)

    def exact_matches(self, query: str) -> frozenset[str]:
        """Return the articles that hold an identifier of the question, or whose whole title is the question."""
        by_title = frozenset(self._titles.get(title_key(query), ()))
        return by_title | holders(find_identifiers(query, self._declared, self.keywords), self.keywords)

    def _learn(self, article: Article) -> None:
        id = article.article_id
        language = _language(article)
        self._articles[id] = article
        self.keywords.put(id, analyse(article.title.value, language), analyse(_body(article), language))
        self._languages[language] += 1
        self._text_bytes += _size(article)
        if key := title_key(article.title.value):
            self._titles[key].add(id)
        for identifier in declared_identifiers(article.attributes):
            self._declared[identifier].add(id)

    def _forget(self, article: Article) -> None:
        id = article.article_id
        language = _language(article)
        del self._articles[id]
        self.keywords.remove(id)
        self._text_bytes -= _size(article)
        self._languages[language] -= 1
        if not self._languages[language]:
            del self._languages[language]
        _discard(self._titles, title_key(article.title.value), id)
        for identifier in declared_identifiers(article.attributes):
            _discard(self._declared, identifier, id)


def _body(article: Article) -> str:
    return "\n".join((article.content.value, *article.tags, *article.attributes.values()))


def _language(article: Article) -> str:
    return article.language or guess_language(article.content.value) or DEFAULT_LANGUAGE


def _size(article: Article) -> int:
    return len(_body(article)) + len(article.title.value)


def _discard(groups: defaultdict[str, set[str]], key: str, id: str) -> None:
    groups[key].discard(id)
    if not groups[key]:
        del groups[key]
