"""Which language a text is in, and the plain form of a text that models and screens read.

Owns a small profile a language: frequent function words and shop words, letters only it uses, and scripts. Pure and
deterministic; decides nothing about what is stored or shown. Source: CL-03, CO-05, design §9 "Screening normalises".
"""

import re
import unicodedata
from typing import Final

from shared.domain.language_profiles import LETTERS, SCRIPTS, WORDS

CONFIDENT: Final = 0.5
"""Confidence from which the detected language outweighs the hint. Unit: 0–1. Value ours."""
WITHOUT_HINT: Final = 0.3
"""Confidence that is enough where there is no hint to weigh against. Unit: 0–1. Value ours."""
READ_CHARS: Final = 2000
"""How much of a text is looked at. Unit: characters. Value ours."""
EVIDENCE_FULL: Final = 3.0
"""Points of evidence at which the amount of text no longer lowers confidence. Value ours, from our own utterances."""

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NOISE = re.compile(r"\[[^\]\s]{1,100}\]|https?://\S+|\S+@\S+")

_SCRIPT_RES: Final = tuple((re.compile(f"[{chars}]"), code) for chars, code in SCRIPTS)
_REFINED: Final = {
    "ru": (("uk", re.compile("[іїєґІЇЄҐ]")),),
    "ar": (("ur", re.compile("[ٹڈڑںےھ]")), ("fa", re.compile("[پچژگکی]"))),
}
"""Letters that tell neighbours of one script apart."""


def _word_weights() -> dict[str, dict[str, float]]:
    """Return each word's say: one point shared among the languages that list it."""
    owners: dict[str, set[str]] = {}
    for code, words in WORDS.items():
        for word in words.split():
            owners.setdefault(word, set()).add(code)
    return {word: dict.fromkeys(codes, 1 / len(codes)) for word, codes in owners.items()}


_WEIGHTS: Final = _word_weights()


def detect_language(text: str) -> tuple[str, float]:
    """Return the ISO 639-1 code of the text's language and how sure that is, 0–1; ("", 0.0) when nothing tells.

    Romanised Hindi counts as "hi". Confidence grows with the amount of evidence and with the lead over the runner-up.
    """
    sample = _NOISE.sub(" ", text[:READ_CHARS])
    letters = sum(1 for char in sample if char.isalpha())
    if not letters:
        return "", 0.0
    if (script := _script_language(sample, letters)) is not None:
        return script
    points = dict.fromkeys(WORDS, 0.0)
    for match in _WORD.finditer(_lowered(sample)):
        _score_word(match[0].replace("’", "'"), points)
    ranked = sorted(points.items(), key=lambda item: (-item[1], item[0]))
    (best, first), (_, second) = ranked[0], ranked[1]
    if first <= 0:
        return "", 0.0
    return best, round(min(1.0, first / EVIDENCE_FULL) * (0.5 + 0.5 * (first - second) / first), 4)


def choose_language(text: str, *, hint: str = "", default: str = "en") -> str:
    """Return the language to answer in: the text's own when it shows, else the hint, else the default.

    A hint may carry a region ("pt-BR"); it is kept when the text speaks the same language.
    """
    code, confidence = detect_language(text)
    if not hint:
        return code if confidence >= WITHOUT_HINT else default
    if confidence >= CONFIDENT and code != hint.split("-")[0].lower():
        return code
    return hint


def to_plain(text: str) -> str:
    """Return the text as a reader sees it: NFKC, without format, tag, control and variation characters, spaces single.

    For models and screens only: stored and shown text keeps its joiners (fault 034).
    """
    folded = unicodedata.normalize("NFKC", text)
    return " ".join("".join(_visible(char) for char in folded).split())


def _lowered(text: str) -> str:
    """Return the text in lower case; the Turkish capital with a dot is one letter, not a letter and a loose dot."""
    return text.replace("İ", "i").lower()


def _visible(char: str) -> str:
    category = unicodedata.category(char)
    if category in {"Cf", "Cs", "Co", "Cn"} or "\ufe00" <= char <= "\ufe0f" or "\U000e0000" <= char <= "\U000e0fff":
        return ""
    return " " if category == "Cc" else char


def _script_language(sample: str, letters: int) -> tuple[str, float] | None:
    """Return the language of a script that is not Latin, when a third of the letters are of it."""
    for pattern, code in _SCRIPT_RES:
        found = len(pattern.findall(sample))
        if found * 3 < letters and not (code == "ja" and found):
            continue
        for other, telling in _REFINED.get(code, ()):
            if telling.search(sample):
                return other, 0.9
        return code, 0.95
    return None


def _score_word(word: str, points: dict[str, float]) -> None:
    for code, weight in _WEIGHTS.get(word, {}).items():
        points[code] += weight
    if word.isascii():
        return
    for chars, shares in LETTERS:
        if any(char in word for char in chars):
            for code, weight in shares.items():
                if code in points:
                    points[code] += weight
