"""The offline composer: quotes the few published sentences that answer, and frames facts of orders and products.

Writes no prose of its own: every claim is a published sentence or a fixed frame around a typed fact, each with its
source. Where neither answers it says so by a low confidence, and a person takes over. Source: CO-01…05, design §8.
"""

import re
from typing import Final

from shared.adapters.embedded.order_answers import answer_order
from shared.adapters.embedded.sentence_selection import Candidate, Selection, select_sentences
from shared.domain.agents import CLARIFY_BELOW, COMPOSER_FLOOR
from shared.domain.drafts import Draft, Sentence, SentenceKind
from shared.domain.ids import SourceRef
from shared.domain.intents import ArticleType, CustomerIntent
from shared.domain.language import detect_language
from shared.domain.passages import clean_sentences, is_for_staff
from shared.domain.phrases import (
    Phrase,
    ProductFact,
    done_sentence,
    is_available,
    phrase,
    phrase_language,
    product_prices,
    product_sentences,
)
from shared.domain.sources import RetrievedArticle
from shared.domain.text import MaskedText, PublishedText
from shared.domain.typed_values import extract_values
from shared.domain.typed_values.numbers import base_language
from shared.ports.models import ComposeRequest, Embedder
from shared.retrieval.function_words import FUNCTION_WORDS
from shared.retrieval.tokens import surface_tokens

MAX_OFFERS: Final = 3
"""Products recommended at once. Source: ours."""
OFFER_LAG: Final = 0.15
"""How much less than the best a product may fit the wish to be offered beside it. Unit: cosine. Source: ours."""
MAX_DESCRIBED_CHARS: Final = 600
"""What of a product is compared with a wish. Unit: characters. Source: ours; the start of a description says most."""
MAX_SENTENCE_CHARS: Final = 320
"""Longest sentence quoted; a longer one is cut at a clause or left out. Unit: characters. Source: ours."""
SHORT_QUESTION_WORDS: Final = 3
"""Content words under which a question leans on the customer's previous message. Source: ours."""
MIN_CONTENT_WORDS: Final = 2
"""Content words of a sentence worth quoting: "We are sorry." answers nothing. Source: ours."""
SOCIAL_CONFIDENCE: Final = 0.95
"""Confidence of a fixed text that claims nothing. Source: ours."""
DETECTION_FLOOR: Final = 0.3
"""Below it an article's language is taken to be the customer's. Unit: 0–1. Source: ours."""

_SOCIAL: Final = {"thanks": Phrase.THANKS, "goodbye": Phrase.GOODBYE}
"""Social formula as classified → our text; any other is greeted back."""
_ASKED_AS: Final = {
    ProductFact.AVAILABILITY: "Available, availability, do you sell it, can I buy it.",
    ProductFact.PRICE: "Price, cost, how much is it.",
}
"""Fact → how it is asked for; compared with the question beside the fact's own frame, never shown."""
_CODE_WORDS: Final = frozenset({"sku", "barcode", "ean", "gtin", "mpn"})
"""Names of article codes; the same in every product language."""
_CONNECTIVE: Final = re.compile(
    r"^(?:However|But|Also|Additionally|Furthermore|Moreover|Therefore|Please note(?: that)?|Note(?: that)?),? "
)
"""Openings that lean on a sentence that is not quoted; without them the rest says the same."""
_ORDER_INTENTS: Final = frozenset(
    {
        CustomerIntent.ORDER_STATUS,
        CustomerIntent.ORDER_CHANGE,
        CustomerIntent.ORDER_CANCEL,
        CustomerIntent.DELIVERY_PROBLEM,
        CustomerIntent.BILLING_DISPUTE,
    }
)
"""Intents answered from the customer's own orders first; any other when the message names an order."""
_POLICY_INTENTS: Final = frozenset(
    {
        CustomerIntent.RETURN_EXCHANGE,
        CustomerIntent.REFUND,
        CustomerIntent.SHIPPING_INFO,
        CustomerIntent.ORDER_CHANGE,
        CustomerIntent.ORDER_CANCEL,
        CustomerIntent.DELIVERY_PROBLEM,
        CustomerIntent.PAYMENT_ISSUE,
        CustomerIntent.BILLING_DISPUTE,
        CustomerIntent.ACCOUNT_ACCESS,
        CustomerIntent.ACCOUNT_MANAGEMENT,
    }
)
"""Intents about what the shop does, not about what it sells: no fact of a product answers them."""


class ExtractiveComposer:
    """A ComposerModel without a language model."""

    def __init__(self, *, embedder: Embedder) -> None:
        self._embedder = embedder

    async def compose(self, request: ComposeRequest) -> Draft:
        """Return a draft of quoted and framed sentences; low confidence and no claim when nothing answers."""
        found = request.classification
        language = found.language or request.policy.default_language
        if _is_small_talk(request):
            key = Phrase.OUT_OF_SCOPE if found.is_out_of_scope else _SOCIAL.get(found.social, Phrase.GREETING)
            text = phrase(key, language, shop=request.policy.shop_name)
            return _draft([_sentence(text, SentenceKind.SOCIAL)], language, SOCIAL_CONFIDENCE)
        done = [(text, a.ref) for a in request.actions if (text := done_sentence(a, language))]
        if done:
            told = [_sentence(text, SentenceKind.CLAIM, ref) for text, ref in done]
            return _draft(told, language, SOCIAL_CONFIDENCE)
        parts: list[Sentence] = []
        confidence, is_fallback = 0.0, False
        if _is_about_order(request):
            answer = await answer_order(request, language, self._embedder)
            parts, confidence, is_fallback = list(answer.sentences), answer.confidence, answer.is_fallback
            if answer.is_complete:
                return _revised(parts, language, confidence, request)
        if found.customer_intent is CustomerIntent.PRODUCT_RECOMMENDATION and not parts:
            offers, sure = await self._recommend(request, language)
            if offers:
                return _revised(offers, language, sure, request)
        selection = await self._select(request, language)
        if selection.confidence >= COMPOSER_FLOOR:
            parts = [] if is_fallback else parts
            parts += [_sentence(text, SentenceKind.CLAIM, ref) for text, ref in _quoted(selection, request)]
        return _revised(parts, language, max(confidence, selection.confidence), request, without_quotes=confidence)

    async def _select(self, request: ComposeRequest, language: str) -> Selection:
        """Return the sentences of the pinned articles and the frames of the products that answer best."""
        articles = _eligible(request)
        candidates = [c for rank, a in enumerate(articles) for c in _candidates(a, rank, language, request)]
        return await select_sentences(
            _question(request),
            candidates,
            self._embedder,
            language=base_language(language),
            currency=request.policy.currency,
            prior=request.knowledge.confidence,
        )

    async def _recommend(self, request: ComposeRequest, language: str) -> tuple[list[Sentence], float]:
        """Return the priced products that fit the wish about as well as the best one; nothing without a choice."""
        currency = request.policy.currency
        products = [a for a in request.knowledge.articles if a.type is ArticleType.PRODUCT]
        priced = [a for a in products if product_prices(a, currency) and is_available(a) is not False]
        if len(priced) < 2:
            return [], 0.0
        described = [PublishedText(f"{a.title}. {a.content}"[:MAX_DESCRIBED_CHARS]) for a in priced]
        vectors = await self._embedder.embed([_question(request), *described])
        fit = [float(x) for x in vectors[1:] @ vectors[0]]
        ranked = sorted(range(len(priced)), key=lambda i: (-fit[i], i))[:MAX_OFFERS]
        best = [i for i in ranked if fit[i] >= fit[ranked[0]] - OFFER_LAG]
        sentences = [_sentence(phrase(Phrase.RECOMMEND, language), SentenceKind.NOTICE)]
        for i in best:
            facts = product_sentences(priced[i], language, currency)
            sentences += [_sentence(t, SentenceKind.CLAIM, priced[i].ref) for t in facts[ProductFact.OFFER]]
        return sentences, recommendation_confidence(fit[best[0]])


def recommendation_confidence(similarity: float) -> float:
    """Return the belief, 0–1, that a product this near to the wish fits it."""
    return max(0.0, min(0.9, 0.3 + similarity))


def _candidates(article: RetrievedArticle, rank: int, language: str, request: ComposeRequest) -> list[Candidate]:
    found: list[Candidate] = []
    title = article.title.value
    if is_for_staff(title) or title.lower().startswith("internal"):
        return []
    if article.type is ArticleType.PRODUCT:
        compared = product_sentences(article, "en", request.policy.currency)
        shown = product_sentences(article, language, request.policy.currency)
        hidden = {ProductFact.OFFER} if _asks_for_code(request) else {ProductFact.OFFER, ProductFact.CODE}
        for fact in [f for f in shown if f not in hidden]:
            for english, own in zip(compared[fact], shown[fact], strict=True):
                told = f"{english} {_ASKED_AS[fact]}" if fact in _ASKED_AS else english
                found.append(Candidate(told, article.ref, title, rank, -1 - len(found), is_product=True, shown=own))
    detected, confidence = detect_language(article.content.value)
    if confidence >= DETECTION_FLOOR and detected != base_language(language):
        return found
    for sentence in clean_sentences(article.content.value):
        if (text := _ended(_trimmed(sentence.text))) and len(_content_words(text)) >= MIN_CONTENT_WORDS:
            label = f"{title} – {sentence.heading}" if sentence.heading else title
            is_product = article.type is ArticleType.PRODUCT
            found.append(Candidate(text, article.ref, label, rank, sentence.position, is_product=is_product))
    return found


def _asks_for_code(request: ComposeRequest) -> bool:
    return not _CODE_WORDS.isdisjoint(surface_tokens(request.snapshot.message.value))


def _quoted(selection: Selection, request: ComposeRequest) -> list[tuple[str, SourceRef]]:
    """Return the chosen sentences as they are sent: able to stand alone, a product's under its name."""
    products = {a.ref for a in request.knowledge.articles if a.type is ArticleType.PRODUCT}
    quoted: list[tuple[str, SourceRef]] = []
    before: Candidate | None = None
    for c in selection.chosen:
        text = c.shown or c.text
        is_led = before is not None and before.ref == c.ref and before.position == c.position - 1
        if not is_led and not c.shown:
            bare = _CONNECTIVE.sub("", text)
            text = bare[:1].upper() + bare[1:]
        if c.ref in products and not c.shown and not (before and before.ref == c.ref) and not _names(text, c.title):
            text = f"{_short_name(c.title)}: {text}"
        quoted.append((text, c.ref))
        before = c
    return quoted


def _short_name(title: str) -> str:
    """Return a product's title without the size or count behind it: "Chef's Knife, 20 cm" is the chef's knife."""
    name, comma, rest = title.partition(",")
    return name if comma and any(c.isdigit() for c in rest) else title


def _names(text: str, title: str) -> bool:
    return not set(surface_tokens(_short_name(title))).isdisjoint(surface_tokens(text))


def _trimmed(text: str) -> str:
    """Return the sentence whole, or its first clauses when it is too long and they end at a semicolon; else nothing."""
    if len(text) <= MAX_SENTENCE_CHARS:
        return text
    kept = ""
    for clause in text.split("; "):
        if kept and len(kept) + len(clause) > MAX_SENTENCE_CHARS:
            break
        kept = f"{kept}; {clause}" if kept else clause
    rest = text[len(kept) :]
    is_safe = len(kept) <= MAX_SENTENCE_CHARS and not re.search(
        r"\b(?:unless|except|only|but|if|not|however)\b", rest.lower()
    )
    return f"{kept.rstrip('.;')}." if is_safe else ""


def _ended(text: str) -> str:
    """Return the sentence with a full stop where it ends in none, as a list item or a table row does."""
    is_open = bool(text) and (text[-1].isalnum() or text[-1] in ")%€$£'\"")
    return f"{text}." if is_open else text


def _is_small_talk(request: ComposeRequest) -> bool:
    """Tell whether a fixed text is all there is to say: small talk believed more than that an article answers."""
    found = request.classification
    is_nothing = found.is_social or found.is_out_of_scope
    return is_nothing and not _names_order(request) and found.confidence >= request.knowledge.confidence


def _is_about_order(request: ComposeRequest) -> bool:
    found = request.classification
    is_clear = found.confidence >= CLARIFY_BELOW
    is_refund = found.customer_intent is CustomerIntent.REFUND and bool(request.account.orders)
    return _names_order(request) or (is_clear and (found.customer_intent in _ORDER_INTENTS or is_refund))


def _names_order(request: ComposeRequest) -> bool:
    return bool(request.classification.entities.order_refs or request.account.missing_order_refs)


def _eligible(request: ComposeRequest) -> list[RetrievedArticle]:
    """Return the articles that may answer: where policy is asked no product, of a named order only its products."""
    articles = list(request.knowledge.articles)
    found = request.classification
    is_about_policy = found.customer_intent in _POLICY_INTENTS and found.confidence >= CLARIFY_BELOW
    if _names_order(request):
        bought = {line.title.strip().lower() for order in request.account.orders for line in order.lines}
        return [a for a in articles if a.type is not ArticleType.PRODUCT or a.title.value.strip().lower() in bought]
    rest = [a for a in articles if a.type is not ArticleType.PRODUCT]
    return rest if is_about_policy and rest else articles


def _content_words(text: str) -> list[str]:
    return [w for w in surface_tokens(text) if w not in FUNCTION_WORDS]


def _question(request: ComposeRequest) -> MaskedText:
    """Return the message, with the customer's previous one when it is too short to stand alone."""
    message = request.snapshot.message
    words = _content_words(message.value)
    said = [h.text.value for h in request.snapshot.context.history if h.role == "customer"]
    if len(words) >= SHORT_QUESTION_WORDS or not said:
        return message
    return MaskedText(f"{said[-1]} {message}")


def _revised(
    parts: list[Sentence], language: str, confidence: float, request: ComposeRequest, *, without_quotes: float = 1.0
) -> Draft:
    """Return the draft without what an earlier review objected to; unsure when nothing is left to say (SU-02).

    `without_quotes`: most confidence that remains when every quoted sentence had to go.
    """
    kept = parts
    if request.revision is not None and request.previous is not None:
        kept = [s for s in parts if not _is_objected(s, request)]
        if len(kept) == len(parts):
            confidence = 0.0
        elif not any(r.startswith("article:") for s in kept for r in s.refs):
            confidence = min(confidence, without_quotes)
    if not any(s.kind is not SentenceKind.SOCIAL for s in kept):
        kept = [_sentence(phrase(Phrase.ACKNOWLEDGE, language), SentenceKind.NOTICE)]
        confidence = min(confidence, COMPOSER_FLOOR / 2)
    return _draft(kept, language, confidence)


def _is_objected(sentence: Sentence, request: ComposeRequest) -> bool:
    """Tell whether a failed check pointed at this sentence, by its place in the draft, a value or a banned phrase."""
    text = sentence.text.value
    previous = request.previous.sentences if request.previous else ()
    marks = {f"sentence:{i}" for i, s in enumerate(previous) if s.text.value == text}
    for value in extract_values(
        text, language=request.classification.language, default_currency=request.policy.currency
    ):
        marks |= {value.canonical, value.text}
    objected = {e for v in request.revision.verdicts for e in v.evidence} if request.revision else set()
    is_banned = any(phrase.lower() in text.lower() for phrase in request.policy.banned_phrases)
    return is_banned or not marks.isdisjoint(objected)


def _draft(parts: list[Sentence], language: str, confidence: float) -> Draft:
    is_ours = all(s.kind is not SentenceKind.CLAIM for s in parts)
    tag = phrase_language(language) if is_ours else language
    return Draft(
        sentences=tuple(parts), language=tag, confidence=round(confidence, 4), is_flagged=confidence < COMPOSER_FLOOR
    )


def _sentence(text: str, kind: SentenceKind, *refs: SourceRef) -> Sentence:
    return Sentence(text=MaskedText(text), kind=kind, refs=refs)
