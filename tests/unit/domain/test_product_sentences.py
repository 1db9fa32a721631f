"""A product's attributes as sentences. Source: KB-01, CO-05."""

import pytest

from shared.domain.ids import ArticleId
from shared.domain.intents import ArticleType
from shared.domain.phrases import ProductFact, is_available, product_options, product_sentences
from shared.domain.sources import RetrievedArticle
from shared.domain.text import PublishedText


def _product(**attributes: str) -> RetrievedArticle:
    return RetrievedArticle(
        article_id=ArticleId("pan"),
        version=1,
        type=ArticleType.PRODUCT,
        title=PublishedText("Pan"),
        content=PublishedText(""),
        attributes=attributes,
        relevance=1,
    )


@pytest.mark.req("KB-01")
@pytest.mark.parametrize("language", ["en", "es", "fr", "de", "it", "pt", "nl"])
def test_stock_is_never_told_without_its_exceptions(language: str) -> None:
    """In every language the variants that are gone are named in the same sentence."""
    product = _product(availability="in stock, except: 26 cm; 28 cm")

    (said,) = product_sentences(product, language, "EUR")[ProductFact.AVAILABILITY]

    assert is_available(product) is True
    assert said.endswith("26 cm; 28 cm.")


@pytest.mark.parametrize(
    ("value", "options"),
    [
        ("S | Black, matt", ("S", "Black, matt")),
        ("moss, oat", ("moss", "oat")),
        ("moss / oat", ("moss", "oat")),
        ("Black/Red", None),
    ],
)
def test_options_are_parted_by_the_sign_that_parts_them(value: str, options: tuple[str, ...] | None) -> None:
    """A bar parts alone where there is one; a slash within a name parts nothing."""
    assert product_options(_product(colour=value)) == ({} if options is None else {"colour": options})


def test_a_list_too_long_to_tell_whole_is_not_told_in_part() -> None:
    """The first half of the sizes would read as all of them."""
    facts = product_sentences(_product(size=" | ".join(f"size {n}" for n in range(40))), "en", "EUR")

    assert facts == {}
