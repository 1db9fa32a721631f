"""Guesses the language of a text from its script and its function words; says nothing when it cannot tell.

Used to choose a stemmer for articles nobody labelled, and to keep questions from an embedding model that does not know
their language. Owns no ranking. Source: KB-09, CL-03 (the classifier, not this, names a customer's language).
"""

import re
from typing import Final

from shared.retrieval.function_words import FUNCTION_WORDS, WORDS_BY_LANGUAGE
from shared.retrieval.tokens import surface_tokens

SAMPLE_CHARS: Final = 1_500
"""Part of a text that is looked at. Unit: characters. Source: value ours."""
MIN_LEAD: Final = 1.0
"""Function words by which a language must lead; one that n languages share counts 1/n. Source: value ours."""

_SCRIPTS: Final = (
    ("ja", re.compile("[\u3041-\u30fa]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
)
_LANGUAGES_OF: Final = {
    word: tuple(language for language, words in WORDS_BY_LANGUAGE.items() if word in words) for word in FUNCTION_WORDS
}
_LETTER: Final = re.compile(r"[^\W\d_]")
SCRIPT_SHARE: Final = 0.3
"""Share of a script's letters above which it decides: product names stay Latin everywhere. Source: value ours."""


def guess_language(text: str) -> str:
    """Return the language as ISO 639-1, or an empty text when nothing decides.

    A script stands for its most written language: Cyrillic is taken for Russian, Arabic letters for Arabic.
    """
    sample = text[:SAMPLE_CHARS]
    n_letters = len(_LETTER.findall(sample))
    if not n_letters:
        return ""
    for language, letters in _SCRIPTS:
        if len(letters.findall(sample)) > SCRIPT_SHARE * n_letters:
            return language
    counts = dict.fromkeys(WORDS_BY_LANGUAGE, 0.0)
    for token in surface_tokens(sample):
        sharing = _LANGUAGES_OF.get(token, ())
        for language in sharing:
            counts[language] += 1 / len(sharing)
    (first, best), (_, second) = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:2]
    return first if best - second >= MIN_LEAD - 1e-9 else ""
