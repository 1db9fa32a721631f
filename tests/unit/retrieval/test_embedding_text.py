"""What a vector is made of. Source: KB-03, KB-04."""

import pytest

from shared.domain.intents import ArticleType
from shared.domain.text import PublishedText
from shared.retrieval.embedding_text import MAX_TOKENS, Fit, build_embedding_text, fit_bytes, text_hash

FAQ = ArticleType.FAQ


def _build(content: str, *, tags: tuple[str, ...] = (), fit: Fit = fit_bytes) -> tuple[str, int | None]:
    built = build_embedding_text(FAQ, PublishedText("Returns"), tags, PublishedText(content), fit=fit)
    return built.text.value, built.content_chars


@pytest.mark.req("KB-03")
def test_label_title_and_tags_stand_ahead_of_the_content() -> None:
    """One block, title first."""
    assert _build("30 days.", tags=("refund", "30-day")) == ("FAQ: Returns\nTags: refund, 30-day\n30 days.", None)


@pytest.mark.req("KB-03")
def test_content_is_cut_at_8000_characters() -> None:
    """And the article says how much of it the vector knows."""
    text, known = _build("x" * 9_000, fit=len)

    assert text == "FAQ: Returns\n" + "x" * 8_000
    assert known == 8_000


@pytest.mark.req("KB-03")
@pytest.mark.parametrize("content", ["ก" * 8_000, "🎉" * 8_000, "a" * 8_000], ids=["thai", "emoji", "latin"])
def test_fault_029_text_is_cut_by_tokens_too(content: str) -> None:
    """An 8,000-character article in Thai or emoji fits the model; what is not searchable by meaning is stated."""
    text, known = _build(content)

    assert len(text.encode()) <= MAX_TOKENS == 8_191
    assert text.startswith("FAQ: Returns\n")
    assert (known is None) == content.isascii()


@pytest.mark.req("KB-03")
def test_a_models_own_measure_keeps_more() -> None:
    """The hook: a tokenizer that needs one token a character leaves the whole article in."""
    _, known = _build("ก" * 8_000, fit=len)

    assert known is None


@pytest.mark.req("KB-04")
def test_fault_023_hash_covers_the_exact_embedded_text() -> None:
    """Title, content, tags and type change it; where the border between them lies does too."""
    base = text_hash(FAQ, PublishedText("a"), ("t",), PublishedText("b"))

    others = {
        text_hash(FAQ, PublishedText("a2"), ("t",), PublishedText("b")),
        text_hash(FAQ, PublishedText("a"), ("t2",), PublishedText("b")),
        text_hash(FAQ, PublishedText("a"), ("t",), PublishedText("b2")),
        text_hash(ArticleType.POLICY, PublishedText("a"), ("t",), PublishedText("b")),
    }
    assert base not in others
    assert len(others) == 4
    assert base == text_hash(FAQ, PublishedText("a"), ("t",), PublishedText("b"))
