"""The shadow validator judges by other means than the reviewer beside it: it agrees on plain cases and can differ."""

from collections.abc import Sequence

import pytest

from shared.adapters.embedded.onnx_embedder import OnnxEmbedder
from shared.adapters.embedded.rule_reviewer import RuleReviewer
from shared.adapters.embedded.shadow_reviewer import WordCountReviewer
from shared.domain.deltas import Account, Knowledge
from shared.domain.drafts import Check, CheckVerdict, Draft, SentenceKind
from shared.domain.intents import ArticleType
from shared.domain.phrases import order_sentences, product_sentences
from shared.domain.sources import Order, RetrievedArticle
from shared.domain.text import MaskedText
from shared.ports.models import ReviewRequest
from tests.unit.supervisor.turns import POLICY, article, claim, draft, order, plain

TEXT = "You can return most items within 30 days of delivery for a full refund. Shipping costs $4.95."
CANDLE = article(
    "Hand-poured.", name="candle", title="Lavender Candle", kind=ArticleType.PRODUCT, price="1234.50", currency="EUR"
)


def request(
    answer: Draft,
    *,
    said: str = "can I return it?",
    articles: Sequence[RetrievedArticle] = (),
    orders: Sequence[Order] = (),
) -> ReviewRequest:
    return ReviewRequest(
        draft=answer,
        knowledge=Knowledge(articles=(article(TEXT), *articles)),
        account=Account(orders=tuple(orders)),
        customer_words=MaskedText(said),
        policy=POLICY,
    )


async def verdict(asked: ReviewRequest) -> CheckVerdict:
    (found,) = await WordCountReviewer().review(asked)
    return found


@pytest.mark.req("SU-06")
@pytest.mark.parametrize(
    ("text", "is_passed"),
    [
        ("You can return most items within 30 days of delivery.", True),
        ("You can return most items within 60 days of delivery.", False),
        ("Our friendly experts gladly repair broken furniture anywhere.", False),
        ("Shipping costs $4.95.", True),
        ("Shipping costs $4.59.", False),
    ],
)
async def test_words_and_figures_must_stand_in_what_a_claim_cites(text: str, is_passed: bool) -> None:
    assert (await verdict(request(draft(claim(text))))).is_passed is is_passed


@pytest.mark.req("SU-06")
async def test_a_claim_that_cites_nothing_of_the_turn_is_blocked() -> None:
    for answer in (draft(claim(TEXT, "article:other@1")), draft(claim(TEXT, "article:returns@3", "order:9"))):
        assert not (await verdict(request(answer))).is_passed


@pytest.mark.req("SU-06")
@pytest.mark.parametrize("language", ["en", "de", "tr"])
async def test_what_we_render_from_a_record_is_that_records_words(language: str) -> None:
    """A price written with another language's marks is the same figure."""
    own = order(refunded=500)
    lines = [s for ss in order_sentences(own, language).values() for s in ss]
    prices = [s for ss in product_sentences(CANDLE, language, "EUR").values() for s in ss]
    answer = draft(
        *(claim(text, "order:1001") for text in lines), *(claim(text, CANDLE.ref) for text in prices), language=language
    )

    assert (await verdict(request(answer, articles=(CANDLE,), orders=(own,)))).is_passed


@pytest.mark.req("SU-06")
async def test_words_of_another_language_are_not_compared_but_figures_are() -> None:
    right = draft(claim("Sie können die meisten Artikel 30 Tage lang zurückgeben."), language="de")
    wrong = draft(claim("Sie können die meisten Artikel 60 Tage lang zurückgeben."), language="de")

    assert (await verdict(request(right))).is_passed
    assert not (await verdict(request(wrong))).is_passed


@pytest.mark.req("SU-06", "SU-01")
async def test_it_never_calls_a_draft_grounded() -> None:
    """A passed GROUNDING verdict of a model lifts the barrier between languages; this one has no such standing."""
    for answer in (draft(claim(TEXT)), draft(plain("Hello!", SentenceKind.SOCIAL))):
        found = await verdict(request(answer))

        assert (found.check, found.is_passed) == (Check.POLICY, True)


@pytest.mark.req("SU-06")
async def test_what_was_done_in_this_turn_is_not_judged_here() -> None:
    assert (await verdict(request(draft(claim("We have refunded $5.00.", "action:a1"))))).is_passed


@pytest.mark.req("SU-06")
async def test_it_is_another_judge_than_the_reviewer_that_decides(embedder: OnnxEmbedder) -> None:
    """Each blocks what the other lets pass: else their drift would always be nothing."""
    reviewer, shadow = RuleReviewer(embedder=embedder), WordCountReviewer()
    off_topic = request(draft(claim("Shipping costs $4.95.")), said="which socks are made of merino wool?")
    altered = request(draft(claim("You can return most items within 60 days of delivery for a full refund.")))

    judged = [
        [(await judge.review(asked))[0].is_passed for judge in (reviewer, shadow)] for asked in (off_topic, altered)
    ]

    assert judged == [[False, True], [True, False]]
