"""How well a sentence's words are supported by a source: word, phrase and character overlap with their order.

Deterministic and model-free; weighs words, never figures (grounding compares those) and never decides alone.
Source: SU-01, CO-03; weights fitted by evals/grounding.py on public claim–source pairs.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Final

from shared.domain.typed_values.numbers import base_language
from shared.retrieval.function_words import FUNCTION_WORDS
from shared.retrieval.tokens import analyse, fold, surface_tokens

WINDOW_SENTENCES: Final = 3
"""Consecutive source sentences a claim may draw on. Source: ours; claims are one sentence."""
MAX_TOKENS: Final = 400
"""Tokens of a window compared; bounds the alignment's cost. Source: ours."""
NGRAM_CHARS: Final = 5
"""Length of the character n-grams. Source: ours; sees through inflection and compounds."""

DENIED_SHARE: Final = 1 / 3
"""Share of a plain claim's content words only negated sentences hold, from which it reverses them. Source: ours."""

BESIDE_SHARE: Final = 0.6
"""Share of a claim's other content words that must stand in the sentence of its value. Unit: 0–1. Source: ours."""

_CONTRACTED: Final = re.compile(r"(?:\b(can)(?:['’]t|not)|n['’]t)\b", re.IGNORECASE)
_OPENING: Final = re.compile(
    r"^(?:unfortunately|yes|sure|certainly|of course|absolutely|great news|good news|sorry|i'm afraid|leider"
    r"|lamentablemente"
    r"|malheureusement|purtroppo|infelizmente|helaas|ja|oui|si|sí|sim)\b[,:!.–-]*\s+",
    re.IGNORECASE,
)
_TOTAL: Final = frozenset(
    [
        "all",
        "every",
        "everything",
        "everyone",
        "always",
        "lifetime",
        "unlimited",
        "forever",
        "whatever",
        "anytime",
        "anywhere",
        "guaranteed",
        "todos",
        "todas",
        "siempre",
        "tous",
        "toutes",
        "toujours",
        "alle",
        "alles",
        "immer",
        "jederzeit",
        "tutti",
        "tutte",
        "sempre",
        "todo",
        "tout",
        "altijd",
        "tum",
        "butun",
        "daima",
        "sinirsiz",
    ]
)
"""Words of totality. Source: ours, closed class."""
_OPPOSED: Final = (
    (frozenset({"over", "above", "exceeding"}), frozenset({"under", "below"})),
    (frozenset({"before"}), frozenset({"after"})),
    (frozenset({"more", "minimum", "least"}), frozenset({"less", "maximum", "most"})),
    (frozenset({"with", "including"}), frozenset({"without", "excluding"})),
    (frozenset({"antes"}), frozenset({"despues", "depois"})),
    (frozenset({"avant"}), frozenset({"apres"})),
    (frozenset({"vor", "uber"}), frozenset({"nach", "unter"})),
    (frozenset({"prima"}), frozenset({"dopo"})),
    (frozenset({"voor", "boven"}), frozenset({"na", "onder"})),
    (frozenset({"once"}), frozenset({"sonra"})),
)
"""Pairs of relations that exclude each other. Source: ours, closed class."""

_NEGATIONS: Final = frozenset(
    [
        "not",
        "no",
        "never",
        "none",
        "neither",
        "nor",
        "cannot",
        "without",
        "nt",
        "t",
        "dont",
        "doesnt",
        "isnt",
        "arent",
        "wont",
        "cant",
        "couldnt",
        "shouldnt",
        "unable",
        "excluded",
        "except",
        "nicht",
        "kein",
        "keine",
        "keinen",
        "keiner",
        "ohne",
        "nie",
        "ne",
        "pas",
        "sans",
        "jamais",
        "aucun",
        "aucune",
        "sin",
        "nunca",
        "ningun",
        "ninguna",
        "non",
        "senza",
        "mai",
        "nessun",
        "nessuna",
        "nao",
        "sem",
        "nunca",
        "nenhum",
        "nenhuma",
        "niet",
        "geen",
        "zonder",
        "nooit",
        "degil",
        "yok",
        "asla",
        "hicbir",
    ]
)
_NEGATED_FORM: Final = {
    "tr": re.compile(
        r"\w{2,}(?:m[ae]z(?:l[ae]r|s[iu]n\w*|d[iu]r)?|m[ae]y[iu]z|m[iu]yor\w*|m[ae]d[iu]\w*|m[ae]y[ae]c\w*|m[ae]mis\w*"
        r"|m[ae]m[ae]kt\w*)"
    )
}
"""Languages that negate inside the verb ("edilemez"): what its last syllables look like."""
_SELF: Final = frozenset(["i", "im", "ive", "id", "ill", "me", "my", "mine", "we", "our", "us", "myself"])
_YES_NO: Final = frozenset(["yes", "yeah", "yep", "no", "nope", "oui", "non", "si", "ja", "nein", "sim", "nao", "nee"])
_PREFIX: Final = re.compile(r"^(?:un|non|in|nicht)(?=[a-z]{5})")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What a sentence shares with the best window of a source; each 0–1 unless said otherwise."""

    content: float
    """Content-word stems found in the window."""
    words: float
    """All stems found."""
    order: float
    """Longest common subsequence of stems."""
    pairs: float
    """Adjacent stem pairs found."""
    characters: float
    """Character n-grams found."""
    foreign_self: float
    """1 when the sentence speaks of itself ("I", "we") and the window does not."""
    answers_yes_no: float
    """1 when the sentence opens with a bare yes or no."""
    is_question: float
    head: float
    """Leading stems in a row that are not in the window, 0–1 over ten."""
    tail: float
    """Trailing stems in a row that are not in the window, 0–1 over ten."""


WEIGHTS: Final = (3.179, 0.062, 3.207, 1.006, -0.004, -0.402, 0.535, -2.173, -2.742, -2.853)
"""Logistic weights of Overlap's fields. Source: `python -m evals.grounding --fit`."""
INTERCEPT: Final = -4.573
"""Logistic intercept. Source: as WEIGHTS."""


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, list items and headings apart; no character is lost but the breaks."""
    parts = re.split(r"(?<=[.!?…。！？])[\"')\]]{0,2}\s+(?=\S)|\s*\n+\s*", text)
    return tuple(p.strip() for p in parts if p and p.strip())


def measure(claim: str, source: Sequence[str], language: str, *, title: str = "") -> Overlap:
    """Return the overlap with the window of the source's sentences that shares most words with the claim.

    `title` belongs to every window: what an article is about may be named beside any of its sentences.
    """
    claim, source = plain_words(claim), [plain_words(s) for s in source]
    stems = analyse(claim, language)[:MAX_TOKENS]
    window = f"{title} {_best_window(set(stems), source, language)}"
    other = analyse(window, language)[:MAX_TOKENS]
    known = set(other)
    content = _content_stems(claim, language)
    pairs = list(itertools.pairwise(stems))
    known_pairs = set(itertools.pairwise(other))
    claim_words, window_words = set(surface_tokens(claim)), set(surface_tokens(window))
    first = next(iter(surface_tokens(claim)), "")
    return Overlap(
        content=_share(content, known),
        words=_share(stems, known),
        order=_common_subsequence(stems, other) / max(1, len(stems)),
        pairs=_share(pairs, known_pairs) if pairs else _share(stems, known),
        characters=_share(_grams(claim), set(_grams(window))),
        foreign_self=float(bool(claim_words & _SELF) and not window_words & _SELF),
        answers_yes_no=float(first in _YES_NO),
        is_question=float("?" in claim),
        head=min(10, _run_outside(stems, known)) / 10,
        tail=min(10, _run_outside(stems[::-1], known)) / 10,
    )


def support(overlap: Overlap) -> float:
    """Return the probability, 0–1, that a reader would call the sentence supported by the source."""
    total = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, astuple(overlap), strict=True))
    return 1 / (1 + math.exp(-total))


def plain_words(text: str) -> str:
    """Return the text with contracted negations spelled out and without an opening that states nothing."""
    return _OPENING.sub("", _CONTRACTED.sub(lambda m: f"{m[1] or ''} not", text))


def is_reach_kept(claim: str, source: Sequence[str], language: str, *, title: str = "") -> bool:
    """Tell whether the claim reaches no further than its source.

    A word of totality ("all", "always", "lifetime") must be the source's own, and where the source says over, before or
    at least, the claim may not say under, after or at most.
    """
    claimed = set(surface_tokens(claim))
    window = set(surface_tokens(f"{title} {_best_window(set(analyse(claim, language)), source, language)}"))
    if claimed & _TOTAL - window:
        return False
    for one, other in _OPPOSED:
        for said, meant in ((one, other), (other, one)):
            if claimed & said and not window & said and window & meant:
                return False
    return True


def is_beside(value: str, claim: str, source: Sequence[str], language: str, *, title: str = "") -> bool:
    """Tell whether one of these sentences, all holding the value, also holds most of what the claim says of it."""
    rest = _content_stems(claim.replace(value, " "), language)
    named = set(analyse(title, language))
    return not rest or any(_share(rest, named | set(analyse(s, language))) >= BESIDE_SHARE for s in source)


def is_polarity_kept(claim: str, source: Sequence[str], language: str) -> bool:
    """Tell whether the claim is negated where its source is ("not refundable") and only there.

    Fails when the closest source sentence is negated and the claim is not, or the other way round, and when a plain
    claim takes a third of its content words from negated sentences alone ("cannot be applied after you have bought").
    """
    claim, source = plain_words(claim), [plain_words(s) for s in source]
    stems = list(dict.fromkeys(_content_stems(claim, language)))
    known = {s: set(analyse(s, language)) for s in source}
    closest = max(source, key=lambda s: _share(stems, known[s]), default="")
    if _is_negated(claim, closest, language) != _is_negated(closest, claim, language):
        return False
    if _is_negated(claim, closest, language):
        return True
    affirmed = {stem for s in source if not _is_negated(s, claim, language) for stem in known[s]}
    denied = {stem for s in source if _is_negated(s, claim, language) for stem in known[s]} - affirmed
    return _share(stems, denied) < DENIED_SHARE


def _is_negated(text: str, other: str, language: str) -> bool:
    words, others = surface_tokens(text), set(surface_tokens(other))
    form = _NEGATED_FORM.get(base_language(language))
    if any(w in _NEGATIONS or (form is not None and form.fullmatch(w)) for w in words):
        return True
    return any((bare := _PREFIX.sub("", w)) != w and bare in others for w in words)


def _best_window(stems: set[str], source: Sequence[str], language: str) -> str:
    each = [stems & set(analyse(s, language)) for s in source]
    best, best_key = "", (-1, 0)
    for start in range(len(source)):
        shared: set[str] = set()
        for width in range(1, min(WINDOW_SENTENCES, len(source) - start) + 1):
            shared |= each[start + width - 1]
            if (key := (len(shared), -width)) > best_key:
                best, best_key = " ".join(source[start : start + width]), key
    return best


def _content_stems(text: str, language: str) -> list[str]:
    words = [w for w in surface_tokens(text) if w not in FUNCTION_WORDS and len(w) > 1]
    return [stem for w in words for stem in analyse(w, language)[:1]]


def _share(items: Sequence[object], known: set[str] | set[tuple[str, str]]) -> float:
    return sum(i in known for i in items) / len(items) if items else 0.0


def _grams(text: str) -> list[str]:
    plain = " ".join(surface_tokens(fold(text)))
    return [plain[i : i + NGRAM_CHARS] for i in range(max(0, len(plain) - NGRAM_CHARS + 1))]


def _run_outside(stems: Sequence[str], known: set[str]) -> int:
    for count, stem in enumerate(stems):
        if stem in known:
            return count
    return len(stems)


def _common_subsequence(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, start=1):
            above = row[j]
            row[j] = diagonal + 1 if x == y else max(above, row[j - 1])
            diagonal = above
    return row[-1]
