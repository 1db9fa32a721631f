"""Tokens as models give them back: changed in case, brackets and spaces, cut short, or damaged.

Owns what a token looks like and which damage still leaves its meaning certain; never guesses. Source: fault 044, PV-01.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.domain.errors import GroundingError
from shared.ports.vault import ContactKind, TokenMapping
from shared.privacy.lost_values import missing_phrase

TOKEN_PATTERN: Final = r"\[(?:email|phone):[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\]"  # noqa: S105 - a pattern, no secret
"""Pattern of one token, for whoever must recognise tokens. Source: PV-01 ("reversible UUID tokens")."""
ALTERED_HEX_CHARS: Final = 8
"""Hex digits of a token's id that must survive for an altered token to be recognised: the first block. Ours."""
_UUID_HEX_CHARS: Final = 32
_TAIL_HEX_CHARS: Final = 12
"""Hex digits of a UUID's last block; enough to recognise what is left of a token cut at its front."""
_LONGEST_JOINT: Final = 3
"""Characters a model may put between two hex digits of a token. Ours."""
_HEX: Final = frozenset("0123456789abcdef")
_JOINTS: Final = frozenset("-\u2010\u2011\u2012\u2013\u2014_\u200b\u00ad")
_SPACES: Final = frozenset(" \u00a0\n")
TOKEN: Final = re.compile(TOKEN_PATTERN)
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


class RestoreError(GroundingError):
    """A token was altered so that its value is not certain: the text is held, never sent."""


@dataclass(frozen=True, slots=True)
class _Find:
    """A token in model text; `mapping` None when it is whole but nobody's in this conversation."""

    end: int
    kind: ContactKind
    mapping: TokenMapping | None


def restore_altered(text: str, by_id: Mapping[str, TokenMapping], language: str) -> str:
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


def contains_token(text: str) -> bool:
    """Tell whether a token, whole or recognisably altered, stands in the text: such a text is not sent."""
    return TOKEN.search(text) is not None or _REMAINS.search(text) is not None


def may_hold_token(text: str) -> bool:
    """Tell whether restoring could change the text or refuse it; most texts it could not."""
    return _ANCHOR.search(text) is not None or _REMAINS.search(text) is not None


def _read(text: str, anchor: re.Match[str], by_id: Mapping[str, TokenMapping]) -> _Find | None:
    """Return the token that begins at the anchor, or None when the hex digits there are none of ours.

    Raises: RestoreError when they begin like a token but go on like no single one.
    """
    start = anchor.start("hex")
    beginning = anchor["hex"].lower()
    kind = kind_of(anchor["kind"] or "")
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
    """Follow hex digits from `start`, over separators, as far as the id goes; return the end and how many were read.

    White space joins only the digits of a whole id: after a stump, the next word is no part of it.
    """
    whole = _walk_over(text, start, token_id, _JOINTS | _SPACES)
    return whole if whole[1] == _UUID_HEX_CHARS else _walk_over(text, start, token_id, _JOINTS)


def _walk_over(text: str, start: int, token_id: str | None, joints: frozenset[str]) -> tuple[int, int]:
    end, position, n_hex = start, start, 0
    while position < len(text) and n_hex < _UUID_HEX_CHARS:
        char = text[position].lower()
        if char in _HEX and (token_id is None or token_id[n_hex] == char):
            n_hex += 1
            end = position + 1
        elif char not in joints or position - end >= _LONGEST_JOINT:
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


def is_near(token: str, token_id: str) -> bool:
    """Tell whether a whole token shares its first or last block with an id: rather a slip than a stranger."""
    read = id_of(token)
    return (
        read[:ALTERED_HEX_CHARS] == token_id[:ALTERED_HEX_CHARS]
        or read[-_TAIL_HEX_CHARS:] == token_id[-_TAIL_HEX_CHARS:]
    )


def id_of(token: str) -> str:
    """Return the hex digits of a token's id."""
    return token.partition(":")[2].strip("]").replace("-", "").lower()


def kind_of(word: str) -> ContactKind:
    """Return the kind a token, or a model's rendering of its word, names; e-mail when it names none."""
    return ContactKind.PHONE if "phone" in word.lower() else ContactKind.EMAIL
