"""E-mail addresses and telephone numbers in a customer's text: where they are and which are the same.

Owns what counts as personal contact data before any model sees a text; never what replaces it (`masking`). Our own
tokens and other UUIDs are never part of a find, nor are the contacts the merchant publishes.
Source: PV-01, faults 040–042.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import phonenumbers

from shared.domain.errors import SchemaError
from shared.ports.vault import ContactKind
from shared.privacy.emails import Span, canonical_email, find_emails
from shared.privacy.phones import canonical_phone, find_phones
from shared.privacy.visible import to_visible

UUID: Final = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
"""Pattern of a UUID: never a place to look for numbers (fault 040)."""
_BLANK: Final = "\x00"
"""Stands for each character of what must not be searched again; it is neither letter, digit nor space."""
_UUID: Final = re.compile(rf"\[(?:email|phone):{UUID}\]|(?<![0-9A-Za-z]){UUID}(?![0-9A-Za-z])")
"""A token with its brackets, whose word must not read as a cue, or any other UUID."""
_HINT: Final = re.compile(r"[@\uff20]|\d(?:\D{0,4}\d){6}|[\[({< ](?:at|arroba)[\])}> ]", re.IGNORECASE)
"""What every text with a contact in it holds; most messages end here."""


@dataclass(frozen=True, slots=True)
class Contact:
    """One address or number at text[start:end]; equal canonical forms reach the same mailbox or telephone."""

    kind: ContactKind
    start: int
    end: int
    canonical: str

    def written_in(self, text: str) -> str:
        """Return the contact as it is spelt in the text it was found in."""
        return text[self.start : self.end]


def find_contacts(text: str, *, regions: tuple[str, ...], exempt: frozenset[str] = frozenset()) -> tuple[Contact, ...]:
    """Find what must be masked.

    Shapes: in order of start, disjoint; offsets index the text as given. `exempt` holds canonical forms, see
    `canonical_contacts`. Linear in the text.
    Source: PV-01.
    """
    visible = to_visible(text)
    if not _HINT.search(visible.text):
        return ()
    searched = _UUID.sub(lambda uuid: _BLANK * len(uuid.group()), visible.text)
    emails = tuple(find_emails(searched))
    finds = [(span, ContactKind.EMAIL) for span in emails]
    finds += [(span, ContactKind.PHONE) for span in find_phones(_without(searched, emails), regions)]
    contacts = (Contact(kind, *visible.to_source(span.start, span.end), span.canonical) for span, kind in finds)
    return tuple(sorted((c for c in contacts if not _is_exempt(c, exempt)), key=lambda contact: contact.start))


def canonical_contacts(published: Iterable[str], *, regions: tuple[str, ...]) -> frozenset[str]:
    """Return the canonical forms of the merchant's published contacts, for `exempt`.

    Source: PV-01 ("published contacts" stay readable), TenantPolicy.published_contacts.
    """
    return frozenset(_canonical(contact.strip(), regions) for contact in published)


def validate_regions(regions: Iterable[str]) -> tuple[str, ...]:
    """Return the regions, each an ISO 3166 code with a numbering plan, in upper case.

    Raises: SchemaError naming the first unknown one: "UK" is written GB; a tenant would otherwise go unmasked.
    Source: fault 041.
    """
    known = tuple(regions)
    for region in known:
        if region not in phonenumbers.SUPPORTED_REGIONS:
            raise SchemaError(f"unknown telephone region {region!r}: use ISO 3166 codes such as 'GB'")
    return known


def _canonical(published: str, regions: tuple[str, ...]) -> str:
    visible = to_visible(published).text
    local, at, domain = visible.rpartition("@")
    return canonical_email(local, domain).lower() if at else canonical_phone(visible, regions)


def _is_exempt(contact: Contact, exempt: frozenset[str]) -> bool:
    """Compare without letter case and extension: the shop's mailbox in capitals is still the shop's."""
    return contact.canonical.lower().partition(";ext=")[0] in exempt


def _without(text: str, spans: tuple[Span, ...]) -> str:
    """Return the text with the spans blanked, offsets unchanged."""
    kept, floor = [], 0
    for span in spans:
        kept += [text[floor : span.start], _BLANK * (span.end - span.start)]
        floor = span.end
    return "".join([*kept, text[floor:]])
