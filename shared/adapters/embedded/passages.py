"""Cuts a text into the pieces that the trained heads read one by one.

A mean over a long text drowns one dangerous sentence in ten calm ones; the heads therefore read the whole and each
sentence, and the strongest reading counts. Source: ES-01, design §9 "Screening normalises first".
"""

import re
from typing import Final

MAX_PIECES: Final = 24
"""Most sentences read of one text, half from its start and half from its end. Unit: sentences. Value ours."""
MIN_CHARS: Final = 8
"""Shorter fragments are read only inside the whole. Unit: characters. Value ours."""
PIECE_CHARS: Final = 400
"""A sentence without an end is cut here. Unit: characters, within what the embedder reads."""

_END = re.compile(r"(?<=[.!?。！？;])\s+|\s*\n+\s*|\s+[-–—•]\s+")


def to_pieces(text: str) -> tuple[str, ...]:
    """Return the whole text first, then its sentences, each once; at most 1 + MAX_PIECES."""
    sentences = [
        part[start : start + PIECE_CHARS]
        for part in _END.split(text)
        for start in range(0, len(part), PIECE_CHARS)
        if len(part) - start >= MIN_CHARS
    ]
    if len(sentences) > MAX_PIECES:
        half = MAX_PIECES // 2
        sentences = [*sentences[:half], *sentences[-half:]]
    return tuple(dict.fromkeys((text, *sentences)))
