"""Tokens for e-mail addresses and telephone numbers, and the way back.

A token is `[email:<uuid4>]` or `[phone:<uuid4>]`: one unique token per conversation for each value as it was written,
so that restoring gives the customer's own spelling. Owns the only place MaskedText is made from raw text. Only the
mappings handed in restore, so a token typed by a customer reads nobody else's value. Source: PV-01, faults 040, 044.
"""

import re
from collections.abc import Callable, Iterable, Mapping

from shared.domain.text import MaskedText
from shared.ports.vault import ContactKind, Masked, TokenMapping
from shared.privacy.altered_tokens import TOKEN, id_of, is_near, kind_of, restore_altered
from shared.privacy.altered_tokens import TOKEN_PATTERN as TOKEN_PATTERN
from shared.privacy.altered_tokens import RestoreError as RestoreError
from shared.privacy.altered_tokens import contains_token as contains_token
from shared.privacy.lost_values import missing_phrase
from shared.privacy.patterns import Contact, find_contacts


def mask(
    text: str,
    *,
    regions: tuple[str, ...],
    exempt: frozenset[str] = frozenset(),
    known: Mapping[str, str],
    new_token: Callable[[], str],
) -> Masked:
    """Replace every contact by its token.

    Shapes: `known` maps a value as written to the token it already has in this conversation; `new_token` returns fresh
    UUID4 text. Masking masked text changes nothing. restore(mask(x)) is x for every x that holds no token.
    Source: PV-01, fault 044.
    """
    contacts = find_contacts(text, regions=regions, exempt=exempt)
    tokens = dict(known)
    for contact in contacts:
        value = contact.written_in(text)
        if value not in tokens:
            tokens[value] = to_token(contact.kind, new_token())
    return replace_contacts(text, contacts, tokens)


def mask_alone(
    text: str, *, regions: tuple[str, ...], exempt: frozenset[str] = frozenset(), new_token: Callable[[], str]
) -> MaskedText:
    """Return the masked text of something that belongs to no conversation: its values are not kept by anyone."""
    return mask(text, regions=regions, exempt=exempt, known={}, new_token=new_token).text


def replace_contacts(text: str, contacts: Iterable[Contact], tokens: Mapping[str, str]) -> Masked:
    """Return the text with the token of each contact found in it; `tokens` maps every value as written to its token."""
    mappings: dict[str, TokenMapping] = {}
    parts, floor = [], 0
    for contact in contacts:
        value = contact.written_in(text)
        mappings[value] = TokenMapping(tokens[value], contact.kind, value)
        parts += [text[floor : contact.start], tokens[value]]
        floor = contact.end
    return Masked(MaskedText("".join([*parts, text[floor:]])), tuple(mappings.values()))


def restore(text: MaskedText, mappings: Iterable[TokenMapping], *, language: str = "en") -> str:
    """Put the values back into text a model wrote or saw, in one pass, so that a value is never read as a token.

    A token changed on the way (case, brackets, spaces, cut short) is restored when it can mean only one value; a token
    whose mapping is gone reads as a neutral phrase in the language. No token ever comes through.
    Raises: RestoreError when an altered token could mean none or several values.
    Source: PV-01, fault 044.
    """
    by_id = {id_of(mapping.token): mapping for mapping in mappings}
    parts, floor = [], 0
    for whole in TOKEN.finditer(text.value):
        mapping = by_id.get(id_of(whole.group()))
        if mapping is None and any(is_near(whole.group(), token_id) for token_id in by_id):
            raise RestoreError("a token differs from one of this conversation in a few digits")
        value = mapping.value if mapping else missing_phrase(kind_of(whole.group()), language)
        parts += [restore_altered(text.value[floor : whole.start()], by_id, language), value]
        floor = whole.end()
    return "".join([*parts, restore_altered(text.value[floor:], by_id, language)])


def restore_stored(text: MaskedText, mappings: Iterable[TokenMapping], *, language: str = "en") -> str:
    """Put the values back into text no model has touched, as `mask` left it: whole tokens only, nothing guessed.

    What merely resembles a token stays as the customer typed it; a token without mapping reads as a neutral phrase.
    """
    values = {mapping.token: mapping.value for mapping in mappings}

    def value(token: re.Match[str]) -> str:
        return values.get(token.group()) or missing_phrase(kind_of(token.group()), language)

    return TOKEN.sub(value, text.value)


def to_token(kind: ContactKind, token_id: str) -> str:
    """Return the token of a UUID as it stands in masked text."""
    return f"[{kind}:{token_id.lower()}]"
