"""A product description's HTML as the plain text a shopper reads: headings, lists and tables stay readable.

Owns what of a page is text. What a browser would not show (scripts, styles, comments, hidden and struck-out elements)
never reaches the text; its words are kept apart, so that a screen can read them. Obeys nothing it reads and loads
nothing it names. Source: KB-01, CO-02, design §9.
"""

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

MAX_HTML_CHARS: Final = 120_000
"""Read of one description. Unit: characters. Value ours: above MAX_CONTENT_CHARS of plain text; one that nests without
end takes 0.6 s to parse."""
MAX_HIDDEN_CHARS: Final = 20_000
"""Kept of what a browser would not show. Unit: characters. Value ours."""

_DROPPED: Final = frozenset({
    "audio", "base", "button", "canvas", "datalist", "embed", "iframe", "input", "link", "math", "meta", "noembed",
    "noframes", "noscript", "object", "script", "select", "style", "svg", "template", "textarea", "title", "video",
})  # fmt: skip
_CODE: Final = frozenset({"script", "style", "svg", "math"})
"""Dropped ones that hold no words."""
_STRUCK: Final = frozenset({"s", "strike", "del"})
"""What a page crosses out is no longer so: an old price must not be told."""
_BLOCKS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "legend", "main", "nav", "ol", "p",
    "pre", "section", "summary", "table", "ul",
})  # fmt: skip
_TIGHT: Final = frozenset({"dd", "dt", "summary", "legend"})
"""Blocks that need a line of their own, not an empty line around them."""
_CELLS: Final = frozenset({"td", "th"})
_SPOKEN: Final = ("alt", "title", "aria-label")
"""Attributes with words that a page does not show as text."""
_UNSEEN_STYLE: Final = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|color:transparent|clip(?:-path)?:(?:rect\(0|inset\((?:50|100)%)"
    r"|(?:opacity|font-size):0+(?:\.0+)?(?:px|pt|em|rem|%)?(?:;|!|$)|(?:text-indent|left|top|right):-\d{3})"
)
_CSS_NOISE: Final = re.compile(r"/\*.*?(?:\*/|$)|\s+", re.DOTALL)
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_USUAL_TAG: Final = re.compile(
    r"</(?:p|div|span|ul|ol|li|h[1-6]|b|i|em|strong|a|table|tr|td|th|script|style)\s*>|<br\s*/?>|<!--", re.IGNORECASE
)
_TAG: Final = re.compile(r"<[a-zA-Z/!?]")
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Controls, marks and tag letters that draw nothing; joiners stay, since words and emoji are written with them."""


@dataclass(frozen=True, slots=True)
class HtmlText:
    """What a page says, and what it holds besides."""

    text: str
    hidden: str
    """Words a browser would not show, one piece a line; for screening only."""
    is_cut: bool
    """The page was longer than MAX_HTML_CHARS."""


def read_html(source: str) -> HtmlText:
    """Return the page's text: paragraphs apart, `#` before headings, `-` or a number before list items and table rows.

    A text without any tag is taken as it is, lines included; only its entities are resolved.
    """
    page = source[:MAX_HTML_CHARS]
    is_cut = len(source) > MAX_HTML_CHARS
    if not _TAG.search(page):
        lines = (plain_line(line) for line in _resolved(page).splitlines())
        return HtmlText(_joined(lines), "", is_cut)
    reading = _Reading()
    root = LexborHTMLParser(page).root
    if root is not None:
        reading.read(root)
    hidden = "\n".join(filter(None, map(plain_line, reading.hidden)))
    return HtmlText(_joined(reading.lines), hidden[:MAX_HIDDEN_CHARS], is_cut)


def is_html(text: str) -> bool:
    """Tell whether the text is a page; `Jane <jane@shop.example>` is none."""
    return _USUAL_TAG.search(text) is not None


def plain_line(text: str) -> str:
    """Return the text on one line: entities resolved, spaces single, nothing invisible but joiners."""
    return " ".join(_INVISIBLE.sub("", _resolved(text).replace("\n", " ")).split())


@dataclass(slots=True)
class _Table:
    rows: list[list[tuple[str, bool]]] = field(default_factory=list)
    """Cells of each row: text, and whether it is a heading."""


@dataclass(slots=True)
class _Reading:
    """One walk over the page; a line is open while inline text is collected for it."""

    lines: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    _inline: list[str] = field(default_factory=list)
    _prefix: str = ""
    _lists: list[int | None] = field(default_factory=list)
    """Open lists: the last number of an ordered one, None for the others."""
    _tables: list[_Table] = field(default_factory=list)
    _outer: list[list[str]] = field(default_factory=list)
    """Text collected around each open cell."""

    def read(self, root: LexborNode) -> None:
        """Read the tree without recursion: hostile pages nest deeper than any stack."""
        todo: list[tuple[LexborNode, bool]] = [(root, True)]
        while todo:
            node, is_start = todo.pop()
            if not is_start:
                self._close(node.tag or "")
                continue
            if node.is_text_node:
                self._inline.append(node.text_content or "")
            elif node.is_comment_node:
                self.hidden.append(node.comment_content or "")
            elif not self._is_dropped(node):
                self._open(node)
                todo.append((node, False))
                child = node.last_child
                while child is not None:
                    todo.append((child, True))
                    child = child.prev
        self._end_line()

    def _is_dropped(self, node: LexborNode) -> bool:
        tag = node.tag or ""
        attributes = node.attributes
        self.hidden += [value for name in _SPOKEN if (value := attributes.get(name))]
        style = _CSS_NOISE.sub("", attributes.get("style") or "").lower()
        is_unseen = "hidden" in attributes or _UNSEEN_STYLE.search(style) is not None
        if not is_unseen and tag not in _DROPPED and tag not in _STRUCK:
            return False
        if tag not in _CODE:
            self.hidden.append(node.text(deep=True, separator=" "))
        return True

    def _open(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _CELLS and self._tables:
            self._outer.append(self._inline)
            self._inline = []
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag == "br":
            self._end_line()
        elif tag == "li":
            self._end_line()
            self._prefix = self._bullet()
        elif len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            self._gap()
            self._prefix = "#" * int(tag[1]) + " "
        elif tag in _BLOCKS:
            self._end_line() if tag in _TIGHT or self._lists else self._gap()
        if tag in ("ul", "ol"):
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "table":
            self._tables.append(_Table())

    def _close(self, tag: str) -> None:
        if tag in _CELLS and self._outer:
            text = plain_line(" ".join(self._inline))
            self._inline = self._outer.pop()
            if self._tables and self._tables[-1].rows:
                self._tables[-1].rows[-1].append((text, tag == "th"))
        elif tag == "table" and self._tables:
            self._add_rows(_table_lines(self._tables.pop()))
        elif tag in ("ul", "ol") and self._lists:
            self._end_line()
            self._lists.pop()
            if not self._lists:
                self._gap()
        elif tag == "li":
            self._end_line()
            self._prefix = ""
        elif tag in _BLOCKS or (len(tag) == 2 and tag[0] == "h" and tag[1].isdigit()):
            self._end_line() if tag in _TIGHT or self._lists else self._gap()

    def _bullet(self) -> str:
        indent = "  " * max(0, len(self._lists) - 1)
        if not self._lists or self._lists[-1] is None:
            return f"{indent}- "
        self._lists[-1] += 1
        return f"{indent}{self._lists[-1]}. "

    def _end_line(self) -> None:
        if self._outer:
            # A cell is one line of its row: its own breaks only part words.
            self._inline.append(" ")
            return
        text = plain_line("".join(self._inline))
        self._inline = []
        if text:
            self.lines.append(self._prefix + text)
            self._prefix = ""

    def _gap(self) -> None:
        self._end_line()
        if not self._outer:
            self.lines.append("")
            self._prefix = ""

    def _add_rows(self, rows: list[str]) -> None:
        if self._outer:
            self._inline.append(" ".join(row.removeprefix("- ") + ";" for row in rows))
            return
        self._gap()
        self.lines += rows
        self._gap()


def _table_lines(table: _Table) -> list[str]:
    """Return a line a row; each cell under the heading of its column where the first row names the columns."""
    rows = [row for row in table.rows if any(text for text, _ in row)]
    if not rows:
        return []
    first = rows[0]
    is_headed = len(rows) > 1 and len(first) > 1 and all(is_heading or not text for text, is_heading in first)
    lines: list[str] = []
    for row in rows[1:] if is_headed else rows:
        cells = [text for text, _ in row]
        if is_headed and len(cells) <= len(first):
            named = [f"{name}: {text}" if name else text for (name, _), text in zip(first, cells, strict=False) if text]
            lines.append("- " + "; ".join(named))
        elif len(cells) == 2 and all(cells):
            lines.append(f"- {cells[0].rstrip(':')}: {cells[1]}")
        else:
            filled = [text for text in cells if text]
            lines.append("- " + "; ".join(filled) if len(filled) > 1 else filled[0])
    return lines


def _resolved(text: str) -> str:
    """Return the text without entities, those that were escaped twice included."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)


def _joined(lines: Iterable[str]) -> str:
    """Return the lines as one text with at most one empty line between two."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip()
