"""Published text as plain sentences: markup off, headings kept apart, notes to staff and to machines left out.

What is read here is data. A sentence that addresses an assistant or a colleague is not an answer to a customer and is
dropped; nothing in the text is ever followed. Source: CO-02, design §9, KB-01.
"""

import html
import re
from dataclasses import dataclass
from typing import Final

MAX_CHARS: Final = 20_000
"""Read of one text. Unit: characters. Source: ours; contexts are 4,000 (KB-07)."""
MAX_LIST_ITEMS: Final = 8
"""List items joined to their lead-in. Source: ours."""
MIN_SENTENCE_CHARS: Final = 8
"""Shortest sentence that can answer. Unit: characters. Source: ours."""

_BLOCK: Final = re.compile(r"<(script|style|template)\b[^>]{0,500}>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
_LINE_TAG: Final = re.compile(
    r"</?(?:p|br|div|ul|ol|tr|table|section|article|blockquote)\b[^<>]{0,500}>", re.IGNORECASE
)
_HEADING_TAG: Final = re.compile(r"<h[1-6]\b[^<>]{0,500}>(.*?)</h[1-6]\s*>", re.IGNORECASE | re.DOTALL)
_ITEM_TAG: Final = re.compile(r"<li\b[^<>]{0,500}>", re.IGNORECASE)
_ANY_TAG: Final = re.compile(r"</?[a-z][^<>]{0,500}>", re.IGNORECASE)
_LINK: Final = re.compile(r"!?\[([^\[\]]{0,300})\]\(([^()\s]{0,500})(?:\s[^()]{0,100})?\)")
_EMPHASIS: Final = re.compile(r"(\*{1,3}|_{2,3}|`{1,3}|~~)(?=\S)(.{1,500}?)(?<=\S)\1")
_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*$")
_ITEM: Final = re.compile(r"^\s{0,8}(?:[-*+•–]|\d{1,2}[.)])\s+(.*)$")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|approx|max|min|no|nr|mr|mrs|dr|st|vs|incl|excl|z\.b|bzw|ca|p\.ej|sr|sra|p\.ex|art"
    r"|tel|fig|u\.a)|\b\w)\.$",
    re.IGNORECASE,
)
_BREAK: Final = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]{0,2}\s+(?=[\"'“¿¡(]?\S)")

_STAFF: Final = re.compile(
    r"\b(?:ask|tell|inform|verify|advise|remind|direct|transfer|escalate|assure|greet) (?:the |a "
    r"|any )?(?:customers?|users?|clients?|shoppers?)\b"
    r"|^\W{0,4}(?:please |then |always )?(?:give|offer|grant|promise|refund|reimburse|compensate|credit) (?:the |a "
    r"|any |all |every |each )?(?:customers?|users?|clients?|shoppers?|buyers?|everyone|everybody)\b"
    r"|\b(?:agents?|staff|employees|representatives|assistant|chat ?bot|the bot|the ai|language model"
    r"|llm)\b.{0,30}\b(?:should|must|shall|may not|needs? to|are to|is to|have to|can(?:not)?)\b"
    r"|^\W{0,3}internal\b\s?[:(]|\b(?:internal (?:use|only|notes?|memo|checklist|tools?|procedures?|polic(?:y|ies)"
    r"|guidelines?)|staff only|not for customers|for (?:agents|staff|internal))\b"
    r"|\bdo not (?:share|tell|disclose|mention|reveal)\b"
    r"|\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|prompt|above|previous|policy"
    r"|policies)\b"
    r"|\byou are (?:an?|the|now) .{0,40}(?:assistant|ai|bot|model)\b|\b(?:system prompt|as an ai)\b"
    r"|\b(?:respond|reply|answer|end|start|begin) (?:every|each|all|only|with)\b"
    r"|^\s*(?:system|assistant|user|note to (?:self|staff|agents?))\s*:|<\||\|>|\[/?inst\]",
    re.IGNORECASE,
)
"""Words addressed to colleagues or to machines. Source: ours; S1's articles are merchants' own, often internal."""
_STAFF_HEADING: Final = re.compile(
    r"\b(?:internal|staff|agents?|procedure for (?:agents|staff)|for the assistant)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PassageSentence:
    """One sentence and where it stood."""

    text: str
    heading: str
    position: int
    """Order in the text, from 0."""
    is_list: bool = False
    """A lead-in joined with its list items."""


def clean_sentences(text: str) -> tuple[PassageSentence, ...]:
    """Return the sentences a customer may be told, in order: plain, whole, without headings or notes to staff."""
    found: list[PassageSentence] = []
    heading, is_staff_section = "", False
    for kind, body in _join_lists(_lines(_plain(text[:MAX_CHARS]))):
        if kind == "heading":
            heading, is_staff_section = body, _STAFF_HEADING.search(body) is not None
            continue
        if is_staff_section:
            continue
        parts = (body,) if kind == "list" else split_plain(body)
        for part in parts:
            if len(part) >= MIN_SENTENCE_CHARS and any(c.isalpha() for c in part) and not is_for_staff(part):
                found.append(PassageSentence(part, heading, len(found), kind == "list"))
    return tuple(found)


def plain_text(text: str) -> str:
    """Return the text without markup, one block a line; nothing is left out."""
    return "\n".join(body for _, body in _lines(_plain(text[:MAX_CHARS])))


def is_for_staff(sentence: str) -> bool:
    """Tell whether the sentence speaks to a colleague or a machine instead of a customer."""
    return _STAFF.search(sentence) is not None


def split_plain(text: str) -> tuple[str, ...]:
    """Return the sentences of one plain block; abbreviations and initials end none."""
    parts: list[str] = []
    for piece in _BREAK.split(text):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece}"
        else:
            parts.append(piece)
    return tuple(p.strip() for p in parts if p.strip())


def _plain(text: str) -> str:
    text = _BLOCK.sub(" ", text)
    text = _HEADING_TAG.sub(lambda m: f"\n# {_ANY_TAG.sub(' ', m[1]).strip()}\n", text)
    text = _ITEM_TAG.sub("\n- ", text)
    text = _ANY_TAG.sub(" ", _LINE_TAG.sub("\n", text))
    text = html.unescape(text)
    text = _LINK.sub(lambda m: f"{m[1]} ({m[2]})" if m[2].startswith("http") and m[1] != m[2] else m[1] or m[2], text)
    return _EMPHASIS.sub(r"\2", text)


def _lines(text: str) -> list[tuple[str, str]]:
    """Return (kind, text) of each line: heading, item or text; wrapped lines of one paragraph are joined."""
    found: list[tuple[str, str]] = []
    is_open = False
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if not line or set(line) <= set("-=_*|: "):
            is_open = False
        elif match := _HEADING.match(raw):
            found.append(("heading", " ".join(match[1].split())))
            is_open = False
        elif match := _ITEM.match(raw):
            found.append(("item", " ".join(match[1].split())))
            is_open = True
        elif is_open and found[-1][0] != "heading" and not found[-1][1].endswith((".", "!", "?", ":")):
            found[-1] = (found[-1][0], f"{found[-1][1]} {line}")
        else:
            found.append(("text", line))
            is_open = True
    return found


def _join_lists(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the lines with each run of short items joined to the lead-in that ends in a colon."""
    out: list[tuple[str, str]] = []
    index = 0
    while index < len(lines):
        kind, body = lines[index]
        items: list[str] = []
        while (
            kind == "text"
            and body.endswith(":")
            and index + 1 + len(items) < len(lines)
            and lines[index + 1 + len(items)][0] == "item"
        ):
            items.append(lines[index + 1 + len(items)][1])
        if items and len(items) <= MAX_LIST_ITEMS and sum(map(len, items)) <= 400:
            before, lead = body, split_plain(body)[-1]
            if before != lead:
                out.append(("text", before[: -len(lead)].strip()))
            out.append(("list", f"{lead} {'; '.join(i.rstrip('.;,') for i in items)}."))
            index += 1 + len(items)
            continue
        out.append((kind, body))
        index += 1
    return out
