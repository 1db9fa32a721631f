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
from shared.privacy.phone_shapes import (
    COMPACT_DATE,
    EXTENSION,
    MAX_DIGITS,
    MIN_DIGITS,
    Window,
    digits_of,
    has_phone_shape,
    is_free_standing,
    is_machine_number,
    window_at,
    with_extension,
)

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

_RUN: Final = re.compile(r"(?:\+ ?\(?|\(\+?)?\d+(?:[ ().\-/\t_~\u00b7\u2022]{1,4}\d+)*")
_UNIT: Final = re.compile(r"\(?[^\s/(]+")
_DATE: Final = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d([-./])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])"
    r"|(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|[12]\d|3[01])\2(?:19|20)\d\d)(?!\d)"
)
_MOBILE: Final = (PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE_OR_MOBILE)
_NANP_SHAPE: Final = re.compile(r"(?:1[ .\-])?(?:\([2-9]\d\d\)[ .\-]{0,2}|[2-9]\d\d[ .\-/])\d{3}[ .\-]\d{4}")
_NANP_DIGITS: Final = re.compile(r"1?[2-9]\d{9}")


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
        if run.end() - run.start() < MIN_DIGITS or not is_free_standing(text, run.start(), run.end()):
            continue
        start = run.start()
        for date in _DATE.finditer(text, run.start(), run.end()):
            yield from _in_run(search, start, date.start())
            start = date.end()
        yield from _in_run(search, start, run.end())


def canonical_phone(number: str, regions: tuple[str, ...]) -> str:
    """Return E.164 of a number known to be one, or its digits when no region of the tenant parses it."""
    written = number.strip()
    window = Window(0, len(written), written, digits_of(written), Cue.PHONE, is_lone=True)
    return _certain(_Search(written, regions), window) or window.digits


def _in_run(search: _Search, start: int, end: int) -> Iterator[Span]:
    """Yield the numbers of one run: valid stretches, longest first, else the whole run when the words vouch for it."""
    units = [(unit.start(), unit.end()) for unit in _UNIT.finditer(search.text, start, end)]
    if is_machine_number(search.text, units):
        return
    first, is_empty = 0, True
    while first < len(units):
        cue = None
        for last in _ends_within_number(search.text, units, first):
            cue = cue or _cue(search.text, units[first][0], units[last][1])
            window = window_at(search.text, units[first][0], units[last][1], cue)
            canonical = _certain(search, window)
            if canonical is not None:
                yield with_extension(search.text, window, canonical)
                first, is_empty = last, False
                break
        first += 1
    if is_empty and units:
        cue = _cue(search.text, units[0][0], units[-1][1])
        window = window_at(search.text, units[0][0], units[-1][1], cue)
        if _is_vouched_for(search, window):
            yield with_extension(search.text, window, window.digits)


def _certain(search: _Search, window: Window) -> str | None:
    """Return the canonical form when the digits alone make a telephone number of this tenant's regions."""
    if not has_phone_shape(search.text, window) or (window.cue is Cue.OTHER_NEAR and not window.has_plus):
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


def _is_written_for(window: Window, number: PhoneNumber, region: str) -> bool:
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
    if digits_of(phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)) == digits:
        return True
    national = phonenumbers.national_significant_number(number)
    return any(
        form.national_prefix_optional_when_formatting
        for form in plan.number_format
        if not form.leading_digits_pattern or re.match(form.leading_digits_pattern[-1], national)
    )


def _without_plus(search: _Search, window: Window) -> str | None:
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


def _north_american(search: _Search, window: Window) -> str | None:
    """Read three-three-four as a number even when its area code is not in service: people mistype and invent."""
    if window.cue is Cue.OTHER or not any(
        phonenumbers.country_code_for_region(region) == NANP_COUNTRY_CODE for region in search.regions
    ):
        return None
    if _NANP_SHAPE.fullmatch(window.written) or (window.is_lone and _NANP_DIGITS.fullmatch(window.digits)):
        return "+1" + window.digits[-10:]
    return None


def _is_vouched_for(search: _Search, window: Window) -> bool:
    """Tell whether the words around make a telephone number of digits that are not valid as one."""
    if not has_phone_shape(search.text, window):
        return False
    if window.cue is Cue.PHONE:
        return not COMPACT_DATE.fullmatch(window.written)
    if window.cue is Cue.NUMBER:
        return window.is_spaced or window.has_plus or len(window.digits) >= LONE_DIGITS
    return window.has_plus and window.cue is Cue.NONE and len(window.digits) > MIN_DIGITS


def _cue(text: str, start: int, end: int) -> Cue:
    """Return what the words say; a spoken extension says telephone."""
    extension = EXTENSION.match(text, end)
    return Cue.PHONE if extension and extension["word"] else cue_around(text, start, end)


def _ends_within_number(text: str, units: list[tuple[int, int]], first: int) -> list[int]:
    """Return the last units of stretches that begin at `first` and fit the longest number, longest first."""
    ends: list[int] = []
    n_digits = 0
    for last in range(first, len(units)):
        n_digits += len(digits_of(text[slice(*units[last])]))
        if n_digits > MAX_DIGITS:
            break
        if n_digits >= MIN_DIGITS:
            ends.append(last)
    return ends[::-1]


def _e164(number: PhoneNumber) -> str:
    return str(phonenumbers.format_number(number, PhoneNumberFormat.E164))
