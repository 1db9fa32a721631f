"""Remembers classifications of near-duplicate messages, in front of any IntentClassifier.

Owns what counts as a near-duplicate: the same words but for case, width, punctuation, spacing, repeated letters and the
digits of an identifier. Keeps no text, only hashes; entities are read from each message anew. Source: CL-05.
"""

import re
from collections import OrderedDict
from typing import Final

from shared.domain.deltas import Classification
from shared.domain.entities import extract_entities
from shared.domain.ids import digest
from shared.domain.language import to_plain
from shared.ports.models import ClassifyRequest, IntentClassifier

CAPACITY: Final = 4096
"""Newest classifications kept (about 4 MB). Value ours."""

_REPEATED = re.compile(r"(\w)\1{2,}")
_DIGITS = re.compile(r"\d+")
_PUNCTUATION = re.compile(r"[^\w\s]+")


class RememberingClassifier:
    """An IntentClassifier that asks another one only for what it has not seen."""

    def __init__(self, inner: IntentClassifier, *, capacity: int = CAPACITY) -> None:
        self._inner = inner
        self._capacity = capacity
        self._known: OrderedDict[str, Classification] = OrderedDict()

    async def classify(self, request: ClassifyRequest) -> Classification:
        """Return the remembered finding with this message's own entities, or ask.

        A failure is not remembered. Raises: whatever the inner classifier raises.
        """
        key = digest(to_key(request.message.value), to_key(request.summary), request.language_hint)
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known.model_copy(update={"entities": extract_entities(request.message)})
        found = await self._inner.classify(request)
        self._known[key] = found
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        return found


def to_key(text: str) -> str:
    """Return the form in which near-duplicates are equal."""
    folded = _REPEATED.sub(r"\1\1", to_plain(text).casefold())
    return " ".join(_PUNCTUATION.sub(" ", _DIGITS.sub("0", folded)).split())
