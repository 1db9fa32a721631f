"""Where telephone numbers stand in visible text.

A number counts when it has the form people of the tenant's regions write, or an international prefix, or when the words
around it say so; never when they say it is an order, a parcel, a card, a price or a date. Parsing is libphonenumber's;
finding is ours: its matcher misses what customers type. Source: PV-01, libraries "PII", faults 040–042.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import phonenumbers
from phonenumbers import NumberParseException, PhoneMetadata, PhoneNumber, PhoneNumberFormat, PhoneNumberType

from shared.privacy.emails import Span
from shared.privacy.phone_cues import Cue, cue_around

MIN_DIGITS: Final = 7
"""Digits; a local number of the shortest numbering plans we mask. Source: libraries "PII"."""
MAX_DIGITS: Final = 15
"""Digits. Source: ITU-T E.164."""
PARSE_BUDGET: Final = 240
"""Parses a text; beyond it, runs of plausible length are masked unparsed: hostile text gains nothing. Ours."""
NANP_COUNTRY_CODE: Final = 1
"""The North American plan, whose numbers are recognised by shape alone. Source: ITU-T E.164."""

LONE_DIGITS: Final = 9
"""Fewest digits of an ungrouped number that is a whole message, or that "my number is" introduces. Ours."""
BARE_DIGITS: Final = 10
"""Fewest digits of an ungrouped number inside a sentence that says nothing about it. Ours."""
INTERNATIONAL_DIGITS: Final = 11
"""Fewest digits of a number with its country code but no plus. Ours."""
MACHINE_BLOCKS: Final = 4
"""Fewest blocks, and fewest digits a block, of a printed code such as a card number. Ours."""
MACHINE_DIGITS: Final = 12
"""A longer row of equal blocks is a printed code, not a national number. Ours."""
CURRENCY_CHARS: Final = 5
"""How far before an amount its currency stands, characters."""
LINK_CHARS: Final = 200
"""How far before a number a link may have begun, characters. Ours."""

_RUN: Final = re.compile(r"(?:\+ ?\(?|\(\+?)?\d+(?:[ ().\-/\t_~\u00b7\u2022]{1,4}\d+)*")
_UNIT: Final = re.compile(r"\(?[^\s/(]+")
_EXTENSION: Final = re.compile(
    r"\s{0,2},?\s{0,2}(?:(?P<word>extension|extn|ext|poste|durchwahl|anexo|interno|доб|内線|内线|分机)\.?:?\s{0,2}(?=\d)"
    r"|(?:x|#)\s?(?=\d\d))(?P<digits>\d{1,6})(?!\w)",
    re.IGNORECASE,
)
_SPACED_LETTER: Final = re.compile(r"(?<![^\W\d_])[^\W\d_] \Z")
_DATE: Final = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d([-./])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|[12]\d|3[01])\2(?:19|20)\d\d)(?!\d)"
)
_COMPACT_DATE: Final = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{4}|\d{6})?")
_DOTTED_QUAD: Final = re.compile(r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}")
_CARD: Final = re.compile(r"\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|\d{4}([ -])\d{6}\2\d{5}")
_DECIMAL: Final = re.compile(r"\d{1,4}\.\d+")
_TRUNK_IN_BRACKETS: Final = re.compile(r"\(0\)")
_CURRENCY_BEFORE: Final = re.compile(r"(?:[$€£¥₹₽₩₺]|\b(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|Rs)\.?)\s?\Z", re.IGNORECASE)
_CURRENCY_AFTER: Final = re.compile(
    r"(?:,\d{1,2})?\s?(?:[$€£¥₹₽₩₺%]|(?:USD|EUR|GBP|CHF|JPY|INR|CAD|AUD|euros?|dollars?|kr|zł)\b)", re.IGNORECASE
)
_MOBILE: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
_NANP_SHAPE: Final = re.compile(r"(?:1[ .\-])?(?:\([2-9]\d\d\)[ .\-]{0,2}|[2-9]\d\d[ .\-/])\d{3}[ .\-]\d{4}")
_NANP_DIGITS: Final = re.compile(r"1?[2-9]\d{9}")
_JOINED_CUE: Final = re.compile(
    r"(?:^|[^a-z])(?:ph|tel|phone|mob|mobile|cell|call|on|at|no|number|whatsapp|wa)[.:_\-]?\Z", re.IGNORECASE
)
_ADDRESS_BAR: Final = re.compile(r"(?:https?://|www\.)\S*\Z")
_DIALLED_ADDRESS: Final = re.compile(r"(?:wa\.me/|phone=|tel[:=])\+?\Z", re.IGNORECASE)
_FIRST_UNSPACED: Final = "\u0e00"
"""From here on scripts set no space around a number. Source: Unicode."""


@dataclass(frozen=True, slots=True)
class _Window:
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
        return "+" in self.written[:2]

    @property
    def is_spaced(self) -> bool:
        """Whether the digits are grouped as people group telephone numbers."""
        return not self.written.isdigit() and not self.has_plus


@dataclass(slots=True)
class _Search:
    """One text being searched; the parse budget is the only thing that changes."""

    text: str
    regions: tuple[str, ...]
    budget: int = field(default=PARSE_BUDGET)

    def parse(self, digits: str, region: str | None) -> PhoneNumber | None:
        """Return the parsed number, or None when it is none or not a valid one."""
        self.budget -= 1
        try:
            number = phonenumbers.parse(digits, region)
        except NumberParseException:
            return None
        return number if phonenumbers.is_valid_number(number) else None


def find_phones(text: str, regions: tuple[str, ...]) -> Iterator[Span]:
    """Yield the telephone numbers in visible text, in order, disjoint.

    Shapes: canonical is E.164 when the number parses (`;ext=` appended), else its digits.
    """
    search = _Search(text, regions)
    for run in _RUN.finditer(text):
        if run.end() - run.start() < MIN_DIGITS or not _is_free_standing(text, run.start(), run.end()):
            continue
        start = run.start()
        for date in _DATE.finditer(text, run.start(), run.end()):
            yield from _in_run(search, start, date.start())
            start = date.end()
        yield from _in_run(search, start, run.end())


def canonical_phone(number: str, regions: tuple[str, ...]) -> str:
    """Return E.164 of a number known to be one, or its digits when no region of the tenant parses it."""
    written = number.strip()
    window = _Window(0, len(written), written, _digits(written), Cue.PHONE, is_lone=True)
    return _certain(_Search(written, regions), window) or window.digits


def _in_run(search: _Search, start: int, end: int) -> Iterator[Span]:
    """Yield the numbers of one run: valid stretches, longest first, else the whole run when the words vouch for it."""
    units = [(unit.start(), unit.end()) for unit in _UNIT.finditer(search.text, start, end)]
    if _is_machine_number(search.text, units):
        return
    first, is_empty = 0, True
    while first < len(units):
        cue = None
        for last in _ends_within_number(search.text, units, first):
            cue = cue or _cue(search.text, units[first][0], units[last][1])
            window = _window(search.text, units[first][0], units[last][1], cue)
            canonical = _certain(search, window)
            if canonical is not None:
                yield _with_extension(search.text, window, canonical)
                first, is_empty = last, False
                break
        first += 1
    if is_empty and units:
        cue = _cue(search.text, units[0][0], units[-1][1])
        window = _window(search.text, units[0][0], units[-1][1], cue)
        if _is_vouched_for(search, window):
            yield _with_extension(search.text, window, window.digits)


def _certain(search: _Search, window: _Window) -> str | None:
    """Return the canonical form when the digits alone make a telephone number of this tenant's regions."""
    if not _has_phone_shape(search.text, window) or (window.cue is Cue.OTHER_NEAR and not window.has_plus):
        return None
    if search.budget <= 0:
        return window.digits
    international = window.digits.removeprefix("00")
    if window.has_plus or international != window.digits:
        number = search.parse("+" + international, None)
        if number is not None or window.has_plus:
            return _e164(number) if number is not None else None
    for region in search.regions:
        number = search.parse(window.digits, region)
        if number is not None and _is_written_for(window, number, region):
            return _e164(number)
    return _without_plus(search, window) or _north_american(search, window)


def _is_written_for(window: _Window, number: PhoneNumber, region: str) -> bool:
    """Tell whether people of the region write the number like this, given what the words around say."""
    if window.cue in (Cue.PHONE, Cue.NUMBER):
        return True
    if not _has_trunk_prefix(window.digits, number, region):
        return False
    if window.is_spaced:
        return True
    return window.cue is Cue.NONE and len(window.digits) >= (LONE_DIGITS if window.is_lone else BARE_DIGITS)


def _has_trunk_prefix(digits: str, number: PhoneNumber, region: str) -> bool:
    """Tell whether the digits begin as dialled at home: `0…` where the region has it, always true where it has none."""
    plan = PhoneMetadata.metadata_for_region(region)
    if plan is None or not plan.national_prefix or number.country_code == NANP_COUNTRY_CODE:
        return True
    if digits.startswith(plan.national_prefix):
        return True
    if _digits(phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)) == digits:
        return True
    national = phonenumbers.national_significant_number(number)
    return any(
        form.national_prefix_optional_when_formatting
        for form in plan.number_format
        if not form.leading_digits_pattern or re.match(form.leading_digits_pattern[-1], national)
    )


def _without_plus(search: _Search, window: _Window) -> str | None:
    """Read `44 20 7946 0958`: the country code of one of the tenant's regions, its plus forgotten."""
    if len(window.digits) < INTERNATIONAL_DIGITS or window.cue is Cue.OTHER:
        return None
    codes = {str(phonenumbers.country_code_for_region(region)) for region in search.regions}
    if not window.digits.startswith(tuple(codes)):
        return None
    number = search.parse("+" + window.digits, None)
    if number is None:
        return None
    is_told = window.is_spaced or window.cue in (Cue.PHONE, Cue.NUMBER)
    return _e164(number) if is_told or phonenumbers.number_type(number) in _MOBILE else None


def _north_american(search: _Search, window: _Window) -> str | None:
    """Read three-three-four as a number even when its area code is not in service: people mistype and invent."""
    if window.cue is Cue.OTHER or not any(
        phonenumbers.country_code_for_region(region) == NANP_COUNTRY_CODE for region in search.regions
    ):
        return None
    if _NANP_SHAPE.fullmatch(window.written) or (window.is_lone and _NANP_DIGITS.fullmatch(window.digits)):
        return "+1" + window.digits[-10:]
    return None


def _is_vouched_for(search: _Search, window: _Window) -> bool:
    """Tell whether the words around make a telephone number of digits that are not valid as one."""
    if not _has_phone_shape(search.text, window):
        return False
    if window.cue is Cue.PHONE:
        return not _COMPACT_DATE.fullmatch(window.written)
    if window.cue is Cue.NUMBER:
        return window.is_spaced or window.has_plus or len(window.digits) >= LONE_DIGITS
    return window.has_plus and window.cue is Cue.NONE and len(window.digits) > MIN_DIGITS


def _has_phone_shape(text: str, window: _Window) -> bool:
    """Tell whether length and shape allow a number: no card, price, address of a machine, decimal."""
    if not MIN_DIGITS <= len(window.digits) <= MAX_DIGITS:
        return False
    if window.has_plus:
        return True
    is_card = _CARD.fullmatch(window.written) and not window.digits.startswith("00")
    if is_card or _DOTTED_QUAD.fullmatch(window.written):
        return False
    if _DECIMAL.fullmatch(window.written) and window.cue is not Cue.PHONE:
        return False
    before = text[max(0, window.start - CURRENCY_CHARS) : window.start]
    return not _CURRENCY_BEFORE.search(before) and not _CURRENCY_AFTER.match(text, window.end)


def _is_machine_number(text: str, units: list[tuple[int, int]]) -> bool:
    """Tell whether a run is longer than a number and cut into equal blocks or single digits, as printed codes are."""
    sizes = [end - start for start, end in units]
    n_chars = sum(sizes)
    if len(sizes) < MACHINE_BLOCKS or n_chars <= MACHINE_DIGITS:
        return False
    if n_chars < 2 * len(sizes):
        return n_chars > MAX_DIGITS or _SPACED_LETTER.search(text[: units[0][0]][-3:]) is not None
    return sizes[0] >= MACHINE_BLOCKS and len(set(sizes[:-1])) == 1


def _cue(text: str, start: int, end: int) -> Cue:
    """Return what the words say; a spoken extension says telephone."""
    extension = _EXTENSION.match(text, end)
    return Cue.PHONE if extension and extension["word"] else cue_around(text, start, end)


def _ends_within_number(text: str, units: list[tuple[int, int]], first: int) -> list[int]:
    """Return the last units of stretches that begin at `first` and fit the longest number, longest first."""
    ends: list[int] = []
    n_digits = 0
    for last in range(first, len(units)):
        n_digits += len(_digits(text[slice(*units[last])]))
        if n_digits > MAX_DIGITS:
            break
        if n_digits >= MIN_DIGITS:
            ends.append(last)
    return ends[::-1]


def _window(text: str, start: int, end: int, cue: Cue) -> _Window:
    written = text[start:end]
    if written.startswith("(") and ")" not in written:
        start, written = start + 1, written[1:]
    digits = _digits(_TRUNK_IN_BRACKETS.sub("", written) if "+" in written[:2] else written)
    return _Window(start, end, written, digits, cue, is_lone=not text[:start].strip() and not text[end:].strip(" .!"))


def _with_extension(text: str, window: _Window, canonical: str) -> Span:
    extension = _EXTENSION.match(text, window.end)
    if extension is None:
        return Span(window.start, window.end, canonical)
    return Span(window.start, extension.end(), f"{canonical};ext={extension['digits']}")


def _is_free_standing(text: str, start: int, end: int) -> bool:
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
    return not _is_word_letter(after[:1]) or _EXTENSION.match(text, end) is not None


def _is_word_letter(char: str) -> bool:
    return char.isalpha() and char < _FIRST_UNSPACED


def _digits(written: str) -> str:
    return "".join(char for char in written if char.isdigit())


def _e164(number: PhoneNumber) -> str:
    return str(phonenumbers.format_number(number, PhoneNumberFormat.E164))
