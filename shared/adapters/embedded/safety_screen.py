"""The offline SafetyScreen: finds prompt attacks and unsafe content in a window of texts.

Owns undoing disguises and the trained heads' thresholds. It can add a block; a pass of it approves nothing.
Source: SU-01, design §5 "Local safety rules", §9 "Screening normalises first", fault 034.
"""

import re
from collections.abc import Sequence
from typing import Final

from shared.adapters.embedded.artefacts import shipped_head
from shared.adapters.embedded.intent_classifier import readable
from shared.adapters.embedded.passages import to_pieces
from shared.domain.text import MaskedText, ModelText
from shared.ports.models import Embedder, ScreenVerdict

WINDOW_CHARS: Final = 4000
"""Most of the joined window that is read beside the texts on their own. Unit: characters. Value ours."""

_TAG_LETTERS = {code: chr(code - 0xE0000) for code in range(0xE0020, 0xE007F)}
_LOOKALIKES = str.maketrans("аеорсухіјѕһԁοαενικτρ", "aeopcyxijshdoaeviktp")
_WORD = re.compile(r"\w+")
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_LOOKALIKE = re.compile(r"[Ѐ-ӿͰ-Ͽ]")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W\d_][ .\-_*]){3,}[^\W\d_](?![^\W_])")


class EmbeddedSafetyScreen:
    """A SafetyScreen that needs nothing but an Embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def screen(self, texts: Sequence[ModelText]) -> ScreenVerdict:
        """Return which categories any text, or the texts read as one, reach.

        Reads every text undisguised, whole and by sentence, and the window joined: an attack may be spread over turns.
        Raises: Unavailable from the embedder; callers fail closed.
        """
        readings = [form for text in texts for form in undisguised(text.value)]
        if len(texts) > 1:
            readings.append(" ".join(readings)[-WINDOW_CHARS:])
        pieces = tuple(dict.fromkeys(piece for reading in readings for piece in to_pieces(reading) if piece))
        if not pieces:
            return ScreenVerdict(is_blocked=False)
        head = shipped_head("screen", self._embedder.model)
        strongest = head.sigmoid(await self._embedder.embed([MaskedText(piece) for piece in pieces])).max(axis=0)
        categories = tuple(
            label for label, p, limit in zip(head.labels, strongest, head.thresholds, strict=True) if p >= limit
        )
        return ScreenVerdict(is_blocked=bool(categories), categories=categories)


def undisguised(text: str) -> tuple[str, ...]:
    """Return the ways a text can be read: plain; with invisible tag letters spelled out; with l e t t e r s joined.

    Letters of another alphabet inside a Latin word are read as the Latin ones they imitate.
    """
    plain = read_as_latin(readable(text))
    forms = [plain]
    if any(ord(char) in _TAG_LETTERS for char in text):
        hidden = "".join(char for char in text if ord(char) in _TAG_LETTERS)
        forms += [read_as_latin(readable(form.translate(_TAG_LETTERS))) for form in (hidden, text)]
    if _SPACED.search(plain):
        forms.append(join_spaced_letters(plain))
    return tuple(dict.fromkeys(form for form in forms if form))


def join_spaced_letters(text: str) -> str:
    """Return the text with l e t t e r s that stand apart joined to words."""
    return _SPACED.sub(lambda match: re.sub(r"[ .\-_*]", "", match[0]), text)


def read_as_latin(text: str) -> str:
    """Return the text with words that mix Latin with Cyrillic or Greek letters read as Latin; linear in the text."""
    return _WORD.sub(lambda match: _unmixed(match[0]), text) if _LOOKALIKE.search(text) else text


def _unmixed(word: str) -> str:
    is_mixed = _LATIN.search(word) is not None and _LOOKALIKE.search(word) is not None
    return word.translate(_LOOKALIKES) if is_mixed else word
