"""Tokens for e-mail addresses and telephone numbers, and the way back.

A token is `[email:<uuid4>]` or `[phone:<uuid4>]`: one unique token per conversation for each value as it was written,
so that restoring gives the customer's own spelling. Owns the only place MaskedText is made from raw text. Only the
mappings handed in restore, so a token typed by a customer reads nobody else's value. Source: PV-01, faults 040, 044.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain.errors import GroundingError
from shared.domain.text import MaskedText
from shared.ports.vault import ContactKind, Masked, TokenMapping
from shared.privacy.patterns import Contact, find_contacts

TOKEN_PATTERN: Final = r"\[(?:email|phone):[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\]"  # noqa: S105 - a pattern, no secret
"""Pattern of one token, for whoever must recognise tokens. Source: PV-01 ("reversible UUID tokens")."""
ALTERED_HEX_CHARS: Final = 8
"""Hex digits of a token's id that must survive for an altered token to be recognised: the first block. Ours."""


class RestoreError(GroundingError):
    """A token was altered so that its value is not certain: the text is held, never sent."""


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
    by_id = {_hex(mapping.token): mapping for mapping in mappings}
    parts, floor = [], 0
    for whole in _TOKEN.finditer(text.value):
        mapping = by_id.get(_hex(whole.group()))
        if mapping is None and any(_is_near(whole.group(), token_id) for token_id in by_id):
            raise RestoreError("a token differs from one of this conversation in a few digits")
        value = mapping.value if mapping else missing_phrase(_kind(whole.group()), language)
        parts += [_restore_altered(text.value[floor : whole.start()], by_id, language), value]
        floor = whole.end()
    return "".join([*parts, _restore_altered(text.value[floor:], by_id, language)])


def restore_stored(text: MaskedText, mappings: Iterable[TokenMapping], *, language: str = "en") -> str:
    """Put the values back into text no model has touched, as `mask` left it: whole tokens only, nothing guessed.

    What merely resembles a token stays as the customer typed it; a token without mapping reads as a neutral phrase.
    """
    values = {mapping.token: mapping.value for mapping in mappings}

    def value(token: re.Match[str]) -> str:
        return values.get(token.group()) or missing_phrase(_kind(token.group()), language)

    return _TOKEN.sub(value, text.value)


def contains_token(text: str) -> bool:
    """Tell whether a token, whole or recognisably altered, stands in the text: such a text is not sent."""
    return _TOKEN.search(text) is not None or _REMAINS.search(text) is not None


def to_token(kind: ContactKind, token_id: str) -> str:
    """Return the token of a UUID as it stands in masked text."""
    return f"[{kind}:{token_id.lower()}]"


def missing_phrase(kind: ContactKind, language: str) -> str:
    """Return what a reader sees in place of a value whose mapping has expired or was erased."""
    phrases = _GONE.get(language.lower().partition("-")[0], _GONE["en"])
    return phrases[kind is ContactKind.PHONE]


@dataclass(frozen=True, slots=True)
class _Find:
    """A token in model text; `mapping` None when it is whole but nobody's in this conversation."""

    end: int
    kind: ContactKind
    mapping: TokenMapping | None


def _restore_altered(text: str, by_id: Mapping[str, TokenMapping], language: str) -> str:
    """Restore what stands between whole tokens. Raises: RestoreError."""
    parts: list[str] = []
    kept, floor = [], 0
    for anchor in _ANCHOR.finditer(text):
        find = _read(text, anchor, by_id) if anchor.start() >= floor else None
        if find is not None:
            kept.append(text[floor : anchor.start()])
            parts += [kept[-1], find.mapping.value if find.mapping else missing_phrase(find.kind, language)]
            floor = find.end
    kept.append(text[floor:])
    _refuse_remains(kept, by_id)
    return "".join([*parts, kept[-1]])


def _read(text: str, anchor: re.Match[str], by_id: Mapping[str, TokenMapping]) -> _Find | None:
    """Return the token that begins at the anchor, or None when the hex digits there are none of ours.

    Raises: RestoreError when they begin like a token but go on like no single one.
    """
    start = anchor.start("hex")
    beginning = anchor["hex"].lower()
    kind = _kind(anchor["kind"] or "")
    ours = [token_id for token_id in by_id if token_id.startswith(beginning)]
    if not ours:
        end, n_hex = _walk(text, start, None)
        if n_hex == _UUID_HEX_CHARS and anchor["kind"]:
            return _Find(_close(text, end, anchor), kind, None)
        return None
    reach = {token_id: _walk(text, start, token_id) for token_id in ours}
    furthest = max(n_hex for _, n_hex in reach.values())
    best = [token_id for token_id, (_, n_hex) in reach.items() if n_hex == furthest]
    end = reach[best[0]][0]
    if len(best) > 1 or _GOES_ON.match(text, end):
        raise RestoreError("an altered token could mean none or several values")
    return _Find(_close(text, end, anchor), kind, by_id[best[0]])


def _walk(text: str, start: int, token_id: str | None) -> tuple[int, int]:
    """Follow hex digits from `start`, over separators, as far as the id goes; return the end and how many were read."""
    end, position, n_hex = start, start, 0
    while position < len(text) and n_hex < _UUID_HEX_CHARS:
        char = text[position].lower()
        if char in _HEX and (token_id is None or token_id[n_hex] == char):
            n_hex += 1
            end = position + 1
        elif char not in _JOINTS or position - end >= _LONGEST_JOINT:
            break
        position += 1
    return end, n_hex


def _close(text: str, end: int, anchor: re.Match[str]) -> int:
    """Return the end including the closing bracket of a token whose opening one belongs to it."""
    closing = _CLOSING.match(text, end)
    return closing.end() if closing and anchor["open"] else end


def _refuse_remains(kept: list[str], by_id: Mapping[str, TokenMapping]) -> None:
    """Hold text in which a piece of a token is left over.

    Raises: RestoreError.
    """
    tails = [token_id[-_TAIL_HEX_CHARS:] for token_id in by_id]
    for part in kept:
        if _REMAINS.search(part) or any(tail in part.lower() for tail in tails):
            raise RestoreError("a piece of a token is left over")


def _is_near(token: str, token_id: str) -> bool:
    """Tell whether a whole token shares its first or last block with an id: rather a slip than a stranger."""
    read = _hex(token)
    return (
        read[:ALTERED_HEX_CHARS] == token_id[:ALTERED_HEX_CHARS]
        or read[-_TAIL_HEX_CHARS:] == token_id[-_TAIL_HEX_CHARS:]
    )


def _hex(token: str) -> str:
    """Return the hex digits of a token's id."""
    return token.partition(":")[2].strip("]").replace("-", "").lower()


def _kind(word: str) -> ContactKind:
    return ContactKind.PHONE if "phone" in word.lower() else ContactKind.EMAIL


_UUID_HEX_CHARS: Final = 32
_TAIL_HEX_CHARS: Final = 12
"""Hex digits of a UUID's last block; enough to recognise what is left of a token cut at its front."""
_LONGEST_JOINT: Final = 3
"""Characters a model may put between two hex digits of a token. Ours."""
_HEX: Final = frozenset("0123456789abcdef")
_JOINTS: Final = frozenset("-\u2010\u2011\u2012\u2013\u2014_ \u00a0\n\u200b\u00ad")
_TOKEN: Final = re.compile(TOKEN_PATTERN)
_KIND: Final = r"(?:e-?mail|phone)\s{0,2}[:=_\-]"
_ANCHOR: Final = re.compile(
    rf"(?:(?P<open>\\?[\[({{<\u3010]\s{{0,2}}(?=e-?mail|phone))?(?P<kind>{_KIND}(?(open)\s{{0,2}}))|(?<![0-9A-Za-z]))"
    rf"(?P<hex>[0-9a-f]{{{ALTERED_HEX_CHARS}}})",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(r"\s{0,2}(?:\.{3}|\u2026)?\\?[\])}>\u3011]")
_GOES_ON: Final = re.compile(r"[-_\u2010-\u2014]?[0-9a-z]", re.IGNORECASE)
_REMAINS: Final = re.compile(
    rf"[\[({{<\u3010]\s{{0,2}}{_KIND}\s{{0,2}}(?=[0-9]{{0,8}}[a-f])(?=[a-f]{{0,8}}[0-9])[0-9a-f]{{4,}}(?![0-9a-z@.])",
    re.IGNORECASE,
)
"""The bracketed beginning of a token: its id holds a letter and a digit, which a word or a number would not."""
_GONE: Final[dict[str, tuple[str, str]]] = {
    "en": ("the e-mail address you gave us", "the phone number you gave us"),
    "de": ("die von Ihnen angegebene E-Mail-Adresse", "die von Ihnen angegebene Telefonnummer"),
    "fr": ("l’adresse e-mail que vous nous avez indiquée", "le numéro de téléphone que vous nous avez indiqué"),
    "es": ("la dirección de correo que nos facilitó", "el número de teléfono que nos facilitó"),
    "it": ("l’indirizzo e-mail che ci ha indicato", "il numero di telefono che ci ha indicato"),
    "pt": ("o endereço de e-mail que nos indicou", "o número de telefone que nos indicou"),
    "nl": ("het e-mailadres dat u ons gaf", "het telefoonnummer dat u ons gaf"),
    "pl": ("podany przez Państwa adres e-mail", "podany przez Państwa numer telefonu"),
    "sv": ("e-postadressen du gav oss", "telefonnumret du gav oss"),
    "da": ("den e-mailadresse, du gav os", "det telefonnummer, du gav os"),
    "ru": ("указанный вами адрес электронной почты", "указанный вами номер телефона"),
    "uk": ("вказана вами адреса електронної пошти", "вказаний вами номер телефону"),
    "tr": ("bize verdiğiniz e-posta adresi", "bize verdiğiniz telefon numarası"),
    "ar": ("عنوان البريد الإلكتروني الذي زودتنا به", "رقم الهاتف الذي زودتنا به"),
    "hi": ("आपका दिया हुआ ई-मेल पता", "आपका दिया हुआ फ़ोन नंबर"),
    "ja": ("お知らせいただいたメールアドレス", "お知らせいただいた電話番号"),
    "ko": ("알려주신 이메일 주소", "알려주신 전화번호"),
    "zh": ("您提供的电子邮箱", "您提供的电话号码"),
}
"""What stands for a lost e-mail address and telephone number, by language; English for the others."""
