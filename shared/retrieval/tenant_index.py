"""One tenant's published articles in memory: their text, their keyword index, their identifiers and titles.

Follows the store article by article; never reads a vector and never holds a deleted article's text. Articles are kept
packed, those that searches find also as values. Source: design §6 "Keyword index", KB-06, KB-13.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from pydantic import ValidationError

from shared import wire
from shared.domain.article import Article
from shared.domain.errors import SchemaError
from shared.domain.intents import ArticleType
from shared.retrieval.bm25 import KeywordIndex
from shared.retrieval.caches import Lru
from shared.retrieval.identifiers import (
    RARE_AT_MOST,
    declared_identifiers,
    find_identifiers,
    holders,
    title_key,
    typed_code,
    whole_names,
)
from shared.retrieval.languages import guess_language
from shared.retrieval.tokens import DEFAULT_LANGUAGE, QueryWord, analyse, query_words

HOT_ARTICLES: Final = 1_000
"""Articles of one tenant kept as values, 4 KB each: most questions are about few. Source: KB-13; value ours."""
_ARTICLE_BYTES: Final = 700
"""Measured bytes an article takes beside its packed text: dict entries, title key, identifiers."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a search needs of an article before it is chosen, and by what else than its words it is found."""

    type: ArticleType
    language: str
    wholes: tuple[str, ...]
    """Its title and article numbers in the form that whole questions are compared in."""
    identifiers: tuple[str, ...]
    """Its article numbers as tokens."""
    embedded_model: str
    """Model and dimension of its vector; empty while it has none."""


class TenantIndex:
    """Articles by id with everything that finds them by words; `seq` is the knowledge version it has caught up with."""

    def __init__(self) -> None:
        self.seq = 0
        self.keywords = KeywordIndex()
        self._packed: dict[str, bytes] = {}
        self._cards: dict[str, Card] = {}
        self._hot: Lru[str, Article] = Lru(HOT_ARTICLES)
        self._title_words: Lru[str, tuple[tuple[str, ...], tuple[QueryWord, ...]]] = Lru(HOT_ARTICLES)
        self._wholes: defaultdict[str, set[str]] = defaultdict(set)
        self._declared: defaultdict[str, set[str]] = defaultdict(set)
        self._languages: Counter[str] = Counter()
        self._text_bytes = 0

    @classmethod
    def restored(
        cls, seq: int, keywords: KeywordIndex, packed: Mapping[str, bytes], cards: Mapping[str, Card]
    ) -> "TenantIndex":
        """Return an index from what a snapshot holds; all three are of the same articles."""
        index = cls()
        index.seq, index.keywords = seq, keywords
        for id, article in packed.items():
            index._enter(id, article, cards[id])
        return index

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, id: object) -> bool:
        return id in self._packed

    @property
    def packed(self) -> Mapping[str, bytes]:
        """Return each article as JSON text."""
        return self._packed

    @property
    def cards(self) -> Mapping[str, Card]:
        """Return what is known of each article without unpacking it."""
        return self._cards

    @property
    def size_bytes(self) -> int:
        """Return about how much memory the index holds."""
        return self._text_bytes + len(self._packed) * _ARTICLE_BYTES + self.keywords.size_bytes

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the languages its articles are written in."""
        return tuple(self._languages)

    def get(self, id: str) -> Article | None:
        """Return the published article, or None. Raises: SchemaError when a snapshot held something else."""
        article = self._hot.get(id)
        if article is None and (packed := self._packed.get(id)) is not None:
            article = _unpack(packed)
            self._hot.put(id, article)
        return article

    def title_words(self, id: str) -> tuple[QueryWord, ...]:
        """Return the words of the article's title as a question's are read; none when it is not there."""
        languages, known = self.languages, self._title_words.get(id)
        if known is None or known[0] != languages:
            article = self.get(id)
            known = (languages, query_words(article.title.value, languages) if article is not None else ())
            self._title_words.put(id, known)
        return known[1]

    def apply(self, article: Article) -> None:
        """Take in what the store says about one article now: published, changed, embedded, flagged or deleted."""
        id = article.article_id
        known = self.get(id)
        if known is not None and known.version == article.version and article.may_answer:
            self._keep(id, wire.pack(article).encode())
            self._cards[id] = replace(self._cards[id], embedded_model=article.embedded_model)
            self._hot.put(id, article)
            return
        if known is not None:
            self._forget(id)
        if article.may_answer:
            self._learn(article)

    def exact_matches(self, query: str) -> frozenset[str]:
        """Return the articles that hold an identifier of the question, or that the question names as a whole."""
        whole = frozenset(self._wholes.get(title_key(query), ()))
        held = holders(find_identifiers(query, self._declared, self.keywords), self.keywords)
        return whole | held | self._holders_of_code(typed_code(query))

    def _holders_of_code(self, code: str) -> frozenset[str]:
        """Return the articles that hold the code letter by letter, capitals included."""
        found: set[str] = set()
        for terms in (analyse(code, language) for language in self.languages if code):
            if terms:
                found |= set.intersection(*(set(self.keywords.holders(term)) for term in terms))
        if len(found) > RARE_AT_MOST:
            return frozenset()
        return frozenset(id for id in found if (article := self.get(id)) is not None and code in _text(article))

    def _learn(self, article: Article) -> None:
        id, title, body = article.article_id, article.title.value, _body(article)
        language = article.language or guess_language(article.content.value) or DEFAULT_LANGUAGE
        self.keywords.put(id, analyse(title, language), analyse(body, language))
        wholes = tuple(sorted(whole_names(title, article.attributes)))
        identifiers = tuple(sorted(declared_identifiers(article.attributes)))
        card = Card(article.type, language, wholes, identifiers, article.embedded_model)
        self._enter(id, wire.pack(article).encode(), card)

    def _enter(self, id: str, packed: bytes, card: Card) -> None:
        self._keep(id, packed)
        self._cards[id] = card
        self._languages[card.language] += 1
        for whole in card.wholes:
            self._wholes[whole].add(id)
        for identifier in card.identifiers:
            self._declared[identifier].add(id)

    def _keep(self, id: str, packed: bytes) -> None:
        self._text_bytes += len(packed) - len(self._packed.get(id, b""))
        self._packed[id] = packed

    def _forget(self, id: str) -> None:
        card = self._cards.pop(id)
        self._text_bytes -= len(self._packed.pop(id))
        self._hot.discard(id)
        self._title_words.discard(id)
        self.keywords.remove(id)
        self._languages[card.language] -= 1
        if not self._languages[card.language]:
            del self._languages[card.language]
        for whole in card.wholes:
            _discard(self._wholes, whole, id)
        for identifier in card.identifiers:
            _discard(self._declared, identifier, id)


def _unpack(packed: bytes) -> Article:
    try:
        return Article.model_validate_json(packed)
    except ValidationError:
        raise SchemaError("a packed article is malformed") from None


def _body(article: Article) -> str:
    return "\n".join((article.content.value, *article.tags, *article.attributes.values()))


def _text(article: Article) -> str:
    return f"{article.title.value}\n{_body(article)}"


def _discard(groups: defaultdict[str, set[str]], key: str, id: str) -> None:
    groups[key].discard(id)
    if not groups[key]:
        del groups[key]
