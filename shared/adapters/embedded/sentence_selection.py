"""Choose the few published sentences that answer a question: meaning, shared words, the kind of answer asked for.

Scores candidates, keeps one to three that add something to each other, and says how sure it is. Generates no word.
Source: CO-02, CO-03, design §8 "an extractive composer that quotes sources".
"""

import functools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared.domain.agents import COMPOSER_FLOOR
from shared.domain.ids import SourceRef
from shared.domain.text import MaskedText, PublishedText
from shared.domain.typed_values import ValueKind, extract_values
from shared.domain.typed_values.folding import fold
from shared.ports.models import Embedder
from shared.retrieval.function_words import FUNCTION_WORDS
from shared.retrieval.tokens import analyse, surface_tokens

MAX_SENTENCES: Final = 3
"""Sentences quoted in one answer. Source: ours, S1 "answers the question"."""
MAX_CANDIDATES: Final = 24
"""Sentences compared, alone and under their title. Source: ours; 8 ms each on one core before caching."""
SECOND_SHARE: Final = 0.86
"""Share of the best score a further sentence needs. Unit: 0–1. Source: ours."""
OTHER_ARTICLE_SHARE: Final = 0.93
"""Share a further sentence of another article needs: it answers as well, or it distracts. Unit: 0–1. Source: ours."""
REDUNDANT: Final = 0.9
"""Cosine from which two sentences say the same. Source: ours, MiniLM paraphrases."""
MEANING_WEIGHT: Final = 0.7
"""Weight of cosine in a candidate's score; words get 0.2 and the kind of answer 0.1. Source: ours."""
WORDS_WEIGHT: Final = 0.2
KIND_WEIGHT: Final = 0.1

POINT_FLOOR: Final = 0.46
"""Nearness of a product's sentence to what is asked of it, under which it answers something else. Unit: 0–1. Source:
our demo shop's questions: unanswered ones reach 0.45, answered ones start at 0.5."""
BESIDE_THE_POINT: Final = 0.4
"""Confidence of an answer beside the point; under the composer's floor. Source: ours."""

_TIME: Final = frozenset({ValueKind.DURATION, ValueKind.DATE, ValueKind.TIME})
_MONEY: Final = frozenset({ValueKind.AMOUNT, ValueKind.PERCENTAGE})
_SIZE: Final = frozenset({ValueKind.MEASURE})
_ASKS: Final = (
    (re.compile(r"\bhow (?:long|soon|fast|late|many days)\b|\bwhen\b|\bdeadline\b|\bcuanto (?:tiempo|tarda)"
    r"|\bcuando\b|\bcombien de temps|\bquand\b"
                r"|\bwie lange|\bwann\b|\bquanto tempo|\bquando\b|\bhoe lang|\bwanneer\b|\bopening hours\b"), _TIME),
    (re.compile(r"\bhow (?:heavy|big|large|long|wide|tall|deep|high|thick)\b|\bweighs?\b|\bdimensions\b"
                r"|\bcuanto (?:pesa|mide)|\bcombien (?:pese|mesure)|\bwie (?:schwer|gross|lang|breit|hoch|tief)\b"
                r"|\bquanto (?:pesa|misura|mede)|\bhoe (?:zwaar|groot|lang|breed|hoog)\b"), _SIZE),
    (re.compile(r"\bhow much\b|\bcosts?\b|\bprice|\bfees?\b|\bcuanto (?:cuesta|vale)|\bprecio|\bcombien\b"
    r"|\bprix\b|\bwie ?viel|\bkostet|\bkosten\b"
                r"|\bpreis\b|\bquanto (?:costa|custa)|\bprezzo|\bpreco|\bhoeveel\b|\bprijs\b"), _MONEY),
)  # fmt: skip
"""What an interrogative asks for: closed-class question words of each language, not topics."""
_LEANS_BACK: Final = re.compile(
    r"^(?:it|its|they|them|their|this|these|those|that|he|she|otherwise|if so|if not|after that|then"
    r"|in this case|in that case|esto|ello|ellos"
    r"|cela|ceci|ils|elles|dies|diese|dieser|sie|es|questo|essi|isto|eles|dit|deze|zij)\b",
)
_LIMITS: Final = re.compile(
    r"^(?:however|but|except|unless|only|please note|note that|exceptions?|excluded|this does not|these do not"
    r"|sin embargo|excepto|toutefois|cependant|sauf"
    r"|jedoch|ausgenommen|allerdings|tuttavia|eccetto|no entanto|exceto|echter|behalve)\b"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One quotable sentence."""

    text: str
    ref: SourceRef
    title: str
    article_rank: int
    position: int
    is_product: bool = False
    """A fact or a sentence of a product's article."""
    shown: str = ""
    """What is sent when it differs from what is compared (a frame in the customer's language)."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer's sentences in reading order, the best one's article first, and the belief, 0–1, that they answer."""

    chosen: tuple[Candidate, ...]
    confidence: float
    signals: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Cosine of the best sentence, share of the question's content words covered, 1 when the kind asked is given."""


async def select_sentences(
    question: MaskedText,
    candidates: Sequence[Candidate],
    embedder: Embedder,
    *,
    language: str,
    currency: str,
    limit: int = MAX_SENTENCES,
    prior: float = 0.5,
) -> Selection:
    """Return at most `limit` sentences in reading order; `prior` is retrieval's confidence. Raises: Unavailable."""
    pool = _prefilter(question.value, candidates, language)
    if not pool:
        return Selection((), 0.0)
    bare = [PublishedText(c.text) for c in pool]
    titled = [PublishedText(f"{c.title}. {c.text}") for c in pool]
    vectors = await embedder.embed([question, *bare, *titled])
    near = vectors[1:] @ vectors[0]
    similarity: NDArray[np.float32] = np.maximum(near[: len(pool)], near[len(pool) :])
    asked = wanted_kinds(question.value)
    weights = _weights(question.value, pool, language)
    overlap = [_held_share(f"{c.title} {c.text}", weights, language) for c in pool]
    scores = [
        MEANING_WEIGHT * float(similarity[i])
        + WORDS_WEIGHT * overlap[i]
        + KIND_WEIGHT * _gives(c.text, asked, language, currency)
        for i, c in enumerate(pool)
    ]
    order = sorted(range(len(pool)), key=lambda i: (-scores[i], pool[i].article_rank, pool[i].position))
    giving = {i for i, c in enumerate(pool) if not asked or _gives(c.text, asked, language, currency)}
    stems = [frozenset(_content(c.text, language)) for c in pool]
    if asked:
        top = order[0]
        near_best = {i for i in giving if pool[i].ref == pool[top].ref and scores[i] >= SECOND_SHARE * scores[top]}
        order.sort(key=lambda i: i not in near_best)
    first = pool[order[0]].ref
    is_product = pool[order[0]].is_product
    needed = [
        scores[order[0]]
        * (SECOND_SHARE if c.ref == first else OTHER_ARTICLE_SHARE if c.is_product == is_product else math.inf)
        for c in pool
    ]
    picked = _pick(order, scores, vectors[1 : len(pool) + 1], limit, giving, stems, needed)
    best = order[0]
    picked = _with_context(_pruned(picked, pool, set(weights), language), pool, limit)
    covered = _covered(question.value, " ".join(f"{pool[i].title} {pool[i].text}" for i in picked), language)
    is_kind_met = not asked or any(_gives(pool[i].text, asked, language, currency) for i in picked)
    signals = (float(similarity[best]), covered, float(is_kind_met))
    chosen = tuple(
        pool[i] for i in sorted(picked, key=lambda i: (pool[i].ref != first, pool[i].article_rank, pool[i].position))
    )
    confidence = answer_confidence(signals, prior)
    if pool[best].is_product and confidence >= COMPOSER_FLOOR and not (asked and is_kind_met):
        point = await _point(question.value, [pool[i] for i in picked], pool, embedder, language)
        confidence = confidence if point >= POINT_FLOOR else min(confidence, BESIDE_THE_POINT)
    return Selection(chosen, confidence, signals)


CONFIDENCE_WEIGHTS: Final = (-5.7, 8.5, 1.8, 0.5)
"""Intercept, cosine, covered words, kind met, where retrieval is undecided (0.5). Source: `python -m evals.composing
--fit` on our own shop; the intercept is moved from its 31 % of answerable trials towards even odds."""
MAX_PRIOR_SHIFT: Final = 1.0
"""Most that retrieval's own confidence moves the log-odds: both saw the same cosine. Source: ours."""


def answer_confidence(signals: tuple[float, float, float], prior: float = 0.5) -> float:
    """Return the belief, 0–1, that sentences with these signals answer, given retrieval's confidence as the prior."""
    intercept, *weights = CONFIDENCE_WEIGHTS
    odds = math.log(max(prior, 1e-6) / max(1 - prior, 1e-6))
    shift = max(-MAX_PRIOR_SHIFT, min(MAX_PRIOR_SHIFT, odds))
    return 1 / (1 + math.exp(-(intercept + shift + sum(w * x for w, x in zip(weights, signals, strict=True)))))


def wanted_kinds(question: str) -> frozenset[ValueKind]:
    """Return the kinds of value the question word asks for; empty when it asks for none."""
    folded = fold(question).text
    return frozenset(k for pattern, kinds in _ASKS if pattern.search(folded) for k in kinds)


def _gives(text: str, asked: frozenset[ValueKind], language: str, currency: str) -> bool:
    return bool(asked) and not asked.isdisjoint(_kinds_in(text, language, currency))


@functools.lru_cache(maxsize=4096)
def _kinds_in(text: str, language: str, currency: str) -> frozenset[ValueKind]:
    return frozenset(v.kind for v in extract_values(text, language=language, default_currency=currency))


def _prefilter(question: str, candidates: Sequence[Candidate], language: str) -> list[Candidate]:
    if len(candidates) <= MAX_CANDIDATES:
        return list(candidates)
    ranked = sorted(
        candidates, key=lambda c: (-_covered(question, f"{c.title} {c.text}", language), c.article_rank, c.position)
    )
    return ranked[:MAX_CANDIDATES]


def _covered(question: str, text: str, language: str) -> float:
    """Return the share of the question's content stems that the text holds."""
    wanted = _content(question, language)
    return len(wanted & set(analyse(text, language))) / len(wanted) if wanted else 0.0


def _weights(question: str, pool: Sequence[Candidate], language: str) -> dict[str, float]:
    """Return the question's content stems and how much each tells the candidates apart: a rare one most."""
    held = [set(analyse(f"{c.title} {c.text}", language)) for c in pool]
    return {s: math.log(1 + len(pool) / (1 + sum(s in h for h in held))) for s in _content(question, language)}


def _held_share(text: str, weights: dict[str, float], language: str) -> float:
    held = set(analyse(text, language))
    total = sum(weights.values())
    return sum(w for s, w in weights.items() if s in held) / total if total else 0.0


async def _point(
    question: str, chosen: Sequence[Candidate], pool: Sequence[Candidate], embedder: Embedder, language: str
) -> float:
    """Return how near the chosen sentences come to what is asked of their product, 0–1.

    "Is the tea organic?" asks "organic" of the tea: a sentence that only speaks of tea does not answer it. 1 where the
    question holds no more than the product's name.
    """
    weights = _weights(question, pool, language)
    best = 0.0
    texts: list[PublishedText | MaskedText] = []
    for c in chosen:
        named = set(analyse(c.title, language))
        rest = {s: w for s, w in weights.items() if s not in named}
        if not rest:
            return 1.0
        best = max(best, _held_share(c.text, rest, language))
        texts += [MaskedText(_stripped(question, named, language)), PublishedText(_stripped(c.text, named, language))]
    vectors = await embedder.embed(texts)
    return max(best, *(float(vectors[i] @ vectors[i + 1]) for i in range(0, len(texts), 2)))


def _stripped(text: str, named: set[str], language: str) -> str:
    """Return the text without the words of a name; the whole where nothing is left."""
    kept = [w for w in text.split() if not (stems := set(analyse(w, language)[:1])) or not stems <= named]
    return " ".join(kept) or text


def _content(text: str, language: str) -> set[str]:
    return {s for w in surface_tokens(text) if w not in FUNCTION_WORDS for s in analyse(w, language)[:1]}


def _pick(
    order: list[int],
    scores: list[float],
    vectors: NDArray[np.float32],
    limit: int,
    giving: set[int],
    stems: list[frozenset[str]],
    needed: list[float],
) -> list[int]:
    """Return the best and whatever comes close to it without repeating it (maximal marginal relevance).

    `giving` are the candidates that hold the kind of value asked for: a second sentence must, or it only distracts.
    One whose words were all said already adds nothing.
    """
    picked = [order[0]]
    for i in order[1:]:
        if len(picked) >= limit:
            break
        if scores[i] < needed[i]:
            continue
        is_new = not any(stems[i] <= stems[j] for j in picked)
        if i in giving and is_new and max(float(vectors[i] @ vectors[j]) for j in picked) < REDUNDANT:
            picked.append(i)
    return picked


def _pruned(picked: list[int], pool: Sequence[Candidate], wanted: set[str], language: str) -> list[int]:
    """Return the choice without a product's sentences that say less to the question than the shorter others."""
    kept = list(picked)
    held = {i: (wanted - set(analyse(pool[i].title, language))) & set(analyse(pool[i].text, language)) for i in picked}
    for i in sorted(picked, key=lambda i: -len(pool[i].text)):
        others = set[str]().union(*(held[j] for j in kept if j != i))
        if pool[i].is_product and held[i] < others:
            kept.remove(i)
    return kept


def _with_context(picked: list[int], pool: list[Candidate], limit: int) -> list[int]:
    """Return the choice with the sentence an opening pronoun leans on, and the limit that follows a permission."""
    at = {(c.ref, c.position): i for i, c in enumerate(pool)}
    out = list(picked)
    for i in picked:
        candidate = pool[i]
        before, after = at.get((candidate.ref, candidate.position - 1)), at.get((candidate.ref, candidate.position + 1))
        if _LEANS_BACK.search(fold(candidate.text).text) and before is not None and before not in out:
            out.append(before)
        if after is not None and after not in out and _LIMITS.search(fold(pool[after].text).text):
            out.append(after)
    return out[: limit + 1]
