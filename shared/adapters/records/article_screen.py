"""Looks through an article for instructions to an assistant before it is published, however they are disguised.

Owns which texts of an article are read and in which forms: title, tags, attributes, content as written and as a browser
shows it, and what a browser hides. Never changes the article. The trained screen for customers' messages is not used:
it takes 8 % of real product descriptions and 65 % of a bank's procedures for attacks.
Source: design §9, SU-01, fault 034.
"""

from collections.abc import Iterator

from shared.adapters.embedded.safety_screen import join_spaced_letters, read_as_latin
from shared.domain.article import ArticleFlag, ArticleInput
from shared.domain.instructions import is_instruction
from shared.domain.passages import split_plain
from shared.privacy.normalise import for_screening
from shared.retrieval.html_text import is_html, read_html


def find_flags(article: ArticleInput, *, hidden: str = "") -> tuple[ArticleFlag, ...]:
    """Return why the article may not answer; `hidden` is what its page held but did not show."""
    texts = (*_texts(article), hidden)
    return (ArticleFlag.INSTRUCTIONS,) if any(_instructs(text) for text in texts if text) else ()


def _texts(article: ArticleInput) -> Iterator[str]:
    content = article.content.value
    yield article.title.value
    yield content
    if is_html(content):
        page = read_html(content)
        yield page.text
        yield page.hidden
    yield from article.tags
    yield from (f"{name}: {value}" for name, value in article.attributes.items())


def _instructs(text: str) -> bool:
    """Tell whether a sentence, or a paragraph whose lines break a sentence apart, instructs an assistant."""
    plain = read_as_latin(for_screening(text))
    return any(is_instruction(piece) for form in {plain, join_spaced_letters(plain)} for piece in _pieces(form))


def _pieces(text: str) -> Iterator[str]:
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        for line in lines:
            yield from split_plain(line)
        if len(lines) > 1:
            yield " ".join(lines)
