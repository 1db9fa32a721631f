"""Where e-mail addresses stand in visible text: plain, internationalised, quoted, and spelt out ("ana [at] x dot com").

Starts at each separator and reads outwards, so the work is linear in the text whatever it holds. Deliberately wider
than RFC 5321: what looks like an address to a reader is one. Source: PV-01, RFC 6531.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from shared.privacy.visible import FULLWIDTH_AT

_LETTERS: Final = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u037d\u037f-\u0386\u0388-\u0559\u0560-\u0588\u0591-\u05bd"
    "\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7-\u05f2\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff\u0710-\u0963"
    "\u0966-\u096f\u0971-\u0df3\u0e01-\u0e2e\u0e30-\u0e4e\u0e50-\u0e59\u0e81-\u0f00\u0f18-\u1049\u104c-\u10fa"
    "\u10fc-\u135f\u1369-\u13ff\u1401-\u166c\u166f-\u167f\u1681-\u169a\u16a0-\u1fff\u2c00-\u2dff\u3005-\u3007"
    "\u3031-\u30fa\u30fc-\ud7ff\uf900-\ufdff\ufe70-\ufefe\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffdc"
    "\U00010000-\U0001cfff\U00020000-\U0003ffff"
)
"""Letters, marks and digits beyond ASCII for a character class, without punctuation or pictures. Source: Unicode."""
_FIRST_UNSPACED: Final = "\u0e00"
"""From this code point on, scripts that set no space between words: Thai, Lao, kana, Han, Hangul. Source: Unicode."""
_COMMON_ENDINGS: Final = "com|net|org|info|biz|edu|gov|example"
"""Last labels no sentence holds by chance, for addresses with spaces in them. Source: registries' most used."""
_COUNTRY_ENDINGS: Final = "de|fr|uk|nl|es|pt|br|jp|ca|au|ch|se|dk|pl|cz|ru|ua|gr|ie|nz|mx|ar|eu|io|cn|kr"
"""Country endings that are not common words of a European language, for the same."""
_FILE_ENDINGS: Final = frozenset({"png", "jpg", "jpeg", "gif", "svg", "webp", "pdf", "css", "js"})
"""`logo@2x.png` is a file."""

_LABEL: Final = f"[0-9A-Za-z{_LETTERS}](?:[0-9A-Za-z_{_LETTERS}-]{{0,61}}[0-9A-Za-z{_LETTERS}])?"
_DOTS: Final = ".\u3002\uff0e\uff61"
_ATOM: Final = re.compile(rf"[0-9A-Za-z_.!#$%&'*+/=?^`{{|}}~{FULLWIDTH_AT}{_LETTERS}-]*")
_SEPARATOR: Final = re.compile(
    rf"[@{FULLWIDTH_AT}]|[ ]?[\[({{<][ ]?(?:at|arroba|@)[ ]?[\])}}>][ ]?|[ ](?:at|arroba)[ ]", re.IGNORECASE
)
_DOMAIN: Final = re.compile(
    rf"(?:{_LABEL}[{_DOTS}]){{1,8}}(?:xn--[0-9a-z-]{{0,58}}[0-9a-z]|[A-Za-z{_LETTERS}]{{2,63}})"
    r"|\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9A-Fa-f:.]{2,45})\]"
)
_SPACED_DOMAIN: Final = re.compile(
    rf"{_LABEL}(?:[ ]?[{_DOTS}][ ]?{_LABEL}){{0,3}}?[ ]?[{_DOTS}][ ]?(?:{_COMMON_ENDINGS})(?:\.[a-z]{{2}})?(?![\w-])",
    re.IGNORECASE,
)
_DOT_WORD: Final = (
    r"[ ]?(?:[\[({<][ ]?(?:dot|punto|ponto|punkt|point|\.)[ ]?[\])}>]|(?<=[ ])(?:dot|punto|ponto|punkt)(?=[ ]))[ ]?"
)
_WORDED_DOMAIN: Final = re.compile(
    rf"{_LABEL}(?:{_DOT_WORD}{_LABEL}){{0,3}}?{_DOT_WORD}(?:{_COMMON_ENDINGS}|{_COUNTRY_ENDINGS})(?![\w-])",
    re.IGNORECASE,
)
_DOT_WORDS: Final = re.compile(_DOT_WORD, re.IGNORECASE)
_FIELD_NAME: Final = re.compile(r"\A.*[?&]?(?:e-?mail|mail|to|address|addr|user|login)=(?=.)", re.IGNORECASE)
_LEADING: Final = re.compile(r"\A[&?!#$%|={}^./]+(?=.)")
_LONGEST_LOCAL: Final = 320
"""Characters of a local part we look back over; RFC 5321 allows 64, the bound keeps hostile text linear."""
_AFFIX: Final = "'`*_~{|"
"""Quotes and mark-up that may surround an address; outside it when they stand on both sides."""


@dataclass(frozen=True, slots=True)
class Span:
    """A find in visible text and the form it is compared by."""

    start: int
    end: int
    canonical: str


def find_emails(text: str) -> Iterator[Span]:
    """Yield the addresses in visible text, in order, disjoint.

    Shapes: canonical is NFC with the domain lower-cased and the local part as written.
    """
    floor = 0
    for separator in _SEPARATOR.finditer(text):
        found = _around(text, floor, separator)
        if found is not None:
            yield found
        floor = max(separator.end() if separator.group() == "@" else floor, found.end if found else 0)


def canonical_email(local: str, domain: str) -> str:
    """Return the form two spellings of one address share."""
    return unicodedata.normalize("NFC", f"{local}@{_plain_dots(domain).lower()}")


def _around(text: str, floor: int, separator: re.Match[str]) -> Span | None:
    if separator.start() < floor:
        return None
    if separator.group() in ("@", FULLWIDTH_AT):
        return _at(text, floor, separator.start(), separator.end()) or _spaced(text, floor, separator)
    is_bracketed = not separator.group().replace(" ", "").isalpha()
    domain = _WORDED_DOMAIN.match(text, separator.end())
    if domain is None and is_bracketed:
        domain = _DOMAIN.match(text, separator.end())
    start = separator.start() if domain is None else _local_start(text, floor, separator.start())
    if domain is None or start == separator.start():
        return None
    plain = _DOT_WORDS.sub(".", domain.group()).replace(" ", "")
    return Span(start, domain.end(), canonical_email(text[start : separator.start()], plain))


def _at(text: str, floor: int, left: int, right: int) -> Span | None:
    domain = _DOMAIN.match(text, right)
    if domain is None:
        return None
    start = _local_start(text, floor, left)
    if start == left:
        return None
    end = _domain_end(domain)
    if text[end - 4 : end].rpartition(".")[2].lower() in _FILE_ENDINGS and not text[right:end].count(".") > 1:
        return None
    if start < left - 1 and text[start] in _AFFIX and text[end : end + 1] == {"{": "}"}.get(text[start], text[start]):
        start += 1
    return Span(start, end, canonical_email(text[start:left], text[right:end]))


def _spaced(text: str, floor: int, separator: re.Match[str]) -> Span | None:
    """Read `ana @ example . com`: at most one space at each joint, and an ending no sentence holds by chance."""
    right = separator.end() + (text[separator.end() : separator.end() + 1] == " ")
    left = separator.start() - (text[max(floor, separator.start() - 1) : separator.start()] == " ")
    domain = _SPACED_DOMAIN.match(text, right)
    if domain is None:
        return None
    start = _local_start(text, floor, left)
    return (
        None
        if start == left
        else Span(start, domain.end(), canonical_email(text[start:left], domain.group().replace(" ", "")))
    )


def _local_start(text: str, floor: int, end: int) -> int:
    """Return where the local part that ends at `end` begins; `end` when there is none."""
    floor = max(floor, end - _LONGEST_LOCAL)
    if text[end - 1 : end] == '"' and end - 1 > floor:
        quote = text.rfind('"', floor, end - 1)
        return quote if 0 <= quote < end - 2 and "\n" not in text[quote:end] else end
    atom = _ATOM.match(text[floor:end][::-1])
    local = text[end - (atom.end() if atom else 0) : end]
    if local.endswith("."):
        return end
    local = local[_tail_of_unspaced(local) :]
    for prefix in (_FIELD_NAME, _LEADING):
        local = prefix.sub("", local)
    return end - len(local)


def _tail_of_unspaced(local: str) -> int:
    """Return where the Latin tail begins when a script without spaces runs into it, else 0."""
    for i in range(len(local) - 1, -1, -1):
        if local[i] >= _FIRST_UNSPACED and local[i] != FULLWIDTH_AT:
            return i + 1 if i + 1 < len(local) else 0
    return 0


def _domain_end(domain: re.Match[str]) -> int:
    """Return the end of the domain without the next word a script or a missing space glued to it."""
    text = domain.group()
    cut = len(text)
    last = max(text.rfind(dot) for dot in _DOTS) + 1
    tail = text[last:]
    if tail[:2].isascii() and not tail.isascii():
        cut = last + next(i for i, char in enumerate(tail) if char >= "\u0080")
    elif text.count(".") > 1 and tail[:1].isupper() and tail[1:].islower() and text[: last - 1].islower():
        cut = last - 1
    return domain.start() + cut


def _plain_dots(domain: str) -> str:
    return re.sub(f"[{_DOTS}]", ".", domain)
