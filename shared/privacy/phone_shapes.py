"""The shapes of digits: what a telephone number may look like, and what prints, prices and machines look like.

Owns judgments that need no numbering plan and no words; `phones` adds those. Source: libraries "PII", faults 040, 042.
"""

import re
from dataclasses import dataclass
from typing import Final

from shared.privacy.emails import Span
from shared.privacy.phone_cues import Cue

MIN_DIGITS: Final = 7
"""Digits; a local number of the shortest numbering plans we mask. Source: libraries "PII"."""
MAX_DIGITS: Final = 15
"""Digits. Source: ITU-T E.164."""
MACHINE_BLOCKS: Final = 4
"""Fewest blocks, and fewest digits a block, of a printed code such as a card number. Ours."""
MACHINE_DIGITS: Final = 12
"""A longer row of equal blocks is a printed code, not a national number. Ours."""
CURRENCY_CHARS: Final = 5
"""How far before an amount its currency stands, characters."""
LINK_CHARS: Final = 200
"""How far before a number a link may have begun, characters. Ours."""


EXTENSION: Final = re.compile(
    r"\s{0,2},?\s{0,2}(?:(?P<word>extension|extn|ext|poste|durchwahl|anexo|interno|доб|内線|内线|分机)\.?:?\s{0,2}(?=\d)"
    r"|(?:x|#)\s?(?=\d\d))(?P<digits>\d{1,6})(?!\w)",
    re.IGNORECASE,
)
_SPACED_LETTER: Final = re.compile(r"(?<![^\W\d_])[^\W\d_] \Z")
COMPACT_DATE: Final = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{4}|\d{6})?")
_DOTTED_QUAD: Final = re.compile(r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}")
_CARD: Final = re.compile(r"\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{5}")
_DECIMAL: Final = re.compile(r"\d{1,4}\.\d+")
_ROUND: Final = re.compile(
    r"[1-9]\d{0,2}(?:[ .]\d{3})*[ .]000(?: ?- ?[1-9]\d{0,2}(?:[ .]\d{3})*[ .]000)?|[1-9]\d*000 ?- ?[1-9]\d*000"
)
"""Grouped thousands, and ranges of them: quantities, distances, years."""
_TRUNK_IN_BRACKETS: Final = re.compile(r"\(0\)")
_CURRENCY_BEFORE: Final = re.compile(r"(?:[$€£¥₹₽₩₺]|\b(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|Rs)\.?)\s?\Z", re.IGNORECASE)
_CURRENCY_AFTER: Final = re.compile(
    r"(?:,\d{1,2})?\s?(?:[$€£¥₹₽₩₺%]|(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|euros?|dollars?|kr|zł)\b)", re.IGNORECASE
)
_JOINED_CUE: Final = re.compile(
    r"(?:^|[^a-z])(?:ph|tel|phone|mob|mobile|cell|call|on|at|no|number|whatsapp|wa)[.:_\-]?\Z", re.IGNORECASE
)
_ADDRESS_BAR: Final = re.compile(r"(?:https?://|www\.)\S*\Z")
_DIALLED_ADDRESS: Final = re.compile(r"(?:wa\.me/|phone=|tel[:=])\+?\Z", re.IGNORECASE)
_FIRST_UNSPACED: Final = "\u0e00"
"""From here on scripts set no space around a number. Source: Unicode."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of digits and separators that may be one number."""

    start: int
    end: int
    written: str
    digits: str
    cue: Cue
    is_lone: bool
    """Nothing else stands in the message: an answer to "what is your number?"."""

    @property
    def has_plus(self) -> bool:
        """Whether it claims to be international."""
        return "+" in self.written[:2]

    @property
    def is_spaced(self) -> bool:
        """Whether the digits are grouped as people group telephone numbers."""
        return not self.written.isdigit() and not self.has_plus


def has_phone_shape(text: str, window: Window) -> bool:
    """Tell whether length and shape allow a number: no card, price, address of a machine, decimal."""
    if not MIN_DIGITS <= len(window.digits) <= MAX_DIGITS:
        return False
    if window.has_plus:
        return True
    is_card = _CARD.fullmatch(window.written) and not window.digits.startswith("00")
    if is_card or _DOTTED_QUAD.fullmatch(window.written):
        return False
    is_quantity = _DECIMAL.fullmatch(window.written) or _ROUND.fullmatch(window.written)
    if is_quantity and window.cue is not Cue.PHONE:
        return False
    before = text[max(0, window.start - CURRENCY_CHARS) : window.start]
    return not _CURRENCY_BEFORE.search(before) and not _CURRENCY_AFTER.match(text, window.end)


def is_machine_number(text: str, units: list[tuple[int, int]]) -> bool:
    """Tell whether a run is longer than a number and cut into equal blocks or single digits, as printed codes are."""
    sizes = [end - start for start, end in units]
    n_chars = sum(sizes)
    if len(sizes) < MACHINE_BLOCKS or n_chars <= MACHINE_DIGITS:
        return False
    if n_chars < 2 * len(sizes):
        return n_chars > MAX_DIGITS or _SPACED_LETTER.search(text[: units[0][0]][-3:]) is not None
    return sizes[0] >= MACHINE_BLOCKS and len(set(sizes[:-1])) == 1


def is_free_standing(text: str, start: int, end: int) -> bool:
    """Tell whether the run is not the tail or head of a code, a GUID or a link."""
    before = text[max(0, start - LINK_CHARS) : start]
    if _ADDRESS_BAR.search(before):
        return _DIALLED_ADDRESS.search(before) is not None
    if before[-1:] in ("=", "\\", "@"):
        return _DIALLED_ADDRESS.search(before) is not None
    joined = before[-2:-1] if before[-1:] in ("-", "_", "#", "/", ".", ",") else before[-1:]
    if _is_word_letter(joined) and _JOINED_CUE.search(before) is None:
        return before[-1:] in (",", "/", ".") and before[-2:-1].isalpha()
    after = text[end : end + 2]
    if after[:1] in ("-", "_") and _is_word_letter(after[1:]):
        return False
    return not _is_word_letter(after[:1]) or EXTENSION.match(text, end) is not None


def _is_word_letter(char: str) -> bool:
    return char.isalpha() and char < _FIRST_UNSPACED


def digits_of(written: str) -> str:
    """Return the digits alone."""
    return "".join(char for char in written if char.isdigit())


def window_at(text: str, start: int, end: int, cue: Cue) -> Window:
    """Return the stretch, without a bracket that only opens."""
    written = text[start:end]
    if written.startswith("(") and ")" not in written:
        start, written = start + 1, written[1:]
    digits = digits_of(_TRUNK_IN_BRACKETS.sub("", written) if "+" in written[:2] else written)
    is_lone = end - start >= len(text.strip(" \n.!"))
    return Window(start, end, written, digits, cue, is_lone)


def with_extension(text: str, window: Window, canonical: str) -> Span:
    """Return the span of the number and of the extension written after it."""
    extension = EXTENSION.match(text, window.end)
    if extension is None:
        return Span(window.start, window.end, canonical)
    return Span(window.start, extension.end(), f"{canonical};ext={extension['digits']}")
