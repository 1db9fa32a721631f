"""HTML descriptions as text. Source: KB-01, CO-02, design §9."""

import pytest

from shared.domain.passages import clean_sentences
from shared.retrieval.html_text import MAX_HTML_CHARS, read_html


@pytest.mark.req("KB-01")
@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>Wash&nbsp;by hand.</p><p>Dry <b>at once</b>.</p>", "Wash by hand.\n\nDry at once."),
        ("<h3>Care</h3>Oil it.<br/>Keep it dry.", "### Care\n\nOil it.\nKeep it dry."),
        ("<ul><li>One<ul><li>Inner</li></ul></li><li><p>Two</p></li></ul>", "- One\n  - Inner\n- Two"),
        ("<ol><li>Fill<li>Boil</ol>", "1. Fill\n2. Boil"),
        ("<table><tr><td>Material:<td>Beech<tr><td>Weight<td>2 kg</table>", "- Material: Beech\n- Weight: 2 kg"),
        (
            "<table><thead><tr><th>Size<th>Chest<th>Length</thead><tr><td>S<td>96<br>cm<td>70 cm<tr><td>M<td><td>72 cm",
            "- Size: S; Chest: 96 cm; Length: 70 cm\n- Size: M; Length: 72 cm",
        ),
        ("Salt &amp;amp; pepper &#39;mill&#39;<p>&lt; 5&nbsp;&euro;</p>", "Salt & pepper 'mill'\n\n< 5 €"),
        ("No tag at all &amp; two\nlines: R&notes, 3 < 5", "No tag at all & two\nlines: R&notes, 3 < 5"),
        (
            "<p>soft\u00adhyphen zero\u200bwidth می\u200cخواهم 👩\u200d🍳</p>",
            "softhyphen zerowidth می\u200cخواهم 👩\u200d🍳",
        ),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("", ""),
    ],
    ids=[
        "paragraphs",
        "heading",
        "nested list",
        "open items",
        "two columns",
        "named columns",
        "entities",
        "plain",
        "invisible",
        "mixed",
        "empty",
    ],
)
def test_a_page_reads_as_its_text(page: str, text: str) -> None:
    """Structure stays readable, markup and entities are gone, joiners stay."""
    assert read_html(page).text == text


@pytest.mark.req("KB-01")
@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- SECRET -->",
        "<p hidden>SECRET</p>",
        '<p style="Display : none !important">SECRET</p>',
        '<div style="color:red;/**/visibility:hidden"><p>SECRET</p></div>',
        '<span style="font-size:0px">SECRET</span>',
        '<span style="opacity: 0.0">SECRET</span>',
        '<div style="position:absolute; left:-9999px">SECRET</div>',
        "<del>SECRET</del>",
        "<noscript>SECRET</noscript>",
        '<img src="x.png" alt="SECRET">',
        "<textarea>SECRET</textarea>",
        "<head><title>SECRET</title></head>",
    ],
)
def test_what_a_browser_hides_is_no_text_but_is_kept_for_screening(hidden: str) -> None:
    """An instruction in a comment or a hidden element never reaches an article; a screen still sees it."""
    read = read_html(f"<p>Before</p>{hidden}<p>after.</p>")

    assert "SECRET" not in read.text
    assert "SECRET" in read.hidden
    assert read.text.split() == ["Before", "after."]


@pytest.mark.req("KB-01")
@pytest.mark.parametrize(
    "shown",
    ['<p style="opacity:0.9">S</p>', '<p style="font-size:0.9em">S</p>', '<p style="left:-9px">S</p>', "<ins>S</ins>"],
)
def test_what_a_browser_shows_stays(shown: str) -> None:
    """A style that only looks like hiding hides nothing."""
    assert read_html(shown).text == "S"


def test_code_is_neither_text_nor_words_to_screen() -> None:
    """Scripts and styles go without trace."""
    read = read_html("<style>p{color:red}</style><script>var a = '<p>x</p>'</script><svg><text>y</text></svg>Pan")

    assert (read.text, read.hidden) == ("Pan", "")


def test_a_crossed_out_price_is_not_told() -> None:
    """The text says what holds now."""
    assert read_html("Now <s>$50</s> $40.").text == "Now $40."


def test_a_page_that_nests_without_end_is_read_without_recursion() -> None:
    """A hostile page costs a bounded effort and breaks nothing."""
    read = read_html("<div>" * 15_000 + "deep")

    assert read.text == "deep"


def test_a_page_above_the_limit_is_cut_and_says_so() -> None:
    """What follows the limit is not read."""
    read = read_html("<p>" + "word " * MAX_HTML_CHARS)

    assert read.is_cut
    assert len(read.text) <= MAX_HTML_CHARS


@pytest.mark.req("CO-02")
def test_rows_and_items_are_sentences_of_their_own() -> None:
    """A reply quotes one row, not the whole table run together."""
    text = read_html("<p>Sizes</p><table><tr><th>Size<th>Chest<tr><td>S<td>96 cm<tr><td>M<td>100 cm</table>").text

    assert [s.text for s in clean_sentences(text)] == ["Size: S; Chest: 96 cm", "Size: M; Chest: 100 cm"]
