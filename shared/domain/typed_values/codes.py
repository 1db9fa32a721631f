"""Links, addresses, telephone numbers and identifiers: values whose characters are the meaning.

Prefers to find too much: a scheme of any kind, a bare host, any token that mixes letters and digits.
Source: design §5, §9 "Outgoing URLs".
"""

import re
from collections.abc import Iterator
from typing import Final

from shared.domain.typed_values.folding import Folded

Found = tuple[int, int, frozenset[str]]
"""Folded start, folded end, readings."""

MIN_BARE_ID_DIGITS: Final = 6
"""Digits from which a bare number is an identifier rather than a quantity. Source: ours (fault 042 serials)."""
MIN_CUED_ID_CHARS: Final = 3
"""Shortest identifier after a word such as "order". Source: ours."""

_TLDS: Final = (
    "com net org io shop store app co ai dev info biz online site me tv eu de fr es it nl pt be at ch uk us ca au br mx"
    " pl se no dk fi ie in jp cn ru xyz top ly gl example invalid test local"
)
_HOST: Final = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,6}"
_URL: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,15}://|www\.)[^\s<>\"'()\[\]{}|\\^]{1,2000}"
    r"|\b(?:mailto|tel|sms|javascript|data|whatsapp|file):[^\s<>\"'()\[\]{}]{1,2000}"
    rf"|(?<![\w@.-]){_HOST}(?:(?:{'|'.join(_TLDS.split())})\b(?!\.\w)(?::\d{{1,5}})?(?:[/?#][^\s<>\"'()\[\]{{}}]{{0,2000}})?|[a-z]{{2,24}}(?::\d{{1,5}})?[/][^\s<>\"'()\[\]{{}}]{{0,2000}})"
)
_EMAIL: Final = re.compile(r"[^\s@<>()\[\]{},;:\"|]{1,64}@[^\s@<>()\[\]{},;:\"|]{1,253}")
_PHONE: Final = re.compile(r"(?<![\w.,])(?:\+\s?)?\(?\d(?:[ \u00a0().\-/]{0,2}\d){6,14}(?![\w])")
_CUE: Final = (
    "order orders bestellung bestellnummer auftrag commande pedido orden ordine encomenda bestelling tracking suivi"
    " sendung sendungsnummer invoice rma sku ref reference referenz rif"
    " no nr num numero number nummer numer n° n.º nº code"
)
_CUES: Final = "|".join(re.escape(c) for c in sorted(_CUE.split(), key=len, reverse=True))
_CUED: Final = re.compile(
    rf"(?<![a-z0-9])(?:(?:{_CUES})[\s.:#-]{{1,3}}){{1,3}}"
    r"(?P<id>[a-z0-9](?:[a-z0-9_/-]{0,62}[a-z0-9])?)(?![a-z0-9])"
)
_HASHED: Final = re.compile(r"#\s?(?P<id>[a-z0-9](?:[a-z0-9_/.-]{0,62}[a-z0-9])?)")
_TOKEN: Final = re.compile(r"(?<![a-z0-9])[a-z0-9]{1,64}(?:[-_/][a-z0-9]{1,64}){0,10}")
_ORDINAL: Final = re.compile(r"\d{1,9}(?:st|nd|rd|th|x|er|eme|e|o|a)")
_TRAILING: Final = ".,;:!?*_~"


def find_urls(folded: Folded) -> Iterator[Found]:
    """Yield links with any scheme, `www.` links and bare hosts; canonical without scheme, `www.` and final slash."""
    for match in _URL.finditer(folded.text):
        raw = match.group().rstrip(_TRAILING)
        if not raw:
            continue
        start, end = folded.span(match.start(), match.start() + len(raw))
        yield match.start(), match.start() + len(raw), frozenset({_canonical_url(folded.original[start:end])})


def url_host(canonical: str) -> str:
    """Return the host of a canonical link, lower case, without user part or port."""
    return re.split(r"[/?#]", canonical, maxsplit=1)[0].rsplit("@", 1)[-1].split(":", 1)[0].lower()


def find_emails(text: str) -> Iterator[Found]:
    """Yield e-mail addresses, internationalised ones included, lower case."""
    for match in _EMAIL.finditer(text):
        raw = match.group().rstrip(_TRAILING)
        if not raw.endswith("@"):
            yield match.start(), match.start() + len(raw), frozenset({raw})


def find_phones(text: str) -> Iterator[Found]:
    """Yield telephone numbers written with a plus or separators; canonical digits."""
    for match in _PHONE.finditer(text):
        raw = match.group()
        digits = re.sub(r"\D", "", raw.replace("(0)", ""))
        if raw.strip() != digits and len(digits) >= 7:
            yield match.start(), match.end(), frozenset({digits})


def find_identifiers(text: str) -> Iterator[Found]:
    """Yield order numbers, SKUs, tracking codes and any token mixing letters and digits; canonical upper case."""
    for match in _HASHED.finditer(text):
        if any(c.isdigit() for c in match["id"]):
            yield match.start("id"), match.end("id"), frozenset({match["id"].upper()})
    for match in _TOKEN.finditer(text):
        token = match.group()
        digits = sum(c.isdigit() for c in token)
        is_mixed = digits > 0 and any(c.isalpha() for c in token)
        if (is_mixed and not _ORDINAL.fullmatch(token)) or digits >= MIN_BARE_ID_DIGITS:
            yield match.start(), match.end(), frozenset({token.upper()})
    for match in _CUED.finditer(text):
        token = match["id"]
        if any(c.isdigit() for c in token) and len(token) >= MIN_CUED_ID_CHARS:
            yield match.start("id"), match.end("id"), frozenset({token.upper()})


def _canonical_url(raw: str) -> str:
    scheme, separator, rest = raw.partition("://")
    if separator and scheme.lower() not in ("http", "https"):
        return f"{scheme.lower()}://{rest}"
    bare = rest if separator else raw
    host, slash, path = bare.partition("/")
    return (host.lower().removeprefix("www.") + slash + path).rstrip("/")
