"""Laws of span finding: what is quoted is found where it stands, whatever markup lies in and around it."""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from shared.domain.spans import find_span

TEXT_CHARS = 200_000
"""Twice the longest content, so that a quadratic reading takes four times as long."""
LIMIT_S = 1.0
"""Most processor time of one reading: five times what it takes on a quiet core. Value ours."""
WORD = st.sampled_from(
    ["shoes", "ship", "within", "30", "days", "free", "für", "größe", "ménage", "7.5", "kg", "colour", "AB-12", "USD"]
)
SENTENCE = st.lists(WORD, min_size=3, max_size=9).map(lambda words: " ".join(words).capitalize() + ".")
ARTICLE = st.lists(SENTENCE, min_size=1, max_size=6, unique_by=lambda s: letters(s))
MARKUP = st.sampled_from(
    ["", " ", "\n\n", "<p>", "</p>\n", "<br/>", "<!-- 30 days -->", "<style>p { days: 30 }</style>", "\n- ", "&nbsp;"]
)
ANYTHING = st.text(max_size=200) | st.lists(
    st.sampled_from(["<", ">", "<!--", "-->", "<script>", "</script>", "&", ";", "&lt;", "30 days", "é", ".", "\n"]),
    max_size=40,
).map("".join)


def letters(text: str) -> str:
    """Return what of a plain text is compared."""
    return "".join(c for c in text.lower() if c.isalnum())


def dressed(sentence: str, inner: str) -> str:
    """Return the sentence with markup, entities and line breaks between its words."""
    return sentence.replace(" ", inner)


@pytest.mark.req("KB-10", "CO-03")
@given(
    sentences=ARTICLE,
    between=st.lists(MARKUP, min_size=7, max_size=7),
    inner=st.sampled_from([" ", "\n", "&nbsp;", " <b>", "</b> ", "  ", "<i class='x'> "]),
    data=st.data(),
)
def test_a_quoted_sentence_is_found_exactly_where_it_stands(
    sentences: list[str], between: list[str], inner: str, data: st.DataObject
) -> None:
    """Markup, entities and spaces are no words; the span holds the sentence and none of its neighbours."""
    at = data.draw(st.integers(0, len(sentences) - 1))
    quoted = sentences[at]
    others = [s for i, s in enumerate(sentences) if i != at]
    assume(not any(letters(quoted) in letters("".join(s)) for s in others))
    pieces = [between[i] + (dressed(s, inner) if i == at else s) for i, s in enumerate(sentences)]
    text = " ".join(pieces)
    assume(letters("".join(sentences)).count(letters(quoted)) == 1)

    span = find_span(quoted, text)

    assert span is not None
    assert span.of(text) == dressed(quoted, inner)


@pytest.mark.req("KB-10")
@given(sentence=ANYTHING, text=ANYTHING)
def test_whatever_the_text_a_span_lies_within_it_and_says_something(sentence: str, text: str) -> None:
    """Articles are hostile too: nothing raises, nothing points outside."""
    span = find_span(sentence, text)

    if span is not None:
        assert 0 <= span.start < span.end <= len(text)
        assert any(c.isalnum() for c in span.of(text))


@pytest.mark.req("CO-03", "KB-10")
@given(sentences=ARTICLE, data=st.data())
def test_no_span_lacks_a_figure_of_the_sentence(sentences: list[str], data: st.DataObject) -> None:
    """A passage with another number does not say it."""
    text = " ".join(sentences)
    quoted = data.draw(st.sampled_from(sentences))

    assert find_span(quoted.replace(".", " 4711."), text) is None


@pytest.mark.req("KB-10")
@given(sentences=ARTICLE)
def test_a_sentence_of_other_words_has_no_span(sentences: list[str]) -> None:
    """Finding is not guessing."""
    assert find_span("Bananas ripen quickly.", " ".join(sentences)) is None


@pytest.mark.req("KB-10")
@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Unworn items may be returned within 30 days after delivery.", "You can return unworn items within 30 days"),
        ("We refund what you paid to the card used.", "We refund the price to the card you paid with."),
        ("Unworn items may be returned within 60 days after delivery.", None),
        ("It is in stock.", None),
        ("", None),
        ("…!", None),
    ],
)
def test_a_reworded_sentence_is_found_by_its_words_and_figures(sentence: str, found: str | None) -> None:
    """The sentence that shares most of it, or nothing."""
    text = "You can return unworn items within 30 days of delivery.\n\nWe refund the price to the card you paid with."

    span = find_span(sentence, text)

    assert (span is None) if found is None else (span is not None and span.of(text).startswith(found))


@pytest.mark.req("KB-10")
def test_a_text_without_spaces_between_words_is_searched_too() -> None:
    """Chinese and Japanese end sentences without a space."""
    text = "当店のポリシー。返品は30日以内に可能です。送料は無料です。"

    span = find_span("返品は30日以内に可能です。", text)

    assert span is not None
    assert span.of(text) == "返品は30日以内に可能です。"


@pytest.mark.req("GW-06")
@pytest.mark.parametrize("piece", ["<!--", "<script>", "<b ", "&a", "a. ", "...", "é", "<style></style>", ". "])
def test_the_longest_article_is_read_in_a_moment(piece: str) -> None:
    """Of anything; processor time."""
    text = (piece * TEXT_CHARS)[:TEXT_CHARS]
    started = time.process_time()

    find_span("You can return unworn items within 30 days.", text)

    assert time.process_time() - started < LIMIT_S
