"""Questions made of articles themselves, for a tenant nobody has labelled: titles in passing, sentences, numbers.

They hold the article's own words, so they are easier than customers': see docs/retrieval.md for how far a table fitted
on them carries. Deterministic; invents nothing. Source: design §4 "calibrate also runs after deployment".
"""

from collections.abc import Iterable, Iterator
from typing import Final

from shared.domain.article import Article
from shared.domain.passages import clean_sentences
from shared.retrieval.identifiers import declared_identifiers

SENTENCE_WORDS: Final = 12
"""Words of a sentence that are asked: customers do not quote whole ones. Value ours."""
_FRAMES: Final = (
    "I have a question about {}",
    "hi, {}, can you help me with that?",
    "what do I need to know about {}",
    "{} please",
)


def generate_questions(articles: Iterable[Article]) -> Iterator[tuple[str, str]]:
    """Yield (question, id of the article it is about), at most three an article."""
    for i, article in enumerate(articles):
        title = article.title.value.strip().rstrip("?!.")
        yield _FRAMES[i % len(_FRAMES)].format(title), article.article_id
        sentences = clean_sentences(article.content.value)
        if sentences:
            # The second sentence, where there is one: the first often says the title again.
            words = sentences[min(1, len(sentences) - 1)].text.split()
            yield " ".join(words[:SENTENCE_WORDS]), article.article_id
        if numbers := declared_identifiers(article.attributes):
            yield min(numbers), article.article_id
