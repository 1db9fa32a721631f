"""The one text an article's vector is made of, and the hash that says when a new vector is due.

Source: KB-03, KB-04, S1 "How articles are prepared for embedding", faults 023, 029.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from shared.domain.ids import digest
from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText
from shared.ports.models import Embedder, MeasuresText

MAX_CONTENT_CHARS: Final = 8_000
"""Content that reaches the vector. Unit: characters. Source: KB-03."""
MAX_TOKENS: Final = 8_191
"""Most tokens of one text. Source: Azure OpenAI text-embedding-3-large input limit."""

_LABELS: Final = {ArticleType.PRODUCT: "Product", ArticleType.FAQ: "FAQ", ArticleType.POLICY: "Policy"}


Fit = Callable[[str], int]
"""Returns how many leading characters of a text a model reads; never more for a shorter text."""


def fit_bytes(text: str) -> int:
    """Return the characters that fit MAX_TOKENS bytes: no byte-level tokenizer makes more tokens than bytes.

    The bound for a model whose tokenizer is not at hand (text-embedding-3-large): nothing it lets pass is refused, and
    all 8,000 characters of a Latin text pass. Of Thai or emoji it keeps less than the model could read (fault 029).
    """
    raw = text.encode("utf-8", "replace")
    return len(text) if len(raw) <= MAX_TOKENS else len(raw[:MAX_TOKENS].decode("utf-8", "ignore"))


def fit_of(embedder: Embedder) -> Fit:
    """Return the embedder's own measure where it has one, else the bound that is safe for any."""
    return embedder.fit if isinstance(embedder, MeasuresText) else fit_bytes


@dataclass(frozen=True, slots=True)
class EmbeddingText:
    """What to embed, and how much of the content it holds."""

    text: PublishedText
    content_chars: int | None
    """Characters of the content inside; None when all of it is."""


def build_embedding_text(
    type: ArticleType, title: PublishedText, tags: tuple[str, ...], content: PublishedText, *, fit: Fit
) -> EmbeddingText:
    """Return label, title, tags and content as one block, cut by characters and by the model's tokens.

    Only content is cut, unless title and tags alone pass the limit.
    """
    head = _head(type, title, tags)
    body = content.value[:MAX_CONTENT_CHARS]
    whole = f"{head}\n{body}"
    fits = fit(whole)
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
