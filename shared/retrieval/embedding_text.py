"""The one text an article's vector is made of, and the hash that says when a new vector is due.

Source: KB-03, KB-04, S1 "How articles are prepared for embedding", faults 023, 029.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared.domain.ids import digest
from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText

MAX_CONTENT_CHARS: Final = 8_000
"""Content that reaches the vector. Unit: characters. Source: KB-03."""
MAX_TOKENS: Final = 8_191
"""Most tokens of one text. Source: Azure OpenAI text-embedding-3-large input limit."""

_LABELS: Final = {ArticleType.PRODUCT: "Product", ArticleType.FAQ: "FAQ", ArticleType.POLICY: "Policy"}


@dataclass(frozen=True, slots=True)
class TokenLimit:
    """How long a text a model takes, and how to count it."""

    max_tokens: int
    count: Callable[[str], int]
    """Tokens of a text; must not fall when the text grows. An upper bound is safe."""


def count_bytes(text: str) -> int:
    """Return the UTF-8 length: no byte-level tokenizer makes more tokens than bytes."""
    return len(text.encode("utf-8", "replace"))


SAFE_LIMIT: Final = TokenLimit(MAX_TOKENS, count_bytes)
"""Fits every byte-level tokenizer without having it; a model's own counter keeps more of a non-Latin article."""


@dataclass(frozen=True, slots=True)
class EmbeddingText:
    """What to embed, and how much of the content it holds."""

    text: PublishedText
    content_chars: int | None
    """Characters of the content inside; None when all of it is."""


def build_embedding_text(
    type: ArticleType, title: PublishedText, tags: tuple[str, ...], content: PublishedText, *, limit: TokenLimit
) -> EmbeddingText:
    """Return label, title, tags and content as one block, cut by characters and by the model's tokens.

    Only content is cut, unless title and tags alone pass the limit.
    """
    head = _head(type, title, tags)
    body = content.value[:MAX_CONTENT_CHARS]
    whole = f"{head}\n{body}"
    fits = _longest_prefix(whole, limit)
    kept = max(0, fits - len(head) - 1)
    is_all = kept >= len(content.value)
    return EmbeddingText(PublishedText(whole[:fits]), None if is_all else kept)


def text_hash(type: ArticleType, title: PublishedText, tags: tuple[str, ...], content: PublishedText) -> str:
    """Return the SHA-256 of everything that reaches the vector; a changed tag or type changes it (KB-04)."""
    return digest(_head(type, title, tags), content.value[:MAX_CONTENT_CHARS])


def embedding_key(model: str, dimension: int) -> str:
    """Return what vectors must share to be compared."""
    return f"{model}/{dimension}"


def _head(type: ArticleType, title: PublishedText, tags: tuple[str, ...]) -> str:
    return f"{_LABELS[type]}: {title.value}" + (f"\nTags: {', '.join(tags)}" if tags else "")


def _longest_prefix(text: str, limit: TokenLimit) -> int:
    if limit.count(text) <= limit.max_tokens:
        return len(text)
    low, high = 0, len(text)
    while low + 1 < high:
        middle = (low + high) // 2
        if limit.count(text[:middle]) <= limit.max_tokens:
            low = middle
        else:
            high = middle
    return low
